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
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// MeanCovariance describes a machine with hidden units for the means and factors for the covariance of its visible
// units.
type MeanCovariance struct {
	Hidden  int `toml:"hidden" json:"hidden"`
	Factors int `toml:"factors" json:"factors"`
}

// MeanCovarianceRBM trains mean-covariance RBMs (Ranzato and Hinton 2010), with a binary hidden unit for each
// factor. Without factors this is a Gaussian RBM. Rows of real numbers are whitened.
var MeanCovarianceRBM = register(meanCovarianceKind("mean-covariance-rbm", "a mean-covariance RBM", false))

// StudentT trains mean products of Student-t distributions (Ranzato, Mnih and Hinton 2010), with a
// Gamma-distributed hidden unit for each factor. Rows of real numbers are whitened.
var StudentT = register(meanCovarianceKind("student-t", "a mean product of Student-t distributions", true))

func meanCovarianceKind(name, noun string, gamma bool) kind[MeanCovariance] {
	return kind[MeanCovariance]{
		name: name, noun: noun, data: "--dataset olivettipatches --binarization grey",
		usual: MeanCovariance{Hidden: 64, Factors: 128}, training: Training{LearningRate: 0.01, BatchSize: 100, Chains: 100, Steps: 1},
		rows: func(s *MeanCovariance) []runs.Hyperparameter {
			hidden := hiddenRow(&s.Hidden, noun[2:])
			hidden.Usage = "`number` of hidden units for the means"
			return []runs.Hyperparameter{hidden, {
				Value: &s.Factors, Flag: "factors", Usage: "`number` of factors of the covariance", Legend: names.Count(s.Factors, "factor"), Always: true,
				Valid: s.Factors >= 0, Remedy: "give 0 or more; twice the number of visible units is usual",
			}}
		},
		size: func(s MeanCovariance, shape dataset.Shape) float64 {
			return (float64(s.Hidden) + float64(s.Factors)) * float64(shape.Units())
		},
		real: true,
		new: func(s MeanCovariance, shape dataset.Shape, _ dataset.Mask) (energy, error) {
			return newMeanCovariance(s, shape.Units(), gamma), nil
		},
	}
}

const (
	leapfrogs   = 20  // steps of a trajectory
	acceptances = 0.9 // target share of accepted trajectories
	// Training ends if the mean acceptance is below leastAcceptance for mostRejections gradients in a row.
	leastAcceptance = 0.5
	mostRejections  = 100
)

// meanCovariance is the energy
//
//	F(x) = ½xᵀΛx − bᵀx − Σ_j softplus(c_j + w_jᵀx) + Σ_k G_k(r_kᵀx),
//
// where G_k(y) is −softplus(d_k − ½y²) for binary units of the covariance, and e^(d_k) log(1 + ½y²) for Gamma-distributed
// units. Λ is diagonal and learned; the articles use the identity instead. Factors lower the variance. Whitened rows
// have variance 1 overall, so the variance without factors must be able to exceed 1. It is sampled by Hamiltonian Monte
// Carlo (Duane, Kennedy, Pendleton and Roweth 1987).
type meanCovariance struct {
	gamma            bool
	weights, factors []float64 // w_j and r_k, one per row
	visible, hidden  []float64 // b and c
	log              []float64 // log Λ
	shape            []float64 // d
	step, rejected   []float64 // of length 1: the step size, and the number of gradients in a row with too few acceptances
}

func newMeanCovariance(s MeanCovariance, units int, gamma bool) *meanCovariance {
	of := func(n int) []float64 { return make([]float64, n) }
	return &meanCovariance{gamma, of(s.Hidden * units), of(s.Factors * units), of(units), of(s.Hidden), of(units), of(s.Factors), []float64{0.1}, of(1)}
}

