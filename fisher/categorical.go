package fisher

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/blas/blas32"
)

// Categories holds the n samples from which NewCategorical estimates the Fisher blocks of one layer
// of categorical variables. The score of a variable is (on − π) ⊗ u, where on holds the states of
// its units, π their probabilities, and u = [1; parents]. The parameters of all units of a variable
// therefore share one block
//
//	F = Σ_r w_r (diag π_r − π_r π_rᵀ) ⊗ u_r u_rᵀ,
//
// whose size is the number of units times 1 + the number of parents. A variable may have one more
// category, without a unit. A variable with one unit need not be categorical: see Information.
type Categories struct {
	Parents       blas32.General // U: n × (1 + number of parents)
	Probabilities blas32.General // n × units
	SampleWeights []float32      // n weights w, never negative
	// Information, n × units, is read only for variables with one unit, and holds the Fisher
	// information of their outputs. If Information.Data is nil, the information is π(1 − π).
	Information blas32.General
}

// NewCategorical inverts the joint blocks of categorical variables, with one task per variable. It
// ignores s.Form and always uses the form Direct. It panics if s.Groups do not sum to the columns of
// Probabilities, or if one is less than 1. Otherwise it behaves like NewInverse. Each call of Apply
// must then pass the gradients of whole variables.
func NewCategorical(c Categories, s Settings, each Each) (*Inverse, error) {
	if n := c.Parents.Rows; c.Probabilities.Rows != n || len(c.SampleWeights) != n {
		panic(fmt.Sprintf("fisher: categories have the parents of %d samples, %d rows of Probabilities and %d SampleWeights; their numbers must agree", n, c.Probabilities.Rows, len(c.SampleWeights)))
	}
	units := 0
	for _, n := range s.Groups {
		units += n
	}
	if units != c.Probabilities.Cols || len(s.Groups) > 0 && slices.Min(s.Groups) < 1 {
		panic(fmt.Sprintf("fisher: categories have the Groups %v and %d columns of Probabilities; their numbers must agree, and a group has at least 1 unit", s.Groups, c.Probabilities.Cols))
	}
	if err := CheckDamping(s.Damping); err != nil {
		return nil, err
	}
	if each == nil {
		each = oneByOne
	}
	v := &Inverse{form: Direct, damping: s.Damping}
	sizes, first := make([]int, len(s.Groups)), make([]int, len(s.Groups))
	for g, units := range s.Groups {
		first[g], sizes[g] = len(v.variables), units*c.Parents.Cols
		v.variables = append(v.variables, slices.Repeat([]int{g}, units)...)
	}
	v.blocks = kernels.NewSymmetrics(sizes, s.Precision)
	failed := make([]bool, len(s.Groups))
	each(len(s.Groups), func(g int) { failed[g] = !c.invert(&v.blocks[g], first[g], s.Groups[g], s.Damping) })
	for g, f := range failed {
		if f {
			return nil, blockError(first[g], s.Damping)
		}
	}
	return v, nil
}

// invert writes (αI + F)⁻¹ to dst, where F is the block of the variable with units first to
// first+units−1. It returns false if αI + F cannot be inverted.
func (c Categories) invert(dst *kernels.Symmetric, first, units int, damping float64) bool {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	n, size := c.Parents.Rows, c.Parents.Cols
	block := matrix(&w.block, units*size, units*size)
	clear(block.Data)
	for from := 0; from < n; from += rowsAtOnce {
		parents := kernels.Rows(c.Parents, from, min(from+rowsAtOnce, n))
		scaled := matrix(&w.samples, parents.Rows, size)
		for j := range units {
			for k := range j + 1 { // the lower triangle
				for r := range parents.Rows {
					π := kernels.Row(c.Probabilities, from+r)[first : first+units]
					covariance := -π[j] * π[k]
					if j == k {
						covariance += π[j]
					}
					if units == 1 && c.Information.Data != nil {
						covariance = kernels.Row(c.Information, from+r)[first]
					}
					covariance *= c.SampleWeights[from+r]
					row := kernels.Row(scaled, r)
					for i, u := range kernels.Row(parents, r) {
						row[i] = covariance * u
					}
				}
				kernels.MulTN(kernels.Cols(kernels.Rows(block, j*size, (j+1)*size), k*size, (k+1)*size), 1, scaled, parents)
			}
		}
	}
	return w.invertDamped(dst, block, damping)
}
