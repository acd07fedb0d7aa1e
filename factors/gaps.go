package factors

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// openRows holds training rows with gaps, one part for each set of missing variables.
type openRows struct {
	parts []openPart
	sum   float64 // of all weights
}

type openPart struct {
	mask    dataset.Mask
	rows    [][]float64
	weights []float64
}

func openRowsOf(rows dataset.Split) *openRows {
	of, counts := &openRows{}, rows.Counts()
	for _, gap := range rows.Gaps() {
		part := openPart{mask: gap.Mask, rows: rows.Floats(gap.Rows...)}
		for _, r := range gap.Rows {
			part.weights = append(part.weights, counts[r])
		}
		of.parts, of.sum = append(of.parts, part), of.sum+floats.Sum(part.weights)
	}
	return of
}

// observedMeans returns the means and the variances of the observed values, and the index of a variable without any, or −1.
func observedMeans(rows dataset.Split) (mean, variance []float64, without int) {
	without = -1
	if rows.Lacking() == 0 {
		mean, variance = meanOf(rows.Floats(), rows.MeanWeights()...)
		return mean, variance, without
	}
	x, counts := rows.Floats(), rows.Counts()
	mean, variance = make([]float64, rows.Shape.Units()), make([]float64, rows.Shape.Units())
	for i := range mean {
		var values [][]float64
		var weights []float64
		for r, w := range counts {
			if w > 0 && !rows.IsMissing(r*len(mean)+i) {
				values, weights = append(values, x[r][i:i+1]), append(weights, w)
			}
		}
		if values == nil {
			without = i
			continue
		}
		of, spread := meanOf(values, weights...)
		mean[i], variance[i] = of[0], spread[0]
	}
	return mean, variance, without
}

// observing returns the model of the variables that the mask does not hide. The others have no noise, like constant
// variables, and are left out of densities and posteriors.
func (m *Model) observing(mask dataset.Mask) *Model {
	known := *m
	known.noise = m.Noise()
	for i, missing := range mask {
		if missing {
			known.noise[i] = 0
		}
	}
	return &known
}

// logPObserved returns log p of the observed values of each row, in nats.
func (m *Model) logPObserved(rows dataset.Split) []float64 {
	logs := make([]float64, rows.Rows)
	for _, gap := range rows.Gaps() {
		for k, logP := range m.observing(gap.Mask).LogP(rows.Floats(gap.Rows...)) {
			logs[gap.Rows[k]] = 0 + logP // a row without values has 0, not −0
		}
	}
	return logs
}

// expectations holds, for each variable i, sums over the rows in which it is observed, given the observed values of
// these rows. They determine the next step of EM, and the gradient of log p of the observed values by Fisher's identity.
type expectations struct {
	second  []*mat.SymDense // Σ E[kkᵀ], where k = (h, 1)
	cross   *mat.Dense      // Σ x E[kᵀ], D×(Q+1), where x is measured from the mean of the model
	squares []float64       // Σ x²
	rows    []float64       // Σ 1
}

func (m *Model) expect() expectations {
	d, q := len(m.mean), m.factors
	e := expectations{make([]*mat.SymDense, d), mat.NewDense(d, q+1, nil), make([]float64, d), make([]float64, d)}
	for i := range e.second {
		e.second[i] = mat.NewSymDense(q+1, nil)
	}
	for _, part := range m.open.parts {
		p := m.observing(part.mask).posterior()
		x := centred(part.rows, m.mean)
		var h mat.Dense
		h.Mul(x, p.gain)
		second, k := mat.NewSymDense(q+1, nil), make([]float64, q+1)
		for r, w := range part.weights {
			copy(k, h.RawRowView(r))
			k[q] = 1
			second.SymRankOne(second, w, mat.NewVecDense(q+1, k))
			for i, v := range x.RawRowView(r) {
				if !part.mask[i] {
					floats.AddScaled(e.cross.RawRowView(i), w*v, k)
					e.squares[i] += w * v * v
				}
			}
		}
		n := floats.Sum(part.weights)
		for a := range q {
			for b := a; b < q; b++ {
				second.SetSym(a, b, second.At(a, b)+n*p.covariance.At(a, b))
			}
		}
		for i := range d {
			if !part.mask[i] {
				e.second[i].AddSym(e.second[i], second)
				e.rows[i] += n
			}
		}
	}
	return e
}

// residual returns Σ E[(x − wᵀk)²] of variable i, for the loadings w = (W_i, b_i) of k.
func (e expectations) residual(i int, w []float64) float64 {
	v := mat.NewVecDense(len(w), w)
	return e.squares[i] - 2*floats.Dot(w, e.cross.RawRowView(i)) + mat.Inner(v, e.second[i], v)
}

// emOpen is like em, for rows with gaps (Rubin and Thayer 1982). Only the factors are latent: a variable regresses on
// them and a constant in the rows in which it is observed.
func (m *Model) emOpen(floor float64) error {
	e, q := m.expect(), m.factors
	left, rows := 0.0, 0.0
	for i, v := range m.variance {
		if v == 0 && !m.shared {
			continue
		}
		chol, err := statistics.Cholesky("the second moment of the factors", e.second[i])
		var w mat.VecDense
		if err == nil {
			err = chol.SolveVecTo(&w, e.cross.RowView(i))
		}
		if err != nil {
			return fmt.Errorf("a step of EM with %s, of which variable %d has %v observed values: %w: use fewer", names.Count(q, "factor"), i+1, e.rows[i], err)
		}
		residual := max(0, e.residual(i, w.RawVector().Data))
		copy(m.loadings[i*q:(i+1)*q], w.RawVector().Data)
		m.mean[i] += w.AtVec(q)
		left, rows = left+residual, rows+e.rows[i]
		m.noise[i], m.onFloor[i] = residual/e.rows[i], 0
		if !m.shared && m.noise[i] <= floor*v {
			m.noise[i], m.onFloor[i] = floor*v, 1
		}
	}
	if m.shared {
		if m.share(left / rows); m.noise[0] <= m.leastNoise() {
			return m.wholly()
		}
	}
	m.canonical()
	return nil
}

// gradientOpen is like gradient, for rows with gaps. It also returns the derivatives with respect to the mean.
func (m *Model) gradientOpen() (byW *mat.Dense, byNoise, byMean []float64) {
	e, q := m.expect(), m.factors
	byW, byNoise, byMean = mat.NewDense(len(m.mean), q, nil), make([]float64, len(m.mean)), make([]float64, len(m.mean))
	w := make([]float64, q+1)
	for i, ψ := range m.noise {
		copy(w, m.loadings[i*q:(i+1)*q])
		var by mat.VecDense
		by.MulVec(e.second[i], mat.NewVecDense(q+1, w))
		by.SubVec(e.cross.RowView(i), &by)
		by.ScaleVec(inverse(ψ)/m.open.sum, &by)
		copy(byW.RawRowView(i), by.RawVector().Data)
		byMean[i] = by.AtVec(q)
		byNoise[i] = (e.residual(i, w)*inverse(ψ) - e.rows[i]) * inverse(ψ) / 2 / m.open.sum
	}
	return byW, byNoise, byMean
}

// logPOpen returns the mean of log p of the observed values over the training rows, in nats.
func (m *Model) logPOpen() (mean float64) {
	for _, part := range m.open.parts {
		mean += floats.Dot(part.weights, m.observing(part.mask).LogP(part.rows)) / m.open.sum
	}
	return mean
}
