package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Epoch holds what training recorded for one epoch.
type Epoch struct {
	Epoch        int     // counted from 1
	Step         int     // steps since the start of training
	Seconds      float64 // wall-clock time of the training steps, without evaluation and checkpoints
	LearningRate float64
	Train        Measures // mean over the epoch's minibatches
	Validation   Measures // after the epoch, on the validation rows; nil if there are none
	// Measured holds the measurements that the experiment asked for after the epoch, by name
	// (letters, digits, _ and -); nil if it asked for none.
	Measured map[string]Measures
	// Norms are the norms of the layers after the epoch and of the gradients of its last minibatch;
	// nil if they were not recorded.
	Norms Norms
}

// Norms holds the Euclidean norms of the layers of each network of a model, by name of the network. The
// layers begin at the data.
type Norms map[string][]LayerNorms

// LayerNorms are the norms of one layer, without biases.
type LayerNorms struct {
	Weights   float64 `json:"weights"`   // norm of the weights after the step
	Gradient  float64 `json:"gradient"`  // norm of the gradient before a metric is applied
	Direction float64 `json:"direction"` // norm of the direction that the optimiser receives
}

// History is the record of one training run.
type History struct {
	Name string // the run's name in a legend
	// Measures describes the measures of the epochs, the objective first. If it is empty, the
	// objective is the log-likelihood.
	Measures []Measure
	Epochs   []Epoch
	// Err is set if the recorded epochs cannot be read because their file is damaged.
	Err error
	// Baseline is the baseline of the objective, or nil if it is unknown.
	Baseline *Baseline
}

// String returns the history's table as text, without norms, or the text of Err if it is set.
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

// Objective returns the measure that training improves.
func (h History) Objective() Measure {
	if len(h.Measures) > 0 {
		return h.Measures[0]
	}
	return LogP
}

// LogP is the log-likelihood log p(x), the objective of most families.
var LogP = Measure{Key: "log_p", Name: "log p", Label: "log p(x)", Unit: "nats", Rises: true}

// Measures that several families share.
var (
	ESS              = Measure{Key: "ess", Name: "ESS", Label: "effective sample size", Rises: true, Fraction: true}
	FreeEnergy       = Measure{Key: "free_energy", Name: "free energy", Label: "free energy F(x)", Unit: "nats"}
	LogZ             = Measure{Key: "log_z", Name: "log Z", Label: "log Z", Unit: "nats"}
	PseudoLikelihood = Measure{Key: "pseudo_likelihood", Name: "log PL", Label: "log-pseudo-likelihood", Unit: "nats", Rises: true}
	// Rise is for epochs of several iterations on all rows.
	Rise  = Measure{Key: "rise", Name: "rise", Label: "rise of log p in the second half of the epoch", Unit: "nats"}
	Score = Measure{Key: "score", Name: "score", Label: "Hyvärinen score"} // (Hyvärinen 2005)
)

