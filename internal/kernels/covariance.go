package kernels

import "github.com/helmholtz-go/helmholtz/internal/work"

// chunk is the number of rows that are added to a sum of outer products at a time.
const chunk = 128

// Covariance returns the mean of (x−b)(x−b)ᵀ over rows x of D values: D×D numbers in row-major order. It
// computes only the numbers on and above the diagonal. It works in double precision. The result does not
// depend on the number of processors.
func Covariance(rows [][]float64, b []float64) []float64 {
	d, s := len(b), current
	width, height, breadth := d, 1, 1
	if s.outer != nil {
		height, breadth = s.lanes/2, 3*s.lanes/2
		width = roundUp(d, breadth)
	}
	centred, sums := make([]float64, chunk*width), make([]float64, width*width)
	for first := 0; first < len(rows); first += chunk {
		part := rows[first:min(first+chunk, len(rows))]
		for r, row := range part {
			for i, v := range row[:d] {
				centred[r*width+i] = v - b[i]
			}
		}
		if s.outer == nil {
			addOuter(sums, centred[:len(part)*d], d)
			continue
		}
		work.Parallel(width/height, func(k int) {
			i := k * height
			for j := i / breadth * breadth; j < width; j += breadth {
				s.outer(&sums[i*width+j], &centred[i], &centred[j], len(part), 8*width)
			}
		})
	}
	for i := range d {
		for j := range d {
			sums[i*d+j] = sums[i*width+j] / float64(len(rows))
		}
	}
	return sums[:d*d]
}

// addOuter adds xxᵀ of rows x of d values, on and above the diagonal.
func addOuter(sums, rows []float64, d int) {
	for ; len(rows) > 0; rows = rows[d:] {
		for i, v := range rows[:d] {
			to := sums[i*d+i : (i+1)*d]
			for j, w := range rows[i:d] {
				to[j] += v * w
			}
		}
	}
}
