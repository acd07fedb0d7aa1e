package energies

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Gated describes a factored third-order machine that predicts some units of a row from the others (Memisevic and
// Hinton 2010). Usually a row is a pair of images, the first above the second, and the machine predicts the second.
type Gated struct {
	Hidden  int    `toml:"hidden" json:"hidden"`
	Factors int    `toml:"factors" json:"factors"`
	Predict string `toml:"predict" json:"predict"` // as in Conditional
}

// GatedRBM trains factored third-order machines of real numbers, which it standardises. Given the hidden units, each
// predicted unit has variance 1.
var GatedRBM = register(kind[Gated]{
	name: "gated-rbm", noun: "a gated RBM", data: "--dataset shifteddots --binarization grey", real: true,
	usual: Gated{Hidden: 200, Factors: 200, Predict: "bottom"}, training: Training{LearningRate: 0.006, BatchSize: 400, Steps: 1},
	rows: func(s *Gated) []runs.Hyperparameter {
		return []runs.Hyperparameter{hiddenRow(&s.Hidden, "gated RBM"), {
			Value: &s.Factors, Flag: "factors", Usage: "`number` of factors of the third-order weights", Legend: names.Count(s.Factors, "factor"), Always: true,
			Valid: s.Factors >= 1, Remedy: "give at least 1; one or two per hidden unit are usual",
		}, predictRow(&s.Predict)}
	},
	size: func(s Gated, shape dataset.Shape) float64 {
		return float64(s.Factors) * float64(shape.Units()+s.Hidden)
	},
	predict: func(s Gated) string { return s.Predict },
	new:     func(s Gated, _ dataset.Shape, mask dataset.Mask) (energy, error) { return newGated(s, mask), nil },
})

// gated holds the parameters of a machine with given units x, listed in u, and predicted units y, listed in v. Hidden units have the inputs
// c_k + Σ_f C_kf (A_fᵀx)(B_fᵀy), and predicted units have the biases a. The third-order weights are
// w_ijk = Σ_f A_if B_jf C_kf.
type gated struct {
	u, v            []int     // the given and the predicted units
	first, second   []float64 // A and B, one row per factor
	gates           []float64 // C, one row per factor
	visible, hidden []float64 // a and c
}

func newGated(s Gated, mask dataset.Mask) *responding {
	e := &gated{u: where(mask, false), v: where(mask, true), gates: make([]float64, s.Factors*s.Hidden), hidden: make([]float64, s.Hidden)}
	e.first, e.second = make([]float64, s.Factors*len(e.u)), make([]float64, s.Factors*len(e.v))
	e.visible = make([]float64, len(e.v))
	return &responding{e, e.v, true}
}

func (e *gated) width() int { return len(e.u) + len(e.v) }

func (e *gated) factors() int { return len(e.gates) / len(e.hidden) }

func (e *gated) Parameters() []parameter {
	return []parameter{
		newParameter("given_filters", 1, e.first, e.factors(), len(e.u)), newParameter("predicted_filters", 1, e.second, e.factors(), len(e.v)),
		newParameter("gates", 1, e.gates, e.factors(), len(e.hidden)),
		newParameter("visible_biases", 1, e.visible), newParameter("hidden_biases", 1, e.hidden),
	}
}

func (e *gated) begin(means []float64, r *rand.Rand) {
	for _, values := range [][]float64{e.first, e.second, e.gates} {
		draw(values, 0.1, r)
	}
	copy(e.visible, means)
}

func (e *gated) given([]float64) []float64 { return slices.Clone(e.visible) }

// filtered returns x and y, and A_fᵀx and B_fᵀy for each factor f. all is a row.
func (e *gated) filtered(all []float64) (x, y, ofX, ofY []float64) {
	x, y = pick(all, e.u), pick(all, e.v)
	ofX, ofY = make([]float64, e.factors()), make([]float64, e.factors())
	kernels.Dots(ofX, e.first, x)
	kernels.Dots(ofY, e.second, y)
	return x, y, ofX, ofY
}

func (e *gated) up(all []float64) []float64 {
	inputs := slices.Clone(e.hidden)
	_, _, x, y := e.filtered(all)
	for f := range x {
		floats.AddScaled(inputs, x[f]*y[f], row(e.gates, f, inputs))
	}
	return inputs
}

func (e *gated) field(all, h []float64) []float64 {
	field := make([]float64, len(e.v))
	_, _, x, _ := e.filtered(all)
	for f := range x {
		floats.AddScaled(field, x[f]*floats.Dot(row(e.gates, f, h), h), row(e.second, f, field))
	}
	return field
}

func (e *gated) at(β float64) pairwise {
	at := *e
	at.gates, at.hidden = scaled(β, e.gates), scaled(β, e.hidden)
	return &at
}

// Fields returns one field per factor. It joins the factor's filters of both images.
func (e *gated) Fields() (dataset.Shape, [][]float64) {
	var fields [][]float64
	for f := range e.factors() {
		field := make([]float64, e.width())
		for k, i := range e.u {
			field[i] = e.first[f*len(e.u)+k]
		}
		for k, i := range e.v {
			field[i] = e.second[f*len(e.v)+k]
		}
		fields = append(fields, field)
	}
	return dataset.Shape{}, fields
}

// gatedProducts holds A, B and C, the last two also for products with their transposes, and the biases. It holds x, y,
// A_fᵀx and B_fᵀy of all rows and factors, and the products of A_fᵀx and B_fᵀy.
type gatedProducts struct {
	*gated
	a, b, c              *kernels.Packed
	second, gates        kernels.Matrix
	visible, hidden      []float32
	m                    *room
	x, y, ofX, ofY, ofXY kernels.Matrix
}

func (e *gated) products() pairwiseProducts {
	n := e.factors()
	return &gatedProducts{
		gated: e, a: packed(e.first, n, len(e.u)), b: packed(e.second, n, len(e.v)), c: packed(e.gates, n, len(e.hidden)),
		second: single(e.second, n, len(e.v)), gates: single(e.gates, n, len(e.hidden)), visible: singles(e.visible), hidden: singles(e.hidden),
	}
}

func (p gatedProducts) of(m *room, rows [][]float64) pairwiseProducts {
	p.m, p.x, p.y = m, m.singles(rows, p.u...), m.singles(rows, p.v...)
	p.ofX, p.ofY = m.product(p.x, p.a, p.factors()), m.product(p.y, p.b, p.factors())
	p.ofXY = m.multiplied(p.ofX, p.ofY)
	return &p
}

func (p *gatedProducts) given() kernels.Matrix { return p.m.repeated(p.visible, p.x.Rows) }

func (p *gatedProducts) up() kernels.Matrix {
	inputs := p.m.repeated(p.hidden, p.x.Rows)
	kernels.AddMulNN(inputs, p.ofXY, p.gates)
	return inputs
}

func (p *gatedProducts) addField(to, h kernels.Matrix) {
	kernels.AddMulNN(to, p.m.multiplied(p.ofX, p.m.product(h, p.c, p.factors())), p.second)
}

func (p *gatedProducts) gradient(to [][]float64, inputs, on kernels.Matrix) {
	gates := p.m.product(on, p.c, p.factors())
	kernels.AddSingles(to[0], p.m.outer(p.m.multiplied(gates, p.ofY), p.x))
	kernels.AddSingles(to[1], p.m.outer(p.m.multiplied(gates, p.ofX), p.y))
	kernels.AddSingles(to[2], p.m.outer(p.ofXY, on))
	addRows(to[3], inputs)
	addRows(to[4], on)
}
