package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// depths are layers of small machines, v the first, of even and odd numbers.
var depths = [][]int{{4, 3, 2}, {3, 2, 4}, {3, 2, 2, 3}, {2, 3, 1, 2, 2}}

// randomDeepModel has normal parameters of a standard deviation between layers that are
// joined.
func randomDeepModel(t *testing.T, layers []int, deviation float64) *Model {
	t.Helper()
	m, err := New(dataset.Shape{Height: 1, Width: layers[0]}).Hidden(layers[1], layers[2:]...).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(len(layers)), uint64(layers[1])))
	p := m.parameters
	for k := range p.Flat {
		p.Flat[k] = float32(deviation * random.NormFloat64())
	}
	for i := range p.Visible() {
		p.unjoin(i, kernels.Row(p.Weights, i))
	}
	return m
}

// deepOracle has the states of a deep machine, and the energy of its definition, in
// double precision: layer by layer, from weights and biases of neighbours.
func deepOracle(m *Model) *oracle.Machine {
	p := m.parameters
	layers := p.Layers
	hidden := 0
	for _, units := range layers[1:] {
		hidden += units
	}
	// unit is the index of unit k of a layer on its side.
	unit := func(layer, k int) int {
		for l := layer % 2; l < layer; l += 2 {
			k += layers[l]
		}
		return k
	}
	return &oracle.Machine{Visible: oracle.Binary(layers[0]), Hidden: oracle.Binary(hidden), Parameters: wide(p),
		Statistics: func(v, h []float64) []float64 {
			x := [][]float64{v}
			for _, units := range layers[1:] {
				x, h = append(x, h[:units]), h[units:]
			}
			t := make([]float64, len(p.Flat))
			even, odd := p.Visible(), p.Hidden()
			for l, states := range x {
				for k, on := range states {
					bias := even*odd + unit(l, k)
					if l%2 == 1 {
						bias += even
					}
					t[bias] = on
					if l == 0 {
						continue
					}
					for j, below := range x[l-1] {
						i, o := unit(l, k), unit(l-1, j)
						if l%2 == 1 {
							i, o = o, i
						}
						t[i*odd+o] = on * below
					}
				}
			}
			return t
		}}
}

