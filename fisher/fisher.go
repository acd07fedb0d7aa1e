// Package fisher inverts the Fisher information matrices of layered directed
// graphs.
//
// The Fisher matrix of such a graph is exactly block-diagonal with one block a
// unit, over the unit's parents and its bias (004, Theorem 1). An Estimate
// holds the samples from which the blocks of one layer are estimated; an
// Inverse holds their damped inverses
//
//	(1+α)(αI + F)⁻¹
//
// (004, 5.10), and has one operation: Apply them to gradients. As α grows, the
// result tends to the plain gradient.
package fisher

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Estimate holds the samples from which the Fisher blocks of one layer of
// Bernoulli units are estimated. The block of unit j is
//
//	F = Uᵀ diag(Weights[:,j]) U
//
// with a row u = [1; parents] of U a sample (004, 5.5–5.7).
type Estimate struct {
	Parents kernels.Matrix // U: n × (1 + number of parents)
	Weights kernels.Matrix // n × units: the sample's weight times σ'(a) of the unit
	Samples []float32      // n: the sample's weight alone, which only the form Kronecker needs
}

// Form is how the inverse of a block is represented.
type Form int

const (
	// Direct stores the inverse of each block.
	Direct Form = iota
	// Woodbury stores a matrix of the size of the number of samples for each
	// unit, and the samples once a layer (004, 5.12).
	Woodbury
	// Diagonal neglects all but the diagonal of a block (004, 5.13–5.14).
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

// Choose returns the form that costs less arithmetic between two refreshes of
// the blocks of a layer: Direct or Woodbury, for n samples, blocks of a size
// (1 + number of parents), a number of units and a number of steps between
// refreshes.
func Choose(n, size, units, steps int) Form {
	s, d, u, k := float64(n), float64(size), float64(units), float64(steps)
	direct := s*d*d + d*d*d + k*2*d*d
	woodbury := s*s*d/u + s*s + s*s*s + k*(4*s*d+2*s*s)
	if woodbury < direct {
		return Woodbury
	}
	return Direct
}

// Inverse holds the damped inverses of the Fisher blocks of one layer. It is
// explicit state: nothing changes it but NewInverse, so that blocks stay frozen
// for K steps when Apply is called K times (004, 5.3.4).
type Inverse struct {
	form    Form
	damping float64
	// Direct: the inverses without the factor 1+α. Woodbury: the inner ones.
	blocks    []*kernels.Symmetric
	parents   kernels.Matrix // Woodbury: U
	diagonals kernels.Matrix // Diagonal: a row a unit, without the factor 1+α
	factored  kronecker      // Kronecker
}

// Each calls task(0) … task(n−1), in any order and possibly at the same time,
// and returns when all are done.
type Each func(n int, task func(i int))

// NewInverse inverts the blocks of an estimate, unit by unit through each, and
// stores the inverses of Direct and Woodbury with a precision. The
// damping α must be positive. It fails where a block with αI added is not
// positive definite in single precision, which a NaN among the samples or a
// vanishing damping can bring about.
func NewInverse(e Estimate, form Form, precision Precision, damping float64, each Each) (*Inverse, error) {
	n, size, units := e.Parents.Rows, e.Parents.Cols, e.Weights.Cols
	v := &Inverse{form: form, damping: damping}
	failed := make([]bool, units)
	switch form {
	case Diagonal:
		v.diagonals = kernels.NewMatrix(units, size)
		each(units, func(j int) { failed[j] = !diagonal(kernels.Row(v.diagonals, j), e, j, damping) })
	case Direct:
		v.blocks = symmetric(units, size, precision)
		each(units, func(j int) { failed[j] = !direct(v.blocks[j], e, j, damping) })
	case Woodbury:
		v.parents = kernels.Clone(e.Parents)
		v.blocks = symmetric(units, n, precision)
		gram := gramian(e.Parents)
		each(units, func(j int) { failed[j] = !woodbury(v.blocks[j], gram, e, j, damping) })
	case Kronecker:
		factored, ok := factor(e)
		v.factored = factored
		for j := range failed {
			failed[j] = !ok || !factored.invertible(j, damping)
		}
	default:
		panic(fmt.Sprintf("fisher: no form %d", form))
	}
	for j, f := range failed {
		if f {
			return nil, fmt.Errorf("the Fisher block of unit %d cannot be inverted at damping %g: raise the damping, or lower the learning rate if training has diverged", j, damping)
		}
	}
	return v, nil
}

func symmetric(units, size int, precision Precision) []*kernels.Symmetric {
	blocks := make([]*kernels.Symmetric, units)
	for j := range blocks {
		blocks[j] = kernels.NewSymmetric(size, precision)
	}
	return blocks
}

// Form is the representation that was chosen.
func (v *Inverse) Form() Form { return v.form }

// Bytes is the memory that the inverses take.
func (v *Inverse) Bytes() int64 {
	bytes := 4*int64(len(v.parents.Data)+len(v.diagonals.Data)+len(v.factored.structure.Data)) +
		8*int64(len(v.factored.squares)+len(v.factored.slopes))
	for _, b := range v.blocks {
		bytes += int64(b.Bytes())
	}
	return bytes
}

// Bytes is the memory that the inverses of a layer take: of blocks of a size
// (1 + number of parents) of a number of units, estimated from n samples.
func Bytes(form Form, precision Precision, n, size, units int) int64 {
	const float = 4
	n64, size64, units64 := int64(n), int64(size), int64(units)
	switch form {
	case Diagonal:
		return float * units64 * size64
	case Kronecker:
		return kroneckerBytes(n64, size64, units64)
	case Woodbury:
		return units64*kernels.SymmetricBytes(n, precision) + float*n64*size64
	}
	return units64 * kernels.SymmetricBytes(size, precision)
}

// Apply multiplies gradients by the damped inverses in place. Row i of
// gradients (bias first) belongs to unit first+i. Calls for different units may
// run at the same time.
func (v *Inverse) Apply(gradients kernels.Matrix, first int) {
	scale := float32(1 + v.damping)
	switch v.form {
	case Kronecker:
		v.factored.apply(gradients, first, v.damping)
	case Diagonal:
		for i := range gradients.Rows {
			inverse := kernels.Row(v.diagonals, first+i)
			for k, g := range kernels.Row(gradients, i) {
				gradients.Data[i*gradients.Stride+k] = scale * inverse[k] * g
			}
		}
	case Direct:
		column := make([]float32, gradients.Cols)
		for i := range gradients.Rows {
			g := kernels.Row(gradients, i)
			v.blocks[first+i].Mul(column, g)
			for k, c := range column {
				g[k] = scale * c
			}
		}
	case Woodbury:
		n := v.parents.Rows
		projected := kernels.NewMatrix(gradients.Rows, n) // U g, a row a unit
		kernels.MulNT(projected, gradients, v.parents)
		inner := kernels.NewMatrix(gradients.Rows, n)
		for i := range gradients.Rows {
			v.blocks[first+i].Mul(kernels.Row(inner, i), kernels.Row(projected, i))
		}
		kernels.SubMulNN(gradients, inner, v.parents)
		scale /= float32(v.damping)
		for i := range gradients.Rows {
			for k, g := range kernels.Row(gradients, i) {
				gradients.Data[i*gradients.Stride+k] = scale * g
			}
		}
	}
}
