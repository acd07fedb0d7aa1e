package boltzmann

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// training is a trainer of a model of random parameters, offsets and chains, on rows
// that it visits in their order.
func training(t *testing.T, m *Model, s MethodSpec, rows dataset.Split) *trainer {
	t.Helper()
	p := m.parameters.clone()
	state := state{parameters: p, visibleOffsets: make([]float32, p.Visible()), hiddenOffsets: make([]float32, p.Hidden())}
	random := rand.New(rand.NewPCG(3, 4))
	for _, offsets := range [][]float32{state.visibleOffsets, state.hiddenOffsets} {
		for k := range offsets {
			if s.Centered {
				offsets[k] = random.Float32()
			}
		}
	}
	for range s.Optimizer.slots() {
		state.moments = append(state.moments, p.zeros())
	}
	if s.persistent() {
		c := newChains(s.replicas(0), p)
		c.start(5)
		state.persistent = c.hidden
	}
	order := make([]int, rows.Rows)
	for r := range order {
		order[r] = r
	}
	return newTrainer(state, s, 7, rows, dataset.Fixed, func(int) []int { return order })
}

func wide(p *Parameters) []float64 { return kernels.Doubles(p.Flat) }

// centeredStep is the step of plain parameters that ascends the gradient of centred ones,
// given the plain gradient. Both are laid out as Parameters.Flat.
func centeredStep(gradient []float64, μ, λ []float32) []float64 {
	visible, hidden := len(μ), len(λ)
	step := slices.Clone(gradient)
	biases := gradient[visible*hidden:]
	for i := range visible {
		for j := range hidden {
			w := gradient[i*hidden+j] - float64(μ[i])*biases[visible+j] - biases[i]*float64(λ[j])
			step[i*hidden+j] = w
			step[visible*hidden+i] -= w * float64(λ[j])
			step[visible*hidden+visible+j] -= w * float64(μ[i])
		}
	}
	return step
}

// algorithms are methods of each kind, centred and not, with fewer rows in a minibatch
// than in a full one.
func algorithms() []MethodSpec {
	var all []MethodSpec
	for _, m := range []Method{CD(), CD().Steps(3), PCD().Chains(11), PCD().Chains(40).Steps(2), PT().Chains(7).Temperatures(3)} {
		all = append(all, m.spec, m.Centered(false).spec)
	}
	return all
}

// A step moves the parameters by the rate times the difference of the statistics of the
// data and of the chains, in the coordinates of the offsets, which have moved before.
func TestStepsFollowTheStatistics(t *testing.T) {
	m := randomModel(t, 6, 4)
	rows := split(oracle.Binary(6)[10:43])
	for _, s := range algorithms() {
		s.OffsetRate = 0.25
		tr := training(t, m, s, rows)
		before, μ := wide(tr.parameters), slices.Clone(tr.visibleOffsets)
		if _, err := tr.take(t.Context(), 0.1); err != nil {
			t.Fatal(err)
		}
		gradient, exact := make([]float64, len(before)), exactly(m)
		visible := make([]float64, 6)
		data := 1 / float64(rows.Rows)
		for r := range rows.Rows {
			v := binary(rows.Row(r))
			floats.AddScaled(gradient, data, exact.Posterior(v))
			floats.AddScaled(visible, data, v)
		}
		n := s.chains(rows.Rows)
		for r := range n {
			floats.AddScaled(gradient, -1/float64(n), exact.Posterior(row(tr.chains.visible, r)))
		}
		for i, mean := range visible {
			want := 0.0
			if s.Centered {
				want = float64(μ[i]) + 0.25*(mean-float64(μ[i]))
			}
			if math.Abs(float64(tr.visibleOffsets[i])-want) > 1e-6 {
				t.Errorf("%v: visible offset %d is %v, want %v", s, i, tr.visibleOffsets[i], want)
			}
		}
		floats.AddScaled(before, 0.1, centeredStep(gradient, tr.visibleOffsets, tr.hiddenOffsets))
		if after := wide(tr.parameters); !floats.EqualApprox(after, before, 1e-6) {
			t.Errorf("%v: the parameters are %v, want %v", s, after, before)
		}
	}
}

