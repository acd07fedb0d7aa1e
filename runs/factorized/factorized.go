// Package factorized has baselines of log p(x): models that treat each visible unit independently.
// A machine that is no better has learned nothing about dependencies between units, and a machine
// that is far worse has diverged.
//
// Training rows and rows must belong to one set, with the same units, and contain at least one row
// each; nothing here checks that.
package factorized

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Factors by which a diverged machine is worse than units that have seen no data. With biases of −1
// a Bernoulli unit starts at 1.31 nats at worst, twice the 0.69 of a fair coin. Gaussian units have
// started at 5 times the cost of standard normal units, because real-valued parents spread their
// outputs.
const (
	farBernoulli = 3
	farGaussian  = 10
)

// Bernoulli returns the baseline over rows for units that are on with probabilities (n₁+½)/(n+1),
// where n₁ is the number of the n training rows in which the unit is on. The half counts are
// Jeffreys' prior: a unit that is never on in training may be on in other rows, which would make
// log p(x) −∞. A value between 0 and 1 is the probability that a draw of the unit is on: it counts
// as this fraction of a row in n₁, and log p(x) is a mean over the draws.
func Bernoulli(train, rows dataset.Split) runs.Baseline {
	return baseline(bernoulli(train), -math.Ln2*float64(train.Shape.Units()), rows, farBernoulli)
}

// Variable is a categorical variable with one unit per category, exactly one of which is 1. With
// Rest it has one more category, in which all its units are 0. With Real it has no categories: its
// units are independent Gaussian real numbers.
type Variable struct {
	Units int
	Rest  bool
	Real  bool
}

// Categorical returns the baseline over rows of variables, in the order of the units. The
// probability of each of the k categories of a variable is (n₁+½)/(n+k/2). Real numbers have the
// means and the standard deviations of the training rows.
func Categorical(train, rows dataset.Split, variables []Variable) runs.Baseline {
	m, blind, of := newModel(train.Shape.Units()), 0.0, momentsOf(train)
	first, reals := 0, 0
	for _, v := range variables {
		if v.Real {
			for i := first; i < first+v.Units; i++ {
				m.setGaussian(i, of[i].mean, deviationOf(of[i], train, 0))
			}
			first, reals = first+v.Units, reals+v.Units
			continue
		}
		k, others, n := float64(v.Units), 1.0, of[first].n
		if v.Rest {
			k++
		}
		for i := first; i < first+v.Units; i++ {
			m.b[i] = math.Log((n*of[i].mean + 0.5) / (n + k/2))
			others -= of[i].mean
		}
		if v.Rest {
			none := math.Log((n*max(0, others) + 0.5) / (n + k/2))
			m.add(first, none)
			for i := first; i < first+v.Units; i++ {
				m.b[i] -= none
			}
		}
		blind -= math.Log(k)
		first += v.Units
	}
	b := baseline(m, blind, rows, farBernoulli)
	if reals > 0 {
		b.Limit = b.Factorized.Value + (farBernoulli-1)*blind - farReals(reals)
	}
	return b
}

// farReals returns how far, in nats, the log p of a diverged machine of real numbers lies below its
// baseline. Standard normal units are no reference here, because real numbers may have any scale.
func farReals(units int) float64 {
	return (farGaussian - 1) * (math.Log(2*math.Pi) + 1) / 2 * float64(units)
}

// Gaussian returns the baseline over rows of Gaussian units with the means and standard deviations
// of the training rows. The standard deviations are at least the given positive floor: this is the
// maximum-likelihood model with this floor. For real numbers there is no floor, and a constant unit
// has the standard deviation 1. If constants is false, log p leaves constant units out.
func Gaussian(train, rows dataset.Split, floor float64, constants bool) runs.Baseline {
	blind := normal(train.Shape.Units()).logP(rows).Value
	b := baseline(gaussian(train, floor, constants), blind, rows, farGaussian)
	if train.AreReal() {
		b.Limit = b.Factorized.Value - farReals(train.Shape.Units())
	}
	return b
}

