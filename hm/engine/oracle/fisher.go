package oracle

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Block is the block of the Fisher information matrix for one unit, over its bias and its parents, or for all
// units of a categorical variable. A layered directed graph has no entries outside these blocks (Várady 2025,
// Theorem 1). Units that share their parameters share one block, the sum over these units (Várady 2025,
// Theorem 3).
type Block struct {
	Unit   Unit          // the first of the units that share the block; Width spans a variable
	Matrix *mat.SymDense // Width × Width, with Width (fan-in + 1) times the units of a variable
}

// Fisher returns the blocks E[σ'(a) u uᵀ], u = [1; parents], of the units under a measure. The
// block of a categorical variable whose units have the probabilities π is E[(diag π − π πᵀ) ⊗ u uᵀ],
// the covariance of its score [on − π] ⊗ u. A Gaussian unit has the block E[u uᵀ/σ²] for μ and
// E[2(∂ ln σ/∂a)² u uᵀ] for a (Várady 2025, 7.5 and 7.6, after the expectation over z²). The caller
// chooses the measure:
//
//	Generative:  Model()               (5.2), estimated by dreams
//	             Wake(data, Ratio)     estimated by weighted wake samples (5.7)
//	             Model() over S        estimated by LegacyMeasure
//	Recognition: Wake(data, Uniform)   (5.6), estimated by wake samples
//
// Given a measure of samples, Fisher returns the estimates themselves.
func (n *Networks) Fisher(units []Unit, m Distribution) []Block {
	var all []Unit // a Gaussian unit counts as two units with a block each
	for _, u := range units {
		all = append(all, u)
		if u.Kind == engine.Gaussian {
			u.Start = u.Deviation
			all = append(all, u)
		}
	}
	blocks, index := newBlocks(all)
	for v, weight := range m {
		for _, u := range units {
			input := n.inputOf(u, u.parentsOf(v))
			add := func(start int, information float64) {
				block := blocks[index[start]].Matrix
				block.SymRankOne(block, weight*information, mat.NewVecDense(u.Width, input))
			}
			switch u.Kind {
			case engine.Bernoulli:
				on := n.On(u, v)
				add(u.Start, on*(1-on))
			case engine.Categorical:
				if u.Index == u.first {
					n.addCategorical(blocks[index[u.Start]].Matrix, u, v, input, weight)
				}
			case engine.Gaussian:
				_, sigma, a := n.Outputs(u, v)
				rho := math.Exp(a) / sigma
				add(u.Start, 1/(sigma*sigma))
				add(u.Deviation, 2*rho*rho)
			}
		}
	}
	return blocks
}

// addCategorical adds the Fisher information of the categorical variable that begins at unit u, given
// the input of its units.
func (n *Networks) addCategorical(block *mat.SymDense, u Unit, v Values, input []float64, weight float64) {
	all := mat.NewVecDense(u.variable.Units*u.Width, nil) // π ⊗ u
	for j, unit := range u.ofVariable() {
		on, own := n.On(unit, v), mat.NewVecDense(u.variable.Units*u.Width, nil)
		floats.ScaleTo(all.RawVector().Data[j*u.Width:][:u.Width], on, input)
		copy(own.RawVector().Data[j*u.Width:], input)
		block.SymRankOne(block, weight*on, own)
	}
	block.SymRankOne(block, -weight, all)
}

// Kronecker returns factored blocks, E[σ'(a)] E[u uᵀ] with u = [1; parents], as if a unit's σ' and
// parents were independent. The second factor is normalised even if the measure does not sum to 1.
// Units that share a block share both factors, and the first is summed over them. Units must not be
// categorical.
func (n *Networks) Kronecker(units []Unit, m Distribution) []Block {
	blocks, index := newBlocks(units)
	slopes, totals := make([]float64, len(blocks)), make([]float64, len(blocks))
	for v, weight := range m {
		for _, u := range units {
			on := n.On(u, v)
			i := index[u.Start]
			totals[i] += weight
			slopes[i] += weight * on * (1 - on)
			input := mat.NewVecDense(u.Width, n.inputOf(u, u.parentsOf(v)))
			blocks[i].Matrix.SymRankOne(blocks[i].Matrix, weight, input)
		}
	}
	for i := range blocks {
		blocks[i].Matrix.ScaleSym(slopes[i]/totals[i], blocks[i].Matrix)
	}
	return blocks
}

// newBlocks returns the blocks of units, all 0, and a map from the start of a unit's parameters to
// the index of its block.
func newBlocks(units []Unit) (blocks []Block, index map[int]int) {
	index = map[int]int{}
	for _, u := range units {
		if _, there := index[u.Start]; there {
			continue
		}
		if u.Kind == engine.Categorical && u.Index != u.first {
			index[u.Start] = len(blocks) - 1
			continue
		}
		index[u.Start] = len(blocks)
		if u.Kind == engine.Categorical {
			u.Width *= u.variable.Units
		}
		blocks = append(blocks, Block{u, mat.NewSymDense(u.Width, nil)})
	}
	return blocks, index
}

// Diagonal keeps only the diagonal of each block, as DNRWS does (5.13, 5.14).
func Diagonal(blocks []Block) []Block {
	diagonal := make([]Block, len(blocks))
	for i, b := range blocks {
		diagonal[i] = Block{b.Unit, mat.NewSymDense(b.Unit.Width, nil)}
		for k := range b.Unit.Width {
			diagonal[i].Matrix.SetSym(k, k, b.Matrix.At(k, k))
		}
	}
	return diagonal
}

// NaturalGradient returns (1+α)(αI + F)⁻¹ applied to a gradient (5.10), each block by a dense
// solve. It leaves parameters that no block covers unchanged. It returns an error if αI + F is
// singular to working precision.
func NaturalGradient(blocks []Block, gradient []float64, damping float64) ([]float64, error) {
	natural := slices.Clone(gradient)
	for _, b := range blocks {
		u := b.Unit
		var damped mat.Dense
		damped.CloneFrom(b.Matrix)
		for k := range u.Width {
			damped.Set(k, k, damped.At(k, k)+damping)
		}
		own := mat.NewVecDense(u.Width, natural[u.Start:u.Start+u.Width])
		if err := own.SolveVec(&damped, own); err != nil {
			return nil, fmt.Errorf("block of unit %d of layer %d, damping %g: %w; use a larger damping", u.Index, u.Layer, damping, err)
		}
		own.ScaleVec(1+damping, own)
	}
	return natural, nil
}
