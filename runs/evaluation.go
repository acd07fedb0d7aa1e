package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Evaluations says how a model is evaluated.
type Evaluations struct {
	// Uses lists the options of EvaluationOptions, by the names of flags, that are not in vain: of
	// samples, log-z2, log-z2-inner, parts, shard, schedule, chains, raise and raise-chains.
	Uses []string
	// Named says that texts name the run and the checkpoint of each evaluation.
	Named bool
	// Parts returns the number of parts in which the evaluation of rows is kept; nil of a model that is
	// not evaluated in parts.
	Parts    func(rows, samples int) int
	Evaluate func(ctx context.Context, o EvaluationOptions) (Evaluation, error)
}

// EvaluationOptions say on what and how a model is evaluated. An option that is zero has the value
// that the model usually has, but for the numbers that leave something out.
type EvaluationOptions struct {
	Set     *dataset.Set
	Rows    dataset.Split // of the set
	Samples int           // a row
	Seed    uint64        // of draws
	// LogZ2 is the number of outer samples for log Z², each with LogZ2Inner; 0 leaves it out.
	LogZ2, LogZ2Inner int
	// Parts is the directory that keeps parts, empty for none. Share says which of them are done: if
	// others are left, the error is an UnfinishedError.
	Parts string
	Share Shard
	// Schedule is the text of a schedule of annealing, and Chains the number of its chains.
	Schedule string
	Chains   int
	// Raise is the number of rows evaluated by RAISE, too, by RaiseChains each; 0 leaves it out.
	Raise, RaiseChains int
	// Progress returns what is called with the fraction of a kind of work that is done; it may be nil.
	Progress func(work string) func(float64)
}

// ProgressOf returns what is called with the fraction of a kind of work that is done, or nil.
func (o EvaluationOptions) ProgressOf(work string) func(float64) {
	if o.Progress == nil {
		return nil
	}
	return o.Progress(work)
}

// An Evaluation is what there is to say of a model on rows. JSON has it, too, as an object.
type Evaluation interface {
	// String has a line for each estimate, and ends a line.
	String() string
	// Table has one row, whose columns have the keys of the JSON.
	Table() *Table
	// Quantities lists what has a mean over seeds.
	Quantities() []Quantity
}

// Quantity is a number of an evaluation that has a mean over seeds.
type Quantity struct {
	Key   string
	Value float64 // NaN if it was not computed
	// Name and Unit are of the line of a text, and Scale is what the value is multiplied by there; 0
	// stands for 1. Texts leave out what has no name.
	Name, Unit string
	Scale      float64
}

// OptionError is the error of an evaluation that has no use for an option.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return e.Option + ": " + e.Reason }

// OverSeeds are the spreads of quantities over seeds, in their order.
type OverSeeds []struct {
	Quantity
	Spread
}

// QuantitiesOver returns the spreads of the quantities of evaluations, one a seed. A quantity that the
// first evaluation lacks is left out.
func QuantitiesOver(each []Evaluation) (over OverSeeds) {
	for _, q := range each[0].Quantities() {
		over = append(over, struct {
			Quantity
			Spread
		}{q, SpreadOf(each, func(e Evaluation) float64 {
			of := e.Quantities()
			if i := slices.IndexFunc(of, func(other Quantity) bool { return other.Key == q.Key }); i >= 0 {
				return of[i].Value
			}
			return math.NaN()
		})})
	}
	return over
}

// MarshalJSON writes an object of spreads by their keys, null for what was not computed.
func (o OverSeeds) MarshalJSON() ([]byte, error) {
	of := map[string]*Spread{}
	for _, q := range o {
		of[q.Key] = nil
		if !math.IsNaN(q.Mean) {
			of[q.Key] = &q.Spread
		}
	}
	return json.Marshal(of)
}

// String is a line for each spread that has a name.
func (o OverSeeds) String() string {
	var b strings.Builder
	for _, q := range o {
		if scale := cmp.Or(q.Scale, 1); q.Name != "" && !math.IsNaN(q.Mean) {
			b.WriteString(Spread{scale * q.Mean, scale * q.SD}.Line(q.Name, q.Unit))
		}
	}
	return b.String()
}

// EvaluatorOf returns how a model of a run is evaluated: as an Evaluator says, or else by the measures
// of an Estimator. It refuses a model that is neither.
func EvaluatorOf(r *Run, model any) (Evaluations, error) {
	if m, is := model.(Evaluator); is {
		return m.Evaluations(), nil
	}
	m, is := model.(Estimator)
	if !is {
		return Evaluations{}, Lacks(r, "has no estimates")
	}
	measures := r.Experiment().Measures()
	return Evaluations{Uses: []string{"samples"}, Named: true, Evaluate: func(ctx context.Context, o EvaluationOptions) (Evaluation, error) {
		start := time.Now()
		e := estimated{Measures: measures, Split: o.Rows.Name, Samples: cmp.Or(o.Samples, 1000), Data: o.Rows.Rows, DrawSeed: o.Seed}
		var err error
		e.Estimates, err = m.Estimate(ctx, o.Rows, e.Samples, o.Seed, o.ProgressOf("evaluating"))
		e.Seconds = time.Since(start).Seconds()
		return e, err
	}}, nil
}

// estimated is the evaluation by an Estimator.
type estimated struct {
	Estimates
	Measures      []Measure // of the experiment
	Split         string
	Samples, Data int
	DrawSeed      uint64
	Seconds       float64
}

// estimatedMeasures are those with an estimate, in the order of the experiment, with others behind them.
func (e estimated) estimatedMeasures() []Measure {
	all := slices.DeleteFunc(slices.Clone(e.Measures), func(m Measure) bool {
		_, is := e.Estimates[m.Key]
		return !is
	})
	for _, key := range slices.Sorted(maps.Keys(e.Estimates)) {
		if !slices.ContainsFunc(all, func(m Measure) bool { return m.Key == key }) {
			all = append(all, Measure{Key: key, Name: key})
		}
	}
	return all
}

// findings lists the estimates, and what they are of.
func (e estimated) findings() (all Findings) {
	for _, m := range e.estimatedMeasures() {
		of := e.Estimates[m.Key]
		all = append(all, Finding{Measure: m, Column: Column{Decimals: m.decimals()}, Value: of.Value, SE: of.SE, Text: cmp.Or(m.Name, m.Key), Seeds: m.Key})
	}
	return append(all, Finding{Column: Column{Key: "split"}, Value: e.Split}, Finding{Column: Column{Key: "samples", Kind: Integer}, Value: e.Samples},
		Finding{Column: Column{Key: "data", Kind: Integer}, Value: e.Data}, Finding{Column: Column{Key: "draw_seed", Label: "seed of draws", Kind: Integer}, Value: e.DrawSeed},
		Finding{Column: Column{Key: "seconds", Unit: "s", Kind: Number, Decimals: 1}, Value: e.Seconds})
}

// String implements Evaluation.
func (e estimated) String() string {
	return fmt.Sprintf("%v%d samples a row, %s, draws of seed %d, %.1f s\n", e.findings(), e.Samples, names.Count(e.Data, e.Split+" row"), e.DrawSeed, e.Seconds)
}

// Table implements Evaluation.
func (e estimated) Table() *Table { return e.findings().Table() }

// MarshalJSON writes the only row of the table as an object.
func (e estimated) MarshalJSON() ([]byte, error) { return e.findings().MarshalJSON() }

// Quantities implements Evaluation.
func (e estimated) Quantities() []Quantity { return e.findings().Quantities() }
