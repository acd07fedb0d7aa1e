package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Epoch is what training recorded of one epoch.
type Epoch struct {
	Epoch        int     // 1 is the first
	Step         int     // steps since the start of training
	Seconds      float64 // wall-clock time that the steps of training have taken, evaluation and checkpoints not
	LearningRate float64
	Train        Measures // mean over the epoch's minibatches
	Validation   Measures // after the epoch, on the rows held out; nil where there are none
	// Measured is what the experiment asked to be measured after the epoch, by
	// name, of letters, digits, _ and -; nil where it asked for nothing.
	Measured map[string]Measures
	// Norms are those of the layers after the epoch, and of the gradients of its
	// last minibatch; nil where they were not recorded.
	Norms Norms
}

// Norms are Euclidean norms of the layers of a model's networks, by name of the
// network, from the data upwards.
type Norms map[string][]LayerNorms

// LayerNorms are those of one layer, biases left out.
type LayerNorms struct {
	Weights   float64 `json:"weights"`   // after the step
	Gradient  float64 `json:"gradient"`  // of the step, before a metric
	Direction float64 `json:"direction"` // what the optimiser was given
}

// History is the record of one run of training.
type History struct {
	Name string // names the run in a legend
	// Measures are those of the epochs, the objective first; none stand for the
	// log-likelihood.
	Measures []Measure
	Epochs   []Epoch
	// Err says why there are no epochs where training recorded some: their file is
	// damaged.
	Err error
	// Baseline is that of the objective, nil where it is not known.
	Baseline *Baseline
}

// String is the history's table as people read it, without norms.
func (h History) String() string {
	if h.Err != nil {
		return h.Err.Error()
	}
	return h.WithoutNorms().Table().String()
}

// WithoutNorms returns the history without the norms of layers.
func (h History) WithoutNorms() History {
	h.Epochs = slices.Clone(h.Epochs)
	for i := range h.Epochs {
		h.Epochs[i].Norms = nil
	}
	return h
}

// Objective is the measure that training improves.
func (h History) Objective() Measure {
	if len(h.Measures) > 0 {
		return h.Measures[0]
	}
	return LogP
}

// LogP is the log-likelihood log p(x), the objective of most families.
var LogP = Measure{Key: "log_p", Name: "log p", Label: "log p(x)", Unit: "nats", Rises: true}

// Table has a row an epoch. Its columns have the keys of metrics.jsonl: epoch, step,
// seconds, learning_rate, measures of training and of validation such as
// train.log_p, what the experiment asked to be measured, by name, such as
// test.log_p, and norms such as norms.generative.0.weights. Beside them are the base
// line of the objective with its standard error, such as baseline_log_p, and a
// remark, which is "diverged" where an epoch is far from it. Columns that no epoch has
// are left out.
func (h History) Table() *Table { return historyTable(h.Name, false, h) }

// HistoriesTable has the rows of the tables of histories below each other, and a
// column before the others, run, with the names of the histories.
func HistoriesTable(histories ...History) *Table { return historyTable("", true, histories...) }

func historyTable(title string, named bool, histories ...History) *Table {
	columns := historyColumns(histories)
	if named {
		columns = slices.Insert(columns, 0, Column{Key: "run"})
	}
	t := NewTable("history", title, columns...)
	for _, h := range histories {
		for _, e := range h.Epochs {
			values := map[string]any{"run": h.Name}
			h.eachField(e, func(key string, value any) { values[key] = value })
			row := make([]any, len(columns))
			for i, c := range columns {
				row[i] = values[c.Key]
			}
			t.Add(row...)
		}
	}
	return t
}

// historyColumns are those of all fields of the epochs, in the order of a line of
// metrics.
func historyColumns(histories []History) []Column {
	columns := []Column{
		{Key: "epoch", Kind: Integer},
		{Key: "step", Kind: Integer},
		{Key: "seconds", Unit: "s", Kind: Number, Decimals: 1},
		{Key: "learning_rate", Label: "learning rate", Kind: Number},
	}
	seen := map[string]bool{}
	for _, c := range columns {
		seen[c.Key] = true
	}
	for _, h := range histories {
		for _, e := range h.Epochs {
			h.eachField(e, func(key string, _ any) {
				if !seen[key] {
					seen[key] = true
					columns = append(columns, h.column(key))
				}
			})
		}
	}
	slices.SortStableFunc(columns, func(a, b Column) int { return cmp.Compare(place(a.Key), place(b.Key)) })
	return columns
}

// The keys of columns that are no fields of a line of metrics: they have no dot.
const (
	baselinePrefix = "baseline_"
	remarkKey      = "remark"
)

func isBaseline(key string) bool {
	return strings.HasPrefix(key, baselinePrefix) && !strings.Contains(key, ".")
}

// eachField calls field with those of the epoch's line, the baseline and a remark.
func (h History) eachField(e Epoch, field func(key string, value any)) {
	e.eachField(field)
	if h.Baseline == nil {
		return
	}
	key := baselinePrefix + h.Objective().Key
	field(key, h.Baseline.Factorized.Value)
	field(key+StandardErrorKey, h.Baseline.Factorized.SE)
	if h.Warning(e) != "" {
		field(remarkKey, "diverged")
	}
}