// baseline returns the log p of m in nats. blind is the mean log p of a model that has seen no data. If m has
// seen few training rows, its log p on other rows may be lower than blind.
func baseline(m model, blind float64, rows dataset.Split, far float64) runs.Baseline {
	logP := m.logP(rows)
	return runs.Baseline{Rows: rows.Name, Factorized: logP, Limit: min(logP.Value, blind) + (far-1)*blind}
}

// model is a distribution of rows with independent units. For values x in [0, 1], log p(x) = a + Σᵢ
// (bᵢxᵢ + cᵢxᵢ²). each holds the terms of a by unit, for rows with missing values.
type model struct {
	a          float64
	b, c, each []float64
}

func newModel(units int) model {
	return model{b: make([]float64, units), c: make([]float64, units), each: make([]float64, units)}
}

func (m *model) add(i int, term float64) { m.a, m.each[i] = m.a+term, m.each[i]+term }

// bernoulli returns a model of units with the smoothed means of rows.
func bernoulli(rows dataset.Split) model {
	m := newModel(rows.Shape.Units())
	for i, of := range momentsOf(rows) {
		on := (of.n*of.mean + 0.5) / (of.n + 1)
		m.add(i, math.Log1p(-on))
		m.b[i] = math.Log(on) - math.Log1p(-on)
	}
	return m
}

// gaussian returns a model of units with the means and the standard deviations of rows.
func gaussian(rows dataset.Split, floor float64, constants bool) model {
	m := newModel(rows.Shape.Units())
	for i, of := range momentsOf(rows) {
		if of.variance == 0 && !constants {
			continue
		}
		m.setGaussian(i, of.mean, deviationOf(of, rows, floor))
	}
	return m
}

func deviationOf(of moments, rows dataset.Split, floor float64) float64 {
	deviation := math.Sqrt(of.variance)
	switch {
	case !rows.AreReal():
		return max(deviation, floor)
	case deviation == 0: // the unit is constant
		return 1
	}
	return deviation
}

// normal returns a model of units with mean 0 and standard deviation 1.
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
	m.add(i, -(mean*mean*precision/2 + math.Log(math.Sqrt(2*math.Pi)*deviation)))
	m.b[i] = mean * precision
	m.c[i] = -precision / 2
}

// logP returns the mean of log p(x) over rows, or of log p of their observed values.
func (m model) logP(rows dataset.Split) runs.Estimate {
	logs := make([]float64, rows.Rows)
	for r := range logs {
		logs[r] = m.a
		for i, x := range rows.Floats(r)[0] {
			if rows.IsMissing(r*len(m.b) + i) {
				logs[r] -= m.each[i]
			} else {
				logs[r] += (m.b[i] + m.c[i]*x) * x
			}
		}
	}
	return runs.EstimateOver(rows, logs)
}

func realMoments(rows dataset.Split) []moments {
	weights := rows.Counts()
	all, total := make([]moments, rows.Shape.Units()), floats.Sum(weights)
	for i := range all {
		all[i].n = total
	}
	first := rows.Floats(slices.IndexFunc(weights, func(w float64) bool { return w > 0 }))[0]
	for r, w := range weights { // by rows, as they lie in memory or on disk
		for i := range all {
			if k := r*len(all) + i; rows.IsMissing(k) {
				all[i].n -= w
			} else {
				x := rows.At(k) - first[i]
				all[i].mean, all[i].variance = all[i].mean+w*x, all[i].variance+w*x*x
			}
		}
	}
	for i, of := range all {
		if all[i].mean = first[i]; of.n > 0 {
			all[i] = moments{first[i] + of.mean/of.n, max(0, of.variance/of.n-of.mean/of.n*of.mean/of.n), of.n}
		}
	}
	return all
}

// Means returns the mean of the observed values of each unit of rows.
func Means(rows dataset.Split) []float64 {
	return lists.Map(momentsOf(rows), func(of moments) float64 { return of.mean })
}

// moments has the mean and the variance of the observed values of a unit, and the number of rows that they count as.
type moments struct{ mean, variance, n float64 }

func momentsOf(rows dataset.Split) []moments {
	if rows.AreReal() || rows.MeanWeights() != nil || rows.Missing != nil {
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
		all[i] = moments{mean / 255, variance / (255 * 255), n}
	}
	return all
}
