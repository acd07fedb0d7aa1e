package boltzmann

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// conforming is a machine with the states of both sides, all of them or a grid on which the
// trapezoidal rule has integrals to all digits.
type conforming struct {
	m               *Model
	visible, hidden [][]float64
	volume          float64 // the logarithm of that of a grid's cells, both sides together
}

// statesOf lists the states of a side.
func statesOf(k Kind, categories, units int) (states [][]float64, volume float64) {
	switch {
	case k == Gaussian && units == 2:
		const step, far = 0.5, 24
		for a := -far; a <= far; a++ {
			for b := -far; b <= far; b++ {
				states = append(states, []float64{step * float64(a), step * float64(b)})
			}
		}
		return states, 2 * math.Log(step)
	case k == Categorical:
		return oracle.Categorical(units/categories, categories), 0
	}
	return oracle.Binary(units), 0
}

func conformingTo(m *Model) conforming {
	p := m.parameters
	s := p.Spec
	visible, a := statesOf(s.Visible, s.Categories, p.Visible()-s.Classes)
	hidden, b := statesOf(s.HiddenUnits, s.HiddenCategories, p.Hidden())
	if s.labelled() {
		var both [][]float64
		for _, v := range visible {
			for _, y := range oracle.Categorical(1, s.Classes) {
				both = append(both, slices.Concat(v, y))
			}
		}
		visible = both
	}
	return conforming{m, visible, hidden, a + b}
}

// definedEnergy is E(v,h) as Kind and the comments of units define it.
func definedEnergy(p *Parameters, v, h []float64) (e float64) {
	for i, x := range v {
		b, precision := float64(p.VisibleBiases[i]), 1.0
		if i < len(p.LogVariances) {
			precision = math.Exp(-float64(p.LogVariances[i]))
			e += (x - b) * (x - b) / 2 * precision
		} else {
			e -= b * x
		}
		for j, y := range h {
			e -= x * precision * float64(kernels.Row(p.Weights, i)[j]) * y
		}
	}
	for j, y := range h {
		e -= float64(p.HiddenBiases[j]) * y
		if p.Spec.HiddenUnits == Gaussian {
			e += y * y / 2
		}
	}
	return e
}

// ownF is F(v) of all visible units, a label among them, by the energy.
func ownF(of *products, v []float64, hidden int) float64 {
	inputs := make([]float64, hidden)
	return of.ownEnergy(narrow(v), inputs) - of.latent.partition(inputs)
}

// slope is −∂F/∂θ at v by the energy's own gradient and conditionals.
func slope(of *products, v []float64) []float64 {
	g, x, h, a := of.zeros(), matrix([][]float64{v}), kernels.NewMatrix(1, of.Hidden()), kernels.NewMatrix(1, of.Visible())
	of.up(h, x)
	of.latent.sumOut(h.Data, make([]float32, of.Hidden()))
	scaled(h.Data, -1, h.Data)
	kernels.MulTN(g.Weights, 0, x, h)
	copy(g.HiddenBiases, h.Data)
	of.down(a, h)
	for i, x := range x.Data {
		precision, b := float32(of.seen.precision(i)), of.VisibleBiases[i]
		scaled(kernels.Row(g.Weights, i), precision, kernels.Row(g.Weights, i))
		g.VisibleBiases[i] = x
		if i < len(g.LogVariances) {
			g.VisibleBiases[i] = (x - b) * precision
			g.LogVariances[i] = ((x-b)*(x-b)/2 - x*(a.Data[i]-b)) * precision
		}
	}
	return wide(g)
}

// An energy's free energy, conditionals, gradients, chains and log Z agree with its definition, summed
// or integrated over all states, for every kind of units. Its exact gradients lead to the data.
func TestEnergiesConform(t *testing.T) {
	machines := map[string]*Model{
		"bernoulli": randomModel(t, 4, 3), "categorical": hiddenModel(t, 6, func(m Machine) Machine { return m.Hidden(3).Categorical(3) }),
		"hidden categorical": hiddenModel(t, 5, categoricalHidden), "both categorical": hiddenModel(t, 6, allCategorical),
		"labels": hiddenModel(t, 3, labeledCategories), "categorical with labels": hiddenModel(t, 4, func(m Machine) Machine { return m.Hidden(2).Categorical(2).Labels(2) }), "hidden gaussian": hiddenModel(t, 4, gaussianHidden),
		"gaussian": hiddenModel(t, 2, func(m Machine) Machine { return m.Hidden(3).Visible(Gaussian) }), "mixture": hiddenModel(t, 2, mixture),
		"gaussian with labels": hiddenModel(t, 2, func(m Machine) Machine { return m.Hidden(2).Visible(Gaussian).Labels(2) }),
		"deep":                 randomDeepModel(t, []int{3, 2, 2}, 1),
	}
	for name, m := range machines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := conformingTo(m)
			c.conditionals(t)
			c.gradients(t)
			c.chains(t)
			if c.volume == 0 && m.parameters.Layers == nil {
				c.learns(t)
			}
		})
	}
}

