// Package fisher inverts the Fisher information matrices of layered directed graphs.
//
// The Fisher matrix of such a graph is exactly block-diagonal, with one block per unit over the
// unit's parents and bias (Várady 2025, Theorem 1). An Estimate holds the samples from which the
// blocks of one layer are estimated. An Inverse holds the damped inverses
//
//	(1+α)(αI + F)⁻¹
//
// of the blocks (Várady 2025, 5.10), and its Apply multiplies gradients by them. As α grows, the
// result tends to the plain gradient.
package fisher

import (
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"gonum.org/v1/gonum/blas/blas32"
)

// Estimate holds the n samples from which the Fisher blocks of one layer of Bernoulli units are
// estimated. The block of unit j is
//
//	F = Uᵀ diag(Weights[:,j]) U
//
// where U has one row u = [1; parents] per sample (Várady 2025, 5.5–5.7).
type Estimate struct {
	Parents blas32.General // U: n × (1 + number of parents)
	Weights blas32.General // n × units: the sample's weight times the unit's σ'(a), never negative
	// SampleWeights are the weights of the n samples, which only the form Kronecker needs.
	SampleWeights []float32
}

// mustFit panics unless all parts of an estimate that the form needs have the same number of
// samples.
func (e Estimate) mustFit(form Form) {
	if n := e.Parents.Rows; e.Weights.Rows != n || form == Kronecker && len(e.SampleWeights) != n {
		panic(fmt.Sprintf("fisher: an estimate has the parents of %d samples, %d rows of Weights and %d SampleWeights; their numbers must agree", n, e.Weights.Rows, len(e.SampleWeights)))
	}
}

// Form selects how the inverse blocks of a layer are represented.
type Form int

const (
	// Cheapest selects Direct or Woodbury, whichever costs less from one refresh to the next. Both are
	// exact. At a damping below 10⁻³, it selects Direct if a block may have full rank, because rounding
	// then spoils Woodbury's form.
	Cheapest Form = iota
	// Direct stores the inverse of each block.
	Direct
	// Woodbury stores an n × n matrix per unit, for the n samples that count in the unit's block,
	// and one copy of the samples per layer (Várady 2025, 5.12).
	Woodbury
	// Diagonal keeps only the diagonal of each block (Várady 2025, 5.13–5.14). NewDiagonal creates
	// it.
	Diagonal
	// Kronecker approximates the blocks of a layer by multiples of one matrix, the second moment of
	// the parents.
	Kronecker
)

var formNames = names.New("form", "cheapest", "direct", "Woodbury", "diagonal", "Kronecker")

func (f Form) String() string { return formNames.Name(int(f)) }

// Precision selects how the elements of inverses are stored. Reading these elements takes most of
// the time of a natural-gradient step.
type Precision = kernels.Precision

const (
	// Float32 keeps the elements in single precision.
	Float32 = kernels.Float32
	// Int16 keeps the diagonal in single precision and the other elements in 16 bits, with an error
	// of at most about 2⁻¹⁶ of the largest element in the same block of 16 × 16.
	Int16 = kernels.Int16
)

// Settings select how the blocks of a layer are inverted.
type Settings struct {
	Form      Form
	Precision Precision // precision of the inverses that Direct and Woodbury store
	Damping   float64   // α, positive
	Steps     int       // K: steps between refreshes of the blocks; Cheapest compares the costs of K steps
	// Groups lists, for NewCategorical, the number of units of each variable, at least 1. If it is nil, each unit
	// has a block of its own.
	Groups []int
}

// Inverse holds the damped inverses of the Fisher blocks of one layer. Apply does not change an
// Inverse, so the blocks stay frozen over the K steps between two refreshes (Várady 2025, 5.3.4).
type Inverse struct {
	form    Form
	damping float64
	// Direct: one inverse per unit or variable, without the factor 1+α. Woodbury: one inner matrix
	// C per unit (see woodbury).
	blocks    []kernels.Symmetric
	variables []int          // per unit, the index of its block if the units of a variable share one; otherwise nil
	samples   samples        // Woodbury: U
	diagonals kernels.Matrix // Diagonal: one row per unit
	factored  kronecker      // Kronecker
}

// Each calls task(0) … task(n−1), in any order and possibly concurrently, and returns when all are
// done. A nil Each calls them one after another.
type Each func(n int, task func(i int))

func oneByOne(n int, task func(i int)) {
	for i := range n {
		task(i)
	}
}

// NewInverse inverts the blocks of an estimate. It calls each to run its tasks: one per unit,
// except for the form Kronecker, which has a single factorisation. NewInverse returns an error if a
// block plus αI is not positive definite in single precision, for example because a sample is NaN
// or the damping is almost 0. It also returns an error if the damping is not positive, or if the
// damping or (1+α)/α overflows single precision. It panics if the parts of the estimate have
// different numbers of samples, or if the form is Diagonal.
func NewInverse(e Estimate, s Settings, each Each) (*Inverse, error) {
	e.mustFit(s.Form)
	if err := CheckDamping(s.Damping); err != nil {
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
		v.form = chosen.cheapest(size, s)
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
		gram := kernels.NewMatrix(v.samples.parents.Rows, v.samples.parents.Rows)
		kernels.MulNT(gram, v.samples.parents, v.samples.parents)
		each(units, func(j int) { failed[j] = !woodbury(&v.blocks[j], gram, e, j, chosen, s.Damping) })
	case Kronecker:
		var err error
		if v.factored, err = factor(e); err != nil {
			return nil, fmt.Errorf("the Fisher blocks cannot be inverted at damping %g, because %w: lower the learning rate if training has diverged", s.Damping, err)
		}
		for j, slope := range v.factored.slopes {
			failed[j] = math.IsNaN(slope) || math.IsInf(slope, 0)
		}
	default:
		panic(fmt.Sprintf("fisher: NewInverse does not know form %d", s.Form))
	}
	for j, f := range failed {
		if f {
			return nil, blockError(j, s.Damping)
		}
	}
	return v, nil
}