func (e *meanCovariance) Parameters() []parameter {
	units := len(e.visible)
	return []parameter{
		newParameter("weights", 1, e.weights, len(e.hidden), units), newParameter("factors", 1, e.factors, len(e.shape), units),
		newParameter("visible_biases", 1, e.visible), newParameter("hidden_biases", 1, e.hidden), newParameter("factor_biases", 1, e.shape),
		newParameter("log_precisions", slow, e.log), newParameter("step_size", 0, e.step), newParameter("rejected", 0, e.rejected),
	}
}

// Begin starts near the standard normal distribution. The hidden units for the means are mostly off.
func (e *meanCovariance) Begin(_ [][]float64, r *rand.Rand) {
	deviation := 1 / math.Sqrt(float64(len(e.visible)))
	draw(e.weights, 0.1*deviation, r)
	draw(e.factors, 0.3*deviation, r)
	for j := range e.hidden {
		e.hidden[j] = -2
	}
	for k := range e.shape {
		if e.shape[k] = 2; e.gamma {
			e.shape[k] = -1
		}
	}
}

// rates returns e^(d_k) for Gamma-distributed units, and d_k for binary ones.
func (e *meanCovariance) rates() []float64 {
	if e.gamma {
		return expOf(e.shape)
	}
	return e.shape
}

func (e *meanCovariance) FreeEnergy(x []float64) float64 {
	return e.freeEnergy(expOf(e.log), e.rates(), x)
}

// inputs returns the inputs c_j + w_jᵀx of the hidden units and the outputs r_kᵀx of the factors, as one slice and as two.
func (e *meanCovariance) inputs(x []float64) (all, hidden, outputs []float64) {
	all = make([]float64, len(e.hidden)+len(e.shape))
	hidden, outputs = all[:len(e.hidden)], all[len(e.hidden):]
	kernels.Dots(hidden, e.weights, x)
	kernels.Dots(outputs, e.factors, x)
	floats.Add(hidden, e.hidden)
	return all, hidden, outputs
}

// freeEnergy returns F(x), given Λ and the rates.
func (e *meanCovariance) freeEnergy(precisions, rates, x []float64) float64 {
	inputs, hidden, squares := e.inputs(x)
	for k, y := range squares {
		squares[k] = y * y / 2
	}
	f := quadratic(precisions, x) - floats.Dot(e.visible, x)
	if !e.gamma {
		floats.SubTo(squares, rates, squares)
		return lessSoftplusses(f, inputs)
	}
	f = lessSoftplusses(f, hidden)
	kernels.Log1p(squares)
	for k, log := range squares {
		f += float64(rates[k] * log) // rounded also where processors could add in the same operation
	}
	return f
}

func (e *meanCovariance) Slope(to, x []float64) {
	for i, v := range x {
		to[i] = math.Exp(e.log[i])*v - e.visible[i]
	}
	_, hidden, outputs := e.inputs(x)
	kernels.Logistic(hidden)
	for j, on := range hidden {
		floats.AddScaled(to, -on, row(e.weights, j, x))
	}
	for k, rate := range e.rates() {
		r, y := row(e.factors, k, x), outputs[k]
		if e.gamma {
			floats.AddScaled(to, rate*y/(1+y*y/2), r)
		} else {
			floats.AddScaled(to, statistics.Sigmoid(rate-y*y/2)*y, r)
		}
	}
}

// At returns the energy at β. The base model is the standard normal distribution.
func (e *meanCovariance) At(β float64) energy {
	at := *e
	at.weights, at.hidden, at.visible = scaled(β, e.weights), scaled(β, e.hidden), scaled(β, e.visible)
	at.log = towards(e.log, β)
	if e.gamma {
		at.shape = slices.Clone(e.shape)
		floats.AddConst(math.Log(β), at.shape)
	} else {
		at.shape, at.factors = scaled(β, e.shape), scaled(math.Sqrt(β), e.factors)
	}
	return &at
}

func (e *meanCovariance) Base(x []float64, r *rand.Rand) float64 {
	clear(x)
	binary := len(e.hidden)
	if !e.gamma {
		binary += len(e.shape)
	}
	logZ := normalLogZ(x) + float64(binary)*math.Ln2
	addNormals(x, r)
	return logZ
}

