package samples

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

const (
	neighbours   = 5 // the ball of a row ends at its fifth neighbour
	permutations = 999
)

// probabilities turns scores, log p(y|x) without its normalisation, into p(y|x).
func probabilities(scores *mat.Dense) *mat.Dense {
	rows, _ := scores.Dims()
	for r := range rows {
		row := scores.RawRowView(r)
		floats.AddConst(-floats.LogSumExp(row), row)
		for c, v := range row {
			row[c] = math.Exp(v)
		}
	}
	return scores
}

// score returns exp(E KL(p(y|x) ‖ p(y))) over rows of p(y|x), whose mean is p(y). The delta method gives its standard error from the
// error of E KL; derivatives with respect to p(y) cancel.
func score(p *mat.Dense) runs.Estimate {
	rows, classes := p.Dims()
	mean := lists.N(classes, func(c int) float64 { return stat.Mean(mat.Col(nil, c, p), nil) })
	kl, se := statistics.MeanAndError(rows, func(r int) (nats float64) {
		for c, v := range p.RawRowView(r) {
			if v > 0 {
				nats += v * math.Log(v/mean[c])
			}
		}
		return nats
	})
	return runs.Estimate{Value: math.Exp(kl), SE: math.Exp(kl) * se}
}

// reached returns the share of a number of classes that are the most probable class of a row. Its standard error is the bootstrap's, exactly:
// in a resample, a class of share s is not reached with probability (1−s)ⁿ.
func reached(p *mat.Dense, classes int) runs.Estimate {
	rows, all := p.Dims()
	shares, n := make([]float64, all), float64(rows)
	for r := range rows {
		shares[floats.MaxIdx(p.RawRowView(r))] += 1 / n
	}
	shares = slices.DeleteFunc(shares, func(s float64) bool { return s == 0 })
	variance := 0.0
	for i, s := range shares {
		for j, t := range shares {
			if i == j {
				t = 0
			}
			variance += math.Pow(max(0, 1-s-t), n) - math.Pow(1-s, n)*math.Pow(1-shares[j], n)
		}
	}
	return runs.Estimate{Value: float64(len(shares)) / float64(classes), SE: math.Sqrt(max(0, variance)) / float64(classes)}
}

// squared returns the squared distances of rows a from rows b. Distances that differ by rounding alone become equal.
func squared(a, b [][]float64) *mat.Dense {
	matrix := func(rows [][]float64) (m *mat.Dense, squares []float64) {
		m = mat.NewDense(len(rows), len(rows[0]), nil)
		for r, row := range rows {
			m.SetRow(r, row)
			squares = append(squares, floats.Dot(row, row))
		}
		return m, squares
	}
	x, xx := matrix(a)
	y, yy := matrix(b)
	var d mat.Dense
	d.Mul(x, y.T())
	d.Apply(func(i, j int, v float64) float64 {
		both := xx[i] + yy[j]
		if v = both - 2*v; v < 1e-9*both {
			return 0
		}
		return float64(float32(v))
	}, &d)
	return &d
}

// compare returns the precision, recall, coverage, MMD² and p-value of draws beside as many rows.
func compare(draws, rows [][]float64, seed uint64) [5]runs.Estimate {
	n := len(draws)
	d := squared(slices.Concat(draws, rows), slices.Concat(draws, rows))
	ofDraws, ofRows := radii(d, 0, n), radii(d, n, n)
	precision := covered(n, func(i, j int) bool { return d.At(i, n+j) <= ofRows[j] })
	recall := covered(n, func(i, j int) bool { return d.At(n+i, j) <= ofDraws[j] })
	coverage := covered(n, func(i, j int) bool { return d.At(n+i, j) <= ofRows[i] })
	mmd, p := discrepancy(kernel(d), seed)
	return [5]runs.Estimate{precision, recall, coverage, mmd, p}
}

// radii returns the squared distances of n points, from a first one on, from their fifth neighbour among them.
func radii(d *mat.Dense, first, n int) (all []float64) {
	for i := range n {
		near := slices.Clone(d.RawRowView(first + i)[first : first+n])
		near = slices.Delete(near, i, i+1)
		slices.Sort(near)
		all = append(all, near[neighbours-1])
	}
	return all
}

