package energies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// SpikeAndSlab describes a spike-and-slab RBM (Courville, Bergstra and Bengio 2011).
type SpikeAndSlab struct {
	Hidden int `toml:"hidden" json:"hidden"`
}

// SpikeAndSlabRBM trains spike-and-slab RBMs of real numbers, which it whitens.
var SpikeAndSlabRBM = register(kind[SpikeAndSlab]{
	name: "spike-and-slab-rbm", noun: "a spike-and-slab RBM", data: "--dataset olivettipatches --binarization grey",
	usual: SpikeAndSlab{Hidden: 64}, training: Training{LearningRate: 0.01, BatchSize: 100, Chains: 100, Steps: 1},
	rows: func(s *SpikeAndSlab) []runs.Hyperparameter {
		return []runs.Hyperparameter{hiddenRow(&s.Hidden, "spike-and-slab RBM")}
	},
	size: func(s SpikeAndSlab, shape dataset.Shape) float64 {
		return float64(s.Hidden) * float64(shape.Units())
	},
	real: true,
	new: func(s SpikeAndSlab, shape dataset.Shape) (Energy, error) {
		return newSpikeAndSlab(s.Hidden, shape.Units()), nil
	},
})

// hiddenRow returns the row of a number of hidden units.
func hiddenRow(hidden *int, machine string) runs.Hyperparameter {
	return runs.Hyperparameter{
		Value: hidden, Flag: "hidden", Usage: "`number` of hidden units", Legend: fmt.Sprintf("%s %d", machine, *hidden), Always: true,
		Valid: *hidden >= 1, Remedy: "give at least 1",
	}
}

// spikeAndSlab is the energy
//
//	F(v) = ½vᵀΛv − Σ_i softplus(a_i), a_i = b_i + μ_i y_i + y_i²/2α_i − ½vᵀΦ_i v, y_i = w_iᵀv,
//
// with diagonal Λ and Φ_i. Given h, v has the precision Λ + Σ h_i(Φ_i − w_i w_iᵀ/α_i). It is positive definite for
// every h, because Φ_i dominates w_i w_iᵀ/α_i: Φ_ij = |w_ij| Σ_k |w_ik|/α_i + e^φ_i. F leaves out the
// constant −½Σ log(2π/α_i) of the slabs.
type spikeAndSlab struct {
	units                           int
	weights                         []float64 // a row for each hidden unit
	bias, mean, logSlab, logVisible []float64 // b, μ, log α, log Λ
	logExtra                        []float64 // φ
}

func newSpikeAndSlab(hidden, units int) *spikeAndSlab {
	of := func(n int) []float64 { return make([]float64, n) }
	return &spikeAndSlab{units, of(hidden * units), of(hidden), of(hidden), of(hidden), of(units), of(hidden)}
}

func (e *spikeAndSlab) Parameters() []Parameter {
	return []Parameter{
		parameter("weights", 1, e.weights, len(e.bias), e.units), parameter("hidden_biases", 1, e.bias), parameter("slab_means", 1, e.mean),
		parameter("log_slab_precisions", slow, e.logSlab), parameter("log_visible_precisions", slow, e.logVisible),
		parameter("log_extra_precisions", slow, e.logExtra),
	}
}

// Begin starts near the standard normal distribution.
func (e *spikeAndSlab) Begin(_ [][]float64, r *rand.Rand) {
	draw(e.weights, 0.5/math.Sqrt(float64(e.units)), r)
	for i := range e.bias {
		e.bias[i], e.mean[i], e.logSlab[i] = -1, 1, 0
	}
	clear(e.logVisible)
	for i := range e.logExtra {
		e.logExtra[i] = -4
	}
}

// slab is what v tells a hidden unit.
type slab struct {
	w                []float64
	α, extra         float64 // extra is e^φ
	y, sum           float64 // y = wᵀv, and sum = Σ|w_j|
	square, weighted float64 // |v|², and Σ|w_j|v_j²
	input            float64
}

func (e *spikeAndSlab) slab(i int, v []float64) slab {
	s := slab{w: row(e.weights, i, v), α: math.Exp(e.logSlab[i]), extra: math.Exp(e.logExtra[i])}
	for j, x := range v {
		s.y += s.w[j] * x
		s.sum += math.Abs(s.w[j])
		s.weighted += math.Abs(s.w[j]) * x * x
		s.square += x * x
	}
	s.input = e.bias[i] + e.mean[i]*s.y + (s.y*s.y-s.sum*s.weighted)/(2*s.α) - s.extra*s.square/2
	return s
}

// FreeEnergy implements Energy.
func (e *spikeAndSlab) FreeEnergy(v []float64) (f float64) {
	f = quadratic(e.logVisible, v)
	for i := range e.bias {
		f -= statistics.Softplus(e.slab(i, v).input)
	}
	return f
}

