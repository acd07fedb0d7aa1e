// Package mixture shows how to add a family of models: mixtures of Gaussians
//
//	p(x) = Σₖ πₖ N(x; μₖ, σ²I)
//
// where x holds the grey values of a row, from 0 to 1, and all Gaussians share one variance. This file has
// the mathematics, and family.go declares the family; runs/FAMILY.md explains both. The package imports
// nothing that your own module cannot import.
//
// Mixtures are fitted by stepwise EM (Cappé and Moulines 2009). The E-step computes the means ŝ of the
// sufficient statistics over a minibatch. Then s ← (1−η)s + ηŝ moves the statistics s with the learning rate
// η, and the M-step maximises the likelihood given s. With η = 1 and one minibatch per epoch this is EM.
package mixture

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Model is a mixture of K Gaussians in D dimensions.
type Model struct {
	shape    dataset.Shape
	weights  []float64 // π, of length K
	means    []float64 // μ, K×D
	variance []float64 // σ², of length 1
}

func newModel(components int, shape dataset.Shape) *Model {
	return &Model{shape, make([]float64, components), make([]float64, components*shape.Units()), make([]float64, 1)}
}

func (m *Model) mean(k int) []float64 {
	units := m.shape.Units()
	return m.means[k*units : (k+1)*units]
}

// logJoint returns log p(x,k) for each component k, in nats.
func (m *Model) logJoint(x []float64) []float64 {
	logs, variance := make([]float64, len(m.weights)), m.variance[0]
	for k, weight := range m.weights {
		d := floats.Distance(x, m.mean(k), 2)
		logs[k] = math.Log(weight) - float64(len(x))/2*math.Log(2*math.Pi*variance) - d*d/(2*variance)
	}
	return logs
}

// LogP returns log p(x) in nats.
func (m *Model) LogP(x []float64) float64 { return floats.LogSumExp(m.logJoint(x)) }

// statistics are means over rows of [k], [k]x and |x|², where [k] is 1 if component k generated the row, and
// 0 otherwise. Log p(x,k) is linear in them.
type statistics struct {
	weights []float64 // of length K
	sums    []float64 // K×D
	square  float64
}

// expect computes the E-step: the statistics of rows under the posterior p(k|x), and the mean of log p(x).
func (m *Model) expect(rows [][]float64) (s statistics, logP float64) {
	s = statistics{weights: make([]float64, len(m.weights)), sums: make([]float64, len(m.means))}
	units, n := len(rows[0]), float64(len(rows))
	for _, x := range rows {
		joint := m.logJoint(x)
		evidence := floats.LogSumExp(joint)
		logP += evidence / n
		for k, log := range joint {
			r := math.Exp(log-evidence) / n
			s.weights[k] += r
			floats.AddScaled(s.sums[k*units:(k+1)*units], r, x)
		}
		s.square += floats.Dot(x, x) / n
	}
	return s, logP
}

// statistics returns the expected statistics of rows drawn from the mixture. maximise inverts this function.
func (m *Model) statistics() statistics {
	units := m.shape.Units()
	s := statistics{m.weights, make([]float64, len(m.means)), float64(units) * m.variance[0]}
	for k, weight := range m.weights {
		floats.AddScaled(s.sums[k*units:(k+1)*units], weight, m.mean(k))
		s.square += weight * floats.Dot(m.mean(k), m.mean(k))
	}
	return s
}

// towards returns (1−η)s + ηŝ.
func (s statistics) towards(other statistics, η float64) statistics {
	mix := func(a, b []float64) []float64 {
		mixed := make([]float64, len(a))
		floats.AddScaled(mixed, 1-η, a)
		floats.AddScaled(mixed, η, b)
		return mixed
	}
	return statistics{mix(s.weights, other.weights), mix(s.sums, other.sums), (1-η)*s.square + η*other.square}
}

// maximise takes the M-step: it sets the parameters that maximise the likelihood.
func (m *Model) maximise(s statistics) {
	units := len(s.sums) / len(s.weights)
	copy(m.weights, s.weights)
	m.variance[0] = s.square / float64(units)
	for k, weight := range s.weights {
		sum := s.sums[k*units : (k+1)*units]
		copy(m.mean(k), sum)
		floats.Scale(1/weight, m.mean(k))
		m.variance[0] -= floats.Dot(sum, sum) / weight / float64(units)
	}
}

// begin sets the means to rows drawn from the seed, and the variance to the variance of all rows.
func (m *Model) begin(rows [][]float64, seed uint64) {
	one := newModel(1, m.shape)
	one.weights[0], one.variance[0] = 1, 1
	s, _ := one.expect(rows)
	one.maximise(s)
	m.variance[0] = one.variance[0]
	for k, row := range rand.New(rand.NewPCG(seed, 0)).Perm(len(rows))[:len(m.weights)] {
		m.weights[k] = 1 / float64(len(m.weights))
		copy(m.mean(k), rows[row])
	}
}

// step takes a step of stepwise EM, and returns the mean of log p(x) before the step.
func (m *Model) step(rows [][]float64, η float64) float64 {
	s, logP := m.expect(rows)
	m.maximise(m.statistics().towards(s, η))
	return logP
}

// Estimate returns the mean of log p(x) over rows in nats, with its standard error. It is exact and draws no samples.
func (m *Model) Estimate(_ context.Context, rows dataset.Split, _ int, _ uint64, _ func(float64)) (runs.Estimates, error) {
	var logs []float64
	for _, x := range rows.Floats() {
		logs = append(logs, m.LogP(x))
	}
	return runs.Estimates{runs.LogP.Key: runs.EstimateOver(rows, logs)}, nil
}

// CountSamples returns "": estimates draw no samples.
func (m *Model) CountSamples(int) string { return "" }

// LogPOfRows returns the exact log p(x) of each row in nats, and the word "exact".
func (m *Model) LogPOfRows(_ context.Context, o runs.EvaluationOptions) (logP []float64, what string, err error) {
	for _, x := range o.Rows.Floats() {
		logP = append(logP, m.LogP(x))
	}
	return logP, "exact", nil
}

// Drawings returns one drawing: the means of Gaussians drawn with their weights as probabilities.
func (m *Model) Drawings() []runs.Drawing {
	return runs.Drawings(runs.Drawing{Kind: "means", Uses: []string{"seed"}, Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		sheet := dataset.Sheet{Shape: m.shape}
		gaussian := distuv.NewCategorical(m.weights, rand.NewPCG(s.Seed, 1))
		for range s.N {
			sheet.Values = append(sheet.Values, slices.Clone(m.mean(int(gaussian.Rand()))))
		}
		return runs.Sheet(sheet, nil)
	}})
}
