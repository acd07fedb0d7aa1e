package runs_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// lined is a mixture with a base line: its first centre, on the rows.
type lined struct{ mixture }

func (l lined) With(h runs.Header) runs.Experiment { return lined{l.mixture.With(h).(mixture)} }

func (l lined) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	values := rowsOf(set.Train())
	one := parameters{weights: []float64{1}, means: values[0], variance: 1}
	_, logP, _ := one.expect(rowsOf(rows))
	return runs.Baseline{Rows: rows.Name, Factorised: runs.Estimate{Value: logP, SE: math.NaN()}, Limit: logP - 1}
}

// The base line is that over the rows that epochs are judged by; recorders hear it
// and the run keeps it, whether training was resumed or not.
func TestBaselineIsRecorded(t *testing.T) {
	t.Parallel()
	held := overlapping(t)
	all := greys(t, groups(40, 0.15, []float64{0.3, 0.4, 0.6, 0.5}), 0)
	for rows, set := range map[string]*dataset.Set{"validation": held, "train": all} {
		e, dir := lined{brief(set)}, t.TempDir()
		trainUntil(t, e, set, dir, atStep(2))
		w := &watcher{}
		run := mustTrain(t, e, set, dir, w)
		split := map[string]dataset.Split{"validation": set.Validation(), "train": set.Train()}[rows]
		want := e.Baseline(set, split)
		for _, got := range []*runs.Baseline{w.plans[0].History.Baseline, run.History().Baseline} {
			if diff := cmp.Diff(&want, got, cmpopts.EquateNaNs()); diff != "" || got.Rows != rows {
				t.Errorf("base line over the %s rows (-want +got):\n%s", rows, diff)
			}
		}
	}
}

func TestFamiliesMayHaveNoBaseline(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	h := mustTrain(t, brief(set), set, t.TempDir()).History()
	if h.Baseline != nil || h.LastWarning() != "" || h.Baseline.Far(runs.LogP, -1e300) {
		t.Errorf("a family without a base line has %+v and warns %q", h.Baseline, h.LastWarning())
	}
}

// Far is what is worse than the limit, for measures that rise and that fall.
func TestFarFromTheBaseline(t *testing.T) {
	for objective, limit := range map[runs.Measure]float64{runs.LogP: -1629, loss: 1629} {
		b := &runs.Baseline{Limit: limit}
		if b.Far(objective, limit) || b.Far(objective, limit/2) || !b.Far(objective, 1.01*limit) || !b.Far(objective, 1e9*limit) {
			t.Errorf("%s: far does not begin at the limit", objective.Name)
		}
	}
}

// An epoch is judged by its validation, where it has one.
func TestWarnings(t *testing.T) {
	h := runs.History{Baseline: &runs.Baseline{Factorised: runs.Estimate{Value: -206.91}, Limit: -1630}}
	if text := h.LastWarning(); text != "" {
		t.Errorf("before the first epoch the warning is %q", text)
	}
	good, bad := runs.Measures{"log_p": -100}, runs.Measures{"log_p": -1.234e6}
	for _, e := range []runs.Epoch{{Train: good}, {Train: bad, Validation: good}} {
		if text := h.Warning(e); text != "" {
			t.Errorf("%+v has the warning %q", e, text)
		}
	}
	h.Epochs = []runs.Epoch{{Train: good, Validation: bad}}
	want := "log p -1.234e+06 is far worse than that of a factorised model (-206.9): training has diverged"
	if text := h.LastWarning(); !strings.HasPrefix(text, want) {
		t.Errorf("the warning is %q, want %q", text, want)
	}
}
