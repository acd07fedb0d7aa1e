package thesis

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The gradient of an enumerated autoencoder agrees with finite differences of log p(x) − KL(q(z|x)‖p(z|x)), and draws of the
// score function have its noise.
func TestSumsOverStatesOfADiscreteAutoencoder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	normal := func(name string, n int) runs.Tensor {
		all := make([]float32, n)
		for i := range all {
			all[i] = float32(random.NormFloat64())
		}
		return runs.Tensor{Name: name, Shape: []int{n}, Data: all}
	}
	of := runs.Snapshot{Tensors: []runs.Tensor{normal("encoder.0.weights", 6), normal("encoder.0.biases", 2),
		normal("decoder.0.weights", 6), normal("decoder.0.biases", 3), normal("prior", 2)}}
	x := []float64{1, 0, 1}
	got := enumerate(of, [][]float64{x})

	at := func(tensor, i int) float64 { return float64(of.Tensors[tensor].Data[i]) }
	bernoulli := func(x, a float64) float64 { return math.Log(statistics.Sigmoid((2*x - 1) * a)) }
	states := [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	joint := func(z []float64) (sum float64) {
		for i, v := range x {
			sum += bernoulli(v, at(3, i)+z[0]*at(2, i)+z[1]*at(2, 3+i))
		}
		return sum + bernoulli(z[0], at(4, 0)) + bernoulli(z[1], at(4, 1))
	}
	logP := math.Inf(-1)
	for _, z := range states {
		logP = statistics.LogAdd(logP, joint(z))
	}
	if !(math.Abs(got.LogP[0]-logP) < 1e-12) {
		t.Errorf("log p is %v, want %v", got.LogP[0], logP)
	}
	logits := func(encoder []float64, j int) float64 { return encoder[6+j] + encoder[j] + encoder[4+j] }
	logQ := func(encoder, z []float64) float64 {
		return bernoulli(z[0], logits(encoder, 0)) + bernoulli(z[1], logits(encoder, 1))
	}
	var encoder []float64
	for k := range 8 {
		encoder = append(encoder, at(k/6, k%6))
	}
	want := fd.Gradient(nil, func(encoder []float64) (elbo float64) {
		for _, z := range states {
			elbo += math.Exp(logQ(encoder, z)) * (joint(z) - logQ(encoder, z))
		}
		return elbo
	}, encoder, &fd.Settings{Formula: fd.Central})
	if !floats.EqualApprox(got.Gradient, want, 1e-8) {
		t.Errorf("the gradient is %v, want %v", got.Gradient, want)
	}
	// The mean square over the states is least at the best baseline, where it is the noise and the square of the gradient.
	least := math.Inf(1)
	for b := -20.0; b < 0; b += 1e-3 {
		square := 0.0
		for _, z := range states {
			score := fd.Gradient(nil, func(encoder []float64) float64 { return logQ(encoder, z) }, encoder, &fd.Settings{Formula: fd.Central})
			signal := joint(z) - logQ(encoder, z) - b
			square += math.Exp(logQ(encoder, z)) * signal * signal * floats.Dot(score, score)
		}
		least = min(least, square-floats.Dot(want, want))
	}
	if !(math.Abs(got.Noise-least) < 1e-4) {
		t.Errorf("the noise of the score function is %v, want %v", got.Noise, least)
	}
}
