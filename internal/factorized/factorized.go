// Package factorized has the baselines of log p(x): models of data that know each
// visible unit alone. A machine that does no better has learned nothing of how units
// belong together, and one that does far worse has diverged.
//
// Training rows and rows are those of one set, at least one of each: their units are the same, and
// nothing here checks that.
package factorized

import (
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// A Line is a baseline over rows, in nats.
type Line struct {
	LogP, SE float64 // mean log p(x) under the factorised model; its standard error, NaN for one row
	Limit    float64 // the mean log p(x) below which a machine has diverged
}

// How many times worse a machine is than units that have seen no data, when it has
// diverged. With biases −1 a Bernoulli unit begins at 1.31 nats at worst, twice
// the 0.69 of a fair coin. Gaussian units have begun at 5 times what standard normal
// ones cost, where real-valued parents spread their outputs.
const (
	farBernoulli = 3
	farGaussian  = 10
)

// Bernoulli is the baseline over rows of units that are on with probabilities
// (n₁+½)/(n+1), where n₁ of n training rows have them on. The half counts are
// Jeffreys' prior: a unit that is never on in training may be on in other rows, and
// would make their log p(x) −∞. A value between 0 and 1 is the probability of a unit
// that is drawn anew: it counts as that part of a row, and log p(x) is a mean over
// its draws.
func Bernoulli(train, rows dataset.Split) Line {
	return lineOf(bernoulli(train), -math.Ln2*float64(train.Shape.Units()), rows, farBernoulli)
}

// Categorical is the baseline over rows of variables of as many units as there are
// categories, of which one is 1: with the probabilities (n₁+½)/(n+k/2) of k categories, at least 2,
// of which the number of units is a multiple.
func Categorical(train, rows dataset.Split, categories int) Line {
	m, n, k := newModel(train.Shape.Units()), float64(train.Rows), float64(categories)
	for i, of := range momentsOf(train) {
		m.b[i] = math.Log((n*of.mean + 0.5) / (n + k/2))
	}
	return lineOf(m, -math.Log(k)*float64(train.Shape.Units())/k, rows, farBernoulli)
}

// Gaussian is the baseline over rows of Gaussian units with the means and standard
// deviations of the training rows. Deviations of grey values are at least the floor, which is positive: the
// most likely ones with such a floor. Those of real numbers, which have a scale of their own, have none, and a
// constant has the deviation 1.
func Gaussian(train, rows dataset.Split, floor float64) Line {
	blind, _ := normal(train.Shape.Units()).logP(rows)
	l := lineOf(gaussian(train, floor), blind, rows, farGaussian)
	if train.Reals != nil { // of any scale, which standard normal units do not know
		l.Limit = l.LogP - (farGaussian-1)*(math.Log(2*math.Pi)+1)/2*float64(train.Shape.Units())
	}
	return l
}

// lineOf is the line of a model beside the mean log p of one that has seen no data. Of
// few rows the model can be the worse of the two on others.
func lineOf(m model, blind float64, rows dataset.Split, far float64) Line {
	var l Line
	l.LogP, l.SE = m.logP(rows)
	l.Limit = min(l.LogP, blind) + (far-1)*blind
	return l
}

// model is a distribution of rows whose units are independent. Of values x in [0, 1]
// it has log p(x) = a + Σᵢ (bᵢxᵢ + cᵢxᵢ²).
type model struct {
	a    float64
	b, c []float64
}

func newModel(units int) model { return model{b: make([]float64, units), c: make([]float64, units)} }

// bernoulli has units with the smoothed means of rows.
func bernoulli(rows dataset.Split) model {
	m := newModel(rows.Shape.Units())
	n := float64(rows.Rows)
	for i, of := range momentsOf(rows) {
		on := (n*of.mean + 0.5) / (n + 1)
		m.a += math.Log1p(-on)
		m.b[i] = math.Log(on) - math.Log1p(-on)
	}
	return m
}

// gaussian has units with the means and the standard deviations of rows.
func gaussian(rows dataset.Split, floor float64) model {
	m := newModel(rows.Shape.Units())
	for i, of := range momentsOf(rows) {
		deviation := math.Sqrt(of.variance)
		switch {
		case rows.Reals == nil:
			deviation = max(deviation, floor)
		case deviation == 0: // of a constant
			deviation = 1
		}
		m.setGaussian(i, of.mean, deviation)
	}
	return m
}

// normal has units of mean 0 and standard deviation 1.
func normal(units int) model {
	m := newModel(units)
	for i := range units {
		m.setGaussian(i, 0, 1)
	}
	return m
}

// setGaussian gives unit i the log-density −(x−μ)²/2σ² − ln √(2π)σ.
func (m *model) setGaussian(i int, mean, deviation float64) {
	precision := 1 / (deviation * deviation)
	m.a -= mean*mean*precision/2 + math.Log(math.Sqrt(2*math.Pi)*deviation)
	m.b[i] = mean * precision
	m.c[i] = -precision / 2
}

// logP is the mean of log p(x) of rows and its standard error.
func (m model) logP(rows dataset.Split) (mean, se float64) {
	logs := make([]float64, rows.Rows)
	for r := range logs {
		logs[r] = m.a
		for i, x := range rows.Floats(r)[0] {
			logs[r] += (m.b[i] + m.c[i]*x) * x
		}
	}
	return statistics.MeanAndError(len(logs), func(r int) float64 { return logs[r] })
}

// realMoments are the moments of real numbers.
func realMoments(rows dataset.Split) []moments {
	all, n := make([]moments, rows.Shape.Units()), float64(rows.Rows)
	for i, first := range rows.Floats(0)[0] {
		sum, squares := 0.0, 0.0
		for r := range rows.Rows {
			x := rows.At(r*len(all)+i) - first
			sum, squares = sum+x, squares+x*x
		}
		all[i] = moments{first + sum/n, max(0, squares/n-sum/n*sum/n)}
	}
	return all
}

// moments are those of a unit over rows.
type moments struct{ mean, variance float64 }

func momentsOf(rows dataset.Split) []moments {
	if rows.Reals != nil {
		return realMoments(rows)
	}
	sums, squares := make([]uint64, rows.Shape.Units()), make([]uint64, rows.Shape.Units())
	for r := range rows.Rows {
		for i, value := range rows.Row(r) {
			sums[i] += uint64(value)
			squares[i] += uint64(value) * uint64(value)
		}
	}
	all := make([]moments, len(sums))
	n := float64(rows.Rows)
	for i := range all {
		mean := float64(sums[i]) / n
		variance := max(0, float64(squares[i])/n-mean*mean) // rounding can leave less than 0
		all[i] = moments{mean / 255, variance / (255 * 255)}
	}
	return all
}