// covered returns the share of n points for which inside(i, j) is true for one of n other points j at least. Its standard error adds the
// variance over the points and the jackknife's over the others. Since the jackknife keeps the balls, the error is up to twice too large.
func covered(n int, inside func(i, j int) bool) runs.Estimate {
	are, alone := 0, make([]float64, n)
	for i := range n {
		count, last := 0, 0
		for j := range n {
			if inside(i, j) {
				count, last = count+1, j
			}
		}
		if count > 0 {
			are++
		}
		if count == 1 {
			alone[last] += 1 / float64(n)
		}
	}
	e := shareOf(are, n)
	e.SE = math.Hypot(e.SE, math.Sqrt(stat.Variance(alone, nil)/float64(n))*float64(n-1))
	return e
}

// kernel returns exp(−d²/m) for squared distances d², whose median over all pairs is m, or their mean if the median is 0.
func kernel(d *mat.Dense) *mat.Dense {
	n, _ := d.Dims()
	pairs := slices.Concat(lists.N(n, func(i int) []float64 { return d.RawRowView(i)[:i] })...)
	slices.Sort(pairs)
	width := cmp.Or(pairs[len(pairs)/2], stat.Mean(pairs, nil), 1)
	d.Apply(func(_, _ int, v float64) float64 { return math.Exp(-v / width) }, d)
	return d
}

// discrepancy returns the unbiased MMD² between the first and the second half of points with a kernel k, and the p-value of
// the hypothesis that both have one distribution, over 999 permutations. The standard error of MMD² is the jackknife's leading term, which is
// up to √2 times too large if the hypothesis is true.
func discrepancy(k *mat.Dense, seed uint64) (mmd, p runs.Estimate) {
	points, _ := k.Dims()
	n := points / 2
	leads := make([]float64, points) // mean kernel with the own half less the mean kernel with the other half
	for i := range leads {
		row := k.RawRowView(i)
		own, other := floats.Sum(row[:n])-row[i], floats.Sum(row[n:])
		if i >= n {
			own, other = floats.Sum(row[n:])-row[i], floats.Sum(row[:n])
		}
		leads[i] = own/float64(n-1) - other/float64(n)
	}
	mmd.Value = floats.Sum(leads) / float64(n)
	mmd.SE = 2 * math.Sqrt((stat.Variance(leads[:n], nil)+stat.Variance(leads[n:], nil))/float64(n))

	signs := mat.NewDense(points, permutations+1, nil) // the first column is not permuted
	random := philox.NewStream(seed, philox.Select, 1)
	for b := range permutations + 1 {
		for i := range points {
			signs.Set(i, b, 1)
		}
		half := lists.N(points, func(i int) int { return i })
		if b > 0 {
			half = random.Perm(points)
		}
		for _, i := range half[:n] {
			signs.Set(i, b, -1)
		}
	}
	var product mat.Dense
	product.Mul(k, signs)
	product.MulElem(&product, signs)
	sums := make([]float64, permutations+1) // MMD² rises with them
	for i := range points {
		floats.Add(sums, product.RawRowView(i))
	}
	least := sums[0] - 1e-9*mat.Sum(k)
	return mmd, shareOf(floats.Count(func(s float64) bool { return s >= least }, sums), len(sums))
}

// nearest returns the squared distance of each point from the nearest of others.
func nearest(points, others [][]float64) []float64 {
	least := slices.Repeat([]float64{math.Inf(1)}, len(points))
	for some := range slices.Chunk(others, 1000) {
		d := squared(points, some)
		for i := range least {
			least[i] = min(least[i], floats.Min(d.RawRowView(i)))
		}
	}
	return least
}

// nearer returns the probability that one of the first distances is less than one of the second, which counts one half for ties, with the
// standard error of DeLong et al. (1988).
func nearer(first, second []float64) runs.Estimate {
	x, y := make([]float64, len(first)), make([]float64, len(second))
	for i, v := range first {
		for j, w := range second {
			less := 0.0
			switch {
			case v < w:
				less = 1
			case v == w:
				less = 0.5
			}
			x[i] += less
			y[j] += less
		}
	}
	n, m := float64(len(x)), float64(len(y))
	return runs.Estimate{Value: floats.Sum(x) / n / m, SE: math.Sqrt(stat.Variance(x, nil)/m/m/n + stat.Variance(y, nil)/n/n/m)}
}

// shareOf returns the share of count among n. Its standard error is not 0 for a share of 0 or 1, since it counts one more of each kind.
func shareOf(count, n int) runs.Estimate {
	smooth := float64(count+1) / float64(n+2)
	return runs.Estimate{Value: float64(count) / float64(n), SE: math.Sqrt(smooth * (1 - smooth) / float64(n))}
}