// joint returns log p(v,h) + log Z of each visible state, with the hidden ones within, and log Z.
func (c conforming) joint(p *Parameters) (joint [][]float64, logZ float64) {
	var all []float64
	for _, v := range c.visible {
		var of []float64
		for _, h := range c.hidden {
			of = append(of, c.volume-definedEnergy(p, v, h))
		}
		joint, all = append(joint, of), append(all, floats.LogSumExp(of))
	}
	return joint, floats.LogSumExp(all)
}

func (c conforming) conditionals(t *testing.T) {
	p := c.m.parameters
	w := newProducts(p)
	joint, want := c.joint(p)
	logZ, err := w.logZ(t.Context())
	if err != nil || math.Abs(logZ-want) > 1e-6*(1+math.Abs(want)) {
		t.Errorf("log Z = %v (%v), want %v", logZ, err, want)
	}
	_, volume := statesOf(p.Spec.HiddenUnits, p.Spec.HiddenCategories, p.Hidden())
	h, a := kernels.NewMatrix(len(c.visible), p.Hidden()), kernels.NewMatrix(len(c.hidden), p.Visible())
	w.up(h, matrix(c.visible))
	w.down(a, matrix(c.hidden))
	for s := 0; s < len(c.visible); s += 1 + len(c.visible)/50 {
		v, sum := c.visible[s], floats.LogSumExp(joint[s])
		f := c.volume - volume - sum
		inputs, means := row(h, s), make([]float64, p.Hidden())
		partition := w.latent.sumOut(kernels.Row(h, s), make([]float32, p.Hidden()))
		for k, y := range c.hidden {
			floats.AddScaled(means, -math.Exp(joint[s][k]-sum), y)
		}
		if got := ownF(w, v, p.Hidden()); math.Abs(got-f) > 1e-6*(1+math.Abs(f)) {
			t.Errorf("F(%v) = %v, want %v", v, got, f)
		}
		if double := w.latent.partition(inputs); math.Abs(partition-double) > 1e-4*(1+double) {
			t.Errorf("%v sums out to %v, in double precision to %v", inputs, partition, double)
		}
		if got := row(h, s); !floats.EqualApprox(got, means, 1e-4) {
			t.Errorf("given %v the means are %v, want %v, negated", v, got, means)
		}
	}
	first := p.Visible() - p.Spec.Classes // a label has the means of a variable of its own
	for k := 0; k < len(c.hidden); k += 1 + len(c.hidden)/50 {
		given := make([]float64, len(c.visible))
		for s := range given {
			given[s] = joint[s][k]
		}
		sum, means := floats.LogSumExp(given), make([]float64, p.Visible())
		for s, v := range c.visible {
			floats.AddScaled(means, math.Exp(given[s]-sum), v)
		}
		got := w.seen.means(kernels.Row(a, k)[:first])
		if p.Spec.labelled() {
			got = append(got, p.Spec.label().means(kernels.Row(a, k)[first:])...)
		}
		if !floats.EqualApprox(got, means, 1e-4) {
			t.Errorf("given %v the means are %v, want %v", c.hidden[k], got, means)
		}
	}
}

// derivatives returns the derivatives of a function of the parameters, by finite differences.
func (c conforming) derivatives(f func(p *Parameters) float64) []float64 {
	return fd.Gradient(nil, func(flat []float64) float64 {
		p := c.m.parameters.zeros()
		copy(p.Flat, narrow(flat))
		return f(p)
	}, wide(c.m.parameters), &fd.Settings{Formula: fd.Central, Step: 1e-2})
}