// binary returns the values of a row, 0 and 1.
func binary(row []uint8) []float64 {
	x := make([]float64, len(row))
	for i, value := range row {
		x[i] = float64(value / 255)
	}
	return x
}

// row is a row of a matrix in double precision.
func row(m kernels.Matrix, r int) []float64 {
	var x []float64
	for _, value := range kernels.Row(m, r) {
		x = append(x, float64(value))
	}
	return x
}

// meanStep is the mean over many steps from the same parameters, each with draws of its
// own, of the difference that a step makes, and its standard errors.
func meanStep(t *testing.T, tr *trainer, steps int) (mean, se []float64) {
	t.Helper()
	start := slices.Clone(tr.parameters.Flat)
	origin := wide(tr.parameters)
	mean, se = make([]float64, len(start)), make([]float64, len(start))
	for range steps {
		if _, err := tr.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		for k, value := range floats.SubTo(make([]float64, len(start)), wide(tr.parameters), origin) {
			mean[k] += value / float64(steps)
			se[k] += value * value / float64(steps)
		}
		copy(tr.parameters.Flat, start)
		tr.products.refreshAll()
	}
	for k := range se {
		se[k] = math.Sqrt(max(0, se[k]-mean[k]*mean[k]) / float64(steps))
	}
	return mean, se
}

// contrast is the expected direction of CD-k by enumeration: the statistics of the data
// less those after k sweeps from it.
func contrast(m *oracle.Machine, data [][]float64, k int) []float64 {
	p := make([]float64, len(m.Visible)) // of visible states
	gradient := make([]float64, len(m.Parameters))
	index := func(v []float64) int {
		return slices.IndexFunc(m.Visible, func(s []float64) bool { return floats.Equal(s, v) })
	}
	for _, v := range data {
		p[index(v)] += 1 / float64(len(data))
		floats.AddScaled(gradient, 1/float64(len(data)), m.Posterior(v))
	}
	for range k {
		next := make([]float64, len(p))
		for from, v := range m.Visible {
			for _, h := range m.Hidden {
				for to, w := range m.Visible {
					next[to] += p[from] * math.Exp(m.LogPHidden(h, v)+m.LogPVisible(w, h))
				}
			}
		}
		p = next
	}
	for s, v := range m.Visible {
		floats.AddScaled(gradient, -p[s], m.Posterior(v))
	}
	return gradient
}

// In expectation CD-k takes the difference of the statistics of the data and of those
// after k sweeps from it; that of many sweeps is the gradient of log p, that of one is
// not. Steps of chains that have settled are gradients of log p, too.
func TestStepsInExpectation(t *testing.T) {
	m := randomModel(t, 3, 2)
	exact := exactly(m)
	data := [][]float64{{0, 1, 1}, {1, 1, 1}, {0, 1, 0}, {0, 0, 0}}
	gradient := make([]float64, len(exact.Parameters))
	for _, v := range data {
		floats.AddScaled(gradient, 0.25, exact.Gradient(v))
	}
	if d := floats.Distance(contrast(exact, data, 100), gradient, math.Inf(1)); d > 1e-9 {
		t.Errorf("CD-100 is %v from the gradient", d)
	}
	if d := floats.Distance(contrast(exact, data, 1), gradient, math.Inf(1)); d < 0.02 {
		t.Errorf("CD-1 is no more than %v from the gradient: nothing is shown", d)
	}
	rows := split(slices.Repeat(data, 16))
	for _, c := range []struct {
		spec MethodSpec
		want []float64
	}{
		{CD().spec, contrast(exact, data, 1)},
		{CD().Steps(2).Centered(false).spec, contrast(exact, data, 2)},
		{PCD().Chains(64).Steps(8).spec, gradient},
		{PCD().Chains(64).Steps(8).Centered(false).spec, gradient},
		{PT().Chains(32).Temperatures(3).spec, gradient},
	} {
		c.spec.OffsetRate = 0
		tr := training(t, m, c.spec, rows)
		for range 20 { // chains settle
			meanStep(t, tr, 1)
		}
		mean, se := meanStep(t, tr, 2000)
		for k, want := range centeredStep(c.want, tr.visibleOffsets, tr.hiddenOffsets) {
			if math.Abs(mean[k]-want) > 4.5*se[k]+1e-6 {
				t.Errorf("%v: the mean of step %d is %v ± %v, want %v", c.spec, k, mean[k], se[k], want)
			}
		}
	}
}

