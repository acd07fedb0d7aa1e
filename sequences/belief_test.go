package sequences

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// tinyBelief returns a network with weights of order 1, and smaller ones in q.
func tinyBelief(visible, hidden, order, steps int, lateral bool) *Belief {
	m := newBelief(dataset.Shape{Height: steps, Width: visible}, hidden, order, lateral)
	normal(m.flat, 0.6, 8, 0)
	kernels.Scale(m.recognition.Data, 0.3)
	m.mask(m.visible)
	return m
}

// node is one Bernoulli unit at one step: its parents, its state, and the place of its parameters.
type node struct {
	parents []float64
	state   float64
	first   int // in flat
}

// nodes lists the units of a sequence with hidden states h and visible states v, by the definition of the model:
// those of p, or those of q.
func (m *Belief) nodes(h, v [][]float64, q bool) (all []node) {
	nh, d := m.hidden.Rows, m.shape.Width
	for t := range v {
		past := make([]float64, m.pastWidth())
		past[0] = 1
		if t == 0 {
			past[1] = 1
		}
		for lag := 1; lag <= m.order && lag <= t; lag++ {
			copy(past[2+(lag-1)*d:], v[t-lag])
		}
		before := make([]float64, nh)
		if t > 0 {
			before = h[t-1]
		}
		join := func(parts ...[]float64) (u []float64) {
			for _, p := range parts {
				u = append(u, p...)
			}
			return u
		}
		for j := range nh {
			u, first := join(past, before), j*m.hidden.Cols
			if q {
				u, first = join(past, v[t], before), nh*m.hidden.Cols+d*m.visible.Cols+j*m.recognition.Cols
			}
			all = append(all, node{u, h[t][j], first})
		}
		for j := range d {
			if !q {
				u := join(past, h[t])
				if m.lateral {
					u = join(past, v[t][:j], make([]float64, d-j), h[t])
				}
				all = append(all, node{u, v[t][j], nh*m.hidden.Cols + j*m.visible.Cols})
			}
		}
	}
	return all
}

// logit returns the logit of a node.
func (m *Belief) logit(n node) (a float64) {
	for k, u := range n.parents {
		a += u * float64(m.flat[n.first+k])
	}
	return a
}

// score adds the derivative of log p of nodes by all parameters to gradient, and returns log p.
func (m *Belief) score(nodes []node, gradient []float64) (logP float64) {
	for _, n := range nodes {
		a := m.logit(n)
		logP -= statistics.Softplus(a * (1 - 2*n.state))
		for k, u := range n.parents {
			gradient[n.first+k] += (n.state - statistics.Sigmoid(a)) * u
		}
	}
	return logP
}

// states lists all binary states of steps × units.
func states(steps, units int) (all [][][]float64) {
	for s := range 1 << (steps * units) {
		x := make([][]float64, steps)
		for t := range x {
			x[t] = make([]float64, units)
			for j := range x[t] {
				x[t][j] = float64(s >> (t*units + j) & 1)
			}
		}
		all = append(all, x)
	}
	return all
}

// enumerateBelief returns log p(v) and its derivative, and the expectation under p(h|v) of the derivative of log
// q(h|v), by sums over all hidden states.
func (m *Belief) enumerateBelief(v [][]float64) (logP float64, p, q []float64) {
	all := states(len(v), m.hidden.Rows)
	logs, ps, qs := make([]float64, len(all)), make([][]float64, len(all)), make([][]float64, len(all))
	for i, h := range all {
		ps[i], qs[i] = make([]float64, len(m.flat)), make([]float64, len(m.flat))
		logs[i] = m.score(m.nodes(h, v, false), ps[i])
		m.score(m.nodes(h, v, true), qs[i])
	}
	logP = floats.LogSumExp(logs)
	p, q = make([]float64, len(m.flat)), make([]float64, len(m.flat))
	for i, l := range logs {
		floats.AddScaled(p, math.Exp(l-logP), ps[i])
		floats.AddScaled(q, math.Exp(l-logP), qs[i])
	}
	return logP, p, q
}

// The particle filter estimates p(v₁ … v_T) without bias, with few particles that are resampled, and with one
// filter among sequences of other lengths.
func TestFilterIsUnbiased(t *testing.T) {
	rows := bits(3, 6, 2, 4, 3)
	m := tinyBelief(3, 3, 2, 4, true)
	f := gather(rows, []int{0, 1, 2})
	const filters, particles = 4000, 4
	var estimates [3][]float64
	resampled := false
	for k := range filters {
		r := m.filter(f, particles, draws{key: 5, purpose: philox.Importance, step: uint32(k)})
		for i, increments := range r.logP {
			estimates[f.rows[i]] = append(estimates[f.rows[i]], math.Exp(floats.Sum(increments)))
		}
		resampled = resampled || r.ancestors[f.start[2]*particles] > 0
	}
	for i, of := range estimates {
		logP, _, _ := m.enumerateBelief(rows.Sequence(i))
		mean, se := statistics.MeanAndError(filters, func(k int) float64 { return of[k] / math.Exp(logP) })
		if math.Abs(mean-1) > 4*se || se > 0.05 {
			t.Errorf("sequence %d: the estimate of p over p is %v ± %v", i, mean, se)
		}
	}
	if !resampled {
		t.Error("no filter has resampled")
	}
}

