// Package oracle computes the quantities of a tiny Boltzmann machine exactly. Every expectation is a sum over
// all states, in float64, written as close to its formula as Go allows. Package boltzmann is tested against it,
// so clarity comes before speed everywhere.
//
// A Boltzmann machine of any kind is an exponential family, log p(v,h) = θ·t(v,h) − log Z, in which some units
// are hidden. Its states, its statistics t and its parameters θ determine everything. Logarithms are natural.
package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Machine describes a Boltzmann machine by its states, statistics and parameters.
type Machine struct {
	Visible, Hidden [][]float64                    // all states of the visible and of the hidden units
	Statistics      func(v, h []float64) []float64 // t(v,h), one for each parameter
	Parameters      []float64                      // θ
}

// Bipartite returns a machine of visible and hidden units whose parameters have the order of package boltzmann:
// the weights, a row for each visible unit, then the biases of the visible units, then the biases of the hidden
// ones.
func Bipartite(visible, hidden [][]float64, parameters []float64) *Machine {
	return &Machine{visible, hidden, func(v, h []float64) []float64 {
		var t []float64
		for _, x := range v {
			for _, y := range h {
				t = append(t, x*y)
			}
		}
		return slices.Concat(t, v, h)
	}, parameters}
}

// Binary returns all states of n units that are 0 or 1.
func Binary(n int) [][]float64 {
	states := make([][]float64, 1<<n)
	for s := range states {
		for j := range n {
			states[s] = append(states[s], float64(s>>j&1))
		}
	}
	return states
}

// Categorical returns all states of some variables with a number of categories each. A variable has one unit
// per category; one of its units is 1 and the others are 0.
func Categorical(variables, categories int) [][]float64 {
	states := [][]float64{nil}
	for range variables {
		var longer [][]float64
		for _, state := range states {
			for c := range categories {
				units := make([]float64, categories)
				units[c] = 1
				longer = append(longer, slices.Concat(state, units))
			}
		}
		states = longer
	}
	return states
}

// logJoint returns log p(v,h) + log Z.
func (m *Machine) logJoint(v, h []float64) float64 {
	return floats.Dot(m.Parameters, m.Statistics(v, h))
}

// FreeEnergy returns −log Σ_h exp(θ·t(v,h)).
func (m *Machine) FreeEnergy(v []float64) float64 {
	var terms []float64
	for _, h := range m.Hidden {
		terms = append(terms, m.logJoint(v, h))
	}
	return -floats.LogSumExp(terms)
}

// LogZ returns log Σ exp(θ·t(v,h)) over all states.
func (m *Machine) LogZ() float64 {
	var terms []float64
	for _, v := range m.Visible {
		terms = append(terms, -m.FreeEnergy(v))
	}
	return floats.LogSumExp(terms)
}

// LogP returns log p(v).
func (m *Machine) LogP(v []float64) float64 { return -m.FreeEnergy(v) - m.LogZ() }

// LogPHidden returns log p(h|v).
func (m *Machine) LogPHidden(h, v []float64) float64 { return m.logJoint(v, h) + m.FreeEnergy(v) }

// LogPVisible returns log p(v|h).
func (m *Machine) LogPVisible(v, h []float64) float64 {
	var terms []float64
	for _, other := range m.Visible {
		terms = append(terms, m.logJoint(other, h))
	}
	return m.logJoint(v, h) - floats.LogSumExp(terms)
}

// Posterior returns E[t|v], the mean of the statistics over the hidden states.
func (m *Machine) Posterior(v []float64) []float64 {
	mean := make([]float64, len(m.Parameters))
	for _, h := range m.Hidden {
		floats.AddScaled(mean, math.Exp(m.LogPHidden(h, v)), m.Statistics(v, h))
	}
	return mean
}

// Mean returns E[t].
func (m *Machine) Mean() []float64 {
	mean, logZ := make([]float64, len(m.Parameters)), m.LogZ()
	for _, v := range m.Visible {
		floats.AddScaled(mean, math.Exp(-m.FreeEnergy(v)-logZ), m.Posterior(v))
	}
	return mean
}

// Gradient returns the gradient of log p(v), E[t|v] − E[t].
func (m *Machine) Gradient(v []float64) []float64 {
	return floats.SubTo(make([]float64, len(m.Parameters)), m.Posterior(v), m.Mean())
}

// JointFisher returns the Fisher matrix of p(v,h): the covariance of t.
func (m *Machine) JointFisher() [][]float64 {
	return m.covariance(func(v []float64, add func(weight float64, t []float64)) {
		for _, h := range m.Hidden {
			add(math.Exp(m.LogPHidden(h, v)), m.Statistics(v, h))
		}
	})
}

// Fisher returns the Fisher matrix of p(v): the covariance of E[t|v].
func (m *Machine) Fisher() [][]float64 {
	return m.covariance(func(v []float64, add func(weight float64, t []float64)) { add(1, m.Posterior(v)) })
}

// covariance returns the covariance of vectors t. For each v, given passes these vectors to add, with their
// probabilities given v as weights. The mean of the vectors must be E[t].
func (m *Machine) covariance(given func(v []float64, add func(weight float64, t []float64))) [][]float64 {
	n, mean, logZ := len(m.Parameters), m.Mean(), m.LogZ()
	matrix := make([][]float64, n)
	for k := range matrix {
		matrix[k] = make([]float64, n)
	}
	for _, v := range m.Visible {
		p := math.Exp(-m.FreeEnergy(v) - logZ)
		given(v, func(weight float64, t []float64) {
			d := floats.SubTo(make([]float64, n), t, mean)
			for k, row := range matrix {
				floats.AddScaled(row, p*weight*d[k], d)
			}
		})
	}
	return matrix
}