// A step of spins is the step of the parameters J, B and C of units of −1 and 1, along the difference of
// ⟨stᵀ⟩, ⟨s⟩ and ⟨t⟩ between the data and the chains, at a sixteenth of the rate.
func TestStepsOfSpins(t *testing.T) {
	m := randomModel(t, 6, 4)
	rows := split(oracle.Binary(6)[10:43])
	for _, method := range []Method{CD(), PCD().Chains(11), PCD().Chains(11).Momentum(0.5)} {
		tr := training(t, m, method.Spins(true).spec, rows)
		for _, offsets := range [][]float32{tr.visibleOffsets, tr.hiddenOffsets} {
			for k := range offsets {
				offsets[k] = 0.5
			}
		}
		want, err := m.Spins()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.take(t.Context(), 0.4); err != nil {
			t.Fatal(err)
		}
		exact := exactly(m)
		add := func(v []float64, factor float64) {
			posterior := exact.Posterior(v) // vhᵀ, v and h
			for i, x := range v {
				s := 2*x - 1
				want.B[i] += factor * s
				for j := range want.C {
					want.W.Set(i, j, want.W.At(i, j)+factor*s*(2*posterior[6*4+6+j]-1))
				}
			}
			for j := range want.C {
				want.C[j] += factor * (2*posterior[6*4+6+j] - 1)
			}
		}
		n, rate := method.spec.chains(rows.Rows), 0.4/16
		for r := range rows.Rows {
			add(binary(rows.Row(r)), rate/float64(rows.Rows))
		}
		for r := range n {
			add(row(tr.chains.visible, r), -rate/float64(n))
		}
		converted, _ := want.Converted(PlusMinusOne, PlusMinusOne, Minus)
		p := m.parameters.zeros()
		converted.write(p)
		if after := wide(tr.parameters); !floats.EqualApprox(after, wide(p), 1e-5) {
			t.Errorf("%v: the parameters are %v, want %v", method, after, wide(p))
		}
	}
}

// CosineRate multiplies the rate by e^(γ cosine) after each step but the first, with the cosine between the
// steps' gradients of W, which are in the direction of what W moves by.
func TestCosineRate(t *testing.T) {
	const γ, rate = 0.3, 0.05
	m := randomModel(t, 6, 4)
	tr := training(t, m, PCD().Chains(11).Centered(false).CosineRate(γ).spec, split(oracle.Binary(6)[10:43]))
	var before []float64
	factor := 1.0
	for step := range 6 {
		from := wide(tr.parameters)
		if _, err := tr.take(t.Context(), rate); err != nil {
			t.Fatal(err)
		}
		moved := wide(tr.parameters)[:6*4]
		floats.Sub(moved, from[:6*4])
		gradient := floats.ScaleTo(make([]float64, len(moved)), 1/(rate*factor), moved)
		if step > 0 {
			cosine := floats.Dot(moved, before) / (floats.Norm(moved, 2) * floats.Norm(before, 2))
			factor *= math.Exp(γ * cosine)
		}
		if got := math.Exp(tr.logFactor); math.Abs(got-factor) > 1e-4*factor {
			t.Errorf("after step %d the factor is %v, want %v", step+1, got, factor)
		}
		for k, g := range gradient {
			if stored := float64(tr.moments[0].Weights.Data[k]); math.Abs(stored-g) > 1e-4 {
				t.Fatalf("step %d moves weight %d by the gradient %v, and keeps %v", step+1, k, g, stored)
			}
		}
		before = moved
	}
	if factor == 1 {
		t.Error("the rate stays")
	}
}

