package boltzmann

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// ZeroSum returns a model of the same distribution in the zero-sum gauge: the biases of each categorical
// variable sum to 0, and so do its weights to each unit of the other side. This makes parameters of different
// runs comparable. Exactly one unit of a variable is 1. So a number can be subtracted from the weights
// between all units of the variable and a unit of the other side, and added to that unit's bias, without any
// effect. log p and the conditional probabilities stay the same, up to rounding of float32, but log Z changes. A
// label is not brought into the gauge. ZeroSum refuses models without categorical units, since their parameters have
// no such freedom.
func (m *Model) ZeroSum() (*Model, error) {
	p := m.parameters.clone()
	visible, hidden := p.Spec.Categories, p.Spec.HiddenCategories
	if visible == 0 && hidden == 0 {
		return nil, fmt.Errorf("the zero-sum gauge of %v visible and %v hidden units: only categorical units have one; compare their parameters as they are", p.Spec.Visible, p.Spec.HiddenUnits)
	}
	if visible > 0 {
		zeroSum(kernels.Rows(p.Weights, 0, p.observed()), p.VisibleBiases, p.HiddenBiases, visible)
	}
	if hidden > 0 {
		across := transpose(p.Weights)
		zeroSum(across, p.HiddenBiases, p.VisibleBiases, hidden)
		copy(p.Weights.Data, transpose(across).Data)
	}
	c := *m
	c.parameters = p
	return &c, nil
}

// zeroSum subtracts, for each variable, the mean over its categories from its biases and from its rows of
// weights. It adds the subtracted mean rows to others, the biases of the other side.
func zeroSum(weights kernels.Matrix, biases, others []float32, categories int) {
	for g := 0; g < weights.Rows; g += categories {
		rows := kernels.Rows(weights, g, g+categories)
		means := make([]float32, rows.Cols)
		mean(means, rows, 1)
		kernels.AddMultiple(others, 1, means)
		for r := range rows.Rows {
			kernels.AddMultiple(kernels.Row(rows, r), -1, means)
		}
		own, sum := biases[g:g+categories], float32(0)
		for _, b := range own {
			sum += b / float32(categories)
		}
		for k := range own {
			own[k] -= sum
		}
	}
}
