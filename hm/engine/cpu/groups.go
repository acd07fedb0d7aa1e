package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// groups are the variables of a layer of categorical units.
type groups []kernels.Variable

func newGroups(all []engine.Group) (u groups) {
	for _, of := range all {
		u = append(u, kernels.Variable(of))
	}
	return u
}

func (u groups) draw(states, outputs []float32, key philox.Key, c philox.Counter) {
	kernels.DrawCategories(states, outputs, u, key, c)
}

func (u groups) residual(outputs, states []float32) float64 {
	return kernels.ResidualCategories(outputs, states, u)
}

func (u groups) means(means, outputs []float32) {
	copy(means, outputs)
	kernels.MeanCategories(means[:len(outputs)], u)
}

// information writes the diagonal of the Fisher information, π(1−π) for a unit of probability π.
func (u groups) information(dst, outputs, residuals []float32, weight float64) {
	bernoulli{}.information(dst, outputs, residuals, weight)
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
