package energies

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Conditional describes a conditional RBM, which predicts some units of a row from the others. It may predict half an
// image from the other half (Mnih, Larochelle and Hinton 2011). If the rows of an image are the frames of a sequence,
// it may predict the last frame from the earlier frames (Taylor, Hinton and Roweis 2007).
type Conditional struct {
	Hidden int `toml:"hidden" json:"hidden"`
	// Predict is a mask in the syntax of dataset.ParseMask. The units that it hides are predicted.
	Predict string `toml:"predict" json:"predict"`
}

// ConditionalRBM trains conditional RBMs of binary units. ConditionalGaussianRBM trains conditional RBMs of real
// numbers, which it standardises; given the hidden units, each predicted unit has variance 1. Without hidden units,
// the machines are logistic and linear regression.
var (
	ConditionalRBM         = register(conditionalKind("conditional-rbm", "a conditional RBM", "--dataset miniglyphs", false))
	ConditionalGaussianRBM = register(conditionalKind("conditional-gaussian-rbm", "a conditional Gaussian RBM", "--dataset olivettipatches --binarization grey", true))
)

func conditionalKind(name, noun, data string, real bool) kind[Conditional] {
	return kind[Conditional]{
		name: name, noun: noun, data: data, real: real,
		usual: Conditional{Hidden: 100, Predict: "left"}, training: Training{LearningRate: 0.003, BatchSize: 100, Steps: 5},
		rows: func(s *Conditional) []runs.Hyperparameter {
			hidden := hiddenRow(&s.Hidden, noun[2:])
			hidden.Valid, hidden.Remedy = s.Hidden >= 0, "give 0 or more; without hidden units the machine is a regression"
			return []runs.Hyperparameter{hidden, predictRow(&s.Predict)}
		},
		size: func(s Conditional, shape dataset.Shape) float64 {
			return float64(s.Hidden) * float64(shape.Units())
		},
		predict: func(s Conditional) string { return s.Predict },
		new: func(s Conditional, _ dataset.Shape, mask dataset.Mask) (energy, error) {
			return newConditional(s.Hidden, mask, real), nil
		},
	}
}

func predictRow(mask *string) runs.Hyperparameter {
	return runs.Hyperparameter{
		Value: mask, Flag: "predict", Usage: "`units` to predict from the others: left, right, top, bottom, rectangle:ROW,COLUMN,HEIGHT,WIDTH or random:FRACTION",
		Legend: "predicts " + *mask, Always: true,
	}
}

// conditional holds the parameters of a machine with given units u and predicted units v. Hidden units have the inputs
// c + Bu + Wᵀv. If all hidden units are off, predicted units have the inputs b + Au.
type conditional struct {
	v, u            []int
	weights         []float64 // W and B: a row for each hidden unit, a column for each unit of a data row
	direct          []float64 // A: a row for each predicted unit, a column for each given unit
	visible, hidden []float64 // b and c
	rate            float64   // multiplies the learning rate of A
}

// newConditional returns a conditional RBM that predicts the units in mask. For real units the learning rate of A is
// lower, because autoregression is ill-conditioned.
func newConditional(hidden int, mask dataset.Mask, real bool) *responding {
	e := &conditional{u: where(mask, false), v: where(mask, true), weights: make([]float64, hidden*len(mask)), hidden: make([]float64, hidden), rate: 1}
	if real {
		e.rate = 0.1
	}
	e.direct, e.visible = make([]float64, len(e.v)*len(e.u)), make([]float64, len(e.v))
	return &responding{e, e.v, real}
}

func (e *conditional) width() int { return len(e.v) + len(e.u) }

func (e *conditional) Parameters() []parameter {
	return []parameter{
		newParameter("weights", 1, e.weights, len(e.hidden), e.width()), newParameter("direct_weights", e.rate, e.direct, len(e.v), len(e.u)),
		newParameter("visible_biases", 1, e.visible), newParameter("hidden_biases", 1, e.hidden),
	}
}

func (e *conditional) begin(means []float64, r *rand.Rand) {
	draw(e.weights, 0.01, r)
	copy(e.visible, means)
}

func (e *conditional) given(x []float64) []float64 {
	inputs := make([]float64, len(e.visible))
	kernels.Dots(inputs, e.direct, pick(x, e.u))
	floats.Add(inputs, e.visible)
	return inputs
}

func (e *conditional) up(x []float64) []float64 {
	inputs := make([]float64, len(e.hidden))
	kernels.Dots(inputs, e.weights, x)
	floats.Add(inputs, e.hidden)
	return inputs
}

func (e *conditional) field(_, h []float64) []float64 {
	field := make([]float64, e.width())
	for j, on := range h {
		floats.AddScaled(field, on, row(e.weights, j, field))
	}
	return pick(field, e.v)
}

func (e *conditional) at(β float64) pairwise {
	at := *e
	at.weights, at.hidden = scaled(β, e.weights), scaled(β, e.hidden)
	return &at
}

// Fields returns the weights of each hidden unit.
func (e *conditional) Fields() (dataset.Shape, [][]float64) {
	return dataset.Shape{}, rowsOf(e.weights, e.width())
}

// conditionalProducts holds W and B in w, W alone in wv, A in a, the biases, the rows in x, and the given units of the
// rows in u.
type conditionalProducts struct {
	*conditional
	w, a            *kernels.Packed
	wv              kernels.Matrix
	visible, hidden []float32
	m               *room
	x, u            kernels.Matrix
}

func (e *conditional) products() pairwiseProducts {
	return &conditionalProducts{
		conditional: e, w: packed(e.weights, len(e.hidden), e.width()), a: packed(e.direct, len(e.v), len(e.u)),
		wv: new(room).singles(rowsOf(e.weights, e.width()), e.v...), visible: singles(e.visible), hidden: singles(e.hidden),
	}
}

func (p conditionalProducts) of(m *room, rows [][]float64) pairwiseProducts {
	p.m, p.x, p.u = m, m.singles(rows), m.singles(rows, p.conditional.u...)
	return &p
}

func (p *conditionalProducts) given() kernels.Matrix {
	inputs := p.m.repeated(p.visible, p.x.Rows)
	add(inputs, p.m.product(p.u, p.a, len(p.v)))
	return inputs
}

func (p *conditionalProducts) up() kernels.Matrix {
	inputs := p.m.repeated(p.hidden, p.x.Rows)
	add(inputs, p.m.product(p.x, p.w, len(p.hidden)))
	return inputs
}

func (p *conditionalProducts) addField(to, h kernels.Matrix) { kernels.AddMulNN(to, h, p.wv) }

func (p *conditionalProducts) gradient(to [][]float64, inputs, on kernels.Matrix) {
	kernels.AddSingles(to[0], p.m.outer(on, p.x))
	kernels.AddSingles(to[1], p.m.outer(inputs, p.u))
	addRows(to[2], inputs)
	addRows(to[3], on)
}
