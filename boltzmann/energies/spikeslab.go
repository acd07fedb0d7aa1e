package energies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
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
	new: func(s SpikeAndSlab, shape dataset.Shape, _ dataset.Mask) (energy, error) {
		return newSpikeAndSlab(s.Hidden, shape.Units()), nil
	},
})

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
// with diagonal Λ and Φ_i. Given h, v has the precision Λ + Σ h_i(Φ_i − w_i w_iᵀ/α_i). This matrix is positive
// definite for every h, because Φ_ij = |w_ij| Σ_k |w_ik|/α_i + e^φ_i dominates w_i w_iᵀ/α_i. F leaves out the
// constant −½Σ log(2π/α_i) of the slabs.
type spikeAndSlab struct {
	units                           int
	weights                         []float64 // one row per hidden unit
	bias, mean, logSlab, logVisible []float64 // b, μ, log α, log Λ
	logExtra                        []float64 // φ
}

func newSpikeAndSlab(hidden, units int) *spikeAndSlab {
	of := func(n int) []float64 { return make([]float64, n) }
	return &spikeAndSlab{units, of(hidden * units), of(hidden), of(hidden), of(hidden), of(units), of(hidden)}
}

func (e *spikeAndSlab) Parameters() []parameter {
	return []parameter{
		newParameter("weights", 1, e.weights, len(e.bias), e.units), newParameter("hidden_biases", 1, e.bias), newParameter("slab_means", 1, e.mean),
		newParameter("log_slab_precisions", slow, e.logSlab), newParameter("log_visible_precisions", slow, e.logVisible),
		newParameter("log_extra_precisions", slow, e.logExtra),
	}
}

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

// slab holds the input a_i of a hidden unit given v, and the terms of this input.
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

func (e *spikeAndSlab) FreeEnergy(v []float64) float64 {
	inputs := lists.N(len(e.bias), func(i int) float64 { return e.slab(i, v).input })
	return lessSoftplusses(quadratic(expOf(e.logVisible), v), inputs)
}

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

// At returns the energy at β. The base model is the standard normal distribution.
func (e *spikeAndSlab) At(β float64) energy {
	at := *e
	at.weights, at.mean, at.bias = scaled(math.Sqrt(β), e.weights), scaled(math.Sqrt(β), e.mean), scaled(β, e.bias)
	at.logVisible, at.logExtra = towards(e.logVisible, β), slices.Clone(e.logExtra)
	floats.AddConst(math.Log(β), at.logExtra)
	return &at
}

func (e *spikeAndSlab) Base(v []float64, r *rand.Rand) float64 {
	clear(v)
	logZ := normalLogZ(v) + float64(len(e.bias))*math.Ln2
	addNormals(v, r)
	return logZ
}

func (e *spikeAndSlab) exact() bool { return integrable(len(e.bias), e.units) }

// LogZ sums over the states of at most 16 spikes, or of fewer if there are more than 64 units; given the spikes, v is
// Gaussian.
func (e *spikeAndSlab) LogZ([]float64) float64 {
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
	})
}

func (e *spikeAndSlab) Fields() (dataset.Shape, [][]float64) {
	return dataset.Shape{}, rowsOf(e.weights, e.units)
}

// slabProducts holds W, as it is and packed, |W| (sizes), Φ (extra), and for each hidden unit Σ|w_j| (sum), α, √α (root)
// and e^φ.
type slabProducts struct {
	*spikeAndSlab
	w, extra             kernels.Matrix
	packed, sizes        *kernels.Packed
	precisions           []float32 // Λ
	sum, α, root, extras []float64
}

func (e *spikeAndSlab) Products() products {
	n := len(e.bias)
	p := &slabProducts{
		spikeAndSlab: e, w: single(e.weights, n, e.units), extra: kernels.NewMatrix(n, e.units), precisions: singles(expOf(e.logVisible)),
		packed: kernels.NewPacked(n, e.units), sizes: kernels.NewPacked(n, e.units), α: expOf(e.logSlab), extras: expOf(e.logExtra),
	}
	m := newRoom()
	defer m.leave()
	sizes := m.matrix(n, e.units)
	for i, α := range p.α {
		p.root = append(p.root, math.Sqrt(α))
		p.sum = append(p.sum, floats.Norm(e.weights[i*e.units:(i+1)*e.units], 1))
		size, extra := kernels.Row(sizes, i)[:e.units], kernels.Row(p.extra, i)[:e.units]
		factor, plus := float32(p.sum[i]/α), float32(p.extras[i])
		for j, w := range kernels.Row(p.w, i) {
			size[j] = math.Float32frombits(math.Float32bits(w) &^ (1 << 31))
			extra[j] = size[j]*factor + plus
		}
	}
	p.packed.Pack(p.w, 0, n)
	p.sizes.Pack(sizes, 0, n)
	return p
}