// Enumeration of a deep machine is that of its energy, layer by layer, and the mean-field
// bound is at most log p(v).
func TestDeepMachinesAreExact(t *testing.T) {
	for _, layers := range depths {
		m := randomDeepModel(t, layers, 1)
		want := deepOracle(m)
		logZ, err := m.ExactLogZ(t.Context())
		if err != nil || math.Abs(logZ-want.LogZ()) > 1e-11 {
			t.Errorf("%v: log Z = %v (%v), want %v", layers, logZ, err, want.LogZ())
		}
		rows := split(want.Visible)
		logP, err := m.ExactLogP(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		energies, err := m.FreeEnergy(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		gap := 0.0
		for s, v := range want.Visible {
			if l := want.LogP(v); math.Abs(logP[s]-l) > 1e-6 {
				t.Errorf("%v: log p(%v) = %v, want %v", layers, v, logP[s], l)
			}
			bound := -energies[s] - logZ
			if bound > logP[s]+1e-6 {
				t.Errorf("%v: the bound of log p(%v) = %v is %v", layers, v, logP[s], bound)
			}
			gap += (logP[s] - bound) / float64(len(logP))
		}
		if gap < 1e-4 || gap > 1 {
			t.Errorf("%v: the bound is %v below log p in the mean: nothing is shown, or it is of something else", layers, gap)
		}
	}
}

// settled is the mean-field solution of a row of a model.
func settled(m *Model, v []float64, s settling) (x, odd []float64) {
	p := m.parameters
	states, y := kernels.NewMatrix(1, p.Visible()), kernels.NewMatrix(1, p.Hidden())
	for i, on := range v {
		states.Data[i] = float32(on)
	}
	newProducts(p).meanField(states, y, s)
	for _, input := range row(y, 0) {
		odd = append(odd, 1/(1+math.Exp(-input)))
	}
	return row(states, 0), odd
}

// bound is Σ_h q(h) (−E(v,h) − log q(h)) of a factorised q by its definition.
func (o deepBound) bound(v []float64, q []float64) (sum float64) {
	for _, h := range o.Hidden {
		p := 1.0
		for k, on := range h {
			p *= 1 - q[k] + on*(2*q[k]-1)
		}
		if p > 0 {
			sum += p * (floats.Dot(o.Parameters, o.Statistics(v, h)) - math.Log(p))
		}
	}
	return sum
}

type deepBound struct{ *oracle.Machine }

// layered orders means of the hidden layers as the oracle's states are.
func layered(p *Parameters, even, odd []float64) (q []float64) {
	for l := 1; l < len(p.Layers); l++ {
		side := [][]float64{even, odd}[l%2]
		first, last := p.units(l)
		q = append(q, side[first:last]...)
	}
	return q
}

// The free energy of mean field is the negative bound by its definition; sweeps raise the
// bound; where they have settled, no mean of a unit would raise it more.
func TestMeanFieldRaisesTheBound(t *testing.T) {
	for _, layers := range depths {
		m := randomDeepModel(t, layers, 1)
		exact := deepBound{deepOracle(m)}
		for _, v := range exact.Visible {
			before := math.Inf(-1)
			for sweeps := range 6 {
				even, odd := settled(m, v, settling{sweeps: sweeps})
				bound := exact.bound(v, layered(m.parameters, even, odd))
				if bound < before-1e-6 {
					t.Errorf("%v: sweep %d takes the bound of %v from %v to %v", layers, sweeps, v, before, bound)
				}
				before = bound
			}
			even, odd := settled(m, v, toTheEnd)
			q := layered(m.parameters, even, odd)
			best := exact.bound(v, q)
			energies, err := m.FreeEnergy(t.Context(), split([][]float64{v}))
			if err != nil || math.Abs(energies[0]+best) > 1e-5 {
				t.Errorf("%v: F(%v) = %v (%v), want %v", layers, v, energies[0], err, -best)
			}
			for k := range q {
				for _, δ := range []float64{-0.01, 0.01} {
					other := slices.Clone(q)
					other[k] = min(1, max(0, other[k]+δ))
					if b := exact.bound(v, other); b > best+1e-6 {
						t.Errorf("%v: the bound of %v rises from %v to %v with unit %d at %v", layers, v, best, b, k, other[k])
					}
				}
			}
		}
	}
}

// Units of two pathways are joined within each, and with the joint layers above.
func TestPathwaysAreApart(t *testing.T) {
	m, err := New(dataset.Shape{Height: 1, Width: 5}).Hidden(4, 3, 2).Beside(2, 1, 1).Deviation(1).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	p := m.parameters
	joined := [][]bool{} // even units: v and h², odd ones: h¹ and h³
	for i := range 8 {
		row := make([]bool, 6)
		for j := range row {
			tagged := []bool{false, false, false, true, true, false, false, true}[i]
			switch {
			case j < 4:
				row[j] = tagged == (j == 3)
			case i >= 5:
				row[j] = true
			}
		}
		joined = append(joined, row)
	}
	for i, row := range joined {
		for j, is := range row {
			if w := kernels.Row(p.Weights, i)[j]; (w != 0) != is {
				t.Errorf("the weight of units %d and %d is %v, joined %v", i, j, w, is)
			}
		}
	}
	if w := p.disjoint(); w != 0 {
		t.Errorf("the weight %v joins nothing", w)
	}
	kernels.Row(p.Weights, 4)[0] = 3
	if w := p.disjoint(); w != 3 {
		t.Errorf("a weight of 3 between pathways is found as %v", w)
	}
}

// What mean field makes of a row does not depend on those beside it.
func TestMeanFieldOfRowsByThemselves(t *testing.T) {
	for _, layers := range [][]int{{3, 2, 2, 3}, {101, 53, 70}} {
		m := randomDeepModel(t, layers, 0.3)
		p := m.parameters
		random := rand.New(rand.NewPCG(1, 2))
		x, y := kernels.NewMatrix(9, p.Visible()), kernels.NewMatrix(9, p.Hidden())
		for r := range x.Rows {
			for i := range p.observed() {
				kernels.Row(x, r)[i] = float32(random.IntN(2))
			}
		}
		alone := kernels.Clone(x)
		w := newProducts(p)
		w.meanField(x, y, toTheEnd)
		for r := range x.Rows {
			one := kernels.Rows(alone, r, r+1)
			w.meanField(one, kernels.NewMatrix(1, p.Hidden()), toTheEnd)
			if !slices.Equal(row(one, 0), row(x, r)) {
				t.Errorf("%v: row %d has other means by itself", layers, r)
			}
		}
	}
}

// Mean field of many rows takes minutes: no part of it begins once it is cancelled.
func TestMeanFieldIsCanceled(t *testing.T) {
	m := randomDeepModel(t, []int{3, 2, 2, 3}, 0.3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rows := split(oracle.Binary(3))
	states, err := m.observe(rows)
	if err != nil {
		t.Fatal(err)
	}
	before := kernels.Clone(states)
	if err := m.parameters.settle(ctx, states); !errors.Is(err, context.Canceled) || !slices.Equal(states.Data, before.Data) {
		t.Errorf("mean field that is cancelled ends with %v", err)
	}
	if _, err := m.states(ctx, rows); !errors.Is(err, context.Canceled) {
		t.Errorf("rows are states by mean field that is cancelled: %v", err)
	}
}

// A step of a deep machine moves its parameters by the rate times the difference of the
// statistics of mean field and of the chains; weights between layers that are no neighbours
// stay 0.
func TestDeepStepsFollowTheStatistics(t *testing.T) {
	for _, layers := range depths {
		m := randomDeepModel(t, layers, 1)
		rows := split(oracle.Binary(layers[0]))
		for _, s := range []MethodSpec{PCD().Chains(11).MeanField(30).spec, PCD().Chains(11).Centered(false).spec, CD().Steps(2).spec} {
			tr := training(t, m, s, rows)
			p := tr.parameters
			before := wide(p)
			if _, err := tr.take(t.Context(), 0.1); err != nil {
				t.Fatal(err)
			}
			gradient := make([]float64, len(before))
			statistics := func(factor float64, x, y []float64) {
				for i, on := range x {
					for j, other := range y {
						gradient[i*len(y)+j] += factor * on * other
					}
					gradient[len(x)*len(y)+i] += factor * on
				}
				floats.AddScaled(gradient[len(x)*len(y)+len(x):], factor, y)
			}
			for r := range rows.Rows {
				x, y := settled(m, binary(rows.Row(r)), s.settling())
				statistics(1/float64(rows.Rows), x, y)
			}
			n := s.chains(rows.Rows)
			w, odd := newProducts(m.parameters), kernels.NewMatrix(n, p.Hidden())
			w.up(odd, kernels.Rows(tr.chains.visible, 0, n))
			for r := range n {
				var means []float64
				for _, input := range row(odd, r) {
					means = append(means, 1/(1+math.Exp(-input)))
				}
				statistics(-1/float64(n), row(tr.chains.visible, r), means)
			}
			want := before
			floats.AddScaled(want, 0.1, deepCenteredStep(p, gradient, tr.visibleOffsets, tr.hiddenOffsets))
			if after := wide(p); !floats.EqualApprox(after, want, 1e-5) {
				t.Errorf("%v, %v: the parameters are %v, want %v", layers, s, after, want)
			}
		}
	}
}

// deepCenteredStep is centeredStep of parameters some of whose weights stay 0.
func deepCenteredStep(p *Parameters, gradient []float64, μ, λ []float32) []float64 {
	even, odd := len(μ), len(λ)
	step := slices.Clone(gradient)
	biases := gradient[even*odd:]
	for i := range even {
		for j := range odd {
			w := gradient[i*odd+j] - float64(μ[i])*biases[even+j] - biases[i]*float64(λ[j])
			if layer := func(side, unit int) int {
				for l := side; ; l += 2 {
					if _, last := p.units(l); unit < last {
						return l
					}
				}
			}; math.Abs(float64(layer(0, i)-layer(1, j))) > 1 {
				w = 0
			}
			step[i*odd+j] = w
			step[even*odd+i] -= w * float64(λ[j])
			step[even*odd+even+j] -= w * float64(μ[i])
		}
	}
	return step
}

// AIS of deep machines has the mean of Ẑ at Z, reverse AIS that of 1/Ẑ at 1/Z, within their
// standard errors.
func TestDeepAnnealing(t *testing.T) {
	for k, layers := range depths {
		m := randomDeepModel(t, layers, 1).WithSeed(uint64(k))
		base := split(oracle.Binary(layers[0])[1:])
		want := deepOracle(m).LogZ()
		a := Annealing{Schedule: Even(20), Chains: 2000}
		for name, estimate := range map[string]func() (LogZ, error){
			"AIS":         func() (LogZ, error) { return m.AIS(t.Context(), base, a, nil) },
			"reverse AIS": func() (LogZ, error) { return m.ReverseAIS(t.Context(), base, a, nil) },
		} {
			z, err := estimate()
			if err != nil {
				t.Fatal(err)
			}
			if d := float64(z.Value) - want; math.Abs(d) > 4*float64(z.SE)+1e-6 || z.SE > 0.1 {
				t.Errorf("%v: %s is %v ± %v, want %v", layers, name, z.Value, z.SE, want)
			}
		}
	}
}

// With many steps RAISE has log p(v) of a deep machine, whose hidden units it draws given each row. Where these
// are too many it is refused.
func TestDeepRAISE(t *testing.T) {
	for _, layers := range depths[:3] {
		m := randomDeepModel(t, layers, 1)
		rows, exact := oracle.Binary(layers[0]), deepOracle(m)
		logs, err := m.RAISE(t.Context(), split(rows[1:]), split(rows), Annealing{Schedule: Even(300), Chains: 50}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for s, v := range rows {
			if want := exact.LogP(v); math.Abs(logs[s]-want) > 0.2 {
				t.Errorf("%v: log p of %v is %v by RAISE, want %v", layers, v, logs[s], want)
			}
		}
	}
	many, err := New(dataset.Shape{Height: 1, Width: 3}).Hidden(30, 30).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	rows := split(oracle.Binary(3))
	if _, err := many.RAISE(t.Context(), rows, rows, Annealing{}, nil); err == nil || !strings.Contains(err.Error(), "too many to enumerate") {
		t.Errorf("error %v", err)
	}
}

// Chains of a deep machine settle at it: their visible states have its probabilities.
func TestDeepChainsSettleAtTheModel(t *testing.T) {
	for _, layers := range depths[:3] {
		m := randomDeepModel(t, layers, 1)
		exact := deepOracle(m)
		const n = 20_000
		c := newChains(n, m.parameters)
		c.start(3)
		w := newProducts(m.parameters)
		for sweep := range 60 {
			c.sweep(w, place{key: 3, step: uint32(sweep)})
		}
		counts := map[string]float64{}
		for r := range n {
			counts[fmt.Sprint(row(c.visible, r)[:layers[0]])]++
		}
		for _, v := range exact.Visible {
			p := math.Exp(exact.LogP(v))
			if got, se := counts[fmt.Sprint(v)]/n, math.Sqrt(p*(1-p)/n); math.Abs(got-p) > 4.5*se {
				t.Errorf("%v: %v has the frequency %v ± %v, want %v", layers, v, got, se, p)
			}
		}
	}
}

// A deep machine learns the lines of 3by3 without pretraining: log p, which is exact, comes
// closer to that of the data than any factorised model.
func TestDeepTrainingLearns(t *testing.T) {
	set, err := dataset.Spec{Name: "3by3", Validation: new(100)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	machine := New(set.Shape()).Hidden(8, 5)
	run, err := PCD().Chains(100).Steps(3).LearningRate(0.1).Schedule(runs.ConstantRate).Epochs(15).Train(t.Context(), machine, set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, err := run.Evaluate(t.Context(), set, set.Test(), Annealing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.LogPErrs != runs.Exact || e.LogP < -4.2 || float64(e.LogP) > -math.Log(12)+0.01 {
		t.Errorf("log p is %v (%v), baseline %v", e.LogP, e.LogPErrs, e.BaselineLogP)
	}
}

// The free energies of training rows and of many times as many others, which are the same, are
// alike: both are variational where those of the many cannot be summed.
func TestFreeEnergiesAreComparedByOneEstimator(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	train := make([][]float64, 40)
	for i := range train {
		train[i] = make([]float64, 4)
		for k := range train[i] {
			train[i][k] = float64(random.IntN(2))
		}
	}
	set, err := dataset.FromRows("again", dataset.Shape{Height: 2, Width: 2}, train, slices.Repeat(train, 420))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(set.Shape()).Hidden(16, 12).Deviation(1).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	if m.countable(set.Test()) || !m.countable(set.Train()) {
		t.Fatal("the rows can all be summed over, or none")
	}
	e, err := m.Evaluate(t.Context(), set, set.Test(), Annealing{Chains: 2, Schedule: Even(10)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if gap := float64(e.FreeEnergy - e.TrainingFreeEnergy); math.Abs(gap) > 1e-6 {
		t.Errorf("F is %v of the rows, and %v of the same for training", e.FreeEnergy, e.TrainingFreeEnergy)
	}
}

// Clamped chains of a deep machine settle at p(v|known).
func TestDeepClampedChains(t *testing.T) {
	m := randomDeepModel(t, []int{3, 2, 4}, 1)
	exact := deepOracle(m)
	const n = 20_000
	known := kernels.NewMatrix(n, m.parameters.Visible())
	for r := range n {
		kernels.Row(known, r)[1] = 1
	}
	mask := dataset.Mask{true, false, true}
	c, _ := m.clamped(t.Context(), newProducts(m.parameters), known, mask, 0, 40)
	counts, total := map[string]float64{}, 0.0
	for r := range n {
		counts[fmt.Sprint(row(c.visible, r)[:3])]++
	}
	for _, v := range exact.Visible {
		if v[1] == 1 {
			total += math.Exp(exact.LogP(v))
		}
	}
	for _, v := range exact.Visible {
		p := 0.0
		if v[1] == 1 {
			p = math.Exp(exact.LogP(v)) / total
		}
		if got, se := counts[fmt.Sprint(v)]/n, math.Sqrt(p*(1-p)/n); math.Abs(got-p) > 4.5*se {
			t.Errorf("%v has the frequency %v ± %v, want %v", v, got, se, p)
		}
	}
}

// Errors of a sum are to one side where its parts' are.
func TestErrsOfSums(t *testing.T) {
	for _, c := range []struct{ a, b, want runs.Errs }{
		{runs.Exact, runs.Exact, runs.Exact}, {runs.Exact, runs.ErrsLow, runs.ErrsLow}, {runs.ErrsHigh, runs.Exact, runs.ErrsHigh}, {runs.ErrsLow, runs.ErrsLow, runs.ErrsLow}, {runs.ErrsLow, runs.ErrsHigh, runs.ErrsEither}, {runs.ErrsEither, runs.ErrsLow, runs.ErrsEither}, {runs.Exact, runs.ErrsEither, runs.ErrsEither},
	} {
		if got := c.a.And(c.b); got != c.want {
			t.Errorf("%v and %v is %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if runs.ErrsEither.Opposite() != runs.ErrsEither || runs.ErrsLow.Opposite() != runs.ErrsHigh {
		t.Error("differences err to other sides")
	}
}
