package reproduce

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/plainjson"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Made is the outcome of a result at a scale, from which pages of results are written.
type Made struct {
	ID       string    `json:"id"`
	Scale    Scale     `json:"scale"`
	Values   []Value   `json:"values,omitempty"`
	Beside   []Value   `json:"beside,omitempty"` // measured in addition to the criteria's numbers
	Judged   []Judged  `json:"judged,omitempty"`
	Beyond   []string  `json:"beyond,omitempty"`   // findings that no claim asks for
	Diverged string    `json:"diverged,omitempty"` // the diverged training that prevents all findings
	Figures  []Figure  `json:"figures,omitempty"`
	Made     time.Time `json:"made"`
	By       string    `json:"by"`      // version of the program that made it
	Version  string    `json:"version"` // of the programs that trained
	Hardware string    `json:"hardware"`
	// Runs are the trained runs behind the result; results made before 25 November 2026 list none.
	Runs []Trained `json:"runs,omitempty"`
	// Arithmetic lists how the products of the training steps were computed: float32, float64, fixed.
	Arithmetic string  `json:"arithmetic,omitempty"`
	Seconds    float64 `json:"seconds"` // of training, summed over all runs
	// Rejudged lists the times at which the stored values were judged again.
	Rejudged []Rejudging `json:"rejudged,omitempty"`
}

// Trained identifies a trained run, so that a reader can tell whether another is the same.
type Trained struct {
	Training   string `json:"training"`
	Seed       uint64 `json:"seed"`
	Epochs     int    `json:"epochs"`
	Diverged   bool   `json:"diverged,omitempty"`
	Data       string `json:"data"`       // SHA-256 of the data set
	Checkpoint string `json:"checkpoint"` // SHA-256 of the tensors after these epochs
}

// Value is the measured value of a number.
type Value struct {
	Of      string   `json:"of"`
	Measure string   `json:"measure"`
	Ours    float64  `json:"ours"`
	SD      *float64 `json:"sd,omitempty"` // over seeds, if there are several
	SE      *float64 `json:"se,omitempty"` // over rows for one seed, or over seeds
	Seeds   int      `json:"seeds"`
	// By is how the value was estimated, such as 10,000 samples of each of 10,000 rows.
	By   string `json:"by,omitempty"`
	Data string `json:"data,omitempty"` // the data set and its binarisation
	// Elsewhere is why the number gets no verdict: other data, or shorter training.
	Elsewhere string `json:"elsewhere,omitempty"`
}

// Over returns a value whose Ours is the mean over seeds, and whose SD is their standard deviation, if it is
// known.
func Over(s runs.Spread, seeds int) Value {
	v := Value{Ours: s.Mean, Seeds: seeds}
	if !math.IsNaN(s.SD) {
		v.SD = &s.SD
	}
	return v
}

// Figure is a figure of a result.
type Figure struct {
	File    string `json:"file"`
	Caption string `json:"caption"`
}

// Produce makes a result from its trained runs in the directory dir. It writes the findings to the
// directory results, and returns them.
func (e Entry) Produce(ctx context.Context, w *Work, dir, results string) (Made, error) {
	w.entry, w.dir, w.drawn = e, dir, nil
	w.made = Made{ID: e.ID, Scale: w.Scale, Made: time.Now().UTC().Truncate(time.Second), By: runs.Version()}
	if err := w.account(); err != nil {
		return w.made, err
	}
	err := e.Make(ctx, w)
	if diverged := new(Diverged); errors.As(err, &diverged) {
		w.diverged(diverged)
		err = nil
	}
	if err == nil {
		err = w.save(filepath.Join(results, "figures"))
	}
	if err != nil {
		return w.made, fmt.Errorf("%s: %w", e.ID, err)
	}
	return w.made, e.write(results, w.made)
}

func writeJSON(path string, value any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", indent)
	if err := errors.Join(e.Encode(value), os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
		return err
	}
	return file.WriteAside(path, text.Bytes())
}

// diverged leaves the numbers of the result without values and all its claims open.
func (w *Work) diverged(d *Diverged) {
	w.made.Diverged = d.Error()
	w.made.Values, w.made.Beside, w.made.Judged, w.made.Beyond, w.made.Figures = nil, nil, nil, nil, nil
	for _, c := range w.entry.Claims {
		w.Judge(c.Says, []Quantity{{Of: d.Error(), Undecided: true}}, d.Error())
	}
}

// ErrMade is the error of Claim for a result that has been made or that another program is making.
var ErrMade = errors.New("has been made, or is being made by another program")

// Claim reserves a result that has not been made at a scale. Only one of several programs that share the
// directory results succeeds, until it calls release. The other programs get ErrMade.
func (e Entry) Claim(results string, s Scale) (release func(), err error) {
	held, err := file.HoldShared(filepath.Join(results, "locks", strings.TrimSuffix(e.madeFile(s), ".json")), "lock")
	if errors.Is(err, file.ErrLocked) {
		return nil, ErrMade
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(results, e.madeFile(s))); !errors.Is(err, os.ErrNotExist) {
		held.Release()
		return nil, cmp.Or(err, ErrMade)
	}
	return held.Release, nil
}

