package hm

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/runs"
)

// cells returns the values of a row of a table by the keys of its columns, without missing values.
func cells(t *runs.Table, row int) map[string]any {
	of := map[string]any{}
	for i, c := range t.Columns() {
		if cell := t.Rows()[row][i]; cell != nil {
			of[c.Key] = cell
		}
	}
	return of
}

// The table of three seeds of one method and one run of another must contain the numbers of the
// comparison.
func TestTableOfAComparison(t *testing.T) {
	t.Parallel()
	set, several, one := patterns(t), t.TempDir(), t.TempDir()
	mustTrainSeeds(t, short(RWS()), several)
	mustTrain(t, short(NRWS()).Epochs(4).LearningRate(0.03), set, one)
	c := mustCompare(t, several, one)
	place := func(key string) int {
		return slices.IndexFunc(c.Table().Columns(), func(column runs.Column) bool { return column.Key == key })
	}
	if at := place("evaluation.log_p"); at >= 0 {
		t.Errorf("without an evaluation there is the column %d of it", at)
	}
	c, err := c.EvaluateCheckpoint(t.Context(), "last", set.Test(), 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Results come before settings.
	if settings := place("settings.epochs"); place("evaluation.log_p") > settings || place("validation.log_p") > settings || place("seeds") < settings {
		t.Errorf("the columns are %+v", c.Table().Columns())
	}
	if text := c.String(); strings.Index(text, "log p, validation") > strings.Index(text, "method.preset") {
		t.Errorf("settings come before what they reached:\n%s", text)
	}
	for i, e := range c.Experiments {
		want := map[string]any{
			"directory": e.Dir, "method": e.Method, "seeds": int64(len(e.Seeds)), "finished": true,
			"settings.epochs": []int64{6, 4}[i], "settings.method.learning_rate": []float64{0.05, 0.03}[i],
			"settings.method.preset": e.Settings["method.preset"], "settings.method.metric": e.Settings["method.metric"],
			"evaluation.split": "test", "evaluation.checkpoint": "last", "evaluation.samples": int64(100),
			"baseline.log_p": e.Baseline.Factorized.Value, "baseline.log_p_se": e.Baseline.Factorized.SE, "diverged": int64(0),
		}
		spread := func(key string, s runs.Spread) {
			want[key], want[key+"_sd"] = s.Mean, s.SD
			if math.IsNaN(s.SD) {
				delete(want, key+"_sd")
			}
		}
		spread("epochs", e.Epochs)
		spread("seconds", e.Seconds)
		spread("train.log_p", e.Train)
		spread("validation.log_p", e.Validation)
		spread("best_validation.log_p", e.Best)
		spread("best_epoch", e.BestEpoch)
		if i == 1 {
			want["evaluation.difference"] = e.Evaluation["log_p"].Mean - c.Experiments[0].Evaluation["log_p"].Mean
		}
		for key, s := range e.Evaluation {
			spread("evaluation."+key, s)
			if i == 1 {
				want["evaluation."+key+"_se"] = e.Evaluations[0][key].SE
			}
		}
		if diff := cmp.Diff(want, cells(c.Table(), i)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Dir, diff)
		}
	}
}