// column is that of a measure, a norm or one beside them.
func (h History) column(key string) Column {
	switch {
	case key == remarkKey:
		return Column{Key: key}
	case isBaseline(key):
		return measureColumn([]Measure{h.Objective()}, key, strings.TrimPrefix(key, baselinePrefix), h.Baseline.Label())
	case strings.HasPrefix(key, normsPrefix):
		return Column{Key: key, Kind: Number, Decimals: 3}
	}
	rows, of, _ := strings.Cut(key, ".")
	if rows == "train" {
		rows = "training"
	}
	return measureColumn(h.Measures, key, of, rows)
}

// place says where in a line of metrics a field stands among those of other epochs.
func place(key string) int {
	switch {
	case key == remarkKey:
		return 6
	case isBaseline(key):
		return 3
	case !strings.Contains(key, "."):
		return 0
	case strings.HasPrefix(key, trainPrefix):
		return 1
	case strings.HasPrefix(key, validationPrefix):
		return 2
	case strings.HasPrefix(key, normsPrefix):
		return 5
	}
	return 4
}

// Baseline is what the objective comes to under a far simpler model, which training should
// leave behind.
type Baseline struct {
	Rows string `json:"rows"` // the split that it is over: validation, or train where there is none
	// Model names the simpler model, such as class frequencies; empty stands for a factorised one,
	// of each visible unit by itself, with the means of the training rows.
	Model      string   `json:"model,omitempty"`
	Factorized Estimate `json:"factorised"` // the objective under the model
	Limit      float64  `json:"limit"`      // a worse objective is that of training that has diverged, though it may stay finite
	// LimitOf is the key of the measure that the limit is of, empty where that is the objective.
	LimitOf string `json:"limit_of,omitempty"`
}

// Label names the baseline in tables and figures.
func (b *Baseline) Label() string { return "baseline (" + cmp.Or(b.Model, "factorised") + ")" }

// model names the model in a sentence.
func (b *Baseline) model() string { return cmp.Or(b.Model, "a factorised model") }

// A Baseliner is an Experiment with a baseline of its objective.
type Baseliner interface {
	Experiment
	// Baseline is the baseline over rows, of models of the training rows of set. Its
	// limit is finite. One that names no rows says that there is none.
	Baseline(set *dataset.Set, rows dataset.Split) Baseline
}

// baseline is that of an experiment over the rows that epochs are judged by; nil
// where its family has none.
func baseline(e Experiment, set *dataset.Set) *Baseline {
	of, ok := e.(Baseliner)
	if !ok {
		return nil
	}
	rows := set.Validation()
	if rows.Rows == 0 {
		rows = set.Train()
	}
	line := of.Baseline(set, rows)
	if line.Rows == "" {
		return nil
	}
	return &line
}

// Far says whether a value of an objective is beyond the limit of the baseline. It
// is false where there is no baseline.
func (b *Baseline) Far(objective Measure, value float64) bool {
	return b != nil && objective.Better(b.Limit, value)
}

// Warning says of a value of an objective that it is far from the baseline, and
// what to do; it is empty where it is not.
func (b *Baseline) Warning(objective Measure, value float64) string {
	if !b.Far(objective, value) {
		return ""
	}
	return fmt.Sprintf("%s %.4g is far worse than that of %s (%.4g): training has diverged, or hardly begun; lower the learning rate, raise the damping where there is one, or train for longer",
		objective.Name, value, b.model(), b.Factorized.Value)
}

// Warning is that of an epoch of the history: of its validation, or of training
// where there is none.
func (h History) Warning(e Epoch) string {
	limited := h.limited()
	return h.Baseline.Warning(limited, e.judged(limited))
}

// limited is the measure that the limit of the baseline is of.
func (h History) limited() Measure {
	for _, m := range h.Measures {
		if h.Baseline != nil && m.Key == h.Baseline.LimitOf {
			return m
		}
	}
	return h.Objective()
}

// judged is the value of a measure that an epoch is judged by: of validation, or of training
// where there is none.
func (e Epoch) judged(by Measure) float64 {
	if value, ok := e.Validation[by.Key]; ok {
		return value
	}
	return e.Train.Of(by)
}

// Shortfall returns a warning that an epoch is no better than the baseline, or "" if it is better, or
// if there is no baseline or no such epoch.
func (h History) Shortfall(e Epoch) string {
	if h.Baseline == nil || e.Epoch == 0 {
		return ""
	}
	value := e.judged(h.Objective())
	if h.Objective().Better(value, h.Baseline.Factorized.Value) {
		return ""
	}
	return fmt.Sprintf("%s %.4g has not left the baseline (%.4g) behind: train for more epochs, or at another learning rate", h.Objective().Name, value, h.Baseline.Factorized.Value)
}

// LastWarning is that of the last epoch, empty before the first.
func (h History) LastWarning() string { return h.Warning(lastOf(h.Epochs)) }
