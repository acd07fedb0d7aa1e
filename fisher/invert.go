package fisher

import (
	"math"
	"sync"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// scratch holds the temporary matrices of an inversion.
var scratch = sync.Pool{New: func() any { return new(workspace) }}

type workspace struct {
	samples, block, factor, panel, negated []float32
}

// matrix returns a matrix backed by *data, which grows as needed. Its elements are not cleared.
func matrix(data *[]float32, rows, cols int) kernels.Matrix {
	if cap(*data) < rows*cols {
		*data = make([]float32, rows*cols)
	}
	return kernels.Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: (*data)[:rows*cols]}
}

// rowsAtOnce is the number of samples that are copied, scaled by their weights and added to a block
// together.
const rowsAtOnce = 4096

// direct writes (αI + F)⁻¹ to dst, where F is the block of unit j. It returns false if αI + F
// cannot be inverted.
func direct(dst *kernels.Symmetric, e Estimate, j int, damping float64) bool {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	n, size := e.Parents.Rows, e.Parents.Cols
	block := matrix(&w.block, size, size)
	clear(block.Data)
	for first := 0; first < n; first += rowsAtOnce {
		scaled := matrix(&w.samples, min(rowsAtOnce, n-first), size) // √Q U
		for i := range scaled.Rows {
			q := float32(math.Sqrt(float64(e.weight(first+i, j))))
			row := kernels.Row(scaled, i)
			for k, u := range kernels.Row(e.Parents, first+i) {
				row[k] = q * u
			}
		}
		kernels.MulTN(block, 1, scaled, scaled)
	}
	return w.invertDamped(dst, block, damping)
}

// invertDamped writes (αI + F)⁻¹ to dst, where F is the given block, which it overwrites. It
// returns false if αI + F cannot be inverted.
func (w *workspace) invertDamped(dst *kernels.Symmetric, block kernels.Matrix, damping float64) bool {
	for k := range block.Rows {
		block.Data[k*block.Stride+k] += float32(damping)
	}
	if !w.invert(block) {
		return false
	}
	dst.Pack(block)
	return true
}

// applyDirect multiplies the gradients of each unit, or of all units of a variable together.
func (v *Inverse) applyDirect(gradients kernels.Matrix, first int) {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	scale := float32(1 + v.damping)
	for i := 0; i < gradients.Rows; {
		block, units := first+i, 1
		if v.variables != nil {
			block = v.variables[block]
			for i+units < gradients.Rows && v.variables[first+i+units] == block {
				units++
			}
		}
		joined := matrix(&w.panel, 2, units*gradients.Cols)
		g, product := kernels.Row(joined, 0), kernels.Row(joined, 1)
		for k := range units {
			copy(g[k*gradients.Cols:], kernels.Row(gradients, i+k))
		}
		v.blocks[block].Mul(product, g)
		for k := range units {
			row := kernels.Row(gradients, i+k)
			for l, x := range product[k*gradients.Cols:][:gradients.Cols] {
				row[l] = scale * x
			}
		}
		i += units
	}
}
