package oracle

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"gonum.org/v1/gonum/mat"
)

// ties writes out the four pixels x₀ x₁ / x₂ x₃ and the two windows (x₀, x₂) and (x₁, x₃) of
// twoByTwo by hand. For each parameter of the dense machine with the same units it returns the
// equal parameter of the convolutional machine, or −1 for 0.
func ties(a engine.Architecture) []int {
	var dense []int
	row := func(columns ...int) { dense = append(dense, columns...) }
	// p(x|h¹): a bias, and the taps k = 0 and k = 1 of the one channel.
	row(0, 1, -1)
	row(0, -1, 1)
	row(0, 2, -1)
	row(0, -1, 2)
	next := 3
	own := func(rows, width int) {
		for range rows * width {
			row(next)
			next++
		}
	}
	own(2, 3) // p(h¹|h²)
	own(2, 1) // the prior
	// q(h¹|x)
	row(next, next+1, -1, next+2, -1)
	row(next, -1, next+1, -1, next+2)
	next += 3
	own(2, 3) // q(h²|h¹)
	return dense
}

// A convolutional machine of 2×2 pixels is a dense machine in which some weights are equal and
// others 0. Probabilities, log p(x), scores and Fisher matrices must follow from this by the chain
// rule.
func TestConvolutionIsADenseLayerOfTiedWeights(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		a := engine.Architecture{Units: []int{4, 2, 2}, Coding: coding, Convolutions: []engine.Convolution{twoByTwo}}
		p := Random(a, 5)
		of := ties(a)
		dense := engine.NewParameters(engine.Architecture{Units: a.Units, Coding: coding})
		if len(of) != len(dense.Flat) {
			t.Fatalf("%d parameters are tied, the dense machine has %d", len(of), len(dense.Flat))
		}
		chain := mat.NewDense(len(p.Flat), len(of), nil) // ∂ dense/∂ convolutional
		for k, own := range of {
			if own >= 0 {
				dense.Flat[k] = p.Flat[own]
				chain.Set(own, k, 1)
			}
		}
		got, want := NewNetworks(p), NewNetworks(dense)
		for s := range want.Model() {
			wantClose(t, "log p(x,h)", got.LogJointOf(s), want.LogJointOf(s), 1e-12)
			wantClose(t, "log q(h|x)", got.LogRecognitionOf(s), want.LogRecognitionOf(s), 1e-12)
			var score mat.VecDense
			score.MulVec(chain, mat.NewVecDense(len(of), want.Score(Point(s))))
			wantAllClose(t, "score", got.Score(Point(s)), score.RawVector().Data, 1e-12)
		}
		for v := range want.states(0, 0) {
			x := v[0]
			wantClose(t, "log p(x)", got.Explain(x).LogP(), want.Explain(x).LogP(), 1e-12)
		}
		for name, pair := range map[string][2][]Block{
			"F_p": {got.Fisher(got.Generative, got.Model()), want.Fisher(want.Generative, want.Model())},
			"F_q": {got.Fisher(got.Recognition, got.Model()), want.Fisher(want.Recognition, want.Model())},
		} {
			var tied mat.Dense
			tied.Product(chain, full(pair[1], len(of)), chain.T())
			wantSameMatrix(t, name, full(pair[0], len(p.Flat)), &tied, 1e-12)
		}
	}
}
