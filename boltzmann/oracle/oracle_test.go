package oracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
)

func random(visible, hidden int) *Machine {
	r := rand.New(rand.NewPCG(1, 2))
	parameters := make([]float64, visible*hidden+visible+hidden)
	for k := range parameters {
		parameters[k] = r.NormFloat64()
	}
	return Bipartite(Binary(visible), Binary(hidden), parameters)
}

// log Z of units that are not connected is a sum over them.
func TestLogZOfUnconnectedUnits(t *testing.T) {
	m := random(3, 2)
	clear(m.Parameters[:6])
	want := 0.0
	for _, bias := range m.Parameters[6:] {
		want += math.Log1p(math.Exp(bias))
	}
	if got := m.LogZ(); math.Abs(got-want) > 1e-12 {
		t.Errorf("log Z = %v, want %v", got, want)
	}
}

// Gradients are the derivatives of log p(v), and that of log Z is E[t].
func TestGradients(t *testing.T) {
	m := random(3, 2)
	at := func(of func(m *Machine) float64) []float64 {
		return fd.Gradient(nil, func(θ []float64) float64 { return of(&Machine{m.Visible, m.Hidden, m.Statistics, θ}) },
			slices.Clone(m.Parameters), &fd.Settings{Formula: fd.Central})
	}
	if !floats.EqualApprox(at((*Machine).LogZ), m.Mean(), 1e-7) {
		t.Error("the gradient of log Z is not E[t]")
	}
	for _, v := range m.Visible {
		if !floats.EqualApprox(at(func(m *Machine) float64 { return m.LogP(v) }), m.Gradient(v), 1e-7) {
			t.Errorf("the gradient of log p(%v) is not E[t|v] − E[t]", v)
		}
	}
}

// The Fisher matrix of p(v) is the second moment of gradients under p, that of
// p(v,h) the Hessian of log Z.
func TestFisherMatrices(t *testing.T) {
	m := random(3, 2)
	n := len(m.Parameters)
	marginal, joint := m.Fisher(), m.JointFisher()
	for k := range n {
		want := make([]float64, n)
		for _, v := range m.Visible {
			g := m.Gradient(v)
			floats.AddScaled(want, math.Exp(m.LogP(v))*g[k], g)
		}
		if !floats.EqualApprox(marginal[k], want, 1e-12) {
			t.Errorf("row %d of the Fisher matrix of p(v) is %v, want %v", k, marginal[k], want)
		}
		slope := fd.Gradient(nil, func(θ []float64) float64 {
			return (&Machine{m.Visible, m.Hidden, m.Statistics, θ}).Mean()[k]
		}, slices.Clone(m.Parameters), &fd.Settings{Formula: fd.Central})
		if !floats.EqualApprox(joint[k], slope, 1e-7) {
			t.Errorf("row %d of the Fisher matrix of p(v,h) is %v, want %v", k, joint[k], slope)
		}
	}
}

// Without weights log Z of categorical variables is a sum over them.
func TestCategoricalStates(t *testing.T) {
	m := &Machine{Categorical(2, 3), [][]float64{nil}, func(v, _ []float64) []float64 { return v }, []float64{0.1, -2, 1, 3, 0, -1}}
	want := floats.LogSumExp(m.Parameters[:3]) + floats.LogSumExp(m.Parameters[3:])
	if got := m.LogZ(); math.Abs(got-want) > 1e-12 || len(m.Visible) != 9 {
		t.Errorf("log Z = %v of %d states, want %v of 9", got, len(m.Visible), want)
	}
}

// What is hidden tells nothing: the metric of p(v) is smaller.
func TestHiddenUnitsLoseInformation(t *testing.T) {
	m := random(3, 2)
	trace := func(matrix [][]float64) (sum float64) {
		for k := range matrix {
			sum += matrix[k][k]
		}
		return sum
	}
	if joint, marginal := trace(m.JointFisher()), trace(m.Fisher()); !(marginal > 0 && marginal < joint) {
		t.Errorf("traces %v of p(v,h) and %v of p(v)", joint, marginal)
	}
}

// Conditional probabilities sum to 1, and are those that Bayes' rule gives.
func TestConditionals(t *testing.T) {
	m := random(3, 2)
	v, h := m.Visible[5], m.Hidden[2]
	joint := m.LogPHidden(h, v) + m.LogP(v)
	var marginal []float64
	for _, other := range m.Visible {
		marginal = append(marginal, m.LogPHidden(h, other)+m.LogP(other))
	}
	if want := joint - floats.LogSumExp(marginal); math.Abs(m.LogPVisible(v, h)-want) > 1e-12 {
		t.Errorf("log p(v|h) = %v, want %v", m.LogPVisible(v, h), want)
	}
}
