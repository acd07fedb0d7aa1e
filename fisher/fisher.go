// Package fisher inverts the Fisher information matrices of layered directed
// graphs.
//
// The Fisher matrix of such a graph is exactly block-diagonal with one block a
// unit, over the unit's parents and its bias (Várady 2025, Theorem 1). An Estimate
// holds the samples from which the blocks of one layer are estimated; an
// Inverse holds their damped inverses
//
//	(1+α)(αI + F)⁻¹
//
// (Várady 2025, 5.10), and has one operation: Apply them to gradients. As α grows, the
// result tends to the plain gradient.
package fisher

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/blas/blas32"
)

// Estimate holds the n samples from which the Fisher blocks of one layer of Bernoulli
// units are estimated. The block of unit j is
//
//	F = Uᵀ diag(Weights[:,j]) U
//
// with a row u = [1; parents] of U a sample (Várady 2025, 5.5–5.7).
type Estimate struct {
	Parents blas32.General // U: n × (1 + number of parents)
	Weights blas32.General // n × units: the sample's weight times σ'(a) of the unit, none negative
	// SampleWeights are the n samples' weights alone, which only the form Kronecker needs.
	SampleWeights []float32
}

// mustFit panics where the parts of an estimate are not of the same samples.
func (e Estimate) mustFit(form Form) {
	if n := e.Parents.Rows; e.Weights.Rows != n || form == Kronecker && len(e.SampleWeights) != n {
		panic(fmt.Sprintf("fisher: the parents of %d samples, weights of %d with the units and of %d alone", n, e.Weights.Rows, len(e.SampleWeights)))
	}
}

// Form is how the inverses of the blocks of a layer are represented.
type Form int

const (
	// Cheapest is Direct or Woodbury, whichever costs less. Both are exact.
	Cheapest Form = iota
	// Direct stores the inverse of each block.
	Direct
	// Woodbury stores a matrix of the size of the number of samples for each
	// unit, and the samples once a layer (Várady 2025, 5.12).
	Woodbury
	// Diagonal neglects all but the diagonal of a block (Várady 2025, 5.13–5.14):
	// NewDiagonal makes it.
	Diagonal
	// Kronecker takes the blocks of a layer for multiples of one matrix, the
	// second moment of the parents.
	Kronecker
)

// Precision is how the elements of stored inverses are kept. What a step costs
// is mostly their reading.
type Precision = kernels.Precision

const (
	// Float32 keeps the elements as they are.
	Float32 = kernels.Float32
	// Int16 keeps the diagonal as it is and the other elements in sixteen
	// bits, with an error of at most 2⁻¹⁶ of the largest in a block of 16 × 16.
	Int16 = kernels.Int16
)

// Settings say how the blocks of a layer are inverted.
type Settings struct {
	Form      Form
	Precision Precision // of the stored inverses of Direct and Woodbury
	Damping   float64   // α, positive
	Steps     int       // K, between two refreshes of the blocks: what Cheapest goes by
}

// Inverse holds the damped inverses of the Fisher blocks of one layer. It is
// explicit state: Apply does not change it, so that blocks stay frozen for
// K steps when Apply is called K times (Várady 2025, 5.3.4).
type Inverse struct {
	form    Form
	damping float64
	// Direct: the inverses without the factor 1+α. Woodbury: the inner ones.
	blocks    []kernels.Symmetric
	samples   samples        // Woodbury: U
	diagonals kernels.Matrix // Diagonal: a row a unit
	factored  kronecker      // Kronecker
}

// Each calls task(0) … task(n−1), in any order and possibly at the same time,
// and returns when all are done. nil stands for one after another.
type Each func(n int, task func(i int))

func oneByOne(n int, task func(i int)) {
	for i := range n {
		task(i)
	}
}

// NewInverse inverts the blocks of an estimate, unit by unit through each. It fails
// where a block with αI added is not positive definite in single precision, as with a
// NaN among the samples or with next to no damping, and where the damping is so large
// that it overflows, or so small that (1+α)/α does. It panics where the parts of the estimate
// are not of the same samples, and for the form Diagonal.
func NewInverse(e Estimate, s Settings, each Each) (*Inverse, error) {
	e.mustFit(s.Form)
	if err := dampingError(s.Damping); err != nil {
		return nil, err
	}
	if each == nil {
		each = oneByOne
	}
	size, units := e.Parents.Cols, e.Weights.Cols
	v := &Inverse{form: s.Form, damping: s.Damping}
	var chosen selection
	if s.Form == Cheapest || s.Form == Woodbury {
		chosen = e.significant(negligible(s.Precision)*s.Damping, each)
	}
	if s.Form == Cheapest {
		v.form = chosen.cheapest(size, s.Steps)
	}
	failed := make([]bool, units)
	switch v.form {
	case Direct:
		sizes := make([]int, units)
		for j := range sizes {
			sizes[j] = size
		}
		v.blocks = kernels.NewSymmetrics(sizes, s.Precision)
		each(units, func(j int) { failed[j] = !direct(&v.blocks[j], e, j, s.Damping) })
	case Woodbury:
		v.samples = newSamples(e, chosen)
		v.blocks = kernels.NewSymmetrics(chosen.sizes(), s.Precision)
		gram := gramian(v.samples.parents)
		each(units, func(j int) { failed[j] = !woodbury(&v.blocks[j], gram, e, j, chosen, s.Damping) })
	case Kronecker:
		factored, ok := factor(e)
		v.factored = factored
		for j := range failed {
			failed[j] = !ok || !factored.invertible(j)
		}
	default:
		panic(fmt.Sprintf("fisher: no form %d of the inverses of an estimate", s.Form))
	}
	for j, f := range failed {
		if f {
			return nil, blockError(j, s.Damping)
		}
	}
	return v, nil
}

