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
	Groups        []int          // the number of units of each variable, at least 1; their sum is the number of units
	// Information, n × units, is read only for variables with one unit, and holds the Fisher
	// information of their outputs. If Information.Data is nil, the information is π(1 − π).
	Information blas32.General
}

// NewCategorical inverts the joint blocks of categorical variables, with one task per variable. It
// ignores s.Form and always uses the form Direct. It panics if Groups do not sum to the columns of
// Probabilities, or if one is less than 1. Otherwise it behaves like NewInverse. Each call of Apply
// must then pass the gradients of whole variables.
func NewCategorical(c Categories, s Settings, each Each) (*Inverse, error) {
	if n := c.Parents.Rows; c.Probabilities.Rows != n || len(c.SampleWeights) != n {
		panic(fmt.Sprintf("fisher: categories have the parents of %d samples, %d rows of Probabilities and %d SampleWeights; their numbers must agree", n, c.Probabilities.Rows, len(c.SampleWeights)))
	}
	units := 0
	for _, n := range c.Groups {
		units += n
	}
	if units != c.Probabilities.Cols || len(c.Groups) > 0 && slices.Min(c.Groups) < 1 {
		panic(fmt.Sprintf("fisher: categories have the Groups %v and %d columns of Probabilities; their numbers must agree, and a group has at least 1 unit", c.Groups, c.Probabilities.Cols))
	}
	if err := CheckDamping(s.Damping); err != nil {
		return nil, err
	}
	if each == nil {
		each = oneByOne
	}
	v := &Inverse{form: Direct, damping: s.Damping}
	sizes, first := make([]int, len(c.Groups)), make([]int, len(c.Groups))
	for g, units := range c.Groups {
		first[g], sizes[g] = len(v.variables), units*c.Parents.Cols
		v.variables = append(v.variables, slices.Repeat([]int{g}, units)...)
	}
	v.blocks = kernels.NewSymmetrics(sizes, s.Precision)
	failed := make([]bool, len(c.Groups))
	each(len(c.Groups), func(g int) { failed[g] = !c.invert(&v.blocks[g], first[g], c.Groups[g], s.Damping) })
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

func (v *Inverse) applyCategorical(gradients kernels.Matrix, first int) {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	scale := float32(1 + v.damping)
	for i := 0; i < gradients.Rows; {
		variable, units := v.variables[first+i], 1
		for i+units < gradients.Rows && v.variables[first+i+units] == variable {
			units++
		}
		rows := kernels.Rows(gradients, i, i+units)
		joined := matrix(&w.panel, 2, units*gradients.Cols)
		g, product := kernels.Row(joined, 0), kernels.Row(joined, 1)
		for k := range units {
			copy(g[k*gradients.Cols:], kernels.Row(rows, k))
		}
		v.blocks[variable].Mul(product, g)
		for k := range units {
			row := kernels.Row(rows, k)
			for l, x := range product[k*gradients.Cols:][:gradients.Cols] {
				row[l] = scale * x
			}
		}
		i += units
	}
}

// CategoricalBytes returns the memory in bytes that the inverses from NewCategorical take. groups
// lists the number of units of each variable, and size is 1 + the number of parents.
func (s Settings) CategoricalBytes(size int, groups []int) (bytes float64) {
	for _, units := range groups {
		bytes += kernels.SymmetricBytes(units*size, s.Precision)
	}
	return bytes
}

// CategoricalScratch returns the maximum memory in bytes that NewCategorical takes in addition to
// the inverses, if it gets n samples and runs its tasks on this many threads. The other arguments
// are the same as for CategoricalBytes.
func (s Settings) CategoricalScratch(n, size int, groups []int, threads int) float64 {
	const float = 4
	largest := float64(slices.Max(groups)) * float64(size)
	tasks := float64(min(threads, len(groups)))
	return float * tasks * (min(float64(n), rowsAtOnce)*float64(size) + 2*largest*largest)
}
