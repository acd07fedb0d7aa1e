package boltzmann

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Features of a restricted machine are E[h|v] by enumeration; those of a belief network that of
// each machine given the features below, by its definition; and those of a deep machine are
// where mean field has settled: each layer is the mean given its neighbours.
func TestFeatures(t *testing.T) {
	features := func(m *Model, rows [][]float64) [][][]float64 {
		t.Helper()
		layers, err := m.Features(t.Context(), split(rows))
		if err != nil {
			t.Fatal(err)
		}
		wide := make([][][]float64, len(layers))
		for l, layer := range layers {
			for _, of := range layer {
				wide[l] = append(wide[l], row(kernels.Matrix{Rows: 1, Cols: len(of), Stride: len(of), Data: of}, 0))
			}
		}
		return wide
	}
	near := func(what any, got, want []float64, tolerance float64) {
		t.Helper()
		if !floats.EqualApprox(got, want, tolerance) {
			t.Errorf("%v: features are %v, want %v", what, got, want)
		}
	}

	m := randomModel(t, 6, 4)
	exact := exactly(m)
	for r, got := range features(m, exact.Visible)[0] {
		near("a restricted machine", got, exact.Posterior(exact.Visible[r])[6*4+6:], 1e-6)
	}

	layers := []int{3, 2, 4, 3}
	m = randomBeliefNetwork(t, layers...)
	machines := m.Machines()
	for r, v := range oracle.Binary(3) {
		given := v
		for l, p := range machines {
			want := sigmoids(conditionalsOf(&Model{parameters: p}).hidden(given))
			given = features(m, oracle.Binary(3))[l][r]
			near(layers, given, want, 1e-6)
		}
	}

	for _, layers := range depths {
		m, each := composed(t, layers)
		rows := oracle.Binary(layers[0])
		got := features(m, rows)
		for r, v := range rows {
			x := [][]float64{v}
			for _, layer := range got {
				x = append(x, layer[r])
			}
			for l := 1; l < len(layers); l++ {
				inputs := each[l-1].hidden(x[l-1])
				if l < len(each) {
					floats.Add(inputs, each[l].visible(x[l+1]))
					floats.Scale(0.5, inputs)
				}
				near(layers, x[l], sigmoids(inputs), 1e-4)
			}
		}
	}
	if _, err := m.Features(t.Context(), split([][]float64{{1, 0}})); err == nil {
		t.Error("rows of another machine have features")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if layers, err := m.Features(canceled, split(oracle.Binary(3))); !errors.Is(err, context.Canceled) || layers != nil {
		t.Errorf("features that are cancelled end with %v", err)
	}
}

// Features of a machine with labels do not know those of the rows.
func TestFeaturesKnowNoLabels(t *testing.T) {
	set := digits(t, 60, 20)
	run, err := short(PCD()).Train(t.Context(), machineFor(set).Labels(10), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rows := set.Train()
	with, err := run.Features(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	rows.Labels = nil
	without, err := run.Features(t.Context(), rows)
	if err != nil || !cmp.Equal(with, without) {
		t.Errorf("features of rows with labels are others than without (%v)", err)
	}
}
