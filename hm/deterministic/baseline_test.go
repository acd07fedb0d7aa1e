package deterministic

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A machine whose visible units ignore the hidden ones and have the smoothed means of the data must
// have the free energy of the baseline. LogPHistory must convert the baseline to log p.
func TestBaselineIsTheFreeEnergyOfAFactorizedMachine(t *testing.T) {
	t.Parallel()
	set, err := dataset.Spec{Name: "3by3", Subset: 7}.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Logistic, 1, 9, 4)
	if err != nil {
		t.Fatal(err)
	}
	clear(m.Flat)
	for i := range 9 {
		on := 0.0
		for r := range 7 {
			on += Binary(set.Train().Row(r))[i]
		}
		mean := (on + 0.5) / 8
		m.Generative[0].Biases[i] = math.Log(mean / (1 - mean))
	}
	want := 0.0
	for r := range set.Test().Rows {
		want += m.FreeEnergy(Binary(set.Test().Row(r))) / float64(set.Test().Rows)
	}
	b := NewExperiment(set, Logistic, 4).Baseline(set, set.Test())
	if !(math.Abs(b.Factorized.Value-want) <= 1e-12*want) || !(b.Limit > b.Factorized.Value) {
		t.Errorf("the baseline is %+v, want %v and a limit above", b, want)
	}
	h := LogPHistory(runs.History{Baseline: &b})
	if h.Baseline.Factorized.Value != -b.Factorized.Value || h.Baseline.Limit != -b.Limit || h.Baseline.Factorized.SE != b.Factorized.SE {
		t.Errorf("the baseline of log p is %+v, of the free energy %+v", h.Baseline, b)
	}
}