func (c conforming) gradients(t *testing.T) {
	w := newProducts(c.m.parameters)
	for s := 0; s < len(c.visible); s += 1 + len(c.visible)/5 {
		v := c.visible[s]
		if floats.Norm(v, 2) > 4 {
			continue // where differences of single precision say nothing
		}
		want := c.derivatives(func(p *Parameters) float64 { return -ownF(newProducts(p), v, p.Hidden()) })
		if got := slope(w, v); !floats.EqualApprox(got, want, 2e-3) {
			t.Errorf("the gradient of −F(%v) is %v, want %v", v, got, want)
		}
	}
	if c.m.parameters.Layers != nil {
		return // the weights between distant layers stay
	}
	want := c.derivatives(func(p *Parameters) float64 {
		logZ, err := newProducts(p).logZ(t.Context())
		if err != nil {
			t.Error(err)
		}
		return logZ
	})
	if got := c.expected(w); !floats.EqualApprox(got, want, 2e-3) {
		t.Errorf("the gradient of log Z is %v, want %v", got, want)
	}
}

// expected is the mean of the slopes under p(v).
func (c conforming) expected(w *products) []float64 {
	logs, mean := make([]float64, len(c.visible)), make([]float64, len(w.Flat))
	for s, v := range c.visible {
		logs[s] = -ownF(w, v, w.Hidden())
	}
	sum := floats.LogSumExp(logs)
	for s, v := range c.visible {
		if p := math.Exp(logs[s] - sum); p > 1e-9 {
			floats.AddScaled(mean, p, slope(w, v))
		}
	}
	return mean
}

// chains from any start have the means of v, v² and h after some sweeps.
func (c conforming) chains(t *testing.T) {
	const n, sweeps = 4_000, 30
	w, all := newProducts(c.m.parameters), newChains(n, c.m.parameters)
	all.start(1)
	for sweep := range sweeps {
		all.sweep(w, place{key: 2, step: uint32(sweep)})
	}
	joint, logZ := c.joint(c.m.parameters)
	expectation := func(f func(v, h []float64) float64) (mean, deviation float64) {
		square := 0.0
		for s, v := range c.visible {
			for k, h := range c.hidden {
				p, x := math.Exp(joint[s][k]-logZ), f(v, h)
				mean += p * x
				square += p * x * x
			}
		}
		return mean, math.Sqrt(max(0, square-mean*mean))
	}
	check := func(name string, f func(v, h []float64) float64) {
		want, deviation := expectation(f)
		got := 0.0
		for r := range n {
			got += f(row(all.visible, r), row(all.hidden, r)) / n
		}
		if math.Abs(got-want) > 4.5*deviation/math.Sqrt(n) {
			t.Errorf("the mean of %s is %v, want %v ± %v", name, got, want, deviation/math.Sqrt(n))
		}
	}
	for i := range c.m.parameters.Visible() {
		check(fmt.Sprintf("v%d", i), func(v, _ []float64) float64 { return v[i] })
		check(fmt.Sprintf("v%d²", i), func(v, _ []float64) float64 { return v[i] * v[i] })
		check(fmt.Sprintf("v%dh0", i), func(v, h []float64) float64 { return v[i] * h[0] })
	}
	for j := range c.m.parameters.Hidden() {
		check(fmt.Sprintf("h%d", j), func(_, h []float64) float64 { return h[j] })
	}
}

// learns follows the exact gradient of log p of three rows, whose entropy is log 3.
func (c conforming) learns(t *testing.T) {
	rows := [][]float64{c.visible[0], c.visible[len(c.visible)/2], c.visible[len(c.visible)-1]}
	p := c.m.parameters.clone()
	logP := 0.0
	for range 600 {
		w := newProducts(p)
		step := c.expected(w)
		floats.Scale(-1, step)
		for _, v := range rows {
			floats.AddScaled(step, 1./3, slope(w, v))
		}
		for k, d := range step {
			p.Flat[k] += 0.3 * float32(d)
		}
	}
	w := newProducts(p)
	logZ, err := w.logZ(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range rows {
		logP -= (ownF(w, v, p.Hidden()) + logZ) / 3
	}
	if !(logP > -math.Log(3)-0.1) || logP > -math.Log(3)+1e-6 {
		t.Errorf("log p of three rows is %v after exact steps, want nearly %v", logP, -math.Log(3))
	}
}
