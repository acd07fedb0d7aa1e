package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Evaluations describes how a model is evaluated.
type Evaluations struct {
	// Uses lists the fields of EvaluationOptions that have an effect, by the names of their flags:
	// samples, log-z2, log-z2-inner, parts, shard (Share), schedule, chains, raise, raise-chains.
	Uses []string
	// Named reports whether texts name the run and the checkpoint of each evaluation.
	Named    bool
	Evaluate func(ctx context.Context, o EvaluationOptions) (Evaluation, error)
}

// EvaluationOptions holds the data and the options of an evaluation. A zero option means the model's
// default, unless its comment gives 0 another meaning.
type EvaluationOptions struct {
	Set     *dataset.Set
	Rows    dataset.Split // rows of Set
	Samples int           // number of samples per row
	Seed    uint64        // seed of the random draws
	// LogZ2 is the number of outer samples for log Z², each with LogZ2Inner inner samples. If LogZ2
	// is 0, log Z² is not estimated.
	LogZ2, LogZ2Inner int
	// Parts is the directory that stores the parts of the evaluation; "" stores none. Share selects
	// the parts to compute. If other parts are missing, the error is an UnfinishedError.
	Parts string
	Share Shard
	// Schedule is the annealing schedule as text, and Chains the number of chains.
	Schedule string
	Chains   int
	// Raise is the number of rows that RAISE also evaluates, with RaiseChains chains per row; 0 omits
	// RAISE.
	Raise, RaiseChains int
	// Progress returns a function for a kind of work. That function is called with the fraction of
	// the work done. Progress may be nil.
	Progress func(work string) func(float64)
}

// ProgressOf returns the progress function for a kind of work, or nil.
func (o EvaluationOptions) ProgressOf(work string) func(float64) {
	if o.Progress == nil {
		return nil
	}
	return o.Progress(work)
}

// An Evaluation is the result of evaluating a model on rows. It also marshals to a JSON object.
type Evaluation interface {
	// String returns one line per estimate, each ending in a newline.
	String() string
	// Findings returns the results in the order of the table, whose columns have the keys of the JSON object.
	Findings() Findings
}

// OptionError is the error for an option that the evaluation does not use.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return e.Option + ": " + e.Reason }

// OverSeeds holds means of findings over seeds, in the order of Evaluation.Findings. Their standard errors are the standard
// deviations over seeds.
type OverSeeds Findings

// FindingsOver returns the spreads of findings over evaluations, one evaluation per seed. It omits findings that the
// first evaluation lacks. Without evaluations, it returns nil.
func FindingsOver(each []Evaluation) (over OverSeeds) {
	if len(each) == 0 {
		return nil
	}
	for _, f := range each[0].Findings() {
		if f.Seeds == "" || f.Value == nil {
			continue
		}
		s := SpreadOf(each, func(e Evaluation) float64 {
			for _, other := range e.Findings() {
				if other.Seeds == f.Seeds && other.Value != nil {
					if weakest := other.SampleSize; weakest.Few() && !(weakest.Effective > f.SampleSize.Effective) {
						f.SampleSize = weakest
					}
					value, _ := floating(other.Value)
					return value
				}
			}
			return math.NaN()
		})
		f.Value, f.SE, f.Remark, f.Bare, f.Column.Decimals = nil, s.SD, "", false, 0
		if !math.IsNaN(s.Mean) {
			f.Value = s.Mean
		}
		if f.Untold {
			f.Text = ""
		}
		over = append(over, f)
	}
	return over
}

// MarshalJSON writes an object of spreads by key, with null for findings that were not computed.
func (o OverSeeds) MarshalJSON() ([]byte, error) {
	of := map[string]*Spread{}
	for _, f := range o {
		of[f.Seeds] = nil
		if mean, there := f.Value.(float64); there {
			of[f.Seeds] = &Spread{mean, f.SE.(float64)}
		}
	}
	return json.Marshal(of)
}