// CheckDamping returns an error unless the damping α is positive, and α and (1+α)/α are finite in
// single precision. (1+α)/α is the largest possible element of an inverse: the inverse of a block
// that is 0.
func CheckDamping(damping float64) error {
	if !(damping <= math.MaxFloat32) {
		return fmt.Errorf("the Fisher blocks cannot be inverted at damping %g: use a positive damping of at most %g", damping, math.MaxFloat32)
	}
	if largest := float32((1 + damping) / damping); !(damping > 0 && largest <= math.MaxFloat32) {
		return fmt.Errorf("the Fisher blocks cannot be inverted at damping %g, where (1+α)/α is %g in single precision: use a larger positive damping", damping, largest)
	}
	return nil
}

func blockError(unit int, damping float64) error {
	return fmt.Errorf("the Fisher block of unit %d cannot be inverted at damping %g: raise the damping, or lower the learning rate if training has diverged", unit, damping)
}

// Bytes returns the memory in bytes that the inverses take.
func (v *Inverse) Bytes() int64 {
	bytes := 4*int64(len(v.diagonals.Data)+len(v.factored.structure.Data)) +
		8*int64(len(v.factored.squares)+len(v.factored.slopes)) + v.samples.bytes()
	for j := range v.blocks {
		bytes += int64(v.blocks[j].Bytes())
	}
	return bytes
}

// Choose returns the form for a layer with this many units, estimated from n samples of which none
// is negligible. size is the size of a block, 1 + the number of parents.
func (s Settings) Choose(n, size, units int) Form {
	switch {
	case s.Form != Cheapest:
		return s.Form
	case s.Groups != nil:
		return Direct
	}
	return all(n, units).cheapest(size, s)
}

// Bytes returns the memory in bytes that the inverses of a layer take if no sample is negligible. If
// samples are negligible, the inverses usually take less; with Cheapest, the inverses of few units may take
// more, because Woodbury copies the samples. The arguments are the same as for Choose. The result is a
// float64 so that it does not overflow.
func (s Settings) Bytes(n, size, units int) float64 {
	const float, double = 4, 8
	switch s.Choose(n, size, units) {
	case Diagonal:
		return float * float64(units) * float64(size)
	case Kronecker:
		rank := float64(min(n, size))
		return float*rank*float64(size) + double*(rank+float64(units))
	case Woodbury:
		return float64(units)*(kernels.SymmetricBytes(n, s.Precision)+float*float64(n)) + sampleBytes(n, size)
	}
	if s.Groups == nil {
		return float64(units) * kernels.SymmetricBytes(size, s.Precision)
	}
	bytes := 0.0
	for _, units := range s.Groups {
		bytes += kernels.SymmetricBytes(units*size, s.Precision)
	}
	return bytes
}

// Scratch returns about how many bytes of memory NewInverse or NewCategorical takes at most in addition to the
// inverses, if the tasks run on this many threads. The other arguments are the same as for Choose.
func (s Settings) Scratch(n, size, units, threads int) float64 {
	const float, double = 4, 8
	rows, columns := float64(n), float64(size)
	tasks := float64(min(threads, units))
	form := s.Choose(n, size, units)
	if form == Kronecker {
		// √Q U; the sum of outer products, its eigenvectors twice, the workspace of the eigenvalue
		// solver, and the orthogonal rows.
		rank := min(rows, columns)
		return double * (rows*columns + 4*rank*rank + rank*columns)
	}
	if s.Groups != nil {
		largest := float64(slices.Max(s.Groups)) * columns
		return float * float64(min(threads, len(s.Groups))) * (min(rows, rowsAtOnce)*columns + 2*largest*largest)
	}
	bytes := 0.0
	if s.Form == Cheapest || s.Form == Woodbury {
		// Squared lengths, positions and indices of the samples; per task, the share of each sample
		// in the unit's block.
		bytes += 3*float*rows + double*rows*tasks
	}
	if form == Woodbury {
		// Products of the samples; the inner matrix and its factor.
		return bytes + float*rows*rows*(1+2*tasks)
	}
	if s.Form == Cheapest {
		bytes += float * rows * float64(units) // the samples of each unit, discarded later
	}
	// Samples, the block and its factor.
	return bytes + float*tasks*(min(rows, rowsAtOnce)+2*columns)*columns
}

// Apply multiplies gradients by the damped inverses in place. Row i of gradients has 1 + number of
// parents columns (bias first) and belongs to unit first+i. Calls for different units may run
// concurrently. Apply panics if the inverse has no such units, or blocks of another size.
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