func (e Entry) madeFile(s Scale) string { return fmt.Sprintf("%s.%s.json", fileName(e.ID), s) }

func (w *Work) account() error {
	var versions, hardware, arithmetic, data []string
	for _, j := range Jobs(Catalog{w.entry}.Trainings(w.Scale), w.dir, w.Scale) {
		data = append(data, DataOf(j.Experiment.Header().Dataset))
		arithmetic = append(arithmetic, j.Arithmetic)
		run, err := j.open()
		if err != nil {
			return err
		}
		if run == nil { // it diverged before its first checkpoint
			continue
		}
		wanted := j.Experiment.Header().Epochs
		if h := History(j.Name, run, wanted).Epochs; len(h) > 0 {
			w.made.Seconds += h[len(h)-1].Seconds
		}
		sessions, err := run.Provenance()
		if err != nil {
			return err
		}
		h := run.Experiment().Header()
		epochs, snapshot := run.Epochs(), run.Snapshot()
		if epochs > wanted { // another result has trained it further
			if at, err := run.At(wanted); err == nil {
				epochs, snapshot = wanted, at
			}
		}
		diverged, err := j.diverged()
		if err != nil {
			return err
		}
		w.made.Runs = append(w.made.Runs, Trained{j.Name, h.Seed, epochs, diverged != nil, h.Fingerprint, snapshot.Checksum()})
		for _, s := range sessions {
			versions = append(versions, s.Version)
			hardware = append(hardware, s.Hardware())
		}
	}
	w.made.Version, w.made.Hardware, w.made.Arithmetic, w.data = distinct(versions), distinct(hardware), distinct(arithmetic), distinct(data)
	return nil
}

// DataOf names a data set, with a short description of how its visible units become binary; B and C
// are Várady's names.
func DataOf(s dataset.Spec) string {
	how := map[string]string{"binarized-mnist": "drawn once, as published", "3by3": "binary", "jsb": "binary", "voices": "binary", "nottingham": "binary", "piano-midi": "binary", "musedata": "binary"}[s.Name]
	if strings.HasPrefix(s.Name, "uci/") {
		how = "binary"
	}
	of := map[dataset.Binarization]string{dataset.Fixed: "rounded once (B)", dataset.Stochastic: "drawn at each step (C)", dataset.Drawn: "drawn once"}
	return s.Name + ", " + cmp.Or(how, of[s.Binarization], "grey")
}

func distinct(texts []string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "; ")
}

// ReadMade reads the findings on the entries from a directory: for each entry, the findings at the
// first of the given scales that exists.
func (c Catalog) ReadMade(results string, scales ...Scale) (map[string]Made, error) {
	all := map[string]Made{}
	for _, e := range c {
		for _, s := range scales {
			m, err := e.read(results, s)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			all[e.ID] = m
			break
		}
	}
	return all, nil
}

// read reads the findings on the entry at a scale. The error is os.ErrNotExist if there are none.
func (e Entry) read(results string, s Scale) (m Made, err error) {
	path := filepath.Join(results, e.madeFile(s))
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err = json.Unmarshal(text, &m); err == nil {
		err = plainjson.Check(text, true)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w: make the result again", path, err)
	}
	return m, nil
}

func (e Entry) write(results string, m Made) error {
	return writeJSON(filepath.Join(results, e.madeFile(m.Scale)), m, "\t")
}

// Rejudge judges the entries' findings in the directory results again, at the scales laptop and full: numbers by
// today's criteria, claims by the limits that are stored with their quantities. It adds a Rejudging to each finding,
// with the date, the version of the program, the reason and the changes. It returns the Rejudgings by file name.
func (c Catalog) Rejudge(results, reason string) (map[string]Rejudging, error) {
	all := map[string]Rejudging{}
	for _, e := range c {
		for _, s := range []Scale{Laptop, Full} {
			m, err := e.read(results, s)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return all, err
			}
			r := Rejudging{Date: time.Now().UTC().Format(time.DateOnly), By: runs.Version(), Reason: reason}
			m, r.Changed = e.Rejudge(m)
			m.Rejudged = append(m.Rejudged, r)
			if err := e.write(results, m); err != nil {
				return all, err
			}
			all[e.madeFile(s)] = r
		}
	}
	return all, nil
}

// String returns the name of a number: "error of the DBN", "log p by AIS, at least −86.3" for a
// bound, and "log p*" if subject and measure have the same name.
func (n Number) String() string {
	if n.isBound() {
		return fmt.Sprintf("%s, %s %s", n.Of, n.Measure, strings.Replace(fmt.Sprint(n.Published), "-", "−", 1))
	}
	if strings.HasSuffix(n.Of, n.Measure) {
		return n.Of
	}
	return fmt.Sprintf("%s of %s", n.Measure, n.Of)
}
