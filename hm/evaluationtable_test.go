package hm

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// If the samples are many, a row of the table must have the same keys and values as the evaluation's JSON, except that
// sample sizes are an object there.
func TestTableOfEvaluations(t *testing.T) {
	t.Parallel()
	run := mustTrain(t, short(NRWS()).Epochs(1), patterns(t), t.TempDir())
	e, err := run.Evaluate(t.Context(), patterns(t).Test(), 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	kl := 0.25
	full := e.WithLogZ2(LogZ2{Value: -0.5, SE: 0.1})
	full.KLExact = &kl
	full.BaselineLogP, full.BaselineLogPSE, full.Diverged = new(-6.24), new(runs.Float(0.01)), new(false)
	full.Classification = &Classification{Error: 0.1, ErrorSE: 0.03, LogP: -0.4, LogPSE: runs.Float(math.NaN())}
	for _, e := range []Evaluation{e, full} {
		of, table := flat(t, e), numbers(cells(e.Table(), 0))
		delete(table, "sample_size")
		if diff := cmp.Diff(of, table); diff != "" {
			t.Errorf("(-JSON +table):\n%s", diff)
		}
	}
}

// One sample per row is fully effective, and rounding leaves the mean over rows at 1.
func TestEffectiveSampleSizeOfOneSample(t *testing.T) {
	if e := evaluationOf(slices.Repeat([]engine.Likelihood{{ESS: 1, ESSStar: 1}}, 9), dataset.Split{}, 1, 0); e.ESS != 1 || e.ESSStar != 1 {
		t.Errorf("the effective sample sizes are %v and %v", e.ESS, e.ESSStar)
	}
}

// A row of weight 3 counts as three rows in log p, in its effective samples and in how far log p moved.
func TestSampleSizesCountRowsByTheirWeights(t *testing.T) {
	one := engine.Likelihood{LogP: -3, LogPOfHalf: -5, ESS: 0.01, LogPTildeStar: -4, LogPTildeStarOfHalf: -4.5, ESSStar: 0.02}
	other := engine.Likelihood{LogP: -7, LogPOfHalf: -6, ESS: 0.5, LogPTildeStar: -8, LogPTildeStarOfHalf: -7.75, ESSStar: 0.25}
	weighted := evaluationOf([]engine.Likelihood{one, other}, dataset.Split{Values: dataset.Bytes(1, make([]uint8, 2)), Weights: []float64{3, 1}}, 100, 0)
	repeated := evaluationOf([]engine.Likelihood{one, one, one, other}, dataset.Split{Values: dataset.Bytes(1, make([]uint8, 4))}, 100, 0)
	near := cmp.Comparer(func(a, b runs.Float) bool { return math.Abs(float64(a-b)) < 1e-12 })
	if diff := cmp.Diff(repeated.SampleSizes, weighted.SampleSizes, near); diff != "" || weighted.LogP != -4 || weighted.SampleSizes[runs.LogP.Key].Moved != 1.25 {
		t.Errorf("log p = %v, and the sample sizes are (-rows +weights):\n%s", weighted.LogP, diff)
	}
}

// flat returns the non-null values of an evaluation's JSON by their paths.
func flat(t *testing.T, evaluation any) map[string]any {
	t.Helper()
	text, err := json.Marshal(evaluation)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	delete(object, "sample_size")
	for key, value := range object {
		switch value := value.(type) {
		case nil:
		case map[string]any:
			for _, of := range []string{"error", "error_se", "log_p"} {
				values[key+"."+of] = value[of]
			}
		default:
			values[key] = value
		}
	}
	return values
}

// numbers converts integers as JSON does.
func numbers(cells map[string]any) map[string]any {
	for key, cell := range cells {
		if n, ok := cell.(int64); ok {
			cells[key] = float64(n)
		}
	}
	return cells
}
