package energies

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Gated describes a factored third-order machine of some units of a row given the others (Memisevic and Hinton 2010):
// of the second of a pair of images, one above the other, given the first.
type Gated struct {
	Hidden  int    `toml:"hidden" json:"hidden"`
	Factors int    `toml:"factors" json:"factors"`
	Predict string `toml:"predict" json:"predict"` // as of Conditional
}

// GatedRBM trains factored third-order machines of binary units.
var GatedRBM = register(kind[Gated]{
	name: "gated-rbm", noun: "a gated RBM", data: "--dataset shifteddots",
	usual: Gated{Hidden: 50, Factors: 100, Predict: "bottom"}, training: Training{LearningRate: 0.003, BatchSize: 100, Steps: 1},
	rows: func(s *Gated) []runs.Hyperparameter {
		return []runs.Hyperparameter{hiddenRow(&s.Hidden, "gated RBM"), {
			Value: &s.Factors, Flag: "factors", Usage: "`number` of factors of the third-order weights", Legend: fmt.Sprintf("%d factors", s.Factors), Always: true,
			Valid: s.Factors >= 1, Remedy: "give at least 1; twice the number of hidden units is usual",
		}, predictRow(&s.Predict)}
	},
	size: func(s Gated, shape dataset.Shape) float64 {
		return float64(s.Factors) * float64(shape.Units()+s.Hidden)
	},
	new: func(s Gated, shape dataset.Shape) (Energy, error) {
		mask, err := predicted(s.Predict, shape)
		if err != nil {
			return nil, err
		}
		return newGated(s, mask), nil
	},
	missing: func(s Gated, shape dataset.Shape) (dataset.Mask, error) { return predicted(s.Predict, shape) },
})

// gated has the inputs c_k + Σ_f C_kf (A_fᵀx)(B_fᵀy) of the hidden units, and a of the predicted units y. The
// third-order weights are w_ijk = Σ_f A_if B_jf C_kf.
type gated struct {
	v               []int     // the predicted units
	filters         []float64 // A and B in the order of the row, a row for each factor
	gates           []float64 // C, a row for each factor
	visible, hidden []float64 // a and c
	units           int
}

func newGated(s Gated, mask dataset.Mask) *responding {
	e := &gated{v: where(mask), units: len(mask), filters: make([]float64, s.Factors*len(mask)), gates: make([]float64, s.Factors*s.Hidden), hidden: make([]float64, s.Hidden)}
	e.visible = make([]float64, len(e.v))
	return &responding{e, e.v, false}
}

func (e *gated) factors() int { return len(e.filters) / e.units }

func (e *gated) Parameters() []Parameter {
	return []Parameter{
		parameter("filters", 1, e.filters, e.factors(), e.units), parameter("gates", 1, e.gates, e.factors(), len(e.hidden)),
		parameter("visible_biases", 1, e.visible), parameter("hidden_biases", 1, e.hidden),
	}
}

func (e *gated) begin(means []float64, r *rand.Rand) {
	draw(e.filters, 0.1, r)
	draw(e.gates, 0.1, r)
	copy(e.visible, means)
}

func (e *gated) given([]float64) []float64 { return slices.Clone(e.visible) }

// filtered returns A_fᵀx and B_fᵀy of each factor.
func (e *gated) filtered(row []float64) (x, y []float64) {
	predicted := pick(row, e.v)
	for _, filter := range rowsOf(e.filters, e.units) {
		of := floats.Dot(pick(filter, e.v), predicted)
		x, y = append(x, floats.Dot(filter, row)-of), append(y, of)
	}
	return x, y
}

func (e *gated) up(row []float64) []float64 {
	inputs := slices.Clone(e.hidden)
	x, y := e.filtered(row)
	for f, gate := range rowsOf(e.gates, len(e.hidden)) {
		floats.AddScaled(inputs, x[f]*y[f], gate)
	}
	return inputs
}

func (e *gated) field(row, h []float64) []float64 {
	field := make([]float64, e.units)
	x, _ := e.filtered(row)
	for f, filter := range rowsOf(e.filters, e.units) {
		floats.AddScaled(field, x[f]*floats.Dot(e.gates[f*len(h):(f+1)*len(h)], h), filter)
	}
	return pick(field, e.v)
}

func (e *gated) gradient(to [][]float64, row, inputs, on []float64) {
	x, y := e.filtered(row)
	isPredicted := make([]bool, e.units)
	for _, i := range e.v {
		isPredicted[i] = true
	}
	for f := range x {
		gate := floats.Dot(e.gates[f*len(on):(f+1)*len(on)], on)
		filter := to[0][f*e.units : (f+1)*e.units]
		for i, value := range row {
			other := y[f]
			if isPredicted[i] {
				other = x[f]
			}
			filter[i] += value * other * gate
		}
		floats.AddScaled(to[1][f*len(on):(f+1)*len(on)], x[f]*y[f], on)
	}
	floats.Add(to[2], inputs)
	floats.Add(to[3], on)
}

func (e *gated) at(β float64) pairwise {
	at := *e
	at.gates, at.hidden = scaled(β, e.gates), scaled(β, e.hidden)
	return &at
}

// Fields implements Energy by the filters of both images.
func (e *gated) Fields() (dataset.Shape, [][]float64) {
	return dataset.Shape{}, rowsOf(e.filters, e.units)
}
