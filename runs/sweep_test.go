package runs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// sweepText is a sweep of mixtures: three rates, and two numbers of components that advance
// together with two batch sizes.
const sweepText = `
seeds = 2

[base]
family = "mixture"
components = 2
learning_rate = 0.5
schedule = "constant"
epochs = 4
patience = 0
seed = 5
batch_size = 16

[base.dataset]
name = "miniglyphs"
binarization = "grey"
subset = 60

[grid]
learning_rate = [1.0, 0.5, 0.25]

[[together]]
components = [2, 3]
batch_size = [16, 24]
`

func mustReadSweep(t *testing.T, text string) *runs.Sweep {
	t.Helper()
	s, err := readSweepText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readSweepText(t *testing.T, text string) (*runs.Sweep, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sweep.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return runs.ReadSweep(path)
}

func TestSweepIsAllCombinations(t *testing.T) {
	s := mustReadSweep(t, sweepText)
	settings, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, setting := range settings {
		names = append(names, setting.Name)
		m := setting.Experiment.(mixture)
		want := fmt.Sprintf("learning_rate=%.4g,components=%d,batch_size=%d", m.Rate, m.Components, m.BatchSize)
		if strings.ReplaceAll(setting.Name, "1.0", "1") != want {
			t.Errorf("%s is the experiment of %s", setting.Name, want)
		}
		if m.BatchSize != 8*m.Components && m.Components != 2 {
			t.Errorf("%s: lists side by side are combined", setting.Name)
		}
	}
	if len(names) != 6 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 6 {
		t.Errorf("the settings are %v", names)
	}
	text, err := s.TOML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := mustReadSweep(t, string(text)).Settings()
	if err != nil {
		t.Fatal(err)
	}
	for i := range again {
		if again[i].Name != settings[i].Name || again[i].Experiment.Hash() != settings[i].Experiment.Hash() {
			t.Errorf("written and read, %s is %s", settings[i].Name, again[i].Name)
		}
	}
}

func TestSweepsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"value alone":     {"[1.0, 0.5, 0.25]", "0.5", "give a list"},
		"no values":       {"[1.0, 0.5, 0.25]", "[]", "give a list"},
		"unknown setting": {"learning_rate = [", "learning_rat = [", "learning_rat"},
		"twice":           {"[1.0, 0.5, 0.25]", "[0.5, 0.5]", "same experiment"},
		"other lengths":   {"batch_size = [16, 24]", "batch_size = [16]", "the same length"},
		"tables":          {"learning_rate = [1.0, 0.5, 0.25]", `dataset = [{name="3by3"}, {name="3by3", validation=50}]`, "such as dataset.name"},
		"lists of tables": {"learning_rate = [1.0, 0.5, 0.25]", `dataset = [[{name="3by3"}], [{name="3by3", validation=50}]]`, "such as dataset.name"},
		"seed":            {"learning_rate = [1.0, 0.5, 0.25]", "seed = [1, 2]", "number of seeds"},
		"no seeds":        {"seeds = 2", "seeds = 0", "from 1"},
		"too many seeds":  {"seeds = 2", "seeds = 9223372036854775807", "to 10000"},
		"large seeds":     {"seed = 5", "seed = 9223372036854775807", "seed 9223372036854775808"},
		"unknown key":     {"seeds = 2", "seds = 2", "seds"},
		"capital letter":  {"seeds = 2", "seeds = 2\nSeeds = 3", "Seeds: a sweep has"},
		"two axes of one": {"batch_size = [16, 24]", "learning_rate = [0.1, 0.2]", "varies twice"},
		"no base":         {"[base]", "[bas]", "bas"},
		"empty table":     {"[[together]]", "[[together]]\n[[together]]", "no settings: name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readSweepText(t, strings.Replace(sweepText, c.from, c.to, 1))
			wantError(t, err, c.says)
		})
	}
}