// With offsets 1 the centred step is the plain one of the machine whose units are 0 where
// they were 1.
func TestCenteredStepsDoNotDependOnTheCoding(t *testing.T) {
	const visible, hidden = 4, 3
	m := randomModel(t, visible, hidden)
	exact := exactly(m)
	v := []float64{1, 0, 0, 1}
	ones := func(n int) []float32 { return slices.Repeat([]float32{1}, n) }
	step := centeredStep(exact.Gradient(v), ones(visible), ones(hidden))
	// The same distribution with v and h replaced by 1−v and 1−h.
	flipped := slices.Clone(exact.Parameters)
	biases := flipped[visible*hidden:]
	for k := range biases {
		biases[k] = -biases[k]
	}
	for i := range visible {
		for j := range hidden {
			biases[i] -= exact.Parameters[i*hidden+j]
			biases[visible+j] -= exact.Parameters[i*hidden+j]
		}
	}
	other := oracle.Bipartite(oracle.Binary(visible), oracle.Binary(hidden), flipped)
	flippedV := []float64{0, 1, 1, 0}
	if math.Abs(other.LogP(flippedV)-exact.LogP(v)) > 1e-12 {
		t.Fatal("the flipped machine is another distribution")
	}
	want := other.Gradient(flippedV)[:visible*hidden]
	if !floats.EqualApprox(step[:visible*hidden], want, 1e-12) {
		t.Errorf("the centred gradient of the weights is %v, that of flipped units %v", step[:visible*hidden], want)
	}
}

// Weight decay takes β₁ sign(w) + β₂w from the gradient of each weight.
func TestWeightDecay(t *testing.T) {
	m := randomModel(t, 6, 4)
	m.parameters.Weights.Data[3] = 0
	rows := split(oracle.Binary(6))
	step := func(s MethodSpec) []float64 {
		tr := training(t, m, s, rows)
		if _, err := tr.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		return wide(tr.parameters)[:24]
	}
	plain, decayed := step(CD().spec), step(CD().L1(0.01).L2(0.1).spec)
	for k, w := range m.parameters.Weights.Data {
		want := plain[k] - 0.1*float64(w)
		switch {
		case w > 0:
			want -= 0.01
		case w < 0:
			want += 0.01
		}
		if math.Abs(decayed[k]-want) > 1e-6 {
			t.Errorf("weight %d is %v after a step, want %v", k, decayed[k], want)
		}
	}
}

// A step of pl or rm that flips each unit of each row follows the gradient of the
// log-pseudo-likelihood or of ratio matching, by finite differences, and one that flips some of
// them does so in expectation.
func TestPseudoLikelihoodSteps(t *testing.T) {
	m := randomModel(t, 6, 4)
	rows := split(oracle.Binary(6)[10:43])
	gradients := map[Algorithm][]float64{}
	for algorithm, of := range map[Algorithm]func(a float64) float64{ // of F(v) less F of v with a unit flipped
		PseudoLikelihood: func(a float64) float64 { return -math.Log1p(math.Exp(a)) },
		RatioMatching:    func(a float64) float64 { return -math.Pow(1+math.Exp(-a), -2) },
	} {
		gradients[algorithm] = fd.Gradient(nil, func(parameters []float64) (sum float64) {
			machine := oracle.Bipartite(oracle.Binary(6), oracle.Binary(4), parameters)
			for r := range rows.Rows {
				v := binary(rows.Row(r))
				for i := range v {
					other := slices.Clone(v)
					other[i] = 1 - v[i]
					sum += of(machine.FreeEnergy(v)-machine.FreeEnergy(other)) / float64(rows.Rows)
				}
			}
			return sum
		}, wide(m.parameters), &fd.Settings{Formula: fd.Central})
	}
	for _, method := range []Method{PL(), PL().Centered(false), RM(), RM().Centered(false)} {
		gradient := gradients[method.spec.Algorithm]
		all := method.Steps(6).OffsetRate(1).spec
		tr := training(t, m, all, rows)
		before := wide(tr.parameters)
		if _, err := tr.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		got := floats.SubTo(make([]float64, len(before)), wide(tr.parameters), before)
		if want := centeredStep(gradient, tr.visibleOffsets, tr.hiddenOffsets); !floats.EqualApprox(got, want, 1e-5) {
			t.Errorf("%v: the step is %v, want %v", all, got, want)
		}
		some := method.Steps(2).spec
		some.OffsetRate = 0
		tr = training(t, m, some, rows)
		mean, se := meanStep(t, tr, 1000)
		for k, want := range centeredStep(gradient, tr.visibleOffsets, tr.hiddenOffsets) {
			if math.Abs(mean[k]-want) > 4.5*se[k]+1e-6 {
				t.Errorf("%v: the mean of step %d is %v ± %v, want %v", some, k, mean[k], se[k], want)
			}
		}
	}
}

