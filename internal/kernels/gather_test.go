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