// Axes that no file can express are refused wherever a sweep begins.
func TestAxesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		axis runs.Axis
		says string
	}{
		"no settings":     {runs.Axis{Values: [][]any{{0.5}}}, "no settings: name"},
		"no values":       {runs.Axis{Keys: []string{"learning_rate"}}, "learning_rate: the axis has no values"},
		"too few values":  {runs.Axis{Keys: []string{"learning_rate", "epochs"}, Values: [][]any{{0.5, 2}, {0.5}}}, "learning_rate, epochs: [0.5]"},
		"too many values": {runs.Axis{Keys: []string{"learning_rate"}, Values: [][]any{{0.1, 5}}}, "learning_rate: [0.1 5]"},
		"a struct":        {runs.Axis{Keys: []string{"dataset"}, Values: [][]any{{dataset.Spec{Name: "3by3"}}}}, "such as dataset.name"},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := mustReadSweep(t, sweepText), t.TempDir()
			s.Axes = []runs.Axis{c.axis, {Keys: []string{"components"}, Values: [][]any{{2}}}}
			_, settings := s.Settings()
			_, training := s.Train(t.Context(), dir, runs.Shard{}, nil)
			_, report := s.Report(dir)
			_, text := s.TOML()
			for _, err := range []error{settings, training, report, text, s.Check(), s.Distinct(), s.Claim(dir), s.Retry(dir, runs.Shard{})} {
				wantError(t, err, c.says)
			}
		})
	}
}