// With many particles, weighed by all later steps, the gradients are the enumerated ones of log p and of the
// q-wake phase at two steps of six units.
func TestGradientOfWakePhases(t *testing.T) {
	rows := bits(3, 7, 2)
	m := tinyBelief(3, 3, 1, 2, true)
	f := gather(rows, []int{0})
	const filters, particles = 100, 300
	sums := make([][]float64, len(m.flat))
	for k := range filters {
		r := m.filter(f, particles, draws{key: 2, purpose: philox.Wake, step: uint32(k)})
		r.weights = r.smoothed(f, particles, 1) // so that q, too, is weighed by the last step
		for i, g := range m.gradient(f, r, particles, 0).flat {
			sums[i] = append(sums[i], 2*float64(g)) // of the sum over two steps
		}
	}
	_, p, q := m.enumerateBelief(rows.Sequence(0))
	for i, of := range sums {
		want := p[i] + q[i]
		mean, se := statistics.MeanAndError(filters, func(k int) float64 { return of[k] })
		if math.Abs(mean-want) > 4.5*se+2e-3 || se > 0.02 {
			t.Errorf("the derivative by parameter %d is %v ± %v, want %v", i, mean, se, want)
		}
	}
}

// The weight of a particle, given later steps, is what its descendants have.
func TestSmoothedWeightsAreThoseOfDescendants(t *testing.T) {
	f := frames{v: kernels.NewMatrix(3, 1), start: []int{0, 1, 2, 3}, rows: []int{0}}
	r := filtered{ancestors: []int32{0, 0, 1, 1, 0, 0}, weights: []float64{0.5, 0.5, 0.9, 0.1, 0.3, 0.7}}
	for lag, want := range [][]float64{{0.5, 0.5, 0.9, 0.1, 0.3, 0.7}, {0, 1, 1, 0, 0.3, 0.7}, {0, 1, 1, 0, 0.3, 0.7}} {
		if got := r.smoothed(f, 2, lag); !floats.EqualApprox(got, want, 1e-12) {
			t.Errorf("with lag %d the weights are %v, want %v", lag, got, want)
		}
	}
}

// The Fisher matrix E[∇log p(v,h) ∇log p(v,h)ᵀ] of two steps of six units, by enumeration, has one block per unit
// and 0 elsewhere. Fisher blocks that are estimated on sequences drawn from the model are these blocks.
func TestFisherBlocks(t *testing.T) {
	m := tinyBelief(3, 3, 1, 2, true)
	n := len(m.flat)
	full, blocks := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	total := 0.0
	for _, v := range states(2, 3) {
		for _, h := range states(2, 3) {
			g := make([]float64, n)
			p := math.Exp(m.score(m.nodes(h, v, false), g))
			total += p
			full.SymRankOne(full, p, mat.NewVecDense(n, g))
			for _, q := range []bool{false, true} {
				for _, node := range m.nodes(h, v, q) {
					s := statistics.Sigmoid(m.logit(node))
					u := make([]float64, n)
					copy(u[node.first:], node.parents)
					blocks.SymRankOne(blocks, p*s*(1-s), mat.NewVecDense(n, u))
				}
			}
		}
	}
	if math.Abs(total-1) > 1e-6 {
		t.Fatalf("the joint sums to %v", total)
	}
	ofP := m.hidden.Rows*m.hidden.Cols + m.visible.Rows*m.visible.Cols
	for i := range ofP {
		for j := range i + 1 {
			if a, b := full.At(i, j), blocks.At(i, j); math.Abs(a-b) > 1e-6 {
				t.Errorf("element %d,%d of the Fisher matrix is %v, and of its blocks %v", i, j, a, b)
			}
		}
	}
	const sequences, particles = 3000, 100
	sheet, err := m.sample(t.Context(), sequences, false, 3)
	if err != nil {
		t.Fatal(err)
	}
	rows := dataset.Split{Name: "train", Shape: m.shape, Rows: sequences}
	index := make([]int, sequences)
	for i, x := range sheet.Values {
		index[i] = i
		rows.Lengths = append(rows.Lengths, 2)
		for _, v := range x {
			rows.Values = append(rows.Values, 255*uint8(v))
		}
	}
	f, by := gather(rows, index), draws{key: 4, purpose: philox.Sleep}
	first := 0
	for k, e := range m.estimates(f, m.filter(f, particles, by), particles, 1, by) {
		for unit := range e.Weights.Cols {
			parents := e.Parents
			if k == 1 {
				parents = m.ofVisible(e, unit).Parents
			}
			for a := range e.Parents.Cols {
				for b := range a + 1 {
					got := 0.0
					for i := range e.Parents.Rows {
						u := kernels.Row(parents, i)
						got += 2 * float64(kernels.Row(e.Weights, i)[unit]*u[a]*u[b]) // of the sum over two steps
					}
					if want := blocks.At(first+a, first+b); math.Abs(got-want) > 4*0.5*0.5/math.Sqrt(sequences) {
						t.Errorf("network %d, unit %d: element %d,%d is %v, want %v", k, unit, a, b, got, want)
					}
				}
			}
			first += e.Parents.Cols
		}
	}
}

// Without hidden units, log p is exact with one particle.
func TestLogisticRegressionIsExact(t *testing.T) {
	rows := bits(4, 9, 3, 5)
	m := tinyBelief(4, 0, 2, 5, true)
	e, err := m.LogP(t.Context(), rows, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.LogP {
		want, _, _ := m.enumerateBelief(rows.Sequence(i))
		if math.Abs(e.LogP[i]-want) > 1e-4 || e.Variance[i] > 1e-12 {
			t.Errorf("log p of sequence %d is %v with variance %v, want %v", i, e.LogP[i], e.Variance[i], want)
		}
	}
}
