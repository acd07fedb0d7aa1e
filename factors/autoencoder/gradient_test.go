package autoencoder

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// tiny returns a model of four visible variables with other parameters than it begins with.
func tiny(s Settings) *Model {
	b := dataset.Fixed
	if s.Decoder == Normal {
		b = dataset.Gray
	}
	m := newModel(s, b, dataset.Shape{Height: 2, Width: 2})
	rows := split(250, 3, 100, 160, 10, 200, 140, 0)
	m.begin(rows, 1)
	for k := range m.flat {
		m.flat[k] += float32(math.Sin(float64(3*k))) / 3
	}
	return m
}

// split has rows of four values.
func split(values ...uint8) dataset.Split {
	return dataset.Split{Name: "train", Shape: dataset.Shape{Height: 2, Width: 2}, Values: dataset.Bytes(2*2, values)}
}

// A reference computes bounds in float64 as the articles write them, given the noise of the draws.
type reference struct {
	settings Settings
	rows     dataset.Split
	noise    [][]float64 // ε, or l of relaxed draws, or draws less their means, of each sample
}

// referenceOf has the noise of the draws of m in its first step.
func referenceOf(m *Model, b runs.Minibatch, key philox.Key) reference {
	of := reference{m.settings, b.Rows, nil}
	for r := range b.Rows.Rows * m.settings.Samples {
		at := place{key: key, purpose: philox.Wake}.sampled(r, m.settings.Samples)
		z, own := make([]float32, m.settings.Code), make([]float64, m.settings.Code)
		switch m.settings.Latent {
		case Gaussian:
			gaussian{}.dream(z, nil, at)
			copy(own, kernels.Doubles(z))
		case GumbelSoftmax:
			gumbel{}.logistic(len(z), at, func(j int, l float64) { own[j] = l })
		case StraightThrough:
			outputs := of.forward(m.layers(kernels.Doubles(m.flat)), x(m, b.Rows, r/m.settings.Samples))
			a := make([]float32, len(z))
			for j := range a {
				a[j] = float32(outputs[j])
			}
			kernels.Draw(z, a, 0, at.key, at.counter(layerOfCode))
			for j := range own {
				own[j] = float64(z[j]) - statistics.Sigmoid(outputs[j])
			}
		}
		of.noise = append(of.noise, own)
	}
	return of
}

// x returns a row as the model reads it.
func x(m *Model, rows dataset.Split, r int) []float64 {
	row := make([]float32, rows.Shape.Units())
	m.load(row, rows, r, place{})
	return kernels.Doubles(row)
}

// layer is a layer y = b + Wᵀx in float64.
type layer struct{ weights, biases []float64 }

// layers returns the layers of the encoder of parameters.
func (m *Model) layers(flat []float64) []layer { all, _ := m.take(flat, m.encoder); return all }

func (m *Model) take(flat []float64, like []dense) (all []layer, rest []float64) {
	for _, d := range like {
		n, k := len(d.weights.Data), len(d.biases)
		all = append(all, layer{flat[:n], flat[n : n+k]})
		flat = flat[n+k:]
	}
	return all, flat
}

func (of reference) forward(layers []layer, x []float64) []float64 {
	for l, layer := range layers {
		y := append([]float64{}, layer.biases...)
		for i, v := range x {
			floats.AddScaled(y, v, layer.weights[i*len(y):(i+1)*len(y)])
		}
		if l+1 < len(layers) {
			for j, v := range y {
				if y[j] = math.Tanh(v); of.settings.Activation == ReLU {
					y[j] = max(0, v)
				}
			}
		}
		x = y
	}
	return x
}

// normal returns the log-density of a Gaussian variable.
func normal(x, mean, sigma float64) float64 {
	return -(x-mean)*(x-mean)/(2*sigma*sigma) - math.Log(math.Sqrt(2*math.Pi)*sigma)
}

// bernoulliLogP returns the log-probability of a variable with a logit.
func bernoulliLogP(x, a float64) float64 { return x*a - statistics.Softplus(a) }

