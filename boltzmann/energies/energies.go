// Package energies trains machines defined by a free energy: p(x) ∝ e^(−F(x)), with hidden units
// summed or integrated out. Each kind of machine has its own energy and is registered as a family. All
// kinds share training, annealing, sampling and run directories:
//
//	ConvolutionalRBM        a convolutional RBM with probabilistic max-pooling
//	SpikeAndSlabRBM         an RBM whose hidden units each have a binary spike and a real slab
//	MeanCovarianceRBM       an RBM with hidden units for the means and for the covariance of real units
//	StudentT                a product of Student-t distributions, with hidden units for the means
//	ConditionalRBM          an RBM that predicts some binary units of a row from the others
//	ConditionalGaussianRBM  an RBM that predicts some real units of a row from the others
//	GatedRBM                a factored third-order machine that predicts one image of a pair from the other
//
// Energies, log Z and log p are in nats.
package energies

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// parameter is a tensor that shares memory with its energy.
type parameter struct {
	runs.Tensor
	// Rate multiplies the learning rate. Parameters with rate 0 are not trained.
	Rate float64
}

// newParameter returns a parameter in double precision. Without a shape, it is a vector.
func newParameter(name string, rate float64, values []float64, shape ...int) parameter {
	return parameter{runs.Wide(name, values, shape...), rate}
}

// energy is the free energy F(x) of rows of D units. The rows of a conditional energy hold both given and
// predicted units: the given units never change, and log Z depends on them.
type energy interface {
	// Parameters lists the parameters, always in the same order.
	Parameters() []parameter
	// Begin sets the initial parameters, given training rows.
	Begin(rows [][]float64, r *rand.Rand)
	// FreeEnergy returns F(x).
	FreeEnergy(x []float64) float64
	// Products returns the computations for many rows at once. They use copies of the parameters.
	Products() products
	// At returns the energy at an inverse temperature β between 0 and 1. At 1 it is the energy itself,
	// and at 0 its base model of independent units.
	At(β float64) energy
	// Base draws x from the base model, and returns the base model's log Z. It leaves given units unchanged.
	Base(x []float64, r *rand.Rand) float64
	// exact reports whether LogZ can be called: it cannot if log Z is intractable or a sum over too many states.
	exact() bool
	// LogZ returns log Z, given the given units of x.
	LogZ(x []float64) float64
	// Fields returns the filters of the machine and the shape of a filter. The shape is zero if each filter covers a
	// whole row.
	Fields() (dataset.Shape, [][]float64)
}

// products computes for many rows at once, with matrix products in single precision. Its methods may run concurrently.
type products interface {
	// Gradients adds factor times the sum of ∂F/∂θ over rows to to, which holds one slice per parameter.
	Gradients(to [][]float64, factor float64, rows [][]float64)
	// Sweeps moves one Markov chain per row by one step, in place. The step leaves p(x) invariant. Chain r draws from
	// draws[r]. If means is true, Sweeps replaces x by its expected value given the hidden units instead of drawing it;
	// an energy without expected values leaves x unchanged. Sweeps returns the acceptance probability of each chain's
	// step, which is 1 for Gibbs sampling.
	Sweeps(rows [][]float64, draws []*rand.Rand, means bool) []float64
}

// sloped is an energy that has its gradient ∂F/∂x if its units are real.
type sloped interface {
	// Slope writes ∂F/∂x, with 0 for given units.
	Slope(to, x []float64)
}

// enumerable is the largest number of binary units whose states LogZ sums over.
const enumerable = 16

// integrable reports whether LogZ sums over the states of n binary units if units real units are Gaussian given each
// state. The sum takes about 2ⁿ·units³ operations; with more than 2³⁴ of them, AIS is faster.
func integrable(n, units int) bool {
	return n <= enumerable && math.Ldexp(math.Pow(float64(units), 3), n) <= 1<<34
}

// bernoulli draws a unit that is on with probability σ(input). near is −σ(input) in single precision, from which it
// differs by less than nearError; σ(input) itself decides only draws that are as near.
func bernoulli[F float32 | float64](input F, near float32, r *rand.Rand) F {
	const nearError = 1e-6
	u := r.Float64()
	above := u + float64(near)
	on := one(above < 0)
	if math.Abs(above) <= nearError {
		on = one(u < statistics.Sigmoid(float64(input)))
	}
	return F(on)
}

