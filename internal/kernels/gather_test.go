package kernels

import "testing"

// Gathered rows are the rows of the matrix times their weights, bit for bit, with
// every instruction set.
func TestGather(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n, s := range shapes(testing.Short()) {
			f := newField(uint64(n))
			from, to, weights := f.matrix(s.depth, s.cols), f.matrix(s.rows, s.cols), f.vector(s.rows)
			if s.depth == 0 {
				continue // there are no rows
			}
			rows := make([]int32, s.rows)
			for k := range rows {
				rows[k] = int32(f.random.IntN(s.depth))
			}
			Gather(to, from, rows, weights)
			for k, r := range rows {
				for j, x := range Row(from, int(r)) {
					if got, want := Row(to, k)[j], weights[k]*x; got != want {
						t.Fatalf("%+v: element %d, %d is %v, want %v", s, k, j, got, want)
					}
				}
			}
			f.check(t, (s.depth+s.rows)*s.cols+s.rows)
		}
	})
}

// Windows of a vector are the overlapping rows of a matrix with stride 1.
func TestGatherOverlappingRows(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for width := 1; width < 40; width++ {
			f := newField(uint64(width))
			x, to := f.vector(width+6), f.matrix(3, width)
			rows := []int32{6, 0, 3}
			Gather(to, Matrix{Rows: 7, Cols: width, Stride: 1, Data: x}, rows, []float32{1, 1, 1})
			for k, r := range rows {
				if !sameBits(Row(to, k), x[r:int(r)+width]) {
					t.Fatalf("window %d of width %d is %v, want %v", r, width, Row(to, k), x[r:int(r)+width])
				}
			}
			f.check(t, 4*width+6)
		}
	})
}

func TestGatherRefusesRowsThatAreNotThere(t *testing.T) {
	for _, rows := range [][]int32{{-1, 0}, {0, 3}, {0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("rows %v of three are gathered in two", rows)
				}
			}()
			Gather(NewMatrix(2, 5), NewMatrix(3, 5), rows, make([]float32, len(rows)))
		}()
	}
}