// Gradient implements Energy.
func (e *spikeAndSlab) Gradient(to [][]float64, factor float64, v []float64) {
	addQuadratic(to[4], factor, e.logVisible, v)
	for i := range e.bias {
		s := e.slab(i, v)
		on := -factor * statistics.Sigmoid(s.input)
		to[1][i] += on
		to[2][i] += on * s.y
		to[5][i] -= on * s.extra * s.square / 2
		to[3][i] += on * (s.sum*s.weighted - s.y*s.y) / (2 * s.α)
		for j, x := range v {
			to[0][i*e.units+j] += on * (e.mean[i]*x + (s.y*x-sign(s.w[j])*(x*x*s.sum+s.weighted)/2)/s.α)
		}
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// Slope implements Sloped.
func (e *spikeAndSlab) Slope(to, v []float64) {
	for j, x := range v {
		to[j] = math.Exp(e.logVisible[j]) * x
	}
	for i := range e.bias {
		s := e.slab(i, v)
		on := statistics.Sigmoid(s.input)
		for j, x := range v {
			to[j] -= on * ((e.mean[i]+s.y/s.α)*s.w[j] - (math.Abs(s.w[j])*s.sum/s.α+s.extra)*x)
		}
	}
}

// down draws the spikes given v, and the slabs given both, and returns the mean and the variances of v given these.
func (e *spikeAndSlab) down(v []float64, r *rand.Rand) (mean, variance []float64) {
	mean, variance = make([]float64, e.units), make([]float64, e.units)
	for j, l := range e.logVisible {
		variance[j] = math.Exp(l)
	}
	for i := range e.bias {
		s := e.slab(i, v)
		if bernoulli(s.input, r) == 0 {
			continue // its slab has no effect
		}
		floats.AddScaled(mean, e.mean[i]+s.y/s.α+r.NormFloat64()/math.Sqrt(s.α), s.w)
		for j := range variance {
			variance[j] += math.Abs(s.w[j])*s.sum/s.α + s.extra
		}
	}
	for j, precision := range variance {
		variance[j] = 1 / precision
		mean[j] /= precision
	}
	return mean, variance
}

// Sweep implements Energy by block Gibbs sampling of spikes, slabs and v.
func (e *spikeAndSlab) Sweep(v []float64, r *rand.Rand) float64 {
	mean, variance := e.down(v, r)
	for j := range v {
		v[j] = mean[j] + math.Sqrt(variance[j])*r.NormFloat64()
	}
	return 1
}

// Mean implements Energy.
func (e *spikeAndSlab) Mean(v []float64, r *rand.Rand) {
	mean, _ := e.down(v, r)
	copy(v, mean)
}

// At implements Energy: the base model is the standard normal distribution.
func (e *spikeAndSlab) At(β float64) Energy {
	at := *e
	at.weights, at.mean, at.bias = scaled(math.Sqrt(β), e.weights), scaled(math.Sqrt(β), e.mean), scaled(β, e.bias)
	at.logVisible, at.logExtra = towards(e.logVisible, β), slices.Clone(e.logExtra)
	floats.AddConst(math.Log(β), at.logExtra)
	return &at
}

// Base implements Energy.
func (e *spikeAndSlab) Base(v []float64, r *rand.Rand) float64 {
	clear(v)
	return normals(v, r) + float64(len(e.bias))*math.Ln2
}

// LogZ implements Energy: given the spikes, v is Gaussian.
func (e *spikeAndSlab) LogZ([]float64) (float64, bool) {
	if len(e.bias) > enumerable {
		return 0, false
	}
	return sumOut(len(e.bias), func(h []float64) float64 {
		precision, shift := mat.NewSymDense(e.units, nil), make([]float64, e.units)
		for j, l := range e.logVisible {
			precision.SetSym(j, j, math.Exp(l))
		}
		for i, on := range h {
			if on == 0 {
				continue
			}
			s := e.slab(i, make([]float64, e.units))
			floats.AddScaled(shift, e.mean[i], s.w)
			precision.SymRankOne(precision, -1/s.α, mat.NewVecDense(e.units, s.w))
			for j, w := range s.w {
				precision.SetSym(j, j, precision.At(j, j)+math.Abs(w)*s.sum/s.α+s.extra)
			}
		}
		return floats.Dot(e.bias, h) + gaussian(shift, precision)
	}), true
}

// Fields implements Energy by the weights.
func (e *spikeAndSlab) Fields() (dataset.Shape, [][]float64) {
	return dataset.Shape{}, slices.Collect(slices.Chunk(e.weights, e.units))
}