func (e *meanCovariance) exact() bool {
	return integrable(len(e.hidden)+len(e.shape), len(e.visible)) && !(e.gamma && len(e.shape) > 0)
}

// LogZ sums over the states of at most 16 binary hidden units, or of fewer if there are more than 64 visible units;
// given the hidden units, x is Gaussian. With Gamma-distributed units, log Z is intractable.
func (e *meanCovariance) LogZ([]float64) float64 {
	n, units := len(e.hidden), len(e.visible)
	weights, factors := rowsOf(e.weights, units), rowsOf(e.factors, units)
	return sumOut(n+len(e.shape), func(h []float64) float64 {
		shift, precision := slices.Clone(e.visible), mat.NewSymDense(units, nil)
		for i := range units {
			precision.SetSym(i, i, math.Exp(e.log[i]))
		}
		for j, w := range weights {
			floats.AddScaled(shift, h[j], w)
		}
		for k, r := range factors {
			precision.SymRankOne(precision, h[n+k], mat.NewVecDense(units, r))
		}
		return floats.Dot(e.hidden, h[:n]) + floats.Dot(e.shape, h[n:]) + gaussian(shift, precision)
	})
}

// Fields returns the factors, or the weights if there are no factors.
func (e *meanCovariance) Fields() (dataset.Shape, [][]float64) {
	if len(e.factors) == 0 {
		return dataset.Shape{}, rowsOf(e.weights, len(e.visible))
	}
	return dataset.Shape{}, rowsOf(e.factors, len(e.visible))
}

// covarianceProducts holds parameters and functions of them, in single precision. The rows of filters are the
// weights, followed by the factors.
type covarianceProducts struct {
	*meanCovariance
	packed                      *kernels.Packed
	filters                     kernels.Matrix
	visible, hidden, precisions []float32
	rates                       []float32
	wide, wideRates             []float64 // Λ and the rates
}

func (e *meanCovariance) Products() products {
	n, units, filters := len(e.hidden)+len(e.shape), len(e.visible), slices.Concat(e.weights, e.factors)
	p := &covarianceProducts{
		meanCovariance: e, packed: packed(filters, n, units), filters: single(filters, n, units),
		visible: singles(e.visible), hidden: singles(e.hidden), wide: expOf(e.log), wideRates: e.rates(),
	}
	p.precisions, p.rates = singles(p.wide), singles(p.wideRates)
	return p
}

// slopes replaces the filter outputs y, first of the hidden units and then of the factors, by ∂F/∂y.
func (p *covarianceProducts) slopes(m *room, y kernels.Matrix) {
	n, square := len(p.hidden), m.floats(len(p.rates))
	for r := range y.Rows {
		h, y := kernels.Row(y, r)[:n], kernels.Row(y, r)[n:]
		kernels.AddMultiple(h, 1, p.hidden)
		kernels.NegateMeans(h)
		if p.gamma {
			for k, v := range y {
				y[k] = p.rates[k] * v / (1 + v*v/2)
			}
			continue
		}
		for k, v := range y {
			square[k] = p.rates[k] - v*v/2
		}
		kernels.NegateMeans(square)
		for k, on := range square {
			y[k] *= -on
		}
	}
}

// slope writes ∂F/∂x for each row of x to to. y is memory for the filter outputs.
func (p *covarianceProducts) slope(m *room, to, x, y kernels.Matrix) {
	kernels.MulPacked(y, x, p.packed)
	p.slopes(m, y)
	for r := range x.Rows {
		to := kernels.Row(to, r)
		for i, v := range kernels.Row(x, r) {
			to[i] = p.precisions[i]*v - p.visible[i]
		}
	}
	kernels.AddMulNN(to, y, p.filters)
}