// The target of sparsity adds the gradient of its cross-entropy, by finite differences.
func TestSparsity(t *testing.T) {
	const β, ρ = 0.3, 0.1
	m := randomModel(t, 6, 4)
	rows := split(oracle.Binary(6)[10:43])
	step := func(s MethodSpec) (*trainer, []float64) {
		tr := training(t, m, s, rows)
		before := wide(tr.parameters)
		if _, err := tr.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		return tr, floats.SubTo(make([]float64, len(before)), wide(tr.parameters), before)
	}
	entropy := func(parameters []float64) (sum float64) {
		machine := oracle.Bipartite(oracle.Binary(6), oracle.Binary(4), parameters)
		for r := range rows.Rows {
			for _, mean := range machine.Posterior(binary(rows.Row(r)))[6*4+6:] {
				sum -= (ρ*math.Log(mean) + (1-ρ)*math.Log(1-mean)) / float64(rows.Rows)
			}
		}
		return sum
	}
	gradient := fd.Gradient(nil, entropy, wide(m.parameters), &fd.Settings{Formula: fd.Central})
	for _, method := range []Method{CD(), CD().Centered(false), PCD().Chains(11)} {
		_, plain := step(method.spec)
		tr, sparse := step(method.Sparsity(β, ρ).spec)
		want := slices.Clone(plain)
		floats.AddScaled(want, -β, centeredStep(gradient, tr.visibleOffsets, tr.hiddenOffsets))
		if !floats.EqualApprox(sparse, want, 1e-5) {
			t.Errorf("%v: the step is %v, want %v", method.spec, sparse, want)
		}
	}
}

// No hidden unit has weights of a greater norm than it may have, and those of a smaller one
// are as they were. In the coordinates of the offsets nothing else moves.
func TestMaxNorm(t *testing.T) {
	m := randomModel(t, 6, 4)
	rows := split(oracle.Binary(6)[10:43])
	after := func(method Method) *trainer {
		tr := training(t, m, method.spec, rows)
		if _, err := tr.take(t.Context(), 0.1); err != nil {
			t.Fatal(err)
		}
		return tr
	}
	norm := func(p *Parameters, j int) (sum float64) {
		for i := range p.Visible() {
			sum = math.Hypot(sum, float64(kernels.Row(p.Weights, i)[j]))
		}
		return sum
	}
	for _, method := range []Method{CD(), PCD().Centered(false)} {
		free := after(method)
		var norms []float64
		for j := range 4 {
			norms = append(norms, norm(free.parameters, j))
		}
		limit := (slices.Min(norms) + slices.Max(norms)) / 2
		held := after(method.MaxNorm(limit))
		for j, before := range norms {
			if got, want := norm(held.parameters, j), min(before, limit); math.Abs(got-want) > 1e-6 {
				t.Errorf("%v: the norm of unit %d is %v, want %v", method.spec, j, got, want)
			}
		}
		// The biases of the centred machine: b + Wλ and c + Wᵀμ.
		biases := func(tr *trainer) []float64 {
			all := wide(tr.parameters)[6*4:]
			for i := range 6 {
				for j, w := range kernels.Row(tr.parameters.Weights, i) {
					all[i] += float64(w * tr.hiddenOffsets[j])
					all[6+j] += float64(w * tr.visibleOffsets[i])
				}
			}
			return all
		}
		if got, want := biases(held), biases(free); !floats.EqualApprox(got, want, 1e-5) {
			t.Errorf("%v: the biases of the centred machine are %v, want %v", method.spec, got, want)
		}
	}
}

