package sequences

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// tinyBelief returns a network with weights of order 1, and smaller ones in q.
func tinyBelief(visible, steps int, of architecture) *Belief {
	m := newBelief(dataset.Shape{Height: steps, Width: visible}, of, nil)
	normal(m.flat, 0.6, 8, 0)
	for _, k := range []int{ofRecognition, ofDeepRecognition} {
		kernels.Scale(m.nets[k].Data, 0.3)
	}
	m.mask(m.nets[ofVisible])
	return m
}

// node is one unit at one step: its parents, its state, and the place of its parameters and, if it is Gaussian, of
// the logarithm of its standard deviation.
type node struct {
	parents          []float64
	state            float64
	first, deviation int // in flat
}

// nodes lists the units of a sequence with hidden states h, those of the second layer last, and visible states v, by
// the definition of the model: those of p, or those of q.
func (m *Belief) nodes(h, v [][]float64, q bool) (all []node) {
	d := m.shape.Width
	var first [networks + 1]int
	for k, net := range m.nets {
		first[k+1] = first[k] + net.Rows*net.Cols
	}
	for t := range v {
		past := make([]float64, m.pastWidth())
		past[0] = 1
		if t == 0 {
			past[1] = 1
		}
		for lag := 1; lag <= m.order && lag <= t; lag++ {
			copy(past[2+(lag-1)*d:], v[t-lag])
		}
		before := make([]float64, m.hidden+m.deep)
		if t > 0 {
			before = h[t-1]
		}
		now, above := h[t][:m.hidden], h[t][m.hidden:]
		add := func(k, unit int, state float64, parents ...[]float64) {
			n := node{slices.Concat(parents...), state, first[k] + unit*m.nets[k].Cols, 0}
			if k == ofVisible && m.gaussian {
				n.deviation = first[ofDeviations] + unit
			}
			all = append(all, n)
		}
		if q {
			for j, x := range now {
				add(ofRecognition, j, x, past, v[t], before)
			}
			for j, x := range above {
				add(ofDeepRecognition, j, x, past, v[t], now, before)
			}
			continue
		}
		for j, x := range now {
			add(ofHidden, j, x, past, before, above)
		}
		for j, x := range above {
			add(ofDeep, j, x, past, before)
		}
		for j, x := range v[t] {
			if m.lateral {
				add(ofVisible, j, x, past, v[t][:j], make([]float64, d-j), now)
			} else {
				add(ofVisible, j, x, past, now)
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

// joint adds the derivative of log p of nodes by all parameters to gradient, and returns log p.
func (m *Belief) joint(nodes []node, gradient []float64) (logP float64) {
	for _, n := range nodes {
		a, residual := m.logit(n), 0.0
		if n.deviation > 0 {
			e := math.Exp(float64(m.flat[n.deviation]))
			z, sigma := (n.state-a)/(e+smallest), e+smallest
			logP -= z*z/2 + math.Log(sigma*math.Sqrt(2*math.Pi))
			residual = z / sigma
			gradient[n.deviation] += (z*z - 1) * e / sigma
		} else {
			logP -= statistics.Softplus(a * (1 - 2*n.state))
			residual = n.state - statistics.Sigmoid(a)
		}
		for k, u := range n.parents {
			gradient[n.first+k] += residual * u
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
	all := states(len(v), m.hidden+m.deep)
	logs, ps, qs := make([]float64, len(all)), make([][]float64, len(all)), make([][]float64, len(all))
	for i, h := range all {
		ps[i], qs[i] = make([]float64, len(m.flat)), make([]float64, len(m.flat))
		logs[i] = m.joint(m.nodes(h, v, false), ps[i])
		m.joint(m.nodes(h, v, true), qs[i])
	}
	logP = floats.LogSumExp(logs)
	p, q = make([]float64, len(m.flat)), make([]float64, len(m.flat))
	for i, l := range logs {
		floats.AddScaled(p, math.Exp(l-logP), ps[i])
		floats.AddScaled(q, math.Exp(l-logP), qs[i])
	}
	return logP, p, q
}

// kinds are small networks of every kind.
var kinds = map[string]architecture{
	"plain":      {hidden: 3, order: 1},
	"lateral":    {hidden: 3, order: 1, lateral: true},
	"two layers": {hidden: 2, deep: 1, order: 1},
	"Gaussian":   {hidden: 2, deep: 1, order: 1, lateral: true, gaussian: true},
}

// The particle filter estimates p(v₁ … v_T) without bias, with few particles that are resampled, and with one
// filter among sequences of other lengths.
func TestFilterIsUnbiased(t *testing.T) {
	rows := bits(3, 6, 2, 4, 3, 3, 2)
	f := gather(rows, []int{0, 1, 2, 3, 4})
	const filters, particles = 1000, 4
	for kind, of := range kinds {
		of.order = 2
		m := tinyBelief(3, 4, of)
		var estimates [5][]float64
		resampled := false
		for k := range filters {
			r := m.filter(f, particles, resampleBelow, draws{key: 5, purpose: philox.Importance, step: uint32(k)})
			for i, increments := range r.logP {
				estimates[f.rows[i]] = append(estimates[f.rows[i]], math.Exp(floats.Sum(increments)))
			}
			resampled = resampled || r.ancestors[f.start[2]*particles] > 0
		}
		for i, of := range estimates {
			logP, _, _ := m.enumerateBelief(rows.Sequence(i))
			mean, se := statistics.MeanAndError(filters, func(k int) float64 { return of[k] / math.Exp(logP) })
			if math.Abs(mean-1) > 4*se || se > 0.1 {
				t.Errorf("%s, sequence %d: the estimate of p over p is %v ± %v", kind, i, mean, se)
			}
		}
		if !resampled {
			t.Errorf("%s: no filter has resampled", kind)
		}
	}
}

// compare compares means of sampled derivatives with wanted ones.
func compare(t *testing.T, kind string, sums [][]float64, want []float64) {
	t.Helper()
	for i, of := range sums {
		mean, se := statistics.MeanAndErrorOf(of)
		if math.Abs(mean-want[i]) > 4.5*se+2e-3 || se > 0.03 {
			t.Errorf("%s: the derivative by parameter %d is %v ± %v, want %v", kind, i, mean, se, want[i])
		}
	}
}

// With many particles, weighed by all later steps, the gradients are the enumerated ones of log p and of the
// q-wake phase at two steps of six units.
func TestGradientOfWakePhases(t *testing.T) {
	rows := bits(3, 7, 2)
	f := gather(rows, []int{0})
	const filters, particles = 50, 300
	for kind, of := range kinds {
		m := tinyBelief(3, 2, of)
		sums := make([][]float64, len(m.flat))
		for k := range filters {
			r := m.filter(f, particles, resampleBelow, draws{key: 2, purpose: philox.Wake, step: uint32(k)})
			r.weights = r.smoothed(f, particles, 1) // so that q, too, is weighed by the last step
			for i, g := range m.gradient(f, r, particles, 0).flat {
				sums[i] = append(sums[i], 2*float64(g)) // of the sum over two steps
			}
		}
		_, p, q := m.enumerateBelief(rows.Sequence(0))
		floats.Add(p, q)
		compare(t, kind, sums, p)
	}
}

// Wake-sleep follows the enumerated expectations of the derivative of log p(h,v) under q(h|v), and of that of log
// q(h|v) under p(h,v), at two steps of six units.
func TestGradientOfWakeSleep(t *testing.T) {
	rows := bits(3, 7, 2)
	f := gather(rows, []int{0})
	for kind, of := range kinds {
		if of.gaussian {
			continue // the states of v cannot be enumerated
		}
		m := tinyBelief(3, 2, of)
		want := make([]float64, len(m.flat))
		expect := func(h, v [][]float64, by bool) { // adds the derivatives of the other network, weighed by p or q
			g := make([]float64, len(m.flat))
			m.joint(m.nodes(h, v, !by), g)
			floats.AddScaled(want, math.Exp(m.joint(m.nodes(h, v, by), make([]float64, len(m.flat)))), g)
		}
		for _, h := range states(2, 3) {
			expect(h, rows.Sequence(0), true)
			for _, v := range states(2, 3) {
				expect(h, v, false)
			}
		}
		sums := make([][]float64, len(m.flat))
		s := BeliefSettings{WakeSleep: true, Samples: 300}
		for k := range 30 {
			by := draws{key: 2, purpose: philox.Wake, step: uint32(k)}
			g := m.gradient(f, m.samples(f, s, by), s.Samples, 2)
			recognition := make([]float32, len(m.flat))
			for i := range s.Samples {
				by := draws{key: 2, purpose: philox.Dream, step: uint32(k*s.Samples + i)}
				m.sleep(g, f, by)
				kernels.AddMultiple(recognition, 1/float32(s.Samples), g.flat)
			}
			for i, x := range recognition {
				sums[i] = append(sums[i], 2*float64(x))
			}
		}
		compare(t, kind, sums, want)
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
	for kind, of := range kinds {
		if of.deep > 0 != of.lateral && !of.gaussian { // what "plain" has, these have, too
			testFisherBlocks(t, kind, tinyBelief(3, 2, of))
		}
	}
}

func testFisherBlocks(t *testing.T, kind string, m *Belief) {
	n := len(m.flat)
	full, blocks := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	total, at := 0.0, 0
	for _, v := range states(2, 3) {
		for _, h := range states(2, 3) {
			g := make([]float64, n)
			p := math.Exp(m.joint(m.nodes(h, v, false), g))
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
	var ofP []int
	for k, net := range m.nets {
		for range net.Rows * net.Cols {
			if k != ofRecognition && k != ofDeepRecognition {
				ofP = append(ofP, at)
			}
			at++
		}
	}
	for _, i := range ofP {
		for j := range i + 1 {
			if a, b := full.At(i, j), blocks.At(i, j); math.Abs(a-b) > 1e-6 {
				t.Errorf("element %d,%d of the Fisher matrix is %v, and of its blocks %v", i, j, a, b)
			}
		}
	}
	const sequences, particles = 3000, 30
	sheet, err := m.sample(t.Context(), sequences, false, 3)
	if err != nil {
		t.Fatal(err)
	}
	rows := dataset.Split{Name: "train", Shape: m.shape}
	var values []uint8
	index := make([]int, sequences)
	for i, x := range sheet.Values {
		index[i] = i
		rows.Lengths = append(rows.Lengths, 2)
		for _, v := range x {
			values = append(values, 255*uint8(v))
		}
	}
	rows.Values = dataset.Bytes(m.shape.Units(), values)
	f, by := gather(rows, index), draws{key: 4, purpose: philox.Sleep}
	first := 0
	for k, e := range m.estimates(f, m.filter(f, particles, resampleBelow, by), particles, 1, by) {
		for unit := range e.Weights.Cols {
			parents := e.Parents
			if k == ofVisible && m.lateral {
				parents = m.lateralEstimate(e, unit).Parents
			}
			for a := range e.Parents.Cols {
				for b := range a + 1 {
					got := 0.0
					for i := range e.Parents.Rows {
						u := kernels.Row(parents, i)
						got += 2 * float64(kernels.Row(e.Weights, i)[unit]*u[a]*u[b]) // of the sum over two steps
					}
					if want := blocks.At(first+a, first+b); math.Abs(got-want) > 4*0.5*0.5/math.Sqrt(sequences) {
						t.Errorf("%s, network %d, unit %d: element %d,%d is %v, want %v", kind, k, unit, a, b, got, want)
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
	m := tinyBelief(4, 5, architecture{order: 2, lateral: true})
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

// Without hidden units, the natural gradient takes a network of Gaussian units to the least-squares
// autoregression, with its residual standard deviation.
func TestGaussianUnitsAreLeastSquares(t *testing.T) {
	const steps = 400
	reals := make([]float32, 2*steps)
	rows := dataset.Split{Name: "train", Shape: dataset.Shape{Height: steps, Width: 2}, Lengths: []int{steps}, Values: dataset.Reals(2*steps, reals)}
	normal(reals, 0.1, 3, 0)
	parents, targets := mat.NewDense(steps, 5, nil), mat.NewDense(steps, 1, nil)
	for i := range reals {
		if i >= 2 {
			reals[i] += 0.5*reals[i-2] - 0.3*reals[i-1]
		}
	}
	for s := range steps { // the second unit: it depends on the past and, by its lateral weight, on the first
		parents.Set(s, 0, 1)
		if s == 0 {
			parents.Set(s, 1, 1)
		} else {
			parents.Set(s, 2, float64(reals[2*s-2]))
			parents.Set(s, 3, float64(reals[2*s-1]))
		}
		parents.Set(s, 4, float64(reals[2*s]))
		targets.Set(s, 0, float64(reals[2*s+1]))
	}
	var want, residual mat.Dense
	if err := want.Solve(parents, targets); err != nil {
		t.Fatal(err)
	}
	residual.Mul(parents, &want)
	residual.Sub(targets, &residual)
	m := newBelief(rows.Shape, architecture{order: 1, lateral: true, gaussian: true}, nil)
	m.begin(rows, 1)
	f, by := gather(rows, []int{0}), draws{}
	for range 8 {
		r := m.filter(f, 1, resampleBelow, by)
		blocks, err := m.invert(f, r, 1, 0, fisher.Settings{Damping: 1e-3, Steps: 1}, by)
		if err != nil {
			t.Fatal(err)
		}
		g := m.gradient(f, r, 1, 0)
		m.rescale(g)
		for k, net := range g.nets {
			blocks[k].apply(net.Matrix)
		}
		kernels.AddMultiple(m.flat, 1, g.flat)
	}
	for k := range 5 {
		if got := float64(kernels.Row(m.nets[ofVisible].Matrix, 1)[k]); math.Abs(got-want.At(k, 0)) > 2e-3 {
			t.Errorf("the weight of parent %d is %v, by least squares %v", k, got, want.At(k, 0))
		}
	}
	sigma := math.Exp(float64(m.nets[ofDeviations].Data[1])) + smallest
	if want := mat.Norm(&residual, 2) / math.Sqrt(steps); math.Abs(sigma/want-1) > 1e-3 {
		t.Errorf("the standard deviation is %v, that of the residuals %v", sigma, want)
	}
}

// Log p of training steps under independent Gaussian units is −½ ln 2πeσ² per unit, with their standard deviation σ.
func TestIndependentGaussianUnits(t *testing.T) {
	rows := dataset.Split{Name: "train", Shape: dataset.Shape{Height: 2, Width: 1}, Lengths: []int{2}}
	for _, sigma := range []float64{0.01, 0.5} {
		rows.Values = dataset.Reals(2, []float32{float32(0.5 - sigma), float32(0.5 + sigma)})
		want := -math.Log(2*math.Pi*math.E*sigma*sigma) / 2
		if got := Independent(rows, rows).Value; math.Abs(got-want) > 1e-4 {
			t.Errorf("with the standard deviation %v log p is %v, want %v", sigma, got, want)
		}
	}
}

// Completions follow p(v₂|v₁), and the posterior of hidden units is the enumerated one.
func TestCompletionsAndPosterior(t *testing.T) {
	m := tinyBelief(3, 2, architecture{hidden: 2, deep: 1, order: 1, lateral: true})
	v1 := []float64{1, 0, 1}
	const n = 1500
	rows := dataset.Split{Name: "test", Shape: m.shape, Lengths: slices.Repeat([]int{2}, n), Values: dataset.Bytes(6, slices.Repeat([]uint8{255, 0, 255, 0, 255, 255}, n))}
	sheet, err := m.complete(t.Context(), rows, 1)
	if err != nil {
		t.Fatal(err)
	}
	var want [3]float64
	total := 0.0
	for _, v2 := range states(1, 3) {
		logP, _, _ := m.enumerateBelief([][]float64{v1, v2[0]})
		total += math.Exp(logP)
		floats.AddScaled(want[:], math.Exp(logP), v2[0])
	}
	for j := range want {
		if got := sheet.Values[1]; !slices.Equal(got[:3], v1) {
			t.Fatalf("the completion begins with %v", got[:3])
		}
		mean, se := statistics.MeanAndError(n, func(i int) float64 { return sheet.Values[2*i+1][3+j] })
		if math.Abs(mean-want[j]/total) > 4*se {
			t.Errorf("unit %d is on in a share of %v ± %v of completions, want %v", j, mean, se, want[j]/total)
		}
	}
	const some = 100
	sheet, err = m.posterior(t.Context(), rows.Subset(some, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	logP, _, _ := m.enumerateBelief([][]float64{v1, {0, 1, 1}})
	exact := make([]float64, 6)
	for _, h := range states(2, 3) {
		p := math.Exp(m.joint(m.nodes(h, [][]float64{v1, {0, 1, 1}}, false), make([]float64, len(m.flat))) - logP)
		floats.AddScaled(exact, p, slices.Concat(h...))
	}
	for k, want := range exact {
		mean, se := statistics.MeanAndError(some, func(i int) float64 { return sheet.Values[i][k] })
		if math.Abs(mean-want) > 4*se+2e-3 || se > 0.02 {
			t.Errorf("hidden unit %d has the mean %v ± %v, want %v", k, mean, se, want)
		}
	}
}
