package pretrained

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A Card describes a pretrained machine, its training and its evaluation.
type Card struct {
	Name        string            `json:"name"`
	About       string            `json:"about"`      // one sentence
	Strengths   string            `json:"strengths"`  // what it is good for
	Weaknesses  string            `json:"weaknesses"` // what it cannot do
	Data        string            `json:"data"`       // data set, shape and binarisation
	Licence     string            `json:"licence"`    // licence of the data
	Method      string            `json:"method"`
	Epochs      int               `json:"epochs"`
	Seconds     float64           `json:"seconds"` // training time, without evaluations and checkpoints
	Processors  []string          `json:"processors"`
	Versions    []string          `json:"versions"` // versions of the program; several if training was resumed
	Evaluation  Evaluation        `json:"evaluation"`
	EvaluatedBy string            `json:"evaluated_by"` // version of the program
	Evaluated   time.Time         `json:"evaluated"`
	Files       map[string]string `json:"files"` // SHA-256 of each file, in hexadecimal
}

// An Evaluation is an estimate of log p in nats, or of the objective of a machine without log p,
// together with the options of the evaluation.
type Evaluation struct {
	Split   string  `json:"split"`
	Rows    int     `json:"rows"`    // number of rows, which are drawn from the split with Seed
	Samples int     `json:"samples"` // number per row; 0 if the evaluation needs no samples or uses its default number
	Seed    uint64  `json:"seed"`
	Measure string  `json:"measure"` // key of the measure, such as log_p
	Value   float64 `json:"value"`
	SE      float64 `json:"se"` // standard error over the rows
	Text    string  `json:"text"`
	// SampleSize describes the samples or chains. If they are few, texts omit the standard error.
	SampleSize runs.SampleSize `json:"sample_size,omitzero"`
}

// Rivals adds simple models and where they beat the machine to an evaluation.
type Rivals func(ctx context.Context, run *runs.Run, model any, o runs.EvaluationOptions, e runs.Evaluation) (runs.Evaluation, error)

// String returns Short, and describes the evaluation.
func (e Evaluation) String() string {
	return fmt.Sprintf("%s (%d %s rows, %d samples)", e.Short(3), e.Rows, e.Split, e.Samples)
}

// Short returns the measure and its value with the standard error, or as a bound, with some decimals.
func (e Evaluation) Short(decimals int) string {
	return e.Measure + " " + runs.Estimate{Value: e.Value, SE: e.SE, SampleSize: e.SampleSize}.Text(decimals)
}

// evaluate evaluates a run's last checkpoint with the options in how, and adds rivals to the text unless they are nil.
func evaluate(ctx context.Context, run *runs.Run, how Evaluation, rivals Rivals, progress func(string) func(float64)) (Evaluation, error) {
	model, err := run.ModelAt("last")
	if err != nil {
		return how, err
	}
	by, err := run.Evaluation(model)
	if err != nil {
		return how, err
	}
	set, err := run.Dataset()
	if err != nil {
		return how, err
	}
	split, known := set.Split(how.Split)
	if !known || split.Rows == 0 {
		return how, fmt.Errorf("data set %s has no rows of the split %q", set.Spec().Name, how.Split)
	}
	rows := split.Subset(how.Rows, how.Seed)
	o := runs.EvaluationOptions{Set: set, Rows: rows, Samples: how.Samples, Seed: how.Seed, Progress: progress}
	e, err := by.Evaluate(ctx, o)
	if err == nil && rivals != nil {
		e, err = rivals(ctx, run, model, o, e)
	}
	if err != nil {
		return how, err
	}
	how.Rows, how.Text = rows.Rows, e.String()
	for _, key := range []string{runs.LogP.Key, run.Experiment().Measures()[0].Key} {
		if of, is := e.Findings().Estimates()[key]; is && statistics.Finite(of.Value) && statistics.Finite(of.SE) {
			how.Measure, how.Value, how.SE, how.SampleSize = key, of.Value, of.SE, of.SampleSize
			return how, nil
		}
	}
	return how, fmt.Errorf("the evaluation of %s estimates neither log p nor its objective with a standard error", run.Noun())
}

// A Checked is the result of Machine.Check.
type Checked struct {
	Card, Now Evaluation
	Agrees    bool
}

