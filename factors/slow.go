package factors

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Slow computes slow features of time series (Wiskott and Sejnowski 2002): among all linear (or quadratic)
// functions of a row that have mean 0, variance 1 and no correlation over the training rows, the features
// vary least from one row to the next. The first feature is the slowest.
//
// It is a model of sequences, whose rows are in the order of time. Since the data sets of package dataset
// shuffle rows, Slow is not a family of runs.
type Slow struct {
	linear    affine
	quadratic *affine // function of the monomials of linear's values; nil if features are linear
	deltas    []float64
}

// affine is the function (x−b)M of rows x.
type affine struct {
	mean   []float64
	matrix *mat.Dense
}

func (a affine) of(rows [][]float64) [][]float64 {
	if len(rows) == 0 {
		return nil
	}
	var y mat.Dense
	y.Mul(centred(rows, a.mean), a.matrix)
	return lists.N(len(rows), y.RawRowView)
}

// SlowOptions are the options of FitSlow. The zero value has the usual settings.
type SlowOptions struct {
	Quadratic bool // features are quadratic functions, instead of linear ones
}

// leastVariance is the smallest variance of a direction that slow features keep, as a fraction of the largest
// variance. Rounding errors have a smaller variance.
const leastVariance = 1e-10

// FitSlow fits slow features to sequences of rows. It takes differences only within sequences. It refuses
// sequences of fewer than two rows, and more features than there are directions in which the rows vary.
//
// Quadratic features are linear features of the D(D+3)/2 monomials of the whitened rows. Their covariance is
// computed in full, so first reduce rows of more than about 50 variables.
func FitSlow(sequences [][][]float64, features int, o SlowOptions) (*Slow, error) {
	if len(sequences) == 0 {
		return nil, fmt.Errorf("no sequences: give at least one")
	}
	for i, rows := range sequences {
		if len(rows) < 2 {
			return nil, fmt.Errorf("sequence %d has %s: slow features need differences; give at least 2 rows", i+1, names.Count(len(rows), "row"))
		}
		if err := checkRows(rows); err != nil {
			return nil, fmt.Errorf("sequence %d: %w", i+1, err)
		}
		if d := len(sequences[0][0]); len(rows[0]) != d {
			return nil, fmt.Errorf("sequence %d has rows of %s, but sequence 1 of %d: give rows of one length", i+1, names.Count(len(rows[0]), "variable"), d)
		}
	}
	if features < 1 {
		return nil, fmt.Errorf("%s: give at least 1", names.Count(features, "feature"))
	}
	s := new(Slow)
	var err error
	if s.linear, err = whitening(sequences); err != nil {
		return nil, err
	}
	last := &s.linear
	if o.Quadratic {
		sequences = lists.Map(sequences, func(rows [][]float64) [][]float64 { return monomials(s.linear.of(rows)) })
		expanded, err := whitening(sequences)
		if err != nil {
			return nil, err
		}
		s.quadratic = &expanded
		last = s.quadratic
	}
	_, directions := last.matrix.Dims()
	if features > directions {
		return nil, fmt.Errorf("%s of rows that vary in %s: use fewer", names.Count(features, "feature"), names.Count(directions, "direction"))
	}
	eigen, err := statistics.Eigen("the covariance of the differences", symmetric(differences(lists.Map(sequences, last.of))))
	if err != nil {
		return nil, err
	}
	var vectors, matrix mat.Dense
	eigen.VectorsTo(&vectors)
	s.deltas = eigen.Values(nil)[:features]
	matrix.Mul(last.matrix, vectors.Slice(0, directions, 0, features))
	positive(&matrix)
	last.matrix = &matrix
	return s, nil
}

// whitening returns the function after which the rows of sequences have the covariance I. It drops directions along which
// the rows hardly vary.
func whitening(sequences [][][]float64) (a affine, err error) {
	rows := slices.Concat(sequences...)
	a.mean, _ = meanOf(rows)
	d := len(a.mean)
	values, vectors, err := momentsOf(rows, a.mean).principal(min(d, len(rows)))
	if err != nil {
		return a, err
	}
	kept := 0
	for _, λ := range values {
		if λ > leastVariance*values[0] {
			kept++
		}
	}
	if kept == 0 {
		return a, fmt.Errorf("the rows of the sequences are all the same: slow features need variance")
	}
	a.matrix = mat.DenseCopyOf(vectors.Slice(0, d, 0, kept))
	scale := lists.N(kept, func(k int) float64 { return 1 / math.Sqrt(values[k]) })
	for i := range d {
		floats.Mul(a.matrix.RawRowView(i), scale)
	}
	return a, nil
}

// monomials returns x and all products of two of its values, for each row x.
func monomials(rows [][]float64) (expanded [][]float64) {
	for _, row := range rows {
		all := append(make([]float64, 0, len(row)*(len(row)+3)/2), row...)
		for i, v := range row {
			for _, w := range row[i:] {
				all = append(all, v*w)
			}
		}
		expanded = append(expanded, all)
	}
	return expanded
}

// differences returns the mean of ẋẋᵀ over the differences ẋ of neighbouring rows.
func differences(sequences [][][]float64) *mat.Dense {
	d := len(sequences[0][0])
	var all []float64
	for _, rows := range sequences {
		for t, next := range rows[1:] {
			step := make([]float64, d)
			floats.SubTo(step, next, rows[t])
			all = append(all, step...)
		}
	}
	n := len(all) / d
	x, mean := mat.NewDense(n, d, all), new(mat.Dense)
	mean.Mul(x.T(), x)
	mean.Scale(1/float64(n), mean)
	return mean
}

// Features returns the values of the slow features for each row.
func (s *Slow) Features(rows [][]float64) [][]float64 {
	if s.quadratic == nil {
		return s.linear.of(rows)
	}
	return s.quadratic.of(monomials(s.linear.of(rows)))
}

// DeltasOf returns δ of each feature on other sequences: its mean squared difference between neighbouring rows. A sine with
// a period of T rows has δ = 4 sin²(π/T). DeltasOf computes the features with the means and scales
// of the training rows. It ignores sequences of fewer than two rows, and returns NaNs if there are no others.
func (s *Slow) DeltasOf(sequences [][][]float64) []float64 {
	sequences = slices.DeleteFunc(slices.Clone(sequences), func(rows [][]float64) bool { return len(rows) < 2 })
	if len(sequences) == 0 {
		return slices.Repeat([]float64{math.NaN()}, len(s.deltas))
	}
	of := differences(lists.Map(sequences, s.Features))
	return lists.N(len(s.deltas), func(k int) float64 { return of.At(k, k) })
}
