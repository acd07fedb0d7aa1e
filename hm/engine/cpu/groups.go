package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// groups are categorical variables. Variable g is drawn with the word of a counter that a Bernoulli
// unit of number g would have.
type groups []engine.Group

func (u groups) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	var words [4]uint32
	room := make([]float32, u.largest())
	first := 0
	for g, of := range u {
		if g&3 == 0 {
			c.Unit = uint16(g >> 2)
			words = key.Block(c)
		}
		last := first + of.Units
		probabilities := room[:copy(room, outputs[first:last])]
		kernels.Softmax(probabilities, of.Rest)
		kernels.ChooseSoftmax(states[first:last], probabilities, of.Rest, philox.Uniform(words[g&3]))
		first = last
	}
}

// largest returns the number of units of the largest variable.
func (u groups) largest() (units int) {
	for _, of := range u {
		units = max(units, of.Units)
	}
	return units
}

func (u groups) residual(outputs, states []float32) float64 {
	logP, product, first := 0.0, 1.0, 0
	for _, of := range u {
		last := first + of.Units
		log, total := kernels.ResidualSoftmax(outputs[first:last], states[first:last], of.Rest)
		logP += log
		if product *= total; !(product < 0x1p900) {
			logP, product = logP-math.Log(product), 1
		}
		first = last
	}
	return logP - math.Log(product)
}

func (u groups) means(means, outputs []float32) {
	copy(means, outputs)
	for _, of := range u {
		kernels.Softmax(means[:of.Units], of.Rest)
		means = means[of.Units:]
	}
}

// probabilities writes the probabilities π of categorical units, given the residuals on − π.
func probabilities(dst, residuals []float32) {
	for j, δ := range residuals {
		if dst[j] = -δ; δ > 0 { // on
			dst[j] = 1 - δ
		}
	}
}

// groupSizes returns the numbers of units of the variables of layer i, or nil if it has no groups.
func groupSizes(a engine.Architecture, i int) (sizes []int) {
	if i < len(a.Groups) {
		for _, of := range a.Groups[i] {
			sizes = append(sizes, of.Units)
		}
	}
	return sizes
}

// information writes the diagonal of the Fisher information, π(1−π) for a unit of probability π.
func (u groups) information(dst, outputs, residuals []float32, weight float64) {
	bernoulli{}.information(dst, outputs, residuals, weight)
}