// Steps of the optimisers are those of their published formulas.
func TestOptimizers(t *testing.T) {
	const n = 5
	random := rand.New(rand.NewPCG(1, 1))
	for _, method := range []Method{CD(), CD().Momentum(0.8), CD().AdamDecays(0.7, 0.9)} {
		moments := []*Parameters{MachineSpec{Hidden: 1}.parameters(2), MachineSpec{Hidden: 1}.parameters(2)}
		o := newOptimizer(method.spec, moments[:method.spec.Optimizer.slots()])
		var mean, square, velocity [n]float64
		for step := 1; step <= 4; step++ {
			o.begin(0.1, step)
			gradient, want := make([]float32, n), make([]float64, n)
			for k := range gradient {
				g := random.NormFloat64()
				gradient[k] = float32(g)
				velocity[k] = 0.8*velocity[k] + g
				mean[k] = 0.7*mean[k] + 0.3*g
				square[k] = 0.9*square[k] + 0.1*g*g
				switch method.spec.Optimizer {
				case GradientDescent:
					want[k] = 0.1 * g
				case Momentum:
					want[k] = 0.1 * velocity[k]
				case Adam:
					want[k] = 0.1 * mean[k] / (1 - math.Pow(0.7, float64(step))) / (math.Sqrt(square[k]/(1-math.Pow(0.9, float64(step)))) + 1e-8)
				}
			}
			scaled(gradient[:2], o.turn(gradient[:2], 0), gradient[:2])
			scaled(gradient[2:], o.turn(gradient[2:], 2), gradient[2:])
			for k, got := range gradient {
				if math.Abs(float64(got)-want[k]) > 1e-5 {
					t.Errorf("%v: step %d of parameter %d is %v, want %v", method.spec.Optimizer, step, k, got, want[k])
				}
			}
		}
	}
}

// The estimate of the pseudo-likelihood by all units is the sum of their conditional
// log-probabilities, and that by fewer is it in the mean over where they begin.
func TestPseudoLikelihood(t *testing.T) {
	m := randomModel(t, 6, 4)
	exact := exactly(m)
	for _, v := range exact.Visible {
		want := 0.0
		for i := range v {
			other := slices.Clone(v)
			other[i] = 1 - v[i]
			want -= statistics.Softplus(exact.FreeEnergy(v) - exact.FreeEnergy(other))
		}
		for _, units := range []int{1, 2, 4, 6, 9} {
			mean := 0.0
			for first := range v {
				states, w := matrix([][]float64{v}), newProducts(m.parameters)
				inputs := kernels.NewMatrix(1, 4)
				w.up(inputs, states)
				room, off := make([]float32, 4), make([]float32, 4)
				copy(room, inputs.Data)
				partition := w.latent.sumOut(room, off)
				logs := bernoulli{}.pseudo(w, states.Data, inputs.Data, partition, room, off, first, units)
				var l [1]likelihood
				newMeter(w).measure(l[:], states, inputs, kernels.Matrix{}, place{}, units)
				if f := exact.FreeEnergy(v); math.Abs(l[0].freeEnergy-f) > 1e-5 {
					t.Fatalf("F(%v) = %v, want %v", v, l[0].freeEnergy, f)
				}
				for j, σ := range inputs.Data {
					if p := exact.Posterior(v)[6*4+6+j]; math.Abs(float64(σ)+p) > 1e-6 {
						t.Fatalf("hidden unit %d has the mean %v, want %v", j, -σ, p)
					}
				}
				mean += floats.Sum(logs) / float64(len(logs))
			}
			if math.Abs(mean-want) > 1e-5 {
				t.Errorf("log PL(%v) by %d units is %v, want %v", v, units, mean, want)
			}
		}
	}
}

// Steps do not depend on the number of processors, and are the same each time.
func TestStepsDependOnTheSeedAlone(t *testing.T) {
	m := randomModel(t, 101, 53)
	rows := split(oracle.Binary(7))
	rows.Shape.Width, rows.Values = 101, dataset.Bytes(101, rows.Bytes()[:8*101])
	run := func(s MethodSpec) string {
		tr := training(t, m, s, rows)
		for range 3 {
			if _, err := tr.take(t.Context(), 0.01); err != nil {
				t.Fatal(err)
			}
		}
		return fmt.Sprint(tr.parameters.Flat, tr.chains.hidden.Data)
	}
	for _, s := range algorithms() {
		want := run(s)
		oneProcessor(func() {
			if run(s) != want {
				t.Errorf("%v: one processor takes other steps than several", s)
			}
		})
	}
}

