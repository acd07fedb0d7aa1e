package fisher

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// samples holds the samples from which the Woodbury form of a layer's blocks is built.
type samples struct {
	parents kernels.Matrix  // U: n × (1 + number of parents)
	packed  *kernels.Packed // U packed, for products with Uᵀ
	ofUnit  [][]int32       // the rows of U in the block of each unit, in the order of its inner matrix
}

func newSamples(e Estimate, chosen selection) samples {
	u := kernels.NewMatrix(len(chosen.rows), e.Parents.Cols)
	for k, r := range chosen.rows {
		copy(kernels.Row(u, k), kernels.Row(e.Parents, int(r)))
	}
	packed := kernels.NewPacked(u.Rows, u.Cols)
	packed.Pack(u, 0, u.Rows)
	return samples{u, packed, chosen.units}
}

func (s samples) bytes() int64 {
	if s.packed == nil {
		return 0
	}
	bytes := int64(sampleBytes(s.parents.Rows, s.parents.Cols))
	for _, rows := range s.ofUnit {
		bytes += 4 * int64(len(rows))
	}
	return bytes
}

// sampleBytes returns the memory in bytes that n samples take, stored both plain and packed.
func sampleBytes(n, size int) float64 {
	return 4*float64(n)*float64(size) + kernels.PackedBytes(n, size)
}

// woodbury writes the inner matrix C = √Q (αI + √Q UUᵀ √Q)⁻¹ √Q of unit j to dst. C gives the
// inverse of the damped block,
//
//	(αI + Uᵀ Q U)⁻¹ = (I − Uᵀ C U)/α
//
// (Várady 2025, 5.12). U holds the samples that were chosen for the unit, and Q their weights. With
// √Q inside, zero weights do no harm; in the printed formula, they would make Q⁻¹ infinite.
// woodbury returns false if the matrix cannot be inverted.
func woodbury(dst *kernels.Symmetric, gram kernels.Matrix, e Estimate, j int, chosen selection, damping float64) bool {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	rows := chosen.units[j]
	n := len(rows)
	root := matrix(&w.samples, 1, n).Data
	for k, r := range rows {
		root[k] = float32(math.Sqrt(float64(e.weight(int(chosen.rows[r]), j))))
	}
	inner := matrix(&w.block, n, n)
	for k, r := range rows {
		products := kernels.Row(gram, int(r))
		row := kernels.Row(inner, k)[:k+1]
		for l := range row {
			row[l] = root[k] * products[rows[l]] * root[l]
		}
		row[k] += float32(damping)
	}
	if !w.invert(inner) {
		return false
	}
	for k := range n {
		row := kernels.Row(inner, k)[:k+1]
		for l := range row {
			row[l] *= root[k] * root[l]
		}
	}
	dst.Pack(inner)
	return true
}

func (v *Inverse) applyWoodbury(gradients kernels.Matrix, first int) {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	s := v.samples
	projected := matrix(&w.samples, gradients.Rows, s.parents.Rows) // U g, one row per unit
	kernels.MulPacked(projected, gradients, s.packed)
	inner := matrix(&w.block, gradients.Rows, s.parents.Rows)
	clear(inner.Data)
	vectors := matrix(&w.panel, 2, s.parents.Rows)
	for i := range gradients.Rows {
		rows := s.ofUnit[first+i]
		x, y := kernels.Row(vectors, 0)[:len(rows)], kernels.Row(vectors, 1)[:len(rows)]
		from, to := kernels.Row(projected, i), kernels.Row(inner, i)
		for k, r := range rows {
			x[k] = from[r]
		}
		v.blocks[first+i].Mul(y, x)
		for k, r := range rows {
			to[r] = y[k]
		}
	}
	kernels.SubMulNN(gradients, inner, s.parents)
	scale := float32((1 + v.damping) / v.damping)
	for i := range gradients.Rows {
		g := kernels.Row(gradients, i)
		for k := range g {
			g[k] *= scale
		}
	}
}
