package fisher

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/blas/blas32"
)

// NewDiagonal returns the inverses of blocks of which only the diagonals are kept (Várady 2025,
// 5.13–5.14). Row j of f holds the diagonal F_kk of unit j's block: first the bias, then one
// element per parent. NewDiagonal takes ownership of f and overwrites it with the inverses,
//
//	(1+α)/(α + F_kk).
//
// It returns the same errors as NewInverse.
func NewDiagonal(f blas32.General, damping float64) (*Inverse, error) {
	if err := CheckDamping(damping); err != nil {
		return nil, err
	}
	for j := range f.Rows {
		ok := true
		row := kernels.Row(f, j)
		for k, x := range row {
			damped := damping + float64(x)
			ok = ok && damped > 0 && !math.IsInf(damped, 1)
			row[k] = float32((1 + damping) / damped)
		}
		if !ok {
			return nil, blockError(j, damping)
		}
	}
	return &Inverse{form: Diagonal, damping: damping, diagonals: f}, nil
}

func (v *Inverse) applyDiagonal(gradients kernels.Matrix, first int) {
	if gradients.Cols != v.diagonals.Cols {
		panic(fmt.Sprintf("fisher: gradients of %d columns for blocks of size %d", gradients.Cols, v.diagonals.Cols))
	}
	for i := range gradients.Rows {
		inverse, g := kernels.Row(v.diagonals, first+i), kernels.Row(gradients, i)
		for k := range g {
			g[k] *= inverse[k]
		}
	}
}
