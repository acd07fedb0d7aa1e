package hm

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// The files of a run directory. None is overwritten in place.
const (
	experimentFile = "experiment.toml"
	checkpointFile = "checkpoint.safetensors"
	bestFile       = "best.safetensors" // of the highest validation log p
	metricsFile    = "metrics.jsonl"    // a line an epoch
	clockFile      = "clock.json"       // time that training has taken
	datasetFile    = "dataset.bin"      // the data, where FromRows made them
	lockFile       = ".lock"
)

// Claim makes dir the directory of the experiment on set, for training that
// begins later: the experiment and, where FromRows made them, the data lie there
// from then on. It refuses a directory that TrainOn refuses.
func (e Experiment) Claim(set *dataset.Set, dir string) error {
	if err := e.Check(set); err != nil {
		return err
	}
	e.Fingerprint = set.Fingerprint()
	release, err := claim(dir, e, set)
	if err != nil {
		return err
	}
	release()
	return nil
}

// claim makes dir the directory of experiment e on set, unless it is that of
// another or another program trains in it. The function returned gives it free.
func claim(dir string, e Experiment, set *dataset.Set) (release func(), err error) {
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	release, err = lock(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, experimentFile)
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		err = compare(path, text, e)
	case errors.Is(err, os.ErrNotExist):
		// The experiment comes last: where it is, the data are.
		if err = storeDataset(dir, set); err == nil {
			err = writeAside(path, e.TOML())
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// refuseForeign refuses a directory that holds something but no run.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	foreign := ""
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == experimentFile:
			return nil
		case name != lockFile && name != datasetFile && !strings.HasSuffix(name, temporary):
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s is neither empty nor the directory of a run (it holds %s but no %s): choose another directory", dir, foreign, experimentFile)
	}
	return nil
}

// storeDataset stores data that only the program that made them has.
func storeDataset(dir string, set *dataset.Set) error {
	if !set.MadeFromRows() {
		return nil
	}
	var b bytes.Buffer
	if err := set.Save(&b); err != nil {
		return err
	}
	return writeAside(filepath.Join(dir, datasetFile), b.Bytes())
}

// OpenDataset opens the data of the experiment, for a run in the directory dir:
// those that are stored there, where FromRows made them, else those that the
// experiment names. It refuses data other than those that the experiment was
// made for.
func (e Experiment) OpenDataset(dir string) (*dataset.Set, error) {
	set, err := e.storedDataset(filepath.Join(dir, datasetFile))
	if set == nil && err == nil {
		set, err = e.Dataset.Open()
	}
	if err != nil {
		return nil, err
	}
	return set, e.checkData(set)
}

// storedDataset loads the data of the experiment from a file. It returns nil
// where there is none, or that of other data.
func (e Experiment) storedDataset(path string) (*dataset.Set, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	set, err := dataset.Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy, or start a new run in another directory", path, err)
	}
	if !reflect.DeepEqual(set.Spec(), e.Dataset) {
		return nil, nil
	}
	return set, nil
}

// compare refuses the text of an experiment other than e, and names what
// differs.
func compare(path string, text []byte, e Experiment) error {
	there, err := ParseExperiment(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	differences := e.Differences(there)
	if len(differences) == 0 && there.Fingerprint != e.Fingerprint {
		differences = append(differences, fmt.Sprintf("the data have fingerprint %.12s there, %.12s here", there.Fingerprint, e.Fingerprint))
	}
	if len(differences) == 0 {
		return nil
	}
	return fmt.Errorf("%s is the directory of another experiment (%s): choose another directory, or remove it",
		filepath.Dir(path), strings.Join(differences, "; "))
}

// Differences names the settings, but for the fingerprint of the data, that are
// other here than there, by their full names in TOML, with both values.
func (e Experiment) Differences(there Experiment) []string {
	was, is := settings(there), settings(e)
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	var differences []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if was[key] != is[key] && key != "fingerprint" {
			differences = append(differences, fmt.Sprintf("%s is %s there, %s here", key, cmp.Or(was[key], "unset"), cmp.Or(is[key], "unset")))
		}
	}
	return differences
}

// settings are the settings of an experiment, by their full names in TOML.
func settings(e Experiment) map[string]string {
	values := map[string]string{}
	table := ""
	for line := range strings.Lines(string(e.TOML())) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(line, "[]") + "."
		} else if key, value, ok := strings.Cut(line, " = "); ok {
			values[table+key] = value
		}
	}
	return values
}

// lock holds a file lock, which ends with the program however it ends.
func lock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s cannot be locked (%w): choose a directory on a file system that has locks", path, err)
		}
		return nil, fmt.Errorf("another program trains in %s: wait for it, stop it, or choose another directory", filepath.Dir(path))
	}
	return func() { f.Close() }, nil
}

// refuseLostCheckpoint refuses a directory whose metrics know of a checkpoint
// that is not there. A crash before the first one leaves one epoch at most.
func refuseLostCheckpoint(dir string) error {
	epochs, err := readMetrics(filepath.Join(dir, metricsFile))
	if err != nil {
		return err
	}
	if len(epochs) > 1 {
		return fmt.Errorf("%s holds %d epochs, but there is no %s beside it: restore that file from a copy, or start a new run in another directory",
			filepath.Join(dir, metricsFile), len(epochs), checkpointFile)
	}
	return nil
}

// clock is the time that the steps of training have taken. It lies beside the
// checkpoint, not in it: equal runs have equal checkpoints.
type clock struct {
	Step    int     `json:"step"`
	Seconds float64 `json:"seconds"`
}

func writeClock(path string, step int, seconds float64) error {
	text, err := json.Marshal(clock{step, seconds})
	if err != nil {
		return err
	}
	return writeAside(path, text)
}

// readClock returns the time until a step: that of the clock, or of the last
// epoch of the history where the clock is of another step.
func readClock(path string, step int, history []Epoch) float64 {
	var c clock
	text, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(text, &c) == nil && c.Step == step {
		return c.Seconds
	}
	if n := len(history); n > 0 {
		return history[n-1].Seconds
	}
	return 0
}

// readMetrics reads the epochs of a metrics file; a last line that a crash cut
// short is left out. A file that is not there has none.
func readMetrics(path string) ([]Epoch, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	epochs, err := parseMetrics(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return epochs, nil
}

func parseMetrics(b []byte) ([]Epoch, error) {
	var epochs []Epoch
	lines := bufio.NewScanner(bytes.NewReader(b[:bytes.LastIndexByte(b, '\n')+1]))
	for lines.Scan() {
		var e Epoch
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(epochs)+1, err)
		}
		epochs = append(epochs, e)
	}
	return epochs, lines.Err()
}

// truncateMetrics leaves the first n epochs in a metrics file, and returns
// them.
func truncateMetrics(path string, n int) ([]Epoch, error) {
	epochs, err := readMetrics(path)
	if err != nil {
		return nil, err
	}
	if len(epochs) < n {
		return nil, fmt.Errorf("%s holds %d epochs, the checkpoint beside it has seen %d: restore the file from a copy, or start a new run in another directory", path, len(epochs), n)
	}
	var text []byte
	for _, e := range epochs[:n] {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		text = append(append(text, line...), '\n')
	}
	return epochs[:n], writeAside(path, text)
}

// appendMetrics adds the line of an epoch.
func appendMetrics(path string, e Epoch) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}
