package kernels

import "fmt"

// Gather writes weights[k] times row rows[k] of from into row k of to. The rows of from may overlap, with a stride below
// their length.
func Gather(to, from Matrix, rows []int32, weights []float32) {
	if to.Rows != len(rows) || len(weights) != len(rows) || to.Cols != from.Cols || !complete(to) || !readable(from) {
		panic(fmt.Sprintf("kernels: cannot gather %d rows of %s with %d weights in %s", len(rows), describe(from), len(weights), describe(to)))
	}
	for _, r := range rows {
		if uint(r) >= uint(from.Rows) {
			panic(fmt.Sprintf("kernels: there is no row %d of %s", r, describe(from)))
		}
	}
	if to.Rows > 0 && to.Cols > 0 {
		current.gather(to, from, rows, weights)
	}
}

func portableGather(to, from Matrix, rows []int32, weights []float32) {
	for k, r := range rows {
		row := Row(to, k)
		for j, x := range Row(from, int(r)) {
			row[j] = weights[k] * x
		}
	}
}
