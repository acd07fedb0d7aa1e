package boltzmann

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// ZeroSum returns the same distribution in the zero-sum gauge. Of a categorical variable exactly one unit is
// 1, so a number that is taken from the weights of its units to another unit, and added to that unit's bias,
// changes nothing; in this gauge the weights of each variable to each unit, and its biases, have the sum 0, and
// parameters of different runs can be compared. log p and the conditional probabilities stay, to the rounding
// of float32; log Z moves by the means of the biases. Models without categorical units are refused, since
// their parameters have no such freedom.
func (m *Model) ZeroSum() (*Model, error) {
	p := m.parameters.clone()
	visible, hidden := p.Spec.Categories, p.Spec.HiddenCategories
	if visible == 0 && hidden == 0 {
		return nil, fmt.Errorf("the zero-sum gauge of %v visible and %v hidden units: only categorical units have one; compare their parameters as they are", p.Spec.Visible, p.Spec.HiddenUnits)
	}
	if visible > 0 {
		zeroSum(p.Weights, p.VisibleBiases, p.HiddenBiases, visible)
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

// zeroSum takes the means over the categories of each variable from its weights, rows of them, and biases,
// and adds those of the weights to the biases of the other side.
func zeroSum(weights kernels.Matrix, biases, others []float32, categories int) {
	for g := 0; g < weights.Rows; g += categories {
		of := kernels.Rows(weights, g, g+categories)
		means := make([]float32, of.Cols)
		mean(means, of, 1)
		kernels.AddMultiple(others, 1, means)
		for r := range of.Rows {
			kernels.AddMultiple(kernels.Row(of, r), -1, means)
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