// Sweeps moves rows along trajectories of Hamiltonian Monte Carlo. Since trajectories have no means, it leaves the rows
// unchanged if means is true. The energies at both ends of a trajectory are in double precision.
func (p *covarianceProducts) Sweeps(rows [][]float64, draws []*rand.Rand, means bool) []float64 {
	if means {
		return certain(len(rows))
	}
	m := newRoom()
	defer m.leave()
	ε, units := float32(p.step[0]), len(p.visible)
	end, slope, momenta := m.singles(rows), m.matrix(len(rows), units), m.matrix(len(rows), units)
	y := m.matrix(len(rows), p.filters.Rows)
	momentum, to := make([]float64, units), make([]float64, units)
	before, accepted := make([]float64, len(rows)), make([]float64, len(rows))
	for r, x := range rows {
		draw(momentum, 1, draws[r])
		before[r] = p.freeEnergy(p.wide, p.wideRates, x) + floats.Dot(momentum, momentum)/2
		narrow(kernels.Row(momenta, r), momentum)
	}
	p.slope(m, slope, end, y)
	kernels.AddMultiple(momenta.Data, -ε/2, slope.Data)
	for step := range leapfrogs {
		kernels.AddMultiple(end.Data, ε, momenta.Data)
		p.slope(m, slope, end, y)
		if step < leapfrogs-1 {
			kernels.AddMultiple(momenta.Data, -ε, slope.Data)
		}
	}
	kernels.AddMultiple(momenta.Data, -ε/2, slope.Data)
	for r, x := range rows {
		widen(to, kernels.Row(end, r))
		widen(momentum, kernels.Row(momenta, r))
		ratio := math.Exp(before[r] - (p.freeEnergy(p.wide, p.wideRates, to) + floats.Dot(momentum, momentum)/2))
		if ratio > draws[r].Float64() {
			copy(x, to)
		}
		if !math.IsNaN(ratio) {
			accepted[r] = math.Min(1, ratio)
		}
	}
	return accepted
}

// adapt tunes the step size of the chains. accepted is the mean acceptance probability of their last steps.
func (e *meanCovariance) adapt(accepted float64) error {
	if accepted < leastAcceptance {
		e.rejected[0]++
	} else {
		e.rejected[0] = 0
	}
	if e.rejected[0] >= mostRejections {
		return runs.Diverging(fmt.Errorf("the chains of Hamiltonian Monte Carlo have accepted less than half of their steps for %d gradients in a row, %.0f %% of the last, at the step size %.2g: lower the learning rate", mostRejections, 100*accepted, e.step[0]))
	}
	if accepted > acceptances {
		e.step[0] *= 1.02
	} else {
		e.step[0] *= 0.98
	}
	return nil
}

func (p *covarianceProducts) Gradients(to [][]float64, factor float64, rows [][]float64) {
	m := newRoom()
	defer m.leave()
	x, n, units := m.singles(rows), len(p.hidden), len(p.visible)
	y, squares := m.product(x, p.packed, p.filters.Rows), m.floats(len(p.shape))
	shapes, logs := to[4], make([]float64, len(p.shape))
	for r := range rows {
		for k, v := range kernels.Row(y, r)[n:] {
			if squares[k] = v * v / 2; !p.gamma {
				squares[k] = p.rates[k] - squares[k]
			}
		}
		if p.gamma {
			widen(logs, squares)
			kernels.Log1p(logs)
			for k, log := range logs {
				shapes[k] += factor * float64(p.rates[k]) * log
			}
			continue
		}
		kernels.Sigmoids(squares)
		for k, on := range squares {
			shapes[k] -= factor * float64(on)
		}
	}
	p.slopes(m, y)
	kernels.Scale(y.Data, factor)
	outer := m.outer(y, x)
	kernels.AddSingles(to[0], outer[:n*units])
	kernels.AddSingles(to[1], outer[n*units:])
	for r, row := range rows {
		kernels.AddSingles(to[3], kernels.Row(y, r)[:n])
		floats.AddScaled(to[2], -factor, row)
	}
	addQuadratics(to[5], factor, p.log, rows)
}
