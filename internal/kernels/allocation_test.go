//go:build !race

package kernels

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Under the race detector a pool drops some of what is put into it.
func TestKernelsDoNotAllocate(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		a, b, at, c := NewMatrix(40, 70), NewMatrix(100, 70), NewMatrix(70, 40), NewMatrix(40, 100)
		bn, square := NewMatrix(70, 100), NewMatrix(100, 100)
		p, s := NewPacked(100, 70), newSymmetric(100, Int16)
		columns, fixed := NewBits(0), NewFixed(100, 70)
		columns.PackColumns(bn)
		rows := make([]int32, 40)
		x, y := make([]float32, 100), make([]float32, 100)
		for name, call := range map[string]func(){
			"DrawGaussian": func() { DrawGaussian(x[:50], y, 50, 0, 1, philox.Counter{}) },
			"MulNT":        func() { MulNT(c, a, b) },
			"MulTN":        func() { MulTN(c, 1, at, bn) },
			"AddMulNN":     func() { AddMulNN(c, a, bn) },
			"SubMulNN":     func() { SubMulNN(c, a, bn) },
			"Pack":         func() { p.Pack(b, 0, 100) },
			"MulPacked":    func() { MulPacked(c, a, p) },
			"mulSymmetric": func() { mulSymmetric(y, square, x) },
			"Symmetric":    func() { s.Pack(square); s.Mul(y, x) },
			"PackColumns":  func() { columns.PackColumns(bn) },
			"Fixed":        func() { fixed.Pack(b, 0, 100) },
			"FixedColumns": func() { fixed.PackColumns(bn, 0, 100) },
			"MulFixed":     func() { MulFixed(c, a, 0, fixed) },
			"MulTNFixed":   func() { MulTNFixed(c, at, 0, fixed) },
			"Gather":       func() { Gather(c, bn, rows, y[:40]) },
			"AddTN":        func() { AddTN(c, true, at, columns) },
			"Draw":         func() { Draw(y, x, 0, 1, philox.Counter{}) },
			"Residual":     func() { Residual(x, y) },
			"Score":        func() { Score(x, y) },
			"DrawScore":    func() { Units(Draws|Scores, y, x, 0, 1, philox.Counter{}) },
			"DrawResidual": func() { Units(Draws|Residuals, y, x, 0, 1, philox.Counter{}) },
		} {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%s allocates %v times a call", name, n)
			}
		}
	})
}
