package autoencoder

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Latent is a kind of latent variable. It also determines how the gradient passes through the draws.
type Latent int

const (
	// Gaussian variables are z = μ + σε, through which the gradient passes exactly.
	Gaussian Latent = iota
	// StraightThrough has Bernoulli variables. The gradient treats their draws as if they were the means
	// (Bengio, Léonard and Courville 2013), so it is biased.
	StraightThrough
	// GumbelSoftmax has Bernoulli variables. Training replaces them by relaxed variables σ((a + l)/τ) with
	// logistic noise l (Maddison, Mnih and Teh 2017; Jang, Gu and Poole 2017), and ascends the bound of the
	// relaxed model. All measures use the Bernoulli variables.
	GumbelSoftmax
)

var latentNames = names.New("latent", "gaussian", "straight-through", "gumbel-softmax")

func (l Latent) String() string                { return latentNames.Name(int(l)) }
func (l Latent) MarshalText() ([]byte, error)  { return latentNames.Marshal(int(l)) }
func (l *Latent) UnmarshalText(t []byte) error { return latentNames.Parse((*int)(l), t) }

func (l Latent) outputs() int {
	if l == Gaussian {
		return 2
	}
	return 1
}

func (l Latent) of(temperature float64) latent {
	switch l {
	case StraightThrough:
		return straightThrough{}
	case GumbelSoftmax:
		return gumbel{temperature: temperature}
	}
	return gaussian{}
}

// layerOfCode is the number of the latent layer in the counters of draws.
const layerOfCode = 1

type latent interface {
	// draw draws z ~ q(z|x) given the outputs of the encoder, and returns log p(z) − log q(z|x).
	draw(z, outputs, prior []float32, at place) float64
	// relax draws the values that training uses in place of z, and returns the logarithm of the ratio of
	// their densities under p and q.
	relax(z, outputs, prior []float32, at place) float64
	// learn adds a sample's derivatives with respect to the encoder's outputs and the prior to s.doutputs and
	// s.dprior.
	learn(s sample)
	// dream draws z ~ p(z).
	dream(z, prior []float32, at place)
	// expected writes the expected value of z given the outputs.
	expected(z, outputs []float32)
}

// sample is a draw of latent variables with its derivatives. It contributes weight·(log p(x,z) − log q(z|x)) to the
// bound; dz is the derivative of this contribution with respect to z through log p(x|z).
type sample struct {
	z, outputs, prior    []float32
	dz, doutputs, dprior []float32
	at                   place
	weight               float64
	// exact replaces log p(z) − log q(z|x) by its expected value −KL(q(z|x)‖p(z)), if this has a closed form.
	exact bool
}

// gaussian are variables with σ = eᵃ + floor. The encoder's outputs are first all μ, then all a.
type gaussian struct{}

func (gaussian) draw(z, outputs, _ []float32, at place) (logRatio float64) {
	kernels.DrawGaussian(z, outputs, len(z), floor, at.key, at.counter(layerOfCode))
	product := 1.0 // of several σ, to take one logarithm for all of them
	for j, v := range z {
		sigma := math.Exp(float64(outputs[len(z)+j])) + floor
		ε := (float64(v) - float64(outputs[j])) / sigma
		logRatio += (ε*ε - float64(v)*float64(v)) / 2
		if product *= sigma; !(product > 1e-150 && product < 1e150) {
			logRatio += math.Log(product)
			product = 1
		}
	}
	return logRatio + math.Log(product)
}

func (g gaussian) relax(z, outputs, prior []float32, at place) float64 {
	return g.draw(z, outputs, prior, at)
}

func (gaussian) learn(s sample) {
	for j, v := range s.z {
		mu, e, z := float64(s.outputs[j]), math.Exp(float64(s.outputs[len(s.z)+j])), float64(v)
		sigma := e + floor
		g, own := float64(s.dz[j]), s.weight/sigma
		if s.exact {
			s.doutputs[j] -= float32(s.weight * mu)
			own -= s.weight * sigma
		} else {
			g -= s.weight * z
		}
		s.doutputs[j] += float32(g)
		s.doutputs[len(s.z)+j] += float32(e * (g*(z-mu)/sigma + own))
	}
}

