package hm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// wide is large enough that each layer has thousands of weights. Neighbouring layers differ in
// size, so that in and out are distinguishable.
var wide = engine.Architecture{Units: []int{120, 80, 50}, Coding: PlusMinusOne}

// weightsOf returns the weights of a layer, without the biases.
func weightsOf(l engine.Layer) (weights []float64) {
	for j := range l.Units {
		for _, w := range l.Row(j)[1:] {
			weights = append(weights, float64(w))
		}
	}
	return weights
}

// wantVariance checks that a sample variance lies within five of its standard errors, σ²√((κ−1)/n),
// and the mean within five of its own of 0.
func wantVariance(t *testing.T, weights []float64, want float64) {
	t.Helper()
	n := float64(len(weights))
	mean, variance := stat.MeanVariance(weights, nil)
	kurtosis := stat.ExKurtosis(weights, nil) + 3
	if !(math.Abs(mean) <= 5*math.Sqrt(want/n)) {
		t.Errorf("mean %g of %v weights of variance %g, want 0", mean, n, want)
	}
	if se := want * math.Sqrt((kurtosis-1)/n); !(math.Abs(variance-want) <= 5*se) {
		t.Errorf("variance %g ± %g of %v weights, want %g", variance, se, n, want)
	}
}

func wantWithin(t *testing.T, weights []float64, bound float64) {
	t.Helper()
	largest := 0.0
	for _, w := range weights {
		largest = max(largest, math.Abs(w))
	}
	if largest > bound*(1+1e-6) {
		t.Errorf("a weight of size %g, want at most %g", largest, bound)
	}
	if !(largest >= 0.95*bound) {
		t.Errorf("the largest of %d weights is %g, far from the bound %g", len(weights), largest, bound)
	}
}

func TestTruncatedDeviation(t *testing.T) {
	// Var x, |x| ≤ 2, is 1 − 2·2φ(2)/(2Φ(2)−1).
	normal := distuv.UnitNormal
	want := math.Sqrt(1 - 4*normal.Prob(2)/(2*normal.CDF(2)-1))
	if !(math.Abs(truncatedDeviation-want) <= 1e-12) {
		t.Errorf("truncatedDeviation is %v, want %v", truncatedDeviation, want)
	}
}

func TestInitialWeights(t *testing.T) {
	for _, test := range []struct {
		weights         Initialization
		variance, bound func(in, out float64) float64
	}{
		{GlorotNormal,
			func(in, out float64) float64 { return 2 / (in + out) },
			func(in, out float64) float64 { return 2 * math.Sqrt(2/(in+out)) / truncatedDeviation }},
		{BidirectionalUniform,
			func(in, out float64) float64 { return 2 / (in + out) / (in * in) }, // a third of the squared bound
			func(in, out float64) float64 { return math.Sqrt(6/(in+out)) / in }},
		{SmallNormal,
			func(in, out float64) float64 { return math.Pow(0.001*truncatedDeviation, 2) },
			func(in, out float64) float64 { return 0.002 }},
	} {
		t.Run(test.weights.String(), func(t *testing.T) {
			p := initialize(wide, MachineSpec{Weights: test.weights, Bias: -1}, 5)
			for name, l := range layers(p) {
				if l.Width == 1 {
					continue // the prior has no weights
				}
				t.Run(name, func(t *testing.T) {
					in, out := float64(l.Width-1), float64(l.Units)
					wantVariance(t, weightsOf(l), test.variance(in, out))
					wantWithin(t, weightsOf(l), test.bound(in, out))
				})
			}
		})
	}
}

func TestInitialBiases(t *testing.T) {
	for _, bias := range []float64{-1, 0.1, 0} {
		for name, l := range layers(initialize(wide, MachineSpec{Bias: bias}, 5)) {
			for j := range l.Units {
				if got := l.Row(j)[0]; got != float32(bias) {
					t.Fatalf("%s: unit %d has bias %v, want %v", name, j, got, bias)
				}
			}
		}
	}
}

func TestInitialWeightsAreThoseOfTheSeed(t *testing.T) {
	spec := MachineSpec{Bias: -1}
	a, b, c := initialize(wide, spec, 5), initialize(wide, spec, 5), initialize(wide, spec, 6)
	if !slices.Equal(a.Flat, b.Flat) {
		t.Error("the same seed gives other weights")
	}
	for i := range wide.Depth() {
		wantUncorrelated(t, fmt.Sprintf("layer %d of p under two seeds", i), weightsOf(a.Generative[i]), weightsOf(c.Generative[i]))
	}
}

// TestInitialNetworksAreIndependent compares the weights of p and q between the same two layers,
// which are equally many, and the weights of layers of the same size.
func TestInitialNetworksAreIndependent(t *testing.T) {
	p := initialize(wide, MachineSpec{}, 5)
	for i := range wide.Depth() {
		wantUncorrelated(t, fmt.Sprintf("p and q between layers %d and %d", i, i+1),
			weightsOf(p.Generative[i]), weightsOf(p.Recognition[i+1]))
	}
	even := initialize(engine.Architecture{Units: []int{60, 60, 60}}, MachineSpec{}, 5)
	wantUncorrelated(t, "layers 0 and 1 of p", weightsOf(even.Generative[0]), weightsOf(even.Generative[1]))
	wantUncorrelated(t, "layers 1 and 2 of q", weightsOf(even.Recognition[1]), weightsOf(even.Recognition[2]))
	wantUncorrelated(t, "layer 1 of p and of q", weightsOf(even.Generative[1]), weightsOf(even.Recognition[1]))
}

// wantUncorrelated checks that a correlation of n pairs lies within five of its standard errors
// 1/√n.
func wantUncorrelated(t *testing.T, what string, a, b []float64) {
	t.Helper()
	if r := stat.Correlation(a, b, nil); !(math.Abs(r) <= 5/math.Sqrt(float64(len(a)))) {
		t.Errorf("%s have correlation %v over %d weights, want 0", what, r, len(a))
	}
}

func TestInitializationNames(t *testing.T) {
	for _, name := range []string{"glorot-normal", "bihm-uniform", "small-normal"} {
		var i Initialization
		if err := i.UnmarshalText([]byte(name)); err != nil {
			t.Error(err)
		}
		if i.String() != name {
			t.Errorf("%q is read as %q", name, i)
		}
	}
}
