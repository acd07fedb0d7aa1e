package kernels

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// walled returns memory that ends, or begins, where reading or writing further
// would end the program.
func walled(t *testing.T, length int, wallAfter bool) []float32 {
	page := syscall.Getpagesize()
	pages := roundUp(4*length, page)
	memory, err := syscall.Mmap(-1, 0, page+pages+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	for _, wall := range [][]byte{memory[:page], memory[page+pages:]} {
		if err := syscall.Mprotect(wall, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	first := page
	if wallAfter {
		first += pages - 4*length
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[first])), length)
}

// No kernel touches memory beside its arguments.
func TestKernelsStayInsideTheirArguments(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const most = 51
		for _, after := range []bool{true, false} {
			var walls [3][]float32
			for i := range walls {
				walls[i] = walled(t, most*most, after)
			}
			matrix := func(i, rows, cols int) Matrix {
				data := walls[i]
				if after {
					data = data[len(data)-rows*cols:]
				}
				return Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: data[:rows*cols]}
			}
			vector := func(i, n int) []float32 { return matrix(i, 1, n).Data }
			for n := range most + 1 {
				for _, s := range []shape{{n, 5, 7}, {5, n, 7}, {5, 7, n}, {n, n, n}} {
					c := matrix(0, s.rows, s.cols)
					MulNT(c, matrix(1, s.rows, s.depth), matrix(2, s.cols, s.depth))
					MulTN(c, 1, matrix(1, s.depth, s.rows), matrix(2, s.depth, s.cols))
					SubMulNN(c, matrix(1, s.rows, s.depth), matrix(2, s.depth, s.cols))
					p := NewPacked(s.cols, s.depth)
					p.Pack(matrix(2, s.cols, s.depth), 0, s.cols)
					MulPacked(c, matrix(1, s.rows, s.depth), p)
				}
				mulSymmetric(vector(0, n), matrix(1, n, n), vector(2, n))
				symmetric := newSymmetric(n, Int16)
				symmetric.Pack(matrix(1, n, n))
				symmetric.Mul(vector(0, n), vector(2, n))
				Draw(vector(0, n), vector(1, n), 0, 1, philox.Counter{})
				Residual(vector(1, n), vector(0, n))
				Units(Draws|Residuals, vector(0, n), vector(1, n), 0, 1, philox.Counter{})
			}
		}
	})
}