// Table returns a table with one row per epoch. Its columns have the keys of metrics.jsonl: epoch,
// step, seconds, learning_rate, measures of training and validation such as train.log_p, named
// measurements such as test.log_p, and norms such as norms.generative.0.weights. Further columns hold
// the baseline of the objective with its standard error, such as baseline_log_p, and a remark, which is
// "diverged" if the epoch is far worse than the baseline. Columns without any value are omitted. With more
// histories, whose rows follow, the first column, run, holds the name of each row's history.
func (h History) Table(more ...History) *Table {
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
	var rows []map[string]any
	for _, h := range slices.Concat([]History{h}, more) {
		for _, e := range h.Epochs {
			row := map[string]any{"run": h.Name}
			h.eachField(e, func(key string, value any) {
				if row[key] = value; !seen[key] {
					seen[key] = true
					columns = append(columns, h.column(key))
				}
			})
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(columns, func(a, b Column) int { return cmp.Compare(place(a.Key), place(b.Key)) })
	title := h.Name
	if len(more) > 0 {
		title, columns = "", slices.Insert(columns, 0, Column{Key: "run"})
	}
	var fields []field[map[string]any]
	for _, c := range columns {
		fields = append(fields, field[map[string]any]{c, func(row map[string]any) any { return row[c.Key] }})
	}
	return tableOf("history", title, fields, rows...)
}

// Keys of the columns that are not fields of a line of metrics.jsonl. They have no dot.
const (
	baselinePrefix = "baseline_"
	remarkKey      = "remark"
)

func isBaseline(key string) bool {
	return strings.HasPrefix(key, baselinePrefix) && !strings.Contains(key, ".")
}

// eachField calls field with the fields of the epoch's line, the baseline and the remark.
func (h History) eachField(e Epoch, field func(key string, value any)) {
	e.eachField(field)
	if h.Baseline == nil {
		return
	}
	key := baselinePrefix + h.Objective().Key
	field(key, h.Baseline.Factorized.Value)
	field(key+StandardErrorKey, h.Baseline.Factorized.SE)
	if remark := remarkOn(h.Warning(e)); remark != nil {
		field(remarkKey, remark)
	}
}

// remarkOn returns the remark of tables on a warning, or nil if there is none.
func remarkOn(warning string) any {
	if warning == "" {
		return nil
	}
	return "diverged"
}

// column returns the column of a measure, a norm, the baseline or the remark.
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

// place returns a rank by which fields are sorted into the order of a line of metrics.jsonl.
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

// Baseline is the value of the objective under a much simpler model, which training should surpass.
type Baseline struct {
	Rows string `json:"rows"` // the split that it is computed on: validation, or train if there are no validation rows
	// Model names the simpler model, such as class frequencies. Empty means a factorised model,
	// which treats each visible unit independently with its mean over the training rows.
	Model      string   `json:"model,omitempty"`
	Factorized Estimate `json:"factorised"` // the objective under the model
	Limit      float64  `json:"limit"`      // a worse value means that training has diverged, even if it is finite
	// LimitOf is the key of the measure that Limit applies to; "" means the objective.
	LimitOf string `json:"limit_of,omitempty"`
}

// Label returns the name of the baseline in tables and figures, or "" if b is nil.
func (b *Baseline) Label() string {
	if b == nil {
		return ""
	}
	return "baseline (" + cmp.Or(b.Model, "factorised") + ")"
}

func (b *Baseline) model() string { return cmp.Or(b.Model, "a factorised model") }

// baseline returns the experiment's baseline on the validation rows, or on the training rows if there
// are no validation rows. It returns nil if the experiment has no baseline.
func baseline(e Experiment, set *dataset.Set) *Baseline {
	rows := set.Validation()
	if rows.Rows == 0 {
		rows = set.Train()
	}
	line := e.Baseline(set, rows)
	if line.Rows == "" {
		return nil
	}
	return &line
}

// Far reports whether a value of the measure that the baseline limits is worse than the limit. It returns
// false if b is nil.
func (b *Baseline) Far(limited Measure, value float64) bool {
	return b != nil && limited.Better(b.Limit, value)
}

// Warning returns the divergence warning for an epoch, with a remedy, or "" if there is none. It compares
// the measure that the baseline limits, on the validation rows or, if there are none, in training.
func (h History) Warning(e Epoch) string {
	limited := h.limited()
	value := e.judged(limited)
	if !h.Baseline.Far(limited, value) {
		return ""
	}
	return fmt.Sprintf("%s %.4g is far worse than %s reaches (%.4g): training has diverged, or has hardly begun; lower the learning rate, raise the damping if there is one, or train longer",
		limited.Name, value, h.Baseline.model(), h.Baseline.Factorized.Value)
}

// limited returns the measure that the baseline's limit applies to.
func (h History) limited() Measure {
	for _, m := range h.Measures {
		if h.Baseline != nil && m.Key == h.Baseline.LimitOf {
			return m
		}
	}
	return h.Objective()
}

// judged returns the value of a measure on the validation rows or, if there is none, its training value.
func (e Epoch) judged(by Measure) float64 {
	if value, ok := e.Validation[by.Key]; ok {
		return value
	}
	return e.Train.Of(by)
}

// tolerance is the largest Rise of training that has converged.
const tolerance = 1e-6

// Unconverged returns a warning that log p still rises at an epoch, or "" if it does not or if the family does not
// measure Rise.
func (h History) Unconverged(e Epoch) string {
	if !(e.Train[Rise.Key] > tolerance) {
		return ""
	}
	return fmt.Sprintf("not converged: in the second half of epoch %d, log p rose by %.2g nats, more than %g: train for more epochs", e.Epoch, e.Train[Rise.Key], tolerance)
}

// Shortfall returns a warning that training has not converged by an epoch, or that the epoch is no better than the
// baseline. It returns "" if neither applies, or if there is no such epoch.
func (h History) Shortfall(e Epoch) string {
	if text := h.Unconverged(e); text != "" || h.Baseline == nil || e.Epoch == 0 {
		return text
	}
	value := e.judged(h.Objective())
	if h.Objective().Better(value, h.Baseline.Factorized.Value) {
		return ""
	}
	remedy := "train for more epochs, at another learning rate, or as helmholtz new suggests for these data"
	if e.LearningRate == 0 { // the family has none
		remedy = "use a larger model or another family"
	}
	return fmt.Sprintf("%s %.4g is no better than the baseline (%.4g): %s", h.Objective().Name, value, h.Baseline.Factorized.Value, remedy)
}

// LastWarning returns the warning for the last epoch, or "" before the first.
func (h History) LastWarning() string { return h.Warning(lastOf(h.Epochs)) }
