package boltzmann

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// In the zero-sum gauge each row has the log p that it had, and the weights and biases of each variable have
// the sum 0, whether the units of one side or of both are categorical.
func TestZeroSumGaugeKeepsTheDistribution(t *testing.T) {
	shape := dataset.Shape{Height: 1, Width: 6}
	for name, machine := range map[string]Machine{
		"visible": New(shape).Hidden(4).Categorical(3), "hidden": New(shape).Hidden(4).HiddenCategorical(2),
		"both": New(shape).Hidden(4).Categorical(3).HiddenCategorical(2),
	} {
		m, err := machine.Deviation(1).Model(5)
		if err != nil {
			t.Fatal(err)
		}
		for k := range m.parameters.Flat {
			m.parameters.Flat[k] += float32(k%7) / 5
		}
		states := oracle.Binary(6)
		if machine.spec.Categories > 0 {
			states = oracle.Categorical(2, 3)
		}
		gauged, err := m.ZeroSum()
		if err != nil {
			t.Fatal(err)
		}
		before, err := m.ExactLogP(t.Context(), split(states))
		if err != nil {
			t.Fatal(err)
		}
		after, err := gauged.ExactLogP(t.Context(), split(states))
		if err != nil || !floats.EqualApprox(before, after, 1e-5) {
			t.Errorf("%s: log p was %v and is %v, error %v", name, before, after, err)
		}
		p := gauged.parameters
		side := func(categories int, weights kernels.Matrix, biases []float32) {
			for g := 0; categories > 0 && g < weights.Rows; g += categories {
				sums := make([]float64, weights.Cols+1)
				for k := g; k < g+categories; k++ {
					sums[weights.Cols] += float64(biases[k])
					for j, w := range kernels.Row(weights, k) {
						sums[j] += float64(w)
					}
				}
				if worst := floats.Norm(sums, math.Inf(1)); worst > 1e-5 {
					t.Errorf("%s: a variable has sums up to %v", name, worst)
				}
			}
		}
		side(p.Spec.Categories, p.Weights, p.VisibleBiases)
		side(p.Spec.HiddenCategories, transpose(p.Weights), p.HiddenBiases)
	}
	m, err := New(shape).Hidden(4).Categorical(2).Labels(4).Deviation(1).Model(5)
	if err != nil {
		t.Fatal(err)
	}
	gauged, err := m.ZeroSum()
	if err != nil {
		t.Fatal(err)
	}
	rows := split(oracle.Categorical(3, 2))
	before, err := m.LogLabelProbabilities(t.Context(), rows)
	after, failure := gauged.LogLabelProbabilities(t.Context(), rows)
	if err != nil || failure != nil {
		t.Fatal(err, failure)
	}
	for r := range before {
		if !floats.EqualApprox(before[r], after[r], 1e-5) {
			t.Errorf("log p(y|v) was %v and is %v", before[r], after[r])
		}
	}
	if _, err := randomModel(t, 3, 2).ZeroSum(); err == nil || !strings.Contains(err.Error(), "bernoulli visible and bernoulli hidden units: only categorical") {
		t.Errorf("binary units: error %v", err)
	}
}
