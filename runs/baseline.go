package runs

import (
	"cmp"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
)

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

// Shortfall says of the last epoch that it has not left the baseline behind, empty where it
// has, or where there is no baseline or no epoch.
func (h History) Shortfall() string {
	if h.Baseline == nil || len(h.Epochs) == 0 {
		return ""
	}
	value := lastOf(h.Epochs).judged(h.Objective())
	if h.Objective().Better(value, h.Baseline.Factorized.Value) {
		return ""
	}
	return fmt.Sprintf("%s %.4g has not left the baseline (%.4g) behind: train for more epochs, or at another learning rate", h.Objective().Name, value, h.Baseline.Factorized.Value)
}

// LastWarning is that of the last epoch, empty before the first.
func (h History) LastWarning() string { return h.Warning(lastOf(h.Epochs)) }