// slabRows holds v and v². For each row and hidden unit it holds y = wᵀv, Σ|w_j|v_j² (weighted) and the input.
type slabRows struct{ v, squares, y, weighted, inputs kernels.Matrix }

func (p *slabProducts) of(m *room, rows [][]float64) slabRows {
	n := len(p.bias)
	mean, sum, α, extras := p.mean[:n], p.sum[:n], p.α[:n], p.extras[:n]
	at := slabRows{v: m.singles(rows), inputs: m.matrix(len(rows), n)}
	at.squares = m.multiplied(at.v, at.v)
	at.y, at.weighted = m.product(at.v, p.packed, n), m.product(at.squares, p.sizes, n)
	for r, v := range rows {
		square := floats.Dot(v, v)
		inputs, ys, weighted := kernels.Row(at.inputs, r)[:n], kernels.Row(at.y, r)[:n], kernels.Row(at.weighted, r)[:n]
		for i, b := range p.bias {
			y := float64(ys[i])
			inputs[i] = float32(b + mean[i]*y + (y*y-sum[i]*float64(weighted[i]))/(2*α[i]) - extras[i]*square/2)
		}
	}
	return at
}

func (p *slabProducts) Sweeps(rows [][]float64, draws []*rand.Rand, means bool) []float64 {
	m := newRoom()
	defer m.leave()
	at := p.of(m, rows)
	sums, precisions, near := m.matrix(len(rows), p.units), m.repeated(p.precisions, len(rows)), m.floats(len(p.bias))
	for r, random := range draws {
		spikes, slabs := kernels.Row(at.inputs, r), kernels.Row(at.y, r)
		copy(near, spikes)
		kernels.NegateMeans(near)
		for i, input := range spikes {
			spikes[i] = bernoulli(input, near[i], random)
			if slabs[i] = spikes[i] * (float32(p.mean[i]) + slabs[i]/float32(p.α[i])); spikes[i] == 1 {
				slabs[i] += float32(random.NormFloat64() / p.root[i])
			}
		}
	}
	clear(sums.Data)
	kernels.AddMulNN(sums, at.y, p.w)
	kernels.AddMulNN(precisions, at.inputs, p.extra)
	for r, v := range rows {
		sums := kernels.Row(sums, r)
		for j, precision := range kernels.Row(precisions, r) {
			if v[j] = float64(sums[j] / precision); !means {
				v[j] += draws[r].NormFloat64() / math.Sqrt(float64(precision))
			}
		}
	}
	return certain(len(rows))
}

func (p *slabProducts) Gradients(to [][]float64, factor float64, rows [][]float64) {
	m := newRoom()
	defer m.leave()
	at := p.of(m, rows)
	n := len(p.bias)
	on, slopes := at.inputs, m.matrix(len(rows), n)
	sums, probabilities := make([]float64, n), make([]float64, n) // sums is Σ on·weighted
	addQuadratics(to[4], factor, p.logVisible, rows)
	mean, sum, α, extra := p.mean[:n], p.sum[:n], p.α[:n], p.extras[:n]
	biases, means, slabs, extras := to[1][:n], to[2][:n], to[3][:n], to[5][:n]
	for r, v := range rows {
		square := floats.Dot(v, v)
		on, slopes, ys, weights := kernels.Row(on, r)[:n], kernels.Row(slopes, r)[:n], kernels.Row(at.y, r)[:n], kernels.Row(at.weighted, r)[:n]
		widen(probabilities, on)
		kernels.Logistic(probabilities)
		for i, p := range probabilities {
			g, y, weighted := -factor*p, float64(ys[i]), float64(weights[i])
			on[i], slopes[i] = float32(g), float32(g*(mean[i]+y/α[i]))
			biases[i] += g
			means[i] += g * y
			extras[i] -= g * extra[i] * square / 2
			slabs[i] += g * (sum[i]*weighted - y*y) / (2 * α[i])
			sums[i] += g * weighted
		}
	}
	kernels.AddSingles(to[0], m.outer(slopes, at.v))
	squares := m.outer(on, at.squares)
	for i, sum := range p.sum {
		of, squares, on, twice := to[0][i*p.units:][:p.units], squares[i*p.units:][:p.units], sums[i], 2*α[i]
		for j, w := range p.weights[i*p.units:][:p.units] {
			if slope := (sum*float64(squares[j]) + on) / twice; w != 0 {
				of[j] -= math.Float64frombits(math.Float64bits(slope) ^ math.Float64bits(w)&(1<<63)) // ±slope
			}
		}
	}
}