// dampingError is that of a damping that is not a number in single precision, or at which
// the largest inverse, that of a block of 0, is not.
func dampingError(damping float64) error {
	if !(damping <= math.MaxFloat32) {
		return fmt.Errorf("the Fisher blocks cannot be inverted at damping %g: give a positive one of at most %g", damping, math.MaxFloat32)
	}
	if largest := float32((1 + damping) / damping); !(damping > 0 && largest <= math.MaxFloat32) {
		return fmt.Errorf("the Fisher blocks cannot be inverted at damping %g, where (1+α)/α is %g in single precision: give a larger positive one", damping, largest)
	}
	return nil
}

func blockError(unit int, damping float64) error {
	return fmt.Errorf("the Fisher block of unit %d cannot be inverted at damping %g: raise the damping, or lower the learning rate if training has diverged", unit, damping)
}

// Form is the representation that was chosen.
func (v *Inverse) Form() Form { return v.form }

// Bytes is the memory that the inverses take.
func (v *Inverse) Bytes() int64 {
	bytes := 4*int64(len(v.diagonals.Data)+len(v.factored.structure.Data)) +
		8*int64(len(v.factored.squares)+len(v.factored.slopes)) + v.samples.bytes()
	for j := range v.blocks {
		bytes += int64(v.blocks[j].Bytes())
	}
	return bytes
}

// Choose returns the form of the blocks of a layer: of a size (1 + number of
// parents), of a number of units, from n samples of which none is negligible.
func (s Settings) Choose(n, size, units int) Form {
	if s.Form == Cheapest {
		return all(n, units).cheapest(size, s.Steps)
	}
	return s.Form
}

// Bytes is the most memory that the inverses of a layer take: of blocks of a size (1 +
// number of parents) of a number of units, estimated from n samples. No numbers are too
// large for it.
func (s Settings) Bytes(n, size, units int) float64 {
	const float = 4
	switch s.Choose(n, size, units) {
	case Diagonal:
		return float * float64(units) * float64(size)
	case Kronecker:
		return kroneckerBytes(float64(n), float64(size), float64(units))
	case Woodbury:
		return float64(units)*(kernels.SymmetricBytes(n, s.Precision)+float*float64(n)) + sampleBytes(n, size)
	}
	return float64(units) * kernels.SymmetricBytes(size, s.Precision)
}

// Scratch is the most memory that NewInverse takes beside the inverses, of which
// Bytes tells, if tasks run on a number of threads.
func (s Settings) Scratch(n, size, units, threads int) float64 {
	const float, double = 4, 8
	rows, columns := float64(n), float64(size)
	tasks := float64(min(threads, units))
	form := s.Choose(n, size, units)
	if form == Kronecker {
		// √Q U; the sum, its eigenvectors twice, what finds them, and the orthogonal rows.
		rank := min(rows, columns)
		return double * (rows*columns + 4*rank*rank + rank*columns)
	}
	bytes := 0.0
	if s.Form == Cheapest || s.Form == Woodbury {
		// Lengths, positions and numbers of the samples; what each is worth to a unit.
		bytes += 3*float*rows + double*rows*tasks
	}
	if form == Woodbury {
		// Products of the samples; the inner matrix and its factor.
		return bytes + float*rows*rows*(1+2*tasks)
	}
	if s.Form == Cheapest {
		bytes += float * rows * float64(units) // the samples of each unit, not kept
	}
	// Samples, the block and its factor.
	return bytes + float*tasks*(min(rows, rowsAtOnce)+2*columns)*columns
}

// Apply multiplies gradients by the damped inverses in place. Row i of gradients, which
// has 1 + number of parents columns (bias first), belongs to unit first+i. Calls for
// different units may run at the same time.
func (v *Inverse) Apply(gradients blas32.General, first int) {
	switch v.form {
	case Kronecker:
		v.factored.apply(gradients, first, v.damping)
	case Diagonal:
		v.applyDiagonal(gradients, first)
	case Direct:
		v.applyDirect(gradients, first)
	case Woodbury:
		v.applyWoodbury(gradients, first)
	}
}