// Check evaluates the machine again on at most the given number of rows (0 means the card's number), and
// reports whether the new estimate agrees with the card's. On the same rows, both evaluations use the
// same draws, but processors round differently: the difference must be at most one standard error. On
// fewer rows, at least 2, the limit is three standard errors of the difference.
func (m Machine) Check(ctx context.Context, rows int, progress func(string) func(float64)) (Checked, error) {
	run, err := runs.Open(m.Dir)
	if err != nil {
		return Checked{}, err
	}
	if rows == 1 {
		return Checked{}, errors.New("a single row has no standard error: check at least 2 rows")
	}
	how := m.Evaluation
	if rows > 0 {
		how.Rows = min(rows, how.Rows)
	}
	now, err := evaluate(ctx, run, how, nil, progress)
	if err != nil {
		return Checked{}, err
	}
	most := m.Evaluation.SE
	if now.Rows < m.Evaluation.Rows {
		most = 3 * math.Hypot(m.Evaluation.SE, now.SE)
	}
	return Checked{m.Evaluation, now, math.Abs(now.Value-m.Evaluation.Value) <= most}, nil
}

// kept lists the files of a run that a pretrained machine contains, and whether every run needs them.
var kept = []struct {
	name   string
	needed bool
}{
	{"experiment.toml", true}, {"dataset.bin", false}, {"schema.toml", false}, {"metrics.jsonl", true}, {"steps.jsonl", false},
	{"sessions.jsonl", true}, {"clock.json", true}, {"best.safetensors", false}, {"checkpoint.safetensors", true},
}

// Add makes a pretrained machine from a finished run. It evaluates the last checkpoint with the options
// in how. It writes a card, and copies of the files that are needed to read the run, into a new
// directory in folder. The card takes its name and texts from about. draw, which may be nil, returns the
// contents of further files by name. rivals, which may be nil, adds to the text of the evaluation.
func Add(ctx context.Context, run *runs.Run, about Card, how Evaluation, folder string, draw func() (map[string][]byte, error), rivals Rivals, progress func(string) func(float64)) (Card, error) {
	card := about
	for what, text := range map[string]string{"about": card.About, "strengths": card.Strengths, "weaknesses": card.Weaknesses, "licence": card.Licence} {
		if text == "" {
			return card, fmt.Errorf("the card lacks a text for %s", what)
		}
	}
	if err := checkName(card.Name); err != nil {
		return card, err
	}
	if _, is := published(card.Name); is {
		return card, fmt.Errorf("%s is the name of a published machine, and programs would refuse other files under it: choose another name", card.Name)
	}
	dir := filepath.Join(folder, card.Name)
	if !run.Finished() {
		return card, fmt.Errorf("the run in %s is not finished: a pretrained machine needs a finished run; resume it first", run.Dir())
	}
	if err := run.History().Err; err != nil {
		return card, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return card, fmt.Errorf("%s exists: choose another name, or remove it", dir)
	}
	set, err := run.Dataset()
	if err != nil {
		return card, err
	}
	if card.Evaluation, err = evaluate(ctx, run, how, rivals, progress); err != nil {
		return card, err
	}
	card.Data = fmt.Sprintf("%s, %v, %v binarisation", set.Spec().Name, set.Shape(), set.Spec().Binarization)
	card.Method, card.Epochs, card.Seconds = run.Experiment().String(), run.Epochs(), run.Last().Seconds
	card.EvaluatedBy, card.Evaluated = runs.Version(), time.Now().UTC().Truncate(time.Second)
	sessions, err := run.Provenance()
	if err != nil {
		return card, err
	}
	for _, s := range sessions {
		card.Processors = added(card.Processors, s.Hardware())
		card.Versions = added(card.Versions, s.Version)
	}
	files := map[string][]byte{}
	if draw != nil {
		drawn, err := draw()
		if err != nil {
			return card, err
		}
		maps.Copy(files, drawn)
	}
	for _, f := range kept {
		b, err := file.Read(filepath.Join(run.Dir(), f.name), mostFile)
		if errors.Is(err, os.ErrNotExist) && !f.needed {
			continue
		}
		if err != nil {
			return card, err
		}
		files[f.name] = b
	}
	if err := file.MkdirAll(dir); err != nil {
		return card, err
	}
	card.Files = map[string]string{}
	for name, b := range files {
		card.Files[name] = sum(b)
		if err := file.WriteAside(filepath.Join(dir, name), b); err != nil {
			return card, err
		}
	}
	text, err := json.MarshalIndent(card, "", "\t")
	if err != nil {
		return card, err
	}
	return card, file.WriteAside(filepath.Join(dir, cardFile), append(text, '\n'))
}

// added appends text to texts, unless texts already contain it.
func added(texts []string, text string) []string {
	if slices.Contains(texts, text) {
		return texts
	}
	return append(texts, text)
}
