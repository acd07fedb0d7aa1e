package boltzmann

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// sampled is a set of rows that a model draws exactly.
func sampled(t *testing.T, m *Model, n int) *dataset.Set {
	t.Helper()
	states, err := m.exactStates(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float64, n)
	for r := range rows {
		rows[r] = row(states, r)
	}
	set, err := dataset.FromRows("samples", m.shape, rows, rows[:10])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The change of the energy is the derivative of the mean log p of the rows by the logarithm of a factor of
// all parameters, by central differences of exact log p. Of rows that the model draws it is 0.
func TestDriftIsADerivative(t *testing.T) {
	for _, units := range []struct{ visible, hidden int }{{6, 5}, {4, 7}} {
		m := randomModel(t, units.visible, units.hidden)
		own := sampled(t, m, 100)
		d, err := m.WithSeed(2).Drift(t.Context(), own.Train())
		if err != nil {
			t.Fatal(err)
		}
		if d.Away || math.Abs(float64(d.Change)) > 4*float64(d.ChangeSE) || d.Chains != 100 || d.Path[len(d.Path)-1].Sweeps != d.Sweeps {
			t.Errorf("rows of the model drift: %+v", d)
		}
		flat := randomModel(t, units.visible, units.hidden)
		for k := range flat.parameters.Flat {
			flat.parameters.Flat[k] /= 4
		}
		set := sampled(t, flat, 100)
		if d, err = m.Drift(t.Context(), set.Train()); err != nil {
			t.Fatal(err)
		}
		const ε = 1e-2
		at := func(factor float32) float64 {
			scaled := &Model{shape: m.shape, parameters: m.parameters.clone()}
			for k := range scaled.parameters.Flat {
				scaled.parameters.Flat[k] *= factor
			}
			logP, err := scaled.ExactLogP(t.Context(), set.Train())
			if err != nil {
				t.Fatal(err)
			}
			return floats.Sum(logP) / float64(len(logP))
		}
		want := (at(1+ε) - at(1-ε)) / (2 * ε)
		if math.Abs(float64(d.Change)-want) > 4*float64(d.ChangeSE) || want > -3*float64(d.ChangeSE) {
			t.Errorf("the energy changes by %v ± %v, where log p has the derivative %v", d.Change, d.ChangeSE, want)
		}
	}
}

// A machine that persistent chains have trained to the end is in equilibrium with its rows. One that CD-1
// has trained at a high rate is not: its chains stay near the rows for some hundred sweeps, and then leave.
func TestDriftTellsOutOfEquilibrium(t *testing.T) {
	set, err := dataset.Spec{Name: "3by3", Subset: 300, Seed: 1}.Open()
	if err != nil {
		t.Fatal(err)
	}
	of := func(method Method) Drift {
		run, err := method.BatchSize(50).Epochs(150).Train(t.Context(), New(set.Shape()).Hidden(16), set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		d, err := run.Drift(t.Context(), set.Train())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := of(PCD().LearningRate(0.3)); d.Away || strings.Contains(d.String(), "drift away") {
		t.Errorf("a machine in equilibrium: %v", d)
	}
	if d := of(CD().LearningRate(2).Schedule(runs.ConstantRate)); !d.Away || d.Change > 0 || !strings.Contains(d.String(), "out of equilibrium") {
		t.Errorf("a machine out of equilibrium: %v", d)
	}
}
