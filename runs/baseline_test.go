package runs_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// lined is a mixture with a baseline whose value is the number of its rows.
type lined struct {
	mixture
	limit float64
}

func (l lined) WithHeader(h runs.Header) runs.Experiment {
	l.mixture = l.mixture.WithHeader(h).(mixture)
	return l
}

func (l lined) Baseline(_ *dataset.Set, rows dataset.Split) runs.Baseline {
	return runs.Baseline{Rows: rows.Name, Factorized: runs.Estimate{Value: float64(rows.Rows), SE: math.NaN()}, Limit: l.limit}
}

// The baseline covers the rows that judge epochs. Recorders receive it and the run keeps it, also
// after training was resumed.
func TestBaselineIsRecorded(t *testing.T) {
	t.Parallel()
	held := overlapping(t)
	all := grays(t, groups(40, 0.15, []float64{0.3, 0.4, 0.6, 0.5}), 0)
	for rows, set := range map[string]*dataset.Set{"validation": held, "train": all} {
		e, dir := lined{brief(set), -9}, t.TempDir()
		trainUntil(t, e, set, dir, atStep(2))
		w := &watcher{}
		run := mustTrain(t, e, set, dir, w)
		split := map[string]dataset.Split{"validation": set.Validation(), "train": set.Train()}[rows]
		want := e.Baseline(set, split)
		for _, got := range []*runs.Baseline{w.plans[0].History.Baseline, run.History().Baseline} {
			if diff := cmp.Diff(&want, got, cmpopts.EquateNaNs()); diff != "" || got.Rows != rows {
				t.Errorf("baseline over the %s rows (-want +got):\n%s", rows, diff)
			}
		}
	}
}

func TestFamiliesMayHaveNoBaseline(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	h := mustTrain(t, brief(set), set, t.TempDir()).History()
	if h.Baseline != nil || h.LastWarning() != "" || h.Baseline.Far(runs.LogP, -1e300) || h.Baseline.Label() != "" {
		t.Errorf("a family without a baseline has %+v and warns %q", h.Baseline, h.LastWarning())
	}
}

// Far means worse than the limit, for measures that rise and for measures that fall.
func TestFarFromTheBaseline(t *testing.T) {
	for objective, limit := range map[runs.Measure]float64{runs.LogP: -1629, loss: 1629} {
		b := &runs.Baseline{Limit: limit}
		if b.Far(objective, limit) || b.Far(objective, limit/2) || !b.Far(objective, 1.01*limit) || !b.Far(objective, 1e9*limit) {
			t.Errorf("%s: far does not begin at the limit", objective.Name)
		}
	}
}

// Validation judges an epoch, if there is any.
func TestWarnings(t *testing.T) {
	h := runs.History{Baseline: &runs.Baseline{Factorized: runs.Estimate{Value: -206.91}, Limit: -1630}}
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
	want := "log p -1.234e+06 is far worse than a factorised model reaches (-206.9): training has diverged, or has hardly begun; lower the learning rate, raise the damping if there is one, or train longer"
	if text := h.LastWarning(); text != want {
		t.Errorf("the warning is %q, want %q", text, want)
	}
	h.Baseline.Model = "class frequencies"
	if text, label := h.LastWarning(), h.Baseline.Label(); !strings.Contains(text, "than class frequencies reaches (-206.9)") || label != "baseline (class frequencies)" {
		t.Errorf("the warning is %q, and the label %q", text, label)
	}
}

// The limit may apply to a measure other than the objective; then the objective does not indicate
// divergence.
func TestWarningsOfAnotherMeasure(t *testing.T) {
	h := runs.History{
		Measures: []runs.Measure{{Key: "pseudo_likelihood", Name: "log PL", Rises: true}, runs.LogP},
		Baseline: &runs.Baseline{Factorized: runs.Estimate{Value: -6}, Limit: -18, LimitOf: runs.LogP.Key},
	}
	good, bad := runs.Measures{"pseudo_likelihood": -100, "log_p": -3}, runs.Measures{"pseudo_likelihood": 0, "log_p": -6e195}
	if text := h.Warning(runs.Epoch{Train: bad, Validation: good}); text != "" {
		t.Errorf("a good log p has the warning %q", text)
	}
	for _, e := range []runs.Epoch{{Train: bad}, {Train: good, Validation: bad}} {
		if text := h.Warning(e); !strings.HasPrefix(text, "log p -6e+195 is far worse") {
			t.Errorf("the warning is %q", text)
		}
	}
}