// one returns 1 if is is true, and 0 otherwise, without a branch, which processors could not predict for draws.
func one(is bool) (n uint32) {
	if is {
		n = 1
	}
	return n
}

// bernoullis replaces inputs of binary units by draws of the units.
func bernoullis[F float32 | float64](x []F, r *rand.Rand) {
	m := newRoom()
	defer m.leave()
	near := m.floats(len(x))
	for i, input := range x {
		near[i] = float32(input)
	}
	kernels.NegateMeans(near)
	for i, input := range x {
		x[i] = bernoulli(input, near[i], r)
	}
}

// lessSoftplusses returns f − Σ log(1 + e^input). It overwrites the inputs.
func lessSoftplusses(f float64, inputs []float64) float64 {
	kernels.Softplus(inputs)
	for _, s := range inputs {
		f -= s
	}
	return f
}

// addNormals adds standard normal draws to x.
func addNormals(x []float64, r *rand.Rand) {
	for i := range x {
		x[i] += r.NormFloat64()
	}
}

// normalLogZ returns log Z of the energy ½|x|² − meanᵀx.
func normalLogZ(mean []float64) (logZ float64) {
	for _, m := range mean {
		logZ += (m*m + math.Log(2*math.Pi)) / 2
	}
	return logZ
}

// logOdds returns the log-odds that each unit is on in rows of 0 and 1, with 0.5 added to both counts.
func logOdds(rows [][]float64) []float64 {
	on := make([]float64, len(rows[0]))
	for _, x := range rows {
		floats.Add(on, x)
	}
	for i, n := range on {
		on[i] = math.Log((n + 0.5) / (float64(len(rows)) - n + 0.5))
	}
	return on
}

// draw fills values with normal draws of mean 0 and the given standard deviation.
func draw(values []float64, deviation float64, r *rand.Rand) {
	for i := range values {
		values[i] = deviation * r.NormFloat64()
	}
}

func scaled(factor float64, values []float64) []float64 {
	to := make([]float64, len(values))
	return floats.ScaleTo(to, factor, values)
}

// slow is the Rate of parameters that are logarithms of precisions.
const slow = 0.1

// quadratic returns ½xᵀΛx for a diagonal Λ.
func quadratic(diagonal, x []float64) (f float64) {
	for i, v := range x {
		f += diagonal[i] * v * v / 2
	}
	return f
}

// addQuadratics adds factor times the gradient of ½xᵀΛx with respect to log Λ, summed over rows x, to to.
func addQuadratics(to []float64, factor float64, log []float64, rows [][]float64) {
	factors := scaled(factor, expOf(log))
	for _, x := range rows {
		for i, v := range x {
			to[i] += factors[i] * v * v / 2
		}
	}
}

func expOf(log []float64) []float64 {
	return lists.Map(log, math.Exp)
}

// towards returns log((1−β)I + βΛ).
func towards(log []float64, β float64) []float64 {
	return lists.Map(log, func(l float64) float64 { return math.Log(1 - β + β*math.Exp(l)) })
}

// row returns row i of a matrix whose rows are as long as x.
func row(values []float64, i int, x []float64) []float64 { return values[i*len(x) : (i+1)*len(x)] }

func rowsOf(values []float64, columns int) [][]float64 {
	return slices.Collect(slices.Chunk(values, columns))
}

// times adds the product of m and x to to.
func times(to []float64, m mat.Matrix, x []float64) {
	y := mat.NewVecDense(len(to), nil)
	y.MulVec(m, mat.NewVecDense(len(x), x))
	floats.Add(to, y.RawVector().Data)
}

// sumOut returns log Σ_h e^(logWeight(h)) over all states h of n binary units.
func sumOut(n int, logWeight func(h []float64) float64) float64 {
	h, terms := make([]float64, n), make([]float64, 1<<n)
	for s := range terms {
		for j := range h {
			h[j] = float64(s >> j & 1)
		}
		terms[s] = logWeight(h)
	}
	return floats.LogSumExp(terms)
}

// gaussian returns the logarithm of ∫ e^(shiftᵀx − ½xᵀPx) dx, or NaN if P is not finite and positive definite.
func gaussian(shift []float64, precision *mat.SymDense) float64 {
	c, err := statistics.Cholesky("the precision", precision)
	if err != nil {
		return math.NaN()
	}
	d := float64(len(shift))
	var mean mat.VecDense
	if err := c.SolveVecTo(&mean, mat.NewVecDense(len(shift), shift)); err != nil {
		return math.NaN()
	}
	return floats.Dot(shift, mean.RawVector().Data)/2 + d/2*math.Log(2*math.Pi) - c.LogDet()/2
}