// bound returns the mean bound of the rows under parameters. was are those by which the draws were made.
func (of reference) bound(m *Model, flat []float64) (mean float64) {
	s := of.settings
	encoder, rest := m.take(flat, m.encoder)
	decoder, rest := m.take(rest, m.decoder)
	prior := rest[:len(m.prior)]
	for d := range of.rows.Rows {
		x := x(m, of.rows, d)
		outputs := of.forward(encoder, x)
		logs, divergence := make([]float64, s.Samples), 0.0
		for k := range s.Samples {
			z := make([]float64, s.Code)
			ratio := 0.0
			divergence = 0
			for j, noise := range of.noise[d*s.Samples+k] {
				a := outputs[j]
				switch s.Latent {
				case Gaussian:
					sigma := math.Exp(outputs[s.Code+j]) + floor
					z[j] = a + sigma*noise
					ratio += normal(z[j], 0, 1) - normal(z[j], a, sigma)
					divergence += (sigma*sigma+a*a-1)/2 - math.Log(sigma)
				case StraightThrough:
					q := statistics.Sigmoid(a)
					z[j] = q + noise
					ratio += bernoulliLogP(z[j], prior[j]) - bernoulliLogP(z[j], a)
					divergence += q*(a-prior[j]) - statistics.Softplus(a) + statistics.Softplus(prior[j])
				case GumbelSoftmax:
					y := (a + noise) / s.Temperature
					z[j] = statistics.Sigmoid(y)
					concrete := func(b float64) float64 {
						t := b - s.Temperature*y
						return math.Log(s.Temperature) + t - 2*statistics.Softplus(t)
					}
					ratio += concrete(prior[j]) - concrete(a)
				}
			}
			for i, a := range of.forward(decoder, z) {
				if s.Decoder == Normal {
					logs[k] += normal(x[i], a, math.Exp(rest[len(rest)-1])+floor)
				} else {
					logs[k] += bernoulliLogP(x[i], a)
				}
			}
			if s.Bound == IWAE || s.Latent == GumbelSoftmax {
				logs[k] += ratio
			}
		}
		rows := float64(of.rows.Rows)
		if s.Bound == IWAE {
			mean += (floats.LogSumExp(logs) - math.Log(float64(s.Samples))) / rows
		} else {
			mean += floats.Sum(logs) / float64(s.Samples) / rows
			if s.Latent != GumbelSoftmax {
				mean -= divergence / rows
			}
		}
	}
	return mean
}

// The gradient agrees with finite differences of the bound for the noise that was drawn. Straight-through estimators take
// draws for means to which a constant was added.
func TestGradientIsThatOfTheBound(t *testing.T) {
	rows := split(255, 0, 100, 160, 10, 200, 140, 0, 30, 90, 250, 180)
	b := runs.Minibatch{Rows: rows, Index: []int{0, 1, 2}}
	for _, latent := range []Latent{Gaussian, StraightThrough, GumbelSoftmax} {
		for _, bound := range []Bound{ELBO, IWAE} {
			for decoder, activation := range map[Decoder]Activation{Bernoulli: Tanh, Normal: ReLU} {
				s := Settings{Hidden: []int{5, 3}, Code: 2, Activation: activation, Decoder: decoder, Latent: latent, Temperature: 0.6, Bound: bound, Samples: 3}
				t.Run(fmt.Sprint(latent, bound, decoder), func(t *testing.T) {
					m := tiny(s)
					of := referenceOf(m, b, 7)
					m.differentiate(b, 7)
					flat := kernels.Doubles(m.flat)
					want := fd.Gradient(nil, func(flat []float64) float64 { return of.bound(m, flat) }, flat, &fd.Settings{Formula: fd.Central})
					for k, g := range m.gradient.flat {
						if !(math.Abs(float64(g)-want[k]) <= 2e-5*(1+math.Abs(want[k]))) {
							t.Errorf("derivative %d of %d is %v, want %v", k, len(want), g, want[k])
						}
					}
				})
			}
		}
	}
}