// String returns one line for each mean that is not Untold.
func (o OverSeeds) String() string { return Findings(o).String() }

// Evaluation returns how a model of the run is evaluated: by itself if the model is an Evaluator, and by estimates of all
// measures if it is only an Estimator. Evaluation refuses a model that is neither.
func (r *Run) Evaluation(model any) (Evaluations, error) {
	if m, is := model.(Evaluator); is {
		return m.Evaluations(), nil
	}
	m, is := model.(Estimator)
	if !is {
		return Evaluations{}, r.Lacks("has no estimates")
	}
	measures, count, uses := r.Experiment().Measures(), func(n int) string { return names.Count(n, "sample") + " a row" }, []string{"samples"}
	if of, is := model.(SampleCounter); is {
		count = of.CountSamples
	}
	annealer, anneals := model.(interface {
		Along(string) (Estimator, error)
	})
	switch {
	case count(1) == "":
		uses = nil
	case anneals:
		uses = append(uses, "schedule")
	}
	return Evaluations{Uses: uses, Named: true, Evaluate: func(ctx context.Context, o EvaluationOptions) (Evaluation, error) {
		start, samples, m := time.Now(), cmp.Or(o.Samples, 1000), m
		if o.Schedule != "" && anneals {
			var err error
			if m, err = annealer.Along(o.Schedule); err != nil {
				return nil, err
			}
		}
		of, err := m.Estimate(ctx, o.Rows, samples, o.Seed, o.ProgressOf("evaluating"))
		seconds := time.Since(start).Seconds()
		about := names.Count(o.Rows.Rows, o.Rows.Name+" row")
		if drawn := count(samples); drawn != "" {
			if o.Schedule != "" {
				drawn += ", schedule " + o.Schedule
			}
			about = fmt.Sprintf("%s, %s, draws of seed %d", drawn, about, o.Seed)
		} else {
			samples = 0
		}
		return estimated{append(findingsOf(of, measures),
			Finding{Column: Column{Key: "split"}, Value: o.Rows.Name}, Finding{Column: Column{Key: "samples", Kind: Integer}, Value: samples},
			Finding{Column: Column{Key: "data", Kind: Integer}, Value: o.Rows.Rows}, Finding{Column: Column{Key: "draw_seed", Label: "seed of draws", Kind: Integer}, Value: o.Seed},
			Finding{Column: Column{Key: "seconds", Unit: "s", Kind: Number, Decimals: 1}, Value: seconds}), fmt.Sprintf("%s, %.1f s", about, seconds)}, err
	}}, nil
}

// estimated is the evaluation of a model that is only an Estimator.
type estimated struct {
	findings Findings
	about    string // the samples, the rows and the time
}

func (e estimated) Findings() Findings           { return e.findings }
func (e estimated) MarshalJSON() ([]byte, error) { return json.Marshal(e.findings) }
func (e estimated) String() string               { return fmt.Sprintf("%v%s\n", e.findings, e.about) }

// findingsOf returns the estimates of measures in their order, followed by any other estimates.
func findingsOf(of Estimates, measures []Measure) (all Findings) {
	measures, by := slices.Clone(measures), SampleSizes{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if !slices.ContainsFunc(measures, func(m Measure) bool { return m.Key == key }) {
			measures = append(measures, Measure{Key: key, Name: key})
		}
	}
	for _, m := range measures {
		if x, is := of[m.Key]; is {
			f := Finding{Measure: m, Column: Column{Decimals: m.decimals()}, Value: x.Value, SE: x.SE, Text: cmp.Or(m.Name, m.Key), Seeds: m.Key}
			if math.IsNaN(x.Value) {
				f.Value = nil
			}
			all = append(all, f)
			if x.SampleSize.Count > 0 {
				by[m.Key] = x.SampleSize
			}
		}
	}
	if len(by) > 0 {
		return append(by.Describe(all), by.Finding())
	}
	return all
}