func (gaussian) dream(z, _ []float32, at place) {
	outputs := make([]float32, 2*len(z))
	for j := range z {
		outputs[len(z)+j] = float32(math.Log(1 - floor))
	}
	kernels.DrawGaussian(z, outputs, len(z), floor, at.key, at.counter(layerOfCode))
}

func (gaussian) expected(z, outputs []float32) { copy(z, outputs) }

// bernoulli are variables that are on with the probabilities σ(a) of the outputs a.
type bernoulli struct{}

func (bernoulli) draw(z, outputs, prior []float32, at place) float64 {
	logQ := kernels.Units(kernels.Draws|kernels.Scores, z, outputs, 0, at.key, at.counter(layerOfCode))
	return kernels.Score(prior, z) - logQ
}

func (bernoulli) dream(z, prior []float32, at place) {
	kernels.Draw(z, prior, 0, at.key, at.counter(layerOfCode))
}

func (bernoulli) expected(z, outputs []float32) {
	for j, a := range outputs {
		z[j] = kernels.Sigmoid(a)
	}
}

type straightThrough struct{ bernoulli }

func (s straightThrough) relax(z, outputs, prior []float32, at place) float64 {
	return s.draw(z, outputs, prior, at)
}

// learn passes on derivatives with respect to z as if z were σ(a). If exact is false, log q(z|x) depends on a
// both through z and directly.
func (straightThrough) learn(s sample) {
	for j, v := range s.z {
		a, b, z := float64(s.outputs[j]), float64(s.prior[j]), float64(v)
		q, own := statistics.Sigmoid(a), 0.0
		if s.exact {
			z = q
		} else {
			own = s.weight * (z - q)
		}
		s.doutputs[j] += float32((float64(s.dz[j])+s.weight*(b-a))*q*(1-q) - own)
		s.dprior[j] += float32(s.weight * (z - statistics.Sigmoid(b)))
	}
}

// gumbel replaces z in training by σ(y) with y = (a + l)/τ. With t = b − τy, the log-density of y under a logit
// b is ln τ + t − 2 log(1 + eᵗ). Its KL has no closed form, so gumbel ignores exact.
type gumbel struct {
	bernoulli
	temperature float64
}

// logistic calls each with the logistic noise l of every variable. The Bernoulli draw of a variable is on if
// a + l is positive.
func (gumbel) logistic(n int, at place, each func(j int, l float64)) {
	c := at.counter(layerOfCode)
	var words [4]uint32
	for j := range n {
		if j%4 == 0 {
			c.Unit = uint16(j / 4)
			words = at.key.Block(c)
		}
		u := float64(philox.Uniform(words[j%4]))
		each(j, math.Log1p(-u)-math.Log(u))
	}
}

func (g gumbel) relax(z, outputs, prior []float32, at place) (logRatio float64) {
	g.logistic(len(z), at, func(j int, l float64) {
		a := float64(outputs[j])
		z[j] = float32(statistics.Sigmoid((a + l) / g.temperature))
		t := float64(prior[j]) - a - l
		logRatio += t + l - 2*(statistics.Softplus(t)-statistics.Softplus(-l))
	})
	return logRatio
}

func (g gumbel) learn(s sample) {
	g.logistic(len(s.z), s.at, func(j int, l float64) {
		a := float64(s.outputs[j])
		y, t := (a+l)/g.temperature, float64(s.prior[j])-a-l
		d := s.weight * (1 - 2*statistics.Sigmoid(t))
		s.doutputs[j] += float32(float64(s.dz[j])*statistics.Sigmoid(y)*statistics.Sigmoid(-y)/g.temperature - d)
		s.dprior[j] += float32(d)
	})
}