// Replicas of chains settle at p^β, the model whose parameters are multiplied by β, though
// they swap their states.
func TestReplicasSettleAtTheirTemperatures(t *testing.T) {
	const n, temperatures = 5000, 3
	m := randomModel(t, 3, 2)
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] *= 2 // so that temperatures differ
	}
	tr := training(t, m, PT().Chains(n).Temperatures(temperatures).Centered(false).spec, split(oracle.Binary(3)))
	before := slices.Clone(tr.persistent.Data)
	for range 30 {
		if _, err := tr.take(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Equal(before, tr.persistent.Data) {
		t.Fatal("the chains have not moved")
	}
	for level := range temperatures {
		cool := exactly(m)
		floats.Scale(1-float64(level)/temperatures, cool.Parameters)
		counts := make([]float64, len(cool.Hidden))
		for r := range n {
			h := kernels.Row(tr.persistent, level*n+r)
			counts[int(h[0])+2*int(h[1])]++
		}
		chi2, logZ := 0.0, cool.LogZ()
		for s, h := range cool.Hidden {
			p := 0.0
			for _, v := range cool.Visible {
				p += math.Exp(cool.LogPHidden(h, v) - cool.FreeEnergy(v) - logZ)
			}
			chi2 += (counts[s] - n*p) * (counts[s] - n*p) / (n * p)
		}
		if chi2 > 16.3 { // 99.9 % quantile at 3 degrees of freedom
			t.Errorf("level %d: chi-squared %.1f of the states %v", level, chi2, counts)
		}
	}
}

// Where a chain does not leave the mode that it began in, one of parallel tempering does.
func TestReplicasLeaveModes(t *testing.T) {
	const n, steps = 40, 300
	m := randomModel(t, 8, 8)
	p := m.parameters
	for k := range p.Weights.Data {
		p.Weights.Data[k] = 2 // all units on or all off: the two have the same energy
	}
	for k := range p.VisibleBiases {
		p.VisibleBiases[k], p.HiddenBiases[k] = -8, -8
	}
	inSecond := func(s MethodSpec) float64 {
		tr := training(t, m, s, split(oracle.Binary(8)[:9]))
		clear(tr.persistent.Data) // off
		on := 0.0
		for range steps {
			if _, err := tr.take(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			for r := range n {
				on += float64(kernels.Row(tr.chains.visible, r)[0]) / (n * steps)
			}
		}
		return on
	}
	if on := inSecond(PCD().Chains(n).spec); on > 0.01 {
		t.Errorf("chains of PCD are in the second mode for %v of the time: nothing is shown", on)
	}
	if on := inSecond(PT().Chains(n).spec); on < 0.3 || on > 0.7 {
		t.Errorf("chains of PT are in the second mode for %v of the time, want about half", on)
	}
}

// fuse is a context that is cancelled after some calls of Err.
type fuse struct {
	context.Context
	calls atomic.Int64
}

func (f *fuse) Err() error {
	if f.calls.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A step that is cancelled anywhere leaves the state as it was.
func TestCanceledStepsLeaveTheState(t *testing.T) {
	m, rows := randomModel(t, 6, 4), split(oracle.Binary(6))
	for _, method := range []Method{CD().Steps(3), PCD().Chains(70).Steps(3), PT().Chains(7).Temperatures(3), PL(), PCD().Chains(70).Natural(Joint, 1)} {
		for calls := range int64(12) {
			tr := training(t, m, method.Optimizer(Adam).spec, rows)
			before := runs.Snapshot{Tensors: tr.tensors()}.Checksum()
			f := &fuse{Context: t.Context()}
			f.calls.Store(calls)
			_, err := tr.take(f, 0.1)
			if same := (runs.Snapshot{Tensors: tr.tensors()}).Checksum() == before; err == nil && same || err != nil && !same {
				t.Errorf("%v: error %v after %d calls, and the state is the same: %v", method.spec, err, calls, same)
			}
			if calls == 0 && err == nil {
				t.Errorf("%v: a cancelled step returns no error", method.spec)
			}
		}
	}
}
