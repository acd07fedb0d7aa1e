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
	units   int
	// Direct: the inverses without the factor 1+α, size × size each.
	// Woodbury: the inner inverses, n × n each. Diagonal: a row a unit.
	blocks  kernels.Matrix
	parents kernels.Matrix // Woodbury: U
}

// Each calls task(0) … task(n−1), in any order and possibly at the same time,
// and returns when all are done.
type Each func(n int, task func(i int))

// NewInverse inverts the blocks of an estimate, unit by unit through each. The
// damping α must be positive. It fails where a block with αI added is not
// positive definite in double precision, which a NaN among the samples or a
// vanishing damping can bring about.
func NewInverse(e Estimate, form Form, damping float64, each Each) (*Inverse, error) {
	n, size, units := e.Parents.Rows, e.Parents.Cols, e.Weights.Cols
	v := &Inverse{form: form, damping: damping, units: units}
	failed := make([]bool, units)
	switch form {
	case Diagonal:
		v.blocks = kernels.NewMatrix(units, size)
		each(units, func(j int) { failed[j] = !diagonal(kernels.Row(v.blocks, j), e, j, damping) })
	case Direct:
		v.blocks = kernels.NewMatrix(units*size, size)
		each(units, func(j int) { failed[j] = !direct(v.block(j), e, j, damping) })
	case Woodbury:
		v.parents = kernels.Clone(e.Parents)
		v.blocks = kernels.NewMatrix(units*n, n)
		gram := gramian(e.Parents)
		each(units, func(j int) { failed[j] = !woodbury(v.block(j), gram, e, j, damping) })
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

// block returns the stored square matrix of unit j.
func (v *Inverse) block(j int) kernels.Matrix {
	n := v.blocks.Cols
	return kernels.Rows(v.blocks, j*n, (j+1)*n)
}

// Form is the representation that was chosen.
func (v *Inverse) Form() Form { return v.form }

// Bytes is the memory that the inverses take.
func (v *Inverse) Bytes() int64 {
	size := v.parents.Cols
	if v.form != Woodbury {
		size = v.blocks.Cols
	}
	return Bytes(v.form, v.parents.Rows, size, v.units)
}

// Bytes is the memory that the inverses of a layer take: of blocks of a size
// (1 + number of parents) of a number of units, estimated from n samples.
func Bytes(form Form, n, size, units int) int64 {
	const float = 4
	n64, size64, units64 := int64(n), int64(size), int64(units)
	switch form {
	case Diagonal:
		return float * units64 * size64
	case Woodbury:
		return float * (units64*n64*n64 + n64*size64)
	}
	return float * units64 * size64 * size64
}

// Apply multiplies gradients by the damped inverses in place. Row i of
// gradients (bias first) belongs to unit first+i. Calls for different units may
// run at the same time.
func (v *Inverse) Apply(gradients kernels.Matrix, first int) {
	scale := float32(1 + v.damping)
	switch v.form {
	case Diagonal:
		for i := range gradients.Rows {
			inverse := kernels.Row(v.blocks, first+i)
			for k, g := range kernels.Row(gradients, i) {
				gradients.Data[i*gradients.Stride+k] = scale * inverse[k] * g
			}
		}
	case Direct:
		column := make([]float32, gradients.Cols)
		for i := range gradients.Rows {
			g := kernels.Row(gradients, i)
			kernels.MulSymmetric(column, v.block(first+i), g)
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
			kernels.MulSymmetric(kernels.Row(inner, i), v.block(first+i), kernels.Row(projected, i))
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
