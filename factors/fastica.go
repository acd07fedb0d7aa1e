package factors

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// FastICA returns the unmixing matrix V of rows, Q×D, and the number of iterations. It uses the
// fixed-point iteration with tanh and symmetric decorrelation (Hyvärinen 1999), which maximises no
// likelihood.
//
// Iterations run in single precision until they converge, and then in double precision until they
// converge again, which usually takes one iteration.
func FastICA(rows [][]float64, sources int, seed uint64) (unmixing *mat.Dense, iterations int, err error) {
	m, err := whitened(rows, sources, Logistic, seed)
	if err != nil {
		return nil, 0, err
	}
	w, single := m.v(), singleOf(m.white)
	const most = 1000
	for double := false; iterations < most; {
		iterations++
		step := single.fixedPoint
		if double {
			step = func(w *mat.Dense) *mat.Dense { return fixedPoint(m.white, w) }
		}
		next := step(w)
		svd, err := statistics.SVD("the unmixing matrix", next)
		if err != nil {
			return nil, iterations, fmt.Errorf("FastICA does not converge: %w", err)
		}
		var u, v mat.Dense
		svd.UTo(&u)
		svd.VTo(&v)
		next.Mul(&u, v.T()) // (AAᵀ)^-½A
		change := 0.0
		for i := range sources {
			change = max(change, math.Abs(1-math.Abs(floats.Dot(next.RawRowView(i), w.RawRowView(i)))))
		}
		w.Copy(next)
		switch converged := change < 1e-10; {
		case converged && double:
			return m.Unmixing(), iterations, nil
		case converged:
			double = true
		}
	}
	return nil, most, fmt.Errorf("FastICA has not converged in %d iterations: give more rows, or fewer sources", most)
}

// fixedPoint returns E[tanh(s)zᵀ] − diag(E[1 − tanh² s])W for whitened rows z, where s = Wz.
func fixedPoint(z, w *mat.Dense) *mat.Dense {
	var t mat.Dense
	next := new(mat.Dense)
	t.Mul(z, w.T())
	n, q := t.Dims()
	slopes := make([]float64, q)
	for r := range n {
		for i, v := range t.RawRowView(r) {
			v = tanh(v)
			t.Set(r, i, v)
			slopes[i] += 1 - v*v
		}
	}
	next.Mul(t.T(), z)
	return lessSlopes(next, w, slopes, n)
}

// lessSlopes overwrites sums with (sums − diag(slopes)W)/n, and returns it.
func lessSlopes(sums, w *mat.Dense, slopes []float64, n int) *mat.Dense {
	for i, slope := range slopes {
		floats.AddScaled(sums.RawRowView(i), -slope, w.RawRowView(i))
	}
	sums.Scale(1/float64(n), sums)
	return sums
}

type single struct{ rows kernels.Matrix }

func singleOf(z *mat.Dense) single {
	n, q := z.Dims()
	s := single{kernels.NewMatrix(n, q)}
	for k, v := range z.RawMatrix().Data {
		s.rows.Data[k] = float32(v)
	}
	return s
}

// rowsAPart is the number of rows that one processor sums in single precision at a time.
const rowsAPart = 512

// fixedPoint approximates the function fixedPoint to within about 10⁻⁶.
func (z single) fixedPoint(w *mat.Dense) *mat.Dense {
	n, q := z.rows.Rows, z.rows.Cols
	double := kernels.NewMatrix(q, q)
	for k, v := range w.RawMatrix().Data {
		double.Data[k] = float32(2 * v)
	}
	parts := (n + rowsAPart - 1) / rowsAPart
	sums, slopes := make([]kernels.Matrix, parts), make([][]float32, parts)
	work.Parallel(parts, func(part int) {
		rows := kernels.Rows(z.rows, part*rowsAPart, min(n, (part+1)*rowsAPart))
		t, off := kernels.NewMatrix(rows.Rows, q), make([]float32, rows.Rows*q)
		kernels.MulNT(t, rows, double)
		kernels.Residual(t.Data, off) // −σ(2s)
		sums[part], slopes[part] = kernels.NewMatrix(q, q), make([]float32, q)
		for r := range t.Rows {
			row := kernels.Row(t, r)
			for i, v := range row {
				v = -2*v - 1
				row[i] = v
				slopes[part][i] += 1 - v*v
			}
		}
		kernels.MulTN(sums[part], 0, t, rows)
	})
	next, slope := mat.NewDense(q, q, nil), make([]float64, q)
	for part, of := range sums {
		for k, v := range of.Data {
			next.RawMatrix().Data[k] += float64(v)
		}
		for i, v := range slopes[part] {
			slope[i] += float64(v)
		}
	}
	return lessSlopes(next, w, slope, n)
}