// Exactly the epochs that are no better than the baseline get a warning.
func TestShortfall(t *testing.T) {
	h := runs.History{Baseline: &runs.Baseline{Factorized: runs.Estimate{Value: -206.91}, Limit: -1630}}
	epoch := func(value float64) runs.Epoch {
		return runs.Epoch{Epoch: 1, Train: runs.Measures{"log_p": -1}, Validation: runs.Measures{"log_p": value}}
	}
	if text := h.Shortfall(runs.Epoch{}); text != "" {
		t.Errorf("before the first epoch it is told that %s", text)
	}
	for value, told := range map[float64]bool{-206.9: false, -206.91: true, -300: true} {
		if text := h.Shortfall(epoch(value)); (text != "") != told {
			t.Errorf("at %v it is told %q", value, text)
		}
	}
	if text := (runs.History{}).Shortfall(epoch(-300)); text != "" {
		t.Errorf("without a baseline it is told that %s", text)
	}
}

// Tables show the baseline, and mark seeds and epochs far from it as diverged.
func TestTablesHaveTheBaseline(t *testing.T) {
	t.Parallel()
	set, home := overlapping(t), t.TempDir()
	one, two, none := filepath.Join(home, "one"), filepath.Join(home, "two"), filepath.Join(home, "none")
	far := mustTrain(t, lined{brief(set), 1e9}, set, one).History()
	for _, seed := range []uint64{5, 6} {
		e := lined{brief(set), 1e9}
		e.Seed = seed
		mustTrain(t, e, set, runs.SeedDir(two, seed))
	}
	near := mustTrain(t, lined{brief(set), -1e9}, set, filepath.Join(home, "near")).History()
	unknown := mustTrain(t, brief(set), set, none).History()

	for _, test := range []struct {
		table *runs.Table
		keys  []string // in addition to the usual ones
		first []any
	}{
		{far.Table(), []string{"baseline_log_p", "baseline_log_p_se", "remark"}, []any{12.0, nil, "diverged"}},
		{near.Table(), []string{"baseline_log_p", "baseline_log_p_se"}, []any{12.0, nil}},
		{unknown.Table(far), []string{"baseline_log_p", "baseline_log_p_se", "remark"}, []any{nil, nil, nil}},
		{unknown.Table(), nil, nil},
	} {
		columns, row := test.table.Columns(), test.table.Rows()[0]
		var keys []string
		var cells []any
		for i, c := range columns {
			if !strings.Contains(c.Key, ".") && i > 4 {
				keys, cells = append(keys, c.Key), append(cells, row[i])
			}
		}
		if diff := cmp.Diff(test.keys, keys) + cmp.Diff(test.first, cells); diff != "" {
			t.Errorf("beside the usual columns (-want +got):\n%s", diff)
		}
	}

	c, err := runs.Compare(one, two, none)
	if err != nil {
		t.Fatal(err)
	}
	text := c.String()
	for _, want := range []string{
		"log p, baseline (factorised)  12.000    12.000                 –\n",
		"remark                         diverged  2 of 2 seeds diverged  –\n",
	} {
		if !strings.Contains(spaced(text), spaced(want)) {
			t.Errorf("the comparison lacks %q:\n%s", want, text)
		}
	}
	if c, err = runs.Compare(none); err != nil || strings.Contains(c.String(), "baseline") || strings.Contains(c.String(), "remark") {
		t.Errorf("a comparison without a baseline (%v) is\n%v", err, c)
	}
}

// spaced returns a text with single spaces between columns.
func spaced(text string) string {
	for strings.Contains(text, "  ") {
		text = strings.ReplaceAll(text, "  ", " ")
	}
	return text
}

func ExampleHistory_Table_diverged() {
	h := runs.History{
		Measures: []runs.Measure{runs.LogP},
		Baseline: &runs.Baseline{Rows: "validation", Factorized: runs.Estimate{Value: -206.91, SE: 0.62}, Limit: -1630.2},
		Epochs: []runs.Epoch{
			{Epoch: 1, Step: 10, Train: runs.Measures{"log_p": -310.2}, Validation: runs.Measures{"log_p": -244.1}},
			{Epoch: 2, Step: 20, Train: runs.Measures{"log_p": -803.7}, Validation: runs.Measures{"log_p": -2710.5}},
		},
	}
	fmt.Print(h.Table())
	// Output:
	// epoch  step  seconds (s)  learning rate  log p, training (nats)  log p, validation (nats)  log p, baseline (factorised) (nats)  ± se (nats)  remark
	//     1    10          0.0              0                -310.200                  -244.100                             -206.910        0.620  –
	//     2    20          0.0              0                -803.700                 -2710.500                             -206.910        0.620  diverged
}
