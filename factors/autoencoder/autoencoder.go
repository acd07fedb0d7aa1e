// Package autoencoder trains variational autoencoders, importance-weighted autoencoders and generative adversarial
// networks (see Generator), to compare them with machines that learn without back-propagation.
//
// The decoder p(x|z) and the encoder q(z|x) are networks of dense layers. Training moves the parameters of
// both up a lower bound of log p(x), by back-propagation through the draws z ~ q(z|x):
//
//	E_q[log p(x|z)] − KL(q(z|x)‖p(z))                     ELBO (Kingma and Welling 2014)
//	E_q[log (1/K) Σ_k p(x,z_k)/q(z_k|x)]                  IWAE (Burda, Grosse and Salakhutdinov 2016)
//
// Latent variables are Gaussian, with p(z) = N(0, I) and q(z|x) = N(μ(x), diag σ²(x)), or Bernoulli
// variables with learned probabilities. The gradient passes through Bernoulli draws by the
// straight-through estimator (Bengio, Léonard and Courville 2013) or by relaxed draws (Maddison, Mnih and
// Teh 2017; Jang, Gu and Poole 2017). Both estimators are biased. Log p(x) is estimated by importance
// sampling, as for Helmholtz machines.
//
// Log-probabilities are in nats per row.
package autoencoder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// floor is the lower bound of the standard deviations of Gaussian variables, which are eᵃ + floor for an
// output or parameter a.
const floor = 1e-3

// Model is an autoencoder with D visible and L latent variables.
type Model struct {
	*network
	shape        dataset.Shape
	settings     Settings
	binarization dataset.Binarization
	latent       latent

	// Only training needs these. Each has one number per parameter.
	gradient *network
	adam     kernels.Moments
}

// network holds the parameters of a model, or a gradient with respect to them.
type network struct {
	flat             []float32 // all of the parameters below
	encoder, decoder []dense
	prior            []float32 // logits of p(z), L; nil for Gaussian variables
	noise            []float32 // the single a of σ = eᵃ + floor for all visible variables; nil for Bernoulli variables
}

func (s Settings) layers(visible int) (encoder, decoder []int) {
	encoder = slices.Concat([]int{visible}, s.Hidden, []int{s.Code * s.Latent.outputs()})
	decoder = slices.Concat([]int{visible}, s.Hidden, []int{s.Code})
	slices.Reverse(decoder)
	return encoder, decoder
}

// others returns the numbers of parameters of the prior and of the noise.
func (s Settings) others() (prior, noise int) {
	if s.Latent != Gaussian {
		prior = s.Code
	}
	if s.Decoder == Normal {
		noise = 1
	}
	return prior, noise
}

// size returns the number of parameters.
func (s Settings) size(visible int) float64 {
	encoder, decoder := s.layers(visible)
	prior, noise := s.others()
	return sizeOf(encoder, decoder) + float64(prior+noise)
}

// sizeOf returns the number of parameters of layers of units. It is a float64 because settings can ask for more
// than an int can count.
func sizeOf(networks ...[]int) (n float64) {
	for _, units := range networks {
		for l := range len(units) - 1 {
			n += float64(units[l]+1) * float64(units[l+1])
		}
	}
	return n
}

func newNetwork(encoder, decoder []int, prior, noise int) *network {
	n := &network{flat: make([]float32, int(sizeOf(encoder, decoder))+prior+noise)}
	rest := n.flat
	take := func(count int) (part []float32) {
		part, rest = rest[:count:count], rest[count:]
		return part
	}
	layers := func(units []int) (all []dense) {
		for l := range len(units) - 1 {
			in, out := units[l], units[l+1]
			all = append(all, dense{kernels.Matrix{Rows: in, Cols: out, Stride: out, Data: take(in * out)}, take(out)})
		}
		return all
	}
	n.encoder, n.decoder = layers(encoder), layers(decoder)
	if prior > 0 {
		n.prior = take(prior)
	}
	if noise > 0 {
		n.noise = take(noise)
	}
	return n
}

func (s Settings) network(visible int) *network {
	encoder, decoder := s.layers(visible)
	prior, noise := s.others()
	return newNetwork(encoder, decoder, prior, noise)
}

func newModel(s Settings, binarization dataset.Binarization, shape dataset.Shape) *Model {
	n := s.network(shape.Units())
	return &Model{network: n, shape: shape, settings: s, binarization: binarization, latent: s.Latent.of(s.Temperature),
		gradient: s.network(shape.Units()), adam: kernels.NewMoments(len(n.flat))}
}