// TestSweepGrows adds settings and seeds to a sweep, but does not turn it into another sweep.
func TestSweepGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	if err := mustReadSweep(t, sweepText).Claim(dir); err != nil {
		t.Fatal(err)
	}
	more := mustReadSweep(t, strings.NewReplacer("[1.0, 0.5", "[1.0, 0.125, 0.5", "seeds = 2", "seeds = 3").Replace(sweepText))
	if err := more.Claim(dir); err != nil {
		t.Error(err)
	}
	if err := mustReadSweep(t, sweepText).Claim(dir); err == nil || !strings.Contains(err.Error(), "another sweep") {
		t.Errorf("a sweep that lacks runs is begun in its place: %v", err)
	}
	longer := mustReadSweep(t, strings.NewReplacer("[1.0, 0.5", "[1.0, 0.125, 0.5", "seeds = 2", "seeds = 3", "epochs = 4", "epochs = 5").Replace(sweepText))
	wantError(t, longer.Claim(dir), "another sweep")
	back, err := runs.OpenSweep(dir)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := back.Jobs(dir)
	if err != nil || len(jobs) != 24 {
		t.Errorf("%d runs, %v", len(jobs), err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, more.Claim(other), "neither empty nor")
	// The leftovers of a claim that was killed before it wrote its sweep are no obstacle until
	// something is trained there.
	if err := os.Remove(filepath.Join(dir, "sweep.toml")); err != nil {
		t.Fatal(err)
	}
	if err := more.Claim(dir); err != nil {
		t.Errorf("after a claim that was killed: %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "sweep.toml")), os.MkdirAll(jobs[0].Dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	wantError(t, more.Claim(dir), "neither empty nor")
}

// If two programs extend a sweep at once, neither loses what the other added.
func TestSweepsThatGrowAtOnce(t *testing.T) {
	t.Parallel()
	with := func(rates string) *runs.Sweep {
		return mustReadSweep(t, strings.Replace(sweepText, "[1.0, 0.5, 0.25]", "["+rates+"]", 1))
	}
	few, many := "1.0, 0.75", "1.0"
	for i := range 40 {
		many += fmt.Sprintf(", %.3f", 0.1+float64(i)/100)
	}
	for range 5 {
		dir := t.TempDir()
		if err := with("1.0").Claim(dir); err != nil {
			t.Fatal(err)
		}
		grown := []*runs.Sweep{with(few), with(many)}
		var refused [2]error
		var both sync.WaitGroup
		for i, s := range grown {
			both.Go(func() { refused[i] = s.Claim(dir) })
		}
		both.Wait()
		is, err := runs.OpenSweep(dir)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := is.Settings()
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range grown {
			own, err := s.Settings()
			if err != nil {
				t.Fatal(err)
			}
			if kept := len(settings) == len(own); kept != (refused[i] == nil) {
				t.Errorf("a sweep of %d settings where %d are planned: %v", len(own), len(settings), refused[i])
			}
		}
	}
}

// Programs that start one sweep at the same moment all train it.
func TestSweepsThatBeginAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sweep")
	var all sync.WaitGroup
	for range 8 {
		s := mustReadSweep(t, sweepText)
		all.Go(func() {
			if err := s.Claim(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A directory in which a sweep is trained belongs to the sweep, claimed or not.
func TestSweepsThatWereNotClaimed(t *testing.T) {
	t.Parallel()
	s, dir := mustReadSweep(t, sweepText), t.TempDir()
	if _, err := s.Train(t.Context(), dir, runs.Shard{Index: 0, Count: 12}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.OpenSweep(dir); err != nil {
		t.Error(err)
	}
}

// A sweep does not train in the directory of another sweep.
func TestSweepsTrainOnlyInTheirDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := mustReadSweep(t, sweepText).Claim(dir); err != nil {
		t.Fatal(err)
	}
	other := mustReadSweep(t, strings.Replace(sweepText, "[1.0, 0.5", "[1.0, 0.75", 1))
	_, err := other.Train(t.Context(), dir, runs.Shard{}, nil)
	wantError(t, err, "another sweep")
	if left, err := filepath.Glob(filepath.Join(dir, "learning_rate=0.75*")); len(left) > 0 || err != nil {
		t.Errorf("the other sweep made %v, %v", left, err)
	}
}

// A sweep may vary settings of the data although its base is the experiment of a run.
func TestSweepsOverTheDataOfARun(t *testing.T) {
	s := mustReadSweep(t, sweepText)
	settings, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	e, err := runs.Resolve(settings[0].Experiment, openData(t, settings[0].Experiment), "")
	if err != nil {
		t.Fatal(err)
	}
	s.Base, s.Axes = e.TOML(), []runs.Axis{{Keys: []string{"dataset.validation"}, Values: [][]any{{5}, {10}}}}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

// A sweep built in Go has the same directories as the sweep that its file describes.
func TestSweepsWithListsOfGo(t *testing.T) {
	s := mustReadSweep(t, sweepText)
	s.Axes = []runs.Axis{{Keys: []string{"keep", "learning_rate"}, Values: [][]any{{[]int{4, 3}, 0.5}, {[]int{2}, 1.0}}}}
	text, err := s.TOML()
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.Settings()
	read, failure := mustReadSweep(t, string(text)).Settings()
	if err := errors.Join(err, failure); err != nil {
		t.Fatal(err)
	}
	for i := range made {
		if made[i].Name != read[i].Name {
			t.Errorf("the setting %s is %s in a file", made[i].Name, read[i].Name)
		}
	}
}

// renamed is an experiment whose file has the seed under another name.
type renamed struct {
	runs.Experiment `toml:"-"`
	Run             runs.Header `toml:"run"`
}

func init() {
	runs.Kind[renamed, struct{}]{
		Name: "renamed", Noun: "a renamed experiment",
		Parse: func(text []byte) (renamed, error) {
			return runs.DecodeExperiment(text, "renamed", func(struct{}) (renamed, error) { return renamed{}, nil })
		},
		Model: func(renamed, runs.Snapshot) (struct{}, error) { return struct{}{}, nil },
	}.Registered()
}

func (r renamed) Header() runs.Header       { return r.Run }
func (renamed) Rows() []runs.Hyperparameter { return nil }
func (r renamed) TOML() []byte              { return runs.EncodeExperiment("renamed", r) }
func (r renamed) Hash() string              { return string(r.TOML()) }

// Seeds must not vary, whatever a family calls them.
func TestSweepsOverSeedsAreRefused(t *testing.T) {
	own := &runs.Sweep{
		Base:  renamed{Run: runs.Header{Base: runs.Base{Budget: runs.Budget{Epochs: 1}}, BatchSize: 1}}.TOML(),
		Axes:  []runs.Axis{{Keys: []string{"run.seed"}, Values: [][]any{{1}, {2}}}},
		Seeds: 2,
	}
	_, err := own.Settings()
	wantError(t, err, "the seed varies")
	_, err = readSweepText(t, strings.Replace(sweepText, "learning_rate = [", "seed = [1, 2]\nlearning_rate = [", 1))
	wantError(t, err, "the seed varies")
}

// trainSweep trains a whole sweep in this program.
func trainSweep(t *testing.T, s *runs.Sweep, dir string) error {
	t.Helper()
	if err := s.Claim(dir); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := s.Train(t.Context(), dir, runs.Shard{}, nil)
	if elsewhere != 0 {
		t.Errorf("%d runs are trained elsewhere", elsewhere)
	}
	return err
}

// trainedSweep returns a sweep all of whose jobs have been trained in a directory.
func trainedSweep(t *testing.T) (s *runs.Sweep, dir string, jobs []runs.Job) {
	t.Helper()
	s, dir = mustReadSweep(t, sweepText), t.TempDir()
	err := trainSweep(t, s, dir)
	if err == nil {
		jobs, err = s.Jobs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, dir, jobs
}

// TestSweepPassesOverFailures trains all other jobs, and reports the failures until they are to be
// retried.
func TestSweepPassesOverFailures(t *testing.T) {
	t.Parallel()
	s := mustReadSweep(t, strings.Replace(sweepText, "[1.0, 0.5", "[1.5, 0.5", 1)) // a rate is at most 1
	dir := t.TempDir()
	wantError(t, trainSweep(t, s, dir), "learning rate 1.5")
	report, err := s.Report(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[runs.State]int{runs.Finished: 8, runs.Failed: 4}
	if got := report.States(); got[runs.Finished] != want[runs.Finished] || got[runs.Failed] != want[runs.Failed] || len(got) != 2 {
		t.Errorf("the runs are %v, not %v", got, want)
	}
	if err := trainSweep(t, s, dir); err != nil {
		t.Errorf("what failed is trained again unasked: %v", err)
	}
	if err := s.Retry(dir, runs.Shard{}); err != nil {
		t.Fatal(err)
	}
	wantError(t, trainSweep(t, s, dir), "learning rate 1.5")
	best := report.ByBest().Settings
	for i := 1; i < 4; i++ {
		if !report.Objective.Better(best[i-1].Value().Mean, best[i].Value().Mean) {
			t.Errorf("%s stands before %s", best[i-1].Name, best[i].Name)
		}
	}
	if rows := report.Table().Rows(); len(rows) != 6 {
		t.Errorf("the table has %d rows", len(rows))
	}
}

// The reports of sweeps and tunings show strings without the quotes and escapes of TOML.
func TestReportsDecodeStrings(t *testing.T) {
	s := runs.Setting{Values: []string{`"a \"b\".csv"`, "[1, 2]", "0.50"}}
	keys := []string{"dataset.name", "machine.layers", "learning_rate"}
	for _, table := range []*runs.Table{
		runs.SweepReport{Keys: keys, Settings: []runs.SettingReport{{Setting: s}}}.Table(),
		runs.TuneReport{Keys: keys, Candidates: []runs.Candidate{{Setting: s}}}.Table(),
	} {
		if got := table.Rows()[0][:3]; !reflect.DeepEqual(got, []any{`a "b".csv`, "[1, 2]", "0.50"}) {
			t.Errorf("the values are %q", got)
		}
	}
}

// A setting that varies may have the name of a column of the report.
func TestSweepOverEpochs(t *testing.T) {
	t.Parallel()
	s, dir := mustReadSweep(t, strings.NewReplacer("learning_rate = [1.0, 0.5, 0.25]", "epochs = [1, 2]", "seeds = 2", "seeds = 1").Replace(sweepText)), t.TempDir()
	if err := trainSweep(t, s, dir); err != nil {
		t.Fatal(err)
	}
	report, err := s.Report(dir)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.Table().WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(text.String()), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 {
		t.Errorf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		if row["epochs"] != fmt.Sprint(row["runs.epochs"]) {
			t.Errorf("epochs that there are to be, and those done: %v", row)
		}
	}
}

// Settings with different objectives cannot be ranked.
func TestSweepsOverObjectivesAreRefused(t *testing.T) {
	s := mustReadSweep(t, strings.Replace(sweepText, "learning_rate = [1.0, 0.5, 0.25]", fmt.Sprintf("family = [%q, %q]", byLikelihood, byLoss), 1))
	wantError(t, s.Check(), "log p", "loss", "a separate sweep")
}

// Any cancelled context interrupts a sweep without making a job fail.
func TestSweepsAreInterruptedByDeadlines(t *testing.T) {
	s, dir := mustReadSweep(t, sweepText), t.TempDir()
	if err := s.Claim(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := s.Train(ctx, dir, runs.Shard{}, func(runs.Job) []runs.Recorder { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the sweep ends with %v", err)
	}
	if report, err := s.Report(dir); err != nil || report.States()[runs.Failed] != 0 {
		t.Errorf("%v, %v", report.States(), err)
	}
}

// A run that failed and was later trained to its end is finished.
func TestFailuresThatWereMended(t *testing.T) {
	t.Parallel()
	s, dir, jobs := trainedSweep(t)
	if err := os.WriteFile(jobs[3].Dir+".failed", []byte("no memory"), 0o600); err != nil {
		t.Fatal(err)
	}
	if report, err := s.Report(dir); err != nil || report.States()[runs.Finished] != len(jobs) {
		t.Errorf("%v, %v", report.States(), err)
	}
}

// A damaged run is not a recorded failure. The report has no mean for a setting with a damaged seed. Training reports
// a checkpoint that is cut short, also on a retry; it does not read the tensors of finished runs.
func TestDamagedRunsOfASweep(t *testing.T) {
	t.Parallel()
	s, dir, jobs := trainedSweep(t)
	damage := func(j runs.Job, name string) {
		t.Helper()
		path := filepath.Join(j.Dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(jobs[0], "checkpoint.safetensors")
	damage(jobs[1], "metrics.jsonl")
	report, err := s.Report(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range report.Settings {
		damaged := setting.Name == jobs[0].Setting || setting.Name == jobs[1].Setting
		if damaged != (len(setting.Failures) == 1) || damaged != math.IsNaN(setting.Reached.Mean) {
			t.Errorf("%s reached %v with %v", setting.Name, setting.Reached, setting.Failures)
		}
	}
	if state, run, err := jobs[0].State(); state != runs.Finished || run.Epochs() != jobs[0].Experiment.Header().Epochs || err != nil {
		t.Errorf("without its tensors, %v is %s, %v, %v", jobs[0], state, run, err)
	}
	if err := os.Truncate(filepath.Join(jobs[0].Dir, "checkpoint.safetensors"), 99); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := s.Train(t.Context(), dir, runs.Shard{}, nil)
		wantError(t, err, jobs[0].String(), "checkpoint.safetensors")
		if err := s.Retry(dir, runs.Shard{}); err != nil {
			t.Fatal(err)
		}
	}
}

// writeRows writes 40 rows of a data set that seed determines.
func writeRows(t *testing.T, path string, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	var text strings.Builder
	for range 40 {
		fmt.Fprintln(&text, r.IntN(2), r.IntN(2), r.IntN(2), r.IntN(2))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The report ranks no runs on different contents of a data file, and training with changed data is not a failure
// of the settings.
func TestSweepsWhoseDataChange(t *testing.T) {
	t.Parallel()
	data, dir := filepath.Join(t.TempDir(), "rows.txt"), t.TempDir()
	text := strings.NewReplacer(`"miniglyphs"`, fmt.Sprintf("%q", data), "subset = 60", "", "seeds = 2", "seeds = 1", "[16, 24]", "[16, 20]").Replace(sweepText)
	writeRows(t, data, 1)
	s := mustReadSweep(t, text)
	jobs, err := s.Jobs(dir)
	if err == nil {
		err = trainSweep(t, s, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(jobs[0].Dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.Train(ctx, dir, runs.Shard{}, func(runs.Job) []runs.Recorder {
		return []runs.Recorder{&watcher{onStep: func(runs.Progress) { cancel() }}}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	writeRows(t, data, 2)
	_, err = s.Train(t.Context(), dir, runs.Shard{}, nil)
	wantError(t, err, "the data have fingerprint", "restore the data")
	if state, _, err := jobs[0].State(); state != runs.Interrupted {
		t.Errorf("with changed data, an interrupted run is %s, %v", state, err)
	}
	writeRows(t, data, 1)
	if _, err := s.Train(t.Context(), dir, runs.Shard{}, nil); err != nil {
		t.Errorf("with restored data: %v", err)
	}
	writeRows(t, data, 2)
	if err := trainSweep(t, mustReadSweep(t, strings.Replace(text, "[1.0,", "[1.0, 0.125,", 1)), dir); err != nil {
		t.Fatal(err)
	}
	grown, err := runs.OpenSweep(dir)
	if err != nil {
		t.Fatal(err)
	}
	report, err := grown.Report(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range report.Settings {
		added := strings.HasPrefix(setting.Name, "learning_rate=0.125,")
		if added != math.IsNaN(setting.Value().Mean) {
			t.Errorf("%s has the value %v", setting.Name, setting.Value())
		}
		if added {
			wantError(t, errors.Join(setting.Failures...), "different contents of "+data)
		}
	}
}

// A run that was extended is not ranked against runs with the sweep's number of epochs.
func TestExtendedRunsOfASweepAreNotRanked(t *testing.T) {
	t.Parallel()
	s, dir, jobs := trainedSweep(t)
	longer, err := runs.Extend(jobs[0].Dir, 6)
	if err != nil {
		t.Fatal(err)
	}
	mustTrain(t, longer, openData(t, longer), jobs[0].Dir)
	report, err := s.Report(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range report.Settings {
		if extended := setting.Name == jobs[0].Setting; extended != math.IsNaN(setting.Value().Mean) {
			t.Errorf("%s has the value %v", setting.Name, setting.Value())
		} else if extended {
			wantError(t, errors.Join(setting.Failures...), "extended to 6 epochs", "the sweep has 4")
		}
	}
	_, err = s.Train(t.Context(), dir, runs.Shard{}, nil)
	wantError(t, err, "extended to 6 epochs", "the sweep has 4")
}

// TestSharesOfASweep checks that the shares together are the whole sweep.
func TestSharesOfASweep(t *testing.T) {
	t.Parallel()
	s, dir := mustReadSweep(t, sweepText), t.TempDir()
	if err := s.Claim(dir); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		trained := 0
		if _, err := s.Train(t.Context(), dir, runs.Shard{Index: i, Count: 5}, func(runs.Job) []runs.Recorder {
			trained++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if trained < 2 || trained > 3 {
			t.Errorf("share %d of 5 has %d of 12 runs", i, trained)
		}
	}
	report, err := s.Report(dir)
	if err != nil || report.States()[runs.Finished] != 12 {
		t.Errorf("%v, %v", report.States(), err)
	}
}

// workerVariable makes the test program train the sweep in the directory that it names.
const workerVariable = "HELMHOLTZ_TEST_SWEEP"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workerVariable); dir != "" {
		if err := work(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work trains the sweep in a directory, and writes a line for each step.
func work(dir string) error {
	s, err := runs.OpenSweep(dir)
	if err != nil {
		return err
	}
	_, err = s.Train(context.Background(), dir, runs.Shard{}, func(j runs.Job) []runs.Recorder {
		return []runs.Recorder{&watcher{onStep: func(runs.Progress) { fmt.Println(j.Dir) }}}
	})
	return err
}

// TestKilledWorkersLoseNothing trains one sweep with several programs, each of which is killed
// after some steps and restarted. Every run ends as if it had been trained alone, and no two
// programs train a run at once.
func TestKilledWorkersLoseNothing(t *testing.T) {
	t.Parallel()
	s, alone, dir := mustReadSweep(t, sweepText), t.TempDir(), t.TempDir()
	if err := trainSweep(t, s, alone); err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(dir); err != nil {
		t.Fatal(err)
	}
	const workers = 4
	killed := make([]int, workers)
	failures := make(chan error, workers)
	for n := range workers {
		go func() {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			for {
				whole, err := workUntil(dir, 1+r.IntN(12))
				if whole || err != nil {
					failures <- err
					return
				}
				killed[n]++
			}
		}()
	}
	for range workers {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	kills := 0
	for _, n := range killed {
		kills += n
	}
	if kills < workers {
		t.Errorf("%d workers were killed %d times", workers, kills)
	}
	jobs, err := s.Jobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if state, _, err := j.State(); state != runs.Finished {
			t.Errorf("%v is %s, %v", j, state, err)
		}
		relative, err := filepath.Rel(dir, j.Dir)
		if err != nil {
			t.Fatal(err)
		}
		runstest.SameRun(t, filepath.Join(alone, relative), j.Dir)
	}
	t.Logf("%d kills", kills)
}

// A program that is killed just after a run ended leaves its lease and a temporary file, which the next program
// removes.
func TestLeftoversOfEndedRunsAreRemoved(t *testing.T) {
	s, dir, jobs := trainedSweep(t)
	path := filepath.Join(jobs[0].Dir, file.LeaseFile)
	held, err := file.HoldShared(jobs[0].Dir, ".lock")
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(path)
	held.Release()
	aside := filepath.Join(jobs[0].Dir, "clock.json.1.tmp")
	if err := errors.Join(err, os.WriteFile(path, left, 0o600), os.WriteFile(aside, nil, 0o600), trainSweep(t, s, dir)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, aside} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of a run that has ended is there still: %v", filepath.Base(path), err)
		}
	}
}

// workUntil starts a worker and kills it after some steps, unless it ends before.
func workUntil(dir string, steps int) (whole bool, err error) {
	worker := exec.Command(os.Args[0])
	worker.Env = append(os.Environ(), workerVariable+"="+dir)
	out, err := worker.StdoutPipe()
	if err != nil {
		return false, err
	}
	worker.Stderr = os.Stderr
	if err := worker.Start(); err != nil {
		return false, err
	}
	lines := bufio.NewScanner(out)
	for range steps {
		if !lines.Scan() {
			return true, worker.Wait()
		}
	}
	if err := worker.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, err
	}
	for lines.Scan() {
	}
	return worker.Wait() == nil, lines.Err()
}
