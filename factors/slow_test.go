package factors

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// toy is a sequence of a slow sine in a quadratic mixture with a fast cosine.
func toy(from, rows int) (x [][]float64, slow []float64) {
	for t := range rows {
		at := float64(from+t) * 2 * math.Pi / 1000
		s, fast := math.Sin(at), math.Cos(11*at)
		x, slow = append(x, []float64{s + fast*fast, fast}), append(slow, s)
	}
	return x, slow
}

func column(rows [][]float64, k int) (values []float64) {
	for _, row := range rows {
		values = append(values, row[k])
	}
	return values
}

func fitSlow(t *testing.T, sequences [][][]float64, features int, o SlowOptions) *Slow {
	t.Helper()
	s, err := FitSlow(sequences, features, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Quadratic features undo the mixture, also on later rows; linear ones cannot.
func TestQuadraticFeaturesFindTheSlowSine(t *testing.T) {
	x, slow := toy(0, 1000)
	s := fitSlow(t, [][][]float64{x}, 2, SlowOptions{Quadratic: true})
	if r := math.Abs(stat.Correlation(column(s.Features(x), 0), slow, nil)); r < 0.999 {
		t.Errorf("the correlation with the slow sine is %v", r)
	}
	wantNear(t, "δ of a sine", s.deltas[0]/(4*math.Pow(math.Sin(math.Pi/1000), 2)), 1, 2e-3)
	linear := fitSlow(t, [][][]float64{x}, 1, SlowOptions{})
	if r := math.Abs(stat.Correlation(column(linear.Features(x), 0), slow, nil)); r > 0.99 {
		t.Errorf("linear features have the correlation %v: the test needs another mixture", r)
	}
	later, at := toy(5000, 700)
	if r := math.Abs(stat.Correlation(column(s.Features(later), 0), at, nil)); r < 0.999 {
		t.Errorf("the correlation on later rows is %v", r)
	}
	wantNear(t, "δ on a later period", s.DeltasOf([][][]float64{x})[0], s.deltas[0], 1e-12)
}

// Features have mean 0, covariance I, and differences with the covariance diag δ, which rises.
func TestFeaturesAreWhiteAndTheirDifferencesDiagonal(t *testing.T) {
	_, rows := drawn(t, 5, 2, 300)
	two := [][][]float64{rows[:100], rows[100:]}
	s := fitSlow(t, two, 5, SlowOptions{})
	y := s.Features(rows)
	mean, _ := meanOf(y)
	covariance, of := momentsOf(y, make([]float64, 5)).matrix, differences([][][]float64{y[:100], y[100:]})
	for i := range 5 {
		wantNear(t, "a mean", mean[i], 0, 1e-12)
		for j := range 5 {
			white, δ := 0.0, 0.0
			if i == j {
				white, δ = 1, s.deltas[i]
			}
			wantNear(t, "a covariance of features", covariance.At(i, j), white, 1e-11)
			wantNear(t, "a covariance of differences", of.At(i, j), δ, 1e-11)
		}
		if i > 0 && s.deltas[i] < s.deltas[i-1] {
			t.Errorf("the features are not in order: δ = %v", s.deltas)
		}
	}
}

// Differences are of rows of one sequence: a jump between two sequences counts for nothing.
func TestDifferencesDoNotCrossSequences(t *testing.T) {
	got := differences([][][]float64{{{0}, {1}}, {{100}, {103}, {103}}})
	if want := mat.NewDense(1, 1, []float64{(1. + 9) / 3}); !mat.EqualApprox(got, want, 1e-12) {
		t.Errorf("the mean squared difference is %v, want %v", got.At(0, 0), want.At(0, 0))
	}
}

// Sequences without differences have no δ, and do not change the δ of others.
func TestDeltasOfShortSequences(t *testing.T) {
	x, _ := toy(0, 50)
	s := fitSlow(t, [][][]float64{x}, 2, SlowOptions{})
	for _, short := range [][][][]float64{nil, {x[:1]}, {nil, x[:1]}} {
		if deltas := s.DeltasOf(short); len(deltas) != 2 || !floats.HasNaN(deltas[:1]) || !floats.HasNaN(deltas[1:]) {
			t.Errorf("δ of %v is %v, want NaN twice", short, deltas)
		}
		if deltas, want := s.DeltasOf(append(short, x)), s.DeltasOf([][][]float64{x}); !slices.Equal(deltas, want) {
			t.Errorf("δ is %v, want %v", deltas, want)
		}
	}
}

func TestSequencesThatHaveNoFeaturesAreRefused(t *testing.T) {
	x, _ := toy(0, 50)
	var doubled [][]float64
	for _, row := range x {
		doubled = append(doubled, []float64{row[0], row[1], row[0] + row[1]})
	}
	fitSlow(t, [][][]float64{doubled}, 2, SlowOptions{}) // drops a direction
	for _, c := range []struct {
		sequences [][][]float64
		features  int
		says      string
	}{
		{nil, 1, "no sequences"},
		{[][][]float64{x, x[:1]}, 1, "sequence 2 has 1 row"},
		{[][][]float64{x, {x[0], {math.Inf(1), 0}}}, 1, "sequence 2: variable 1 of row 2"},
		{[][][]float64{x, doubled}, 1, "sequence 2 has rows of 3 variables, but sequence 1 of 2"},
		{[][][]float64{x}, 0, "0 features: give at least 1"},
		{[][][]float64{doubled}, 3, "3 features of rows that vary in 2 directions: use fewer"},
		{[][][]float64{{x[0], x[0]}}, 1, "all the same"},
		{[][][]float64{{{1e200}, {-1e200}, {2e200}}}, 1, "the covariance of the rows is +Inf in row 1 and column 1: bring the variables to a smaller scale"},
	} {
		_, err := FitSlow(c.sequences, c.features, SlowOptions{})
		wantError(t, err, c.says)
	}
}