// draw draws the weights with variance 2/(in+out) (Glorot and Bengio 2010).
func (n *network) draw(seed uint64) {
	for k, layers := range [][]dense{n.encoder, n.decoder} {
		for l, of := range layers {
			random := rand.New(philox.NewStream(seed, philox.Initialize, uint32(k<<16|l)))
			deviation := math.Sqrt(2 / float64(of.weights.Rows+of.weights.Cols))
			for i := range of.weights.Data {
				of.weights.Data[i] = float32(deviation * random.NormFloat64())
			}
		}
	}
}

// begin draws the weights. It sets the noise of the decoder
// to the standard deviation of the training rows. With tanh, it sets the output biases of the decoder so that
// its outputs are the means of the rows. With ReLU, these biases stay 0: if they already held the means,
// hidden units would only add noise, and the first steps would switch the units off for ever.
// begin refuses rows whose standard deviation is near floor.
func (m *Model) begin(train dataset.Split, seed uint64) error {
	m.draw(seed)
	rows := float64(train.Rows)
	variance, output := 0.0, m.decoder[len(m.decoder)-1].biases
	for i := range output {
		sum, squares := 0.0, 0.0
		for r := range train.Rows {
			v := train.At(r*len(output) + i)
			sum, squares = sum+v, squares+v*v
		}
		variance += (squares/rows - sum/rows*sum/rows) / float64(len(output))
		switch {
		case m.settings.Activation == ReLU:
		case m.settings.Decoder == Normal:
			output[i] = float32(sum / rows)
		default:
			output[i] = float32(math.Log((sum + 0.5) / (rows - sum + 0.5)))
		}
	}
	if m.settings.Decoder == Normal {
		if deviation := math.Sqrt(max(variance, 0)); deviation < 10*floor {
			return fmt.Errorf("the training rows have the standard deviation %.2g, but autoencoders with a normal decoder need at least %g: scale the values", deviation, 10*floor)
		}
		m.noise[0] = float32(math.Log(math.Sqrt(variance) - floor))
	}
	return nil
}

// String names the kind of autoencoder, its layers, and the number of parameters.
func (m *Model) String() string {
	return fmt.Sprintf("an autoencoder with %v and %d parameters", m.settings.legend(m.shape.Units()), len(m.flat))
}

// Noise returns the standard deviation of Gaussian visible variables given the latent variables. It returns 0
// if the visible variables are Bernoulli variables.
func (m *Model) Noise() float64 {
	if m.noise == nil {
		return 0
	}
	return math.Exp(float64(m.noise[0])) + floor
}

func (m *Model) load(x []float32, rows dataset.Split, r int, at place) {
	if m.settings.Decoder == Normal {
		rows.Read(x, r)
		return
	}
	binarized(x, rows, r, m.binarization, at)
}

// binarized writes row r into x as 0 and 1.
func binarized(x []float32, rows dataset.Split, r int, b dataset.Binarization, at place) {
	kernels.Binarize(x, rows.Row(r), b == dataset.Stochastic, 0, at.key, at.counter(0))
}

// score returns log p(x|z) given the outputs of the decoder, and its derivative with respect to the noise
// parameter a. It overwrites outputs with the derivatives of log p(x|z) with respect to them.
func (m *Model) score(outputs, x []float32) (logP, noise float64) {
	if m.noise == nil {
		return kernels.Residual(outputs, x), 0
	}
	e := math.Exp(float64(m.noise[0]))
	sigma, squares, d := e+floor, 0.0, float64(len(x))
	for i, v := range x {
		z := (float64(v) - float64(outputs[i])) / sigma
		squares += z * z
		outputs[i] = float32(z / sigma)
	}
	return -squares/2 - d*math.Log(math.Sqrt(2*math.Pi)*sigma), (squares - d) * e / sigma
}

type place struct {
	key           philox.Key
	purpose       philox.Purpose
	datum, sample int
	step          int
}

// counter returns the counter for the draws of a layer. The visible variables are layer 0.
func (at place) counter(layer uint8) philox.Counter {
	return philox.Counter{Word: philox.Word{Purpose: at.purpose, Layer: layer}, Datum: uint32(at.datum), Sample: uint32(at.sample), Step: uint32(at.step)}
}

// sampled returns the place for the draws of sample r of a part of the rows. r counts from the first sample
// of the part's first row, whose place is at. Each row has the given number of samples.
func (at place) sampled(r, samples int) place {
	at.datum += r / samples
	at.sample += r % samples
	return at
}
