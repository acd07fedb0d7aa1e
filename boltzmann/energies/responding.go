package energies

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// pairwise describes how predicted units v and binary hidden units h interact, given the other units of a row x.
// Vectors of v keep the order of the row.
type pairwise interface {
	Parameters() []parameter
	width() int // the number of units of a row
	Fields() (dataset.Shape, [][]float64)
	// begin sets the initial parameters. inputs holds one input per unit of v. If all hidden units are off, these
	// inputs give v its means in the training rows.
	begin(inputs []float64, r *rand.Rand)
	// given returns the inputs of v if all hidden units are off.
	given(x []float64) []float64
	// up returns the inputs of h.
	up(x []float64) []float64
	// field returns the part of the inputs of v that is linear in h.
	field(x, h []float64) []float64
	// at returns a copy in which the inputs of the hidden units are multiplied by β.
	at(β float64) pairwise
	// products returns the same computations for many rows.
	products() pairwiseProducts
}

// pairwiseProducts computes the inputs of many rows, given by of, in single precision. Its matrices have one row per row
// of data.
type pairwiseProducts interface {
	of(m *room, rows [][]float64) pairwiseProducts
	given() kernels.Matrix
	up() kernels.Matrix
	// addField adds the part of the inputs of v that is linear in h to to.
	addField(to, h kernels.Matrix)
	// gradient adds ∂F/∂θ, summed over rows, to to. inputs and on hold the derivatives of F with respect to the inputs
	// that given and up return.
	gradient(to [][]float64, inputs, on kernels.Matrix)
}

// responding is the energy of the predicted units v of a row, given the row's other units,
//
//	F(v) = base − Σ_j softplus(up_j),
//
// where base is −givenᵀv for binary units, and ½|v − given|² for real ones.
type responding struct {
	pairwise
	v    []int
	real bool
}

func pick(values []float64, of []int) []float64 {
	return lists.Map(of, func(i int) float64 { return values[i] })
}

// put writes the values of v into a row.
func (e *responding) put(x, v []float64) {
	for k, i := range e.v {
		x[i] = v[k]
	}
}

// Begin sets the initial parameters. Real units are standardised, so their means are 0.
func (e *responding) Begin(rows [][]float64, r *rand.Rand) {
	inputs := make([]float64, len(e.v))
	if !e.real {
		inputs = pick(logOdds(rows), e.v)
	}
	e.begin(inputs, r)
}

func (e *responding) FreeEnergy(x []float64) (f float64) {
	v, given := pick(x, e.v), e.given(x)
	if e.real {
		d := floats.Distance(v, given, 2)
		f = d * d / 2
	} else {
		f = -floats.Dot(v, given)
	}
	return lessSoftplusses(f, e.up(x))
}

// on returns the probability that each hidden unit is on.
func (e *responding) on(x []float64) []float64 {
	inputs := e.up(x)
	kernels.Logistic(inputs)
	return inputs
}

// draw replaces inputs of v by draws of v.
func (e *responding) draw(inputs []float64, r *rand.Rand) {
	if e.real {
		addNormals(inputs, r)
	} else {
		bernoullis(inputs, r)
	}
}

type respondingProducts struct {
	*responding
	pairwiseProducts
}

func (e *responding) Products() products { return respondingProducts{e, e.products()} }

func (p respondingProducts) Sweeps(rows [][]float64, draws []*rand.Rand, means bool) []float64 {
	m := newRoom()
	defer m.leave()
	at := p.of(m, rows)
	h, inputs := at.up(), at.given()
	for r := range rows {
		bernoullis(kernels.Row(h, r), draws[r])
	}
	at.addField(inputs, h)
	v := make([]float64, len(p.v))
	for r, x := range rows {
		widen(v, kernels.Row(inputs, r))
		switch {
		case !means:
			p.draw(v, draws[r])
		case !p.real:
			kernels.Logistic(v)
		}
		p.put(x, v)
	}
	return certain(len(rows))
}

func (p respondingProducts) Gradients(to [][]float64, factor float64, rows [][]float64) {
	m := newRoom()
	defer m.leave()
	at := p.of(m, rows)
	inputs, on := m.singles(rows, p.v...), at.up()
	kernels.Scale(inputs.Data, -factor)
	if p.real {
		kernels.AddMultiple(inputs.Data, float32(factor), at.given().Data)
	}
	kernels.Sigmoids(on.Data)
	kernels.Scale(on.Data, -factor)
	at.gradient(to, inputs, on)
}

// At multiplies the inputs of the hidden units by β. In the base model, v does not depend on the hidden units.
func (e *responding) At(β float64) energy { return &responding{e.at(β), e.v, e.real} }

func (e *responding) Base(x []float64, r *rand.Rand) float64 {
	inputs := e.given(x)
	logZ := e.square(inputs) + float64(len(e.up(x)))*math.Ln2
	if e.real {
		logZ += normalLogZ(inputs)
	} else {
		logZ -= lessSoftplusses(0, slices.Clone(inputs))
	}
	e.draw(inputs, r)
	e.put(x, inputs)
	return logZ
}

// square returns −½|given|² for real units, which is the term of −½|v − given|² that does not depend on v. For binary
// units it returns 0.
func (e *responding) square(given []float64) float64 {
	if e.real {
		return -floats.Dot(given, given) / 2
	}
	return 0
}

func (e *responding) exact() bool { return len(e.up(make([]float64, e.width()))) <= enumerable }

// LogZ sums over the states of at most 16 hidden units.
func (e *responding) LogZ(x []float64) float64 {
	off := slices.Clone(x)
	e.put(off, make([]float64, len(e.v)))
	given, up := e.given(x), e.up(off)
	return e.square(given) + sumOut(len(up), func(h []float64) float64 {
		log := floats.Dot(up, h)
		for k, input := range e.field(x, h) {
			if input += given[k]; e.real {
				log += (input*input + math.Log(2*math.Pi)) / 2
			} else {
				log += statistics.Softplus(input)
			}
		}
		return log
	})
}

// Slope writes ∂F/∂x of real units.
func (e *responding) Slope(to, x []float64) {
	slope := pick(x, e.v)
	floats.Sub(slope, e.given(x))
	floats.Sub(slope, e.field(x, e.on(x)))
	clear(to)
	e.put(to, slope)
}
