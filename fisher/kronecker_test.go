package fisher

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"pgregory.net/rapid"
)

// If σ' of a unit is the same in all samples, the factored blocks equal the blocks.
func TestKroneckerIsExactForConstantSlopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, size := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "size")
		e := estimates(n, size).Draw(t, "estimate")
		for j := range e.Weights.Cols {
			slope := rapid.Float32Range(0, 0.25).Draw(t, "slope")
			for r := range n {
				e.SampleWeights[r] = float32(r%3) / float32(n)
				kernels.Row(e.Weights, r)[j] = slope * e.SampleWeights[r]
			}
		}
		total := float32(0)
		for _, w := range e.SampleWeights {
			total += w
		}
		if total == 0 {
			return
		}
		for k := range e.SampleWeights { // so that they sum to 1
			e.SampleWeights[k] /= total
		}
		for k := range e.Weights.Data {
			e.Weights.Data[k] /= total
		}
		inverse, err := NewInverse(e, Settings{Form: Kronecker, Damping: 0.1}, inTurn)
		if err != nil {
			t.Fatal(err)
		}
		gradients := matrices(e.Weights.Cols, size).Draw(t, "gradients")
		got := kernels.Clone(gradients)
		inverse.Apply(got, 0)
		for j := range got.Rows {
			for k, want := range dense(t, e, Direct, j, 0.1, kernels.Row(gradients, j)) {
				if d := float64(kernels.Row(got, j)[k]) - want; !(d*d <= 1e-8) {
					t.Fatalf("unit %d: %v, parameter %d want %v", j, kernels.Row(got, j), k, want)
				}
			}
		}
	})
}