func single(values []float64, rows, columns int) kernels.Matrix {
	return kernels.Matrix{Rows: rows, Cols: columns, Stride: max(columns, 1), Data: singles(values)}
}

func singles(values []float64) []float32 {
	to := make([]float32, len(values))
	narrow(to, values)
	return to
}

// narrow writes values to to in single precision.
func narrow(to []float32, values []float64) {
	to = to[:len(values)]
	for i, v := range values {
		to[i] = float32(v)
	}
}

// widen writes values to to in double precision.
func widen(to []float64, values []float32) {
	to = to[:len(values)]
	for i, v := range values {
		to[i] = float64(v)
	}
}

// packed returns filters, one per row, as product reads them, in single precision.
func packed(values []float64, rows, columns int) *kernels.Packed {
	m := newRoom()
	defer m.leave()
	filters, p := m.matrix(rows, columns), kernels.NewPacked(rows, columns)
	narrow(filters.Data, values)
	p.Pack(filters, 0, rows)
	return p
}

// room is memory for the matrices of one computation. Their values are undefined at first.
type room struct {
	data []float32
	used int
}

var rooms = sync.Pool{New: func() any { return new(room) }}

func newRoom() *room { return rooms.Get().(*room) }

// leave ends the use of all matrices of the room.
func (m *room) leave() {
	m.used = 0
	rooms.Put(m)
}

func (m *room) floats(n int) []float32 {
	if m.used+n > len(m.data) {
		m.data, m.used = make([]float32, max(n, 2*len(m.data))), 0
	}
	m.used += n
	return m.data[m.used-n : m.used : m.used]
}

func (m *room) matrix(rows, columns int) kernels.Matrix {
	stride := max(columns, 1)
	return kernels.Matrix{Rows: rows, Cols: columns, Stride: stride, Data: m.floats(rows * stride)}
}

// singles returns the units of rows in single precision: the units with the indices of, or all units.
func (m *room) singles(rows [][]float64, of ...int) kernels.Matrix {
	if of == nil {
		to := m.matrix(len(rows), len(rows[0]))
		for r, x := range rows {
			narrow(kernels.Row(to, r), x)
		}
		return to
	}
	to := m.matrix(len(rows), len(of))
	for r, x := range rows {
		row := kernels.Row(to, r)[:len(of)]
		for k, i := range of {
			row[k] = float32(x[i])
		}
	}
	return to
}

// repeated returns a matrix with n rows, each a copy of values.
func (m *room) repeated(values []float32, n int) kernels.Matrix {
	to := m.matrix(n, len(values))
	for r := range n {
		copy(kernels.Row(to, r), values)
	}
	return to
}

// product returns a·bᵀ for a packed matrix b with the given number of rows.
func (m *room) product(a kernels.Matrix, b *kernels.Packed, rows int) kernels.Matrix {
	c := m.matrix(a.Rows, rows)
	kernels.MulPacked(c, a, b)
	return c
}

// multiplied returns the elementwise product of two matrices.
func (m *room) multiplied(a, b kernels.Matrix) kernels.Matrix {
	c := m.matrix(a.Rows, a.Cols)
	to, factors := c.Data[:len(a.Data)], b.Data[:len(a.Data)]
	for i, v := range a.Data {
		to[i] = v * factors[i]
	}
	return c
}

// outer returns aᵀ·b.
func (m *room) outer(a, b kernels.Matrix) []float32 {
	product := m.matrix(a.Cols, b.Cols)
	kernels.MulTN(product, 0, a, b)
	return product.Data[:a.Cols*b.Cols]
}

// addRows adds the sum of the rows of m to to.
func addRows(to []float64, m kernels.Matrix) {
	for r := range m.Rows {
		kernels.AddSingles(to, kernels.Row(m, r))
	}
}

func add(to, m kernels.Matrix) { kernels.AddMultiple(to.Data, 1, m.Data) }

// certain returns the acceptance probabilities of n steps of Gibbs sampling, all 1.
func certain(n int) []float64 { return slices.Repeat([]float64{1}, n) }
