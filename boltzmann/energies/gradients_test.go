package energies

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// The gradients of this file are of one row, in double precision: finite differences confirm them, and Gradients must
// agree with them.

// rowwise adds a factor times ∂F/∂θ at x, a slice for each parameter.
type rowwise interface {
	Gradient(to [][]float64, factor float64, x []float64)
}

// rowwisePair adds ∂F/∂θ, given ∂F/∂ of the inputs of v and of the hidden units.
type rowwisePair interface {
	gradient(to [][]float64, x, inputs, on []float64)
}

func (e *convolution) Gradient(to [][]float64, factor float64, v []float64) {
	patches := e.patches(v)
	on, _ := e.up(patches)
	var products mat.Dense
	products.Mul(on, patches)
	floats.AddScaled(to[0], -factor, products.RawMatrix().Data)
	for k := range e.hidden {
		to[1][k] -= factor * floats.Sum(on.RawRowView(k))
	}
	floats.AddScaled(to[2], -factor, v)
}

func (e *meanCovariance) Gradient(to [][]float64, factor float64, x []float64) {
	for j := range e.hidden {
		on := statistics.Sigmoid(e.hidden[j] + floats.Dot(row(e.weights, j, x), x))
		floats.AddScaled(row(to[0], j, x), -factor*on, x)
		to[3][j] -= factor * on
	}
	for k := range e.shape {
		y := floats.Dot(row(e.factors, k, x), x)
		on := statistics.Sigmoid(e.shape[k] - y*y/2)
		slope, bias := on*y, -on
		if γ := math.Exp(e.shape[k]); e.gamma {
			slope, bias = γ*y/(1+y*y/2), γ*math.Log1p(y*y/2)
		}
		floats.AddScaled(row(to[1], k, x), factor*slope, x)
		to[4][k] += factor * bias
	}
	floats.AddScaled(to[2], -factor, x)
	addQuadratics(to[5], factor, e.log, [][]float64{x})
}

func (e *spikeAndSlab) Gradient(to [][]float64, factor float64, v []float64) {
	addQuadratics(to[4], factor, e.logVisible, [][]float64{v})
	for i := range e.bias {
		s := e.slab(i, v)
		on := -factor * statistics.Sigmoid(s.input)
		to[1][i] += on
		to[2][i] += on * s.y
		to[5][i] -= on * s.extra * s.square / 2
		to[3][i] += on * (s.sum*s.weighted - s.y*s.y) / (2 * s.α)
		for j, x := range v {
			to[0][i*e.units+j] += on * (e.mean[i]*x + (s.y*x-math.Copysign(1, s.w[j])*(x*x*s.sum+s.weighted)/2)/s.α)
		}
	}
}

func (e *responding) Gradient(to [][]float64, factor float64, x []float64) {
	inputs := scaled(-factor, pick(x, e.v))
	if e.real {
		floats.AddScaled(inputs, factor, e.given(x))
	}
	e.pairwise.(rowwisePair).gradient(to, x, inputs, scaled(-factor, e.on(x)))
}

func (e *conditional) gradient(to [][]float64, x, inputs, on []float64) {
	u := pick(x, e.u)
	for k, g := range inputs {
		floats.AddScaled(row(to[1], k, u), g, u)
	}
	floats.Add(to[2], inputs)
	for j, g := range on {
		floats.AddScaled(row(to[0], j, x), g, x)
	}
	floats.Add(to[3], on)
}

func (e *gated) gradient(to [][]float64, all, inputs, on []float64) {
	x, y, ofX, ofY := e.filtered(all)
	for f := range ofX {
		gate := floats.Dot(row(e.gates, f, on), on)
		floats.AddScaled(row(to[0], f, x), gate*ofY[f], x)
		floats.AddScaled(row(to[1], f, y), gate*ofX[f], y)
		floats.AddScaled(row(to[2], f, on), ofX[f]*ofY[f], on)
	}
	floats.Add(to[3], inputs)
	floats.Add(to[4], on)
}
