package boltzmann

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// ZeroSum returns the same distribution in the zero-sum gauge. Exactly one unit of a categorical variable is 1.
// So subtracting a number from the weights of its units to another unit, and adding it to the bias of that
// unit, changes nothing. In the zero-sum gauge, the weights of each variable to each unit sum to 0, and so do
// its biases; this makes parameters of different runs comparable. log p and the conditional probabilities stay,
// up to rounding of float32; log Z shifts by the means of the biases. ZeroSum refuses models without
// categorical units, since their parameters have no such freedom.
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

// zeroSum subtracts the means over the categories of each variable from its biases and from its weights, which
// are rows, and adds the means of the weights to others, the biases of the other side.
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
