package boltzmann

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// hiddenModel has random parameters of a machine of few units.
func hiddenModel(t *testing.T, visible int, machine func(Machine) Machine) *Model {
	t.Helper()
	m, err := machine(New(dataset.Shape{Height: 1, Width: visible})).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(visible), 9))
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] = float32(random.NormFloat64()) / 2
	}
	return m
}

// Machines with hidden units of other kinds.
func categoricalHidden(m Machine) Machine { return m.Hidden(6).HiddenCategorical(3) }
func gaussianHidden(m Machine) Machine    { return m.Hidden(2).HiddenUnits(Gaussian) }
func mixture(m Machine) Machine           { return m.Hidden(3).HiddenCategorical(3).Visible(Gaussian) }
func allCategorical(m Machine) Machine    { return m.Hidden(6).HiddenCategorical(2).Categorical(3) }
func labeledCategories(m Machine) Machine { return categoricalHidden(m).Labels(3) }

// Exact samples have the probabilities of enumeration, whichever side is the smaller one.
func TestCategoricalHiddenUnitsAreExact(t *testing.T) {
	for _, m := range []*Model{
		hiddenModel(t, 5, categoricalHidden), hiddenModel(t, 3, categoricalHidden), hiddenModel(t, 6, allCategorical), hiddenModel(t, 3, labeledCategories),
	} {
		exact := exactly(m)
		const n = 5_000
		states, err := m.exactStates(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		frequent(t, states, exact.Visible, func(v []float64) float64 { return math.Exp(exact.LogP(v)) })
	}
}

// quadrature is log Σ_h or ∫ e^(−E(v,h)) over all hidden states.
func quadrature(p *Parameters, v []float64) float64 {
	states, volume := statesOf(p.Spec.HiddenUnits, p.Spec.HiddenCategories, p.Hidden())
	var terms []float64
	for _, h := range states {
		terms = append(terms, volume-definedEnergy(p, v, h))
	}
	return floats.LogSumExp(terms)
}

// Gaussian units on both sides are a normal distribution: log Z and log p(v) are those of its
// precision matrix, and what is not positive definite is refused.
func TestGaussianUnitsOnBothSides(t *testing.T) {
	m := hiddenModel(t, 3, func(m Machine) Machine { return gaussianHidden(m).Visible(Gaussian) })
	p := m.parameters
	// −E(v,h) = ηᵀx − ½xᵀΛx − ½Σ b²/σ², x = (v,h)
	Λ, η, constant := mat.NewSymDense(5, nil), mat.NewVecDense(5, nil), 0.0
	for i := range 3 {
		precision, b := math.Exp(-float64(p.LogVariances[i])), float64(p.VisibleBiases[i])
		Λ.SetSym(i, i, precision)
		η.SetVec(i, b*precision)
		constant -= b * b * precision / 2
		for j := range 2 {
			Λ.SetSym(i, 3+j, -precision*float64(kernels.Row(p.Weights, i)[j]))
		}
	}
	for j := range 2 {
		Λ.SetSym(3+j, 3+j, 1)
		η.SetVec(3+j, float64(p.HiddenBiases[j]))
	}
	var factor mat.Cholesky
	if !factor.Factorize(Λ) {
		t.Fatal("the model of the test is none")
	}
	mean := mat.NewVecDense(5, nil)
	if err := factor.SolveVecTo(mean, η); err != nil {
		t.Fatal(err)
	}
	want := constant + mat.Dot(η, mean)/2 + 2.5*math.Log(2*math.Pi) - factor.LogDet()/2
	logZ, err := m.ExactLogZ(t.Context())
	if err != nil || math.Abs(logZ-want) > 1e-9 {
		t.Errorf("log Z = %v (%v), want %v", logZ, err, want)
	}
	v := []float64{0.3, -1, 0.7}
	if got, want := p.freeEnergy(narrow(v), make([]float64, 2)), -quadrature(p, v); math.Abs(got-want) > 1e-6 {
		t.Errorf("F(%v) = %v, want %v", v, got, want)
	}
	labelled := hiddenModel(t, 3, func(m Machine) Machine { return gaussianHidden(m).Visible(Gaussian).Labels(2) })
	var terms []float64 // log Z given each class
	for _, y := range oracle.Categorical(1, 2) {
		q := labelled.parameters
		given := p.zeros()
		copy(given.Weights.Data, q.Weights.Data)
		copy(given.VisibleBiases, q.VisibleBiases)
		copy(given.LogVariances, q.LogVariances)
		class := 3 + slices.Index(y, 1)
		copy(given.HiddenBiases, q.HiddenBiases)
		kernels.AddMultiple(given.HiddenBiases, 1, kernels.Row(q.Weights, class))
		logZ, err := given.gaussianLogZ()
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, float64(q.VisibleBiases[class])+logZ)
	}
	if logZ, err := labelled.ExactLogZ(t.Context()); err != nil || math.Abs(logZ-floats.LogSumExp(terms)) > 1e-6 {
		t.Errorf("log Z with a label = %v (%v), want %v", logZ, err, floats.LogSumExp(terms))
	}
	if _, err := m.ReverseAIS(t.Context(), split([][]float64{{0, 0.5, 1}}), Annealing{Schedule: Even(2)}, nil); err == nil || !strings.Contains(err.Error(), "enumeration of one side") {
		t.Errorf("reverse AIS: error %v", err)
	}
	for k := range p.Weights.Data {
		p.Weights.Data[k] *= 10
	}
	for _, err := range []error{
		second(m.ExactLogZ(t.Context())),
		second(gaussianHidden(New(m.shape)).Visible(Gaussian).Deviation(50).Model(1)),
		second(CD().BatchSize(20).LearningRate(1000).Epochs(3).Train(t.Context(), gaussianHidden(New(grays(t).Shape())).Visible(Gaussian), grays(t), t.TempDir())),
	} {
		if err == nil || !strings.Contains(err.Error(), "is not positive definite") {
			t.Errorf("error %v, want one that says that the precision is not positive definite", err)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		p.Weights.Data[0] = float32(v)
		if _, err := p.definite(); err == nil || !strings.Contains(err.Error(), "in row 1 and column 1, so") {
			t.Errorf("a weight of %v: error %v, want one that names the entry of the precision", v, err)
		}
	}
}

// A metric whose chains have diverged names the entry that is not finite.
func TestMetricTakesFiniteChainsAlone(t *testing.T) {
	p := hiddenModel(t, 2, func(m Machine) Machine { return m.Hidden(2) }).parameters
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		f := newMetric(MethodSpec{Chains: 3, BatchSize: 1, Damping: 0.1}, p)
		f.visible.Data[0], f.hidden.Data[0] = float32(v), 1
		err := f.solve(kernels.NewMatrix(3, 2), kernels.NewMatrix(3, 2), 1, make([]float32, 2), make([]float32, 2))
		if !errors.Is(err, runs.ErrDiverged) || !strings.Contains(err.Error(), "because it is NaN in row 1 and column 1") {
			t.Errorf("a unit of %v: error %v", v, err)
		}
	}
}

// Chains of hidden units of other kinds settle at the model, and clamped ones at p(v|known).
func TestChainsOfHiddenKindsSettle(t *testing.T) {
	const n, sweeps = 8_000, 25
	for _, machine := range []func(Machine) Machine{categoricalHidden, gaussianHidden} {
		m := hiddenModel(t, 3, machine)
		w, c, states := newProducts(m.parameters), newChains(n, m.parameters), oracle.Binary(3)
		c.start(1)
		for sweep := range sweeps {
			c.sweep(w, place{key: 1, step: uint32(sweep)})
		}
		logP, err := m.ExactLogP(t.Context(), split(states))
		if err != nil {
			t.Fatal(err)
		}
		probability := map[string]float64{}
		known := 0.0
		for s, v := range states {
			probability[fmt.Sprint(v)] = math.Exp(logP[s])
			if v[1] == 0 {
				known += math.Exp(logP[s])
			}
		}
		frequent(t, c.visible, states, func(v []float64) float64 { return probability[fmt.Sprint(v)] })
		clamped, _ := m.clamped(t.Context(), w, kernels.NewMatrix(n, 3), dataset.Mask{true, false, true}, 0, 30)
		frequent(t, clamped.visible, states, func(v []float64) float64 {
			if v[1] == 1 {
				return 0
			}
			return probability[fmt.Sprint(v)] / known
		})
	}
}

// Gaussian hidden units are drawn with their means and the variance 1.
func TestGaussianHiddenUnitsAreDrawn(t *testing.T) {
	const n = 20_000
	p := hiddenModel(t, 2, gaussianHidden).parameters
	states, inputs := kernels.NewMatrix(n, 2), kernels.NewMatrix(n, 2)
	for r := range n {
		copy(kernels.Row(inputs, r), []float32{3, -0.5})
	}
	place{key: 4}.draw(p.hiddenUnits(), states, inputs)
	for j, mean := range []float64{3, -0.5} {
		values := make([]float64, n)
		for r := range n {
			values[r] = float64(kernels.Row(states, r)[j])
		}
		if got := stat.Mean(values, nil); math.Abs(got-mean) > 4.5/math.Sqrt(n) {
			t.Errorf("unit %d has the mean %v, want %v", j, got, mean)
		}
		if got := stat.Variance(values, nil); math.Abs(got-1) > 4.5*math.Sqrt(2.0/n) {
			t.Errorf("unit %d has the variance %v, want 1", j, got)
		}
	}
}

// AIS, its reverse and RAISE have log Z and log p with hidden units of other kinds.
func TestAnnealingOfHiddenKinds(t *testing.T) {
	for _, c := range []struct {
		visible int
		machine func(Machine) Machine
	}{{4, categoricalHidden}, {4, gaussianHidden}, {6, allCategorical}} {
		m := hiddenModel(t, c.visible, c.machine)
		states := exactly(m).Visible
		rows, base := split(states), split(states[3:9])
		logP, err := m.ExactLogP(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		logZ, err := m.ExactLogZ(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a := Annealing{Schedule: Even(30), Chains: 600}
		forward, err := m.AIS(t.Context(), base, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		reverse, err := m.ReverseAIS(t.Context(), base, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range []LogZ{forward, reverse} {
			if math.Abs(float64(z.Value)-logZ) > 4.5*float64(z.SE) {
				t.Errorf("log Z = %v ± %v, which errs %v, want %v", z.Value, z.SE, z.Errs, logZ)
			}
		}
		logs, err := m.RAISE(t.Context(), base, rows, Annealing{Schedule: Even(300), Chains: 20}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for r := range logs {
			if math.Abs(logs[r]-logP[r]) > 0.15 {
				t.Errorf("log p(%v) = %v, estimated as %v", states[r], logP[r], logs[r])
			}
		}
	}
}

// A step takes the difference of the derivatives of −F at the data and at the chains, in the
// coordinates of the offsets, whatever the hidden units are.
func TestStepsOfHiddenKindsFollowTheDerivatives(t *testing.T) {
	const rate = 0.1
	for _, machine := range []func(Machine) Machine{categoricalHidden, gaussianHidden} {
		m := hiddenModel(t, 4, machine)
		rows := split(oracle.Binary(4)[3:14])
		methods := []Method{CD().Steps(2), PCD().Chains(7), PCD().Chains(7).Centered(false)}
		if m.parameters.Spec.HiddenUnits == Categorical {
			methods = append(methods, PT().Chains(5).Temperatures(3))
		}
		for _, method := range methods {
			tr := training(t, m, method.BatchSize(20).spec, rows)
			before := wide(tr.parameters)
			if _, err := tr.take(t.Context(), rate); err != nil {
				t.Fatal(err)
			}
			n := tr.method.chains(rows.Rows)
			gradient := fd.Gradient(nil, func(flat []float64) (sum float64) {
				p := m.parameters.zeros()
				copy(p.Flat, narrow(flat))
				for r := range rows.Rows {
					sum += minusF(p, binary(rows.Row(r))) / float64(rows.Rows)
				}
				for r := range n {
					sum -= minusF(p, row(tr.chains.visible, r)) / float64(n)
				}
				return sum
			}, slices.Clone(before), &fd.Settings{Formula: fd.Central, Step: 1e-2})
			floats.AddScaled(before, rate, centeredStep(gradient, tr.visibleOffsets, tr.hiddenOffsets))
			if after := wide(tr.parameters); !floats.EqualApprox(after, before, 1e-4) {
				t.Errorf("%v: the parameters are %v, want %v", tr.method, after, before)
			}
		}
	}
}

// minusF is −F(v), which TestEnergiesConform holds against its definition.
func minusF(p *Parameters, v []float64) float64 {
	return -p.freeEnergy(narrow(v), make([]float64, p.Hidden()))
}

// The score of Gaussian visible units follows from the derivatives of F with hidden units of any kind, given the
// label if there is one. The label and F(v) with the label summed out are measured, too.
func TestScores(t *testing.T) {
	gaussian := func(m Machine) Machine { return m.Visible(Gaussian) }
	for _, machine := range []func(Machine) Machine{
		gaussian, mixture, func(m Machine) Machine { return gaussianHidden(gaussian(m)) },
		func(m Machine) Machine { return gaussian(m).Hidden(3).Labels(2) }, func(m Machine) Machine { return mixture(m).Labels(2) },
	} {
		m := hiddenModel(t, 3, func(m Machine) Machine { return machine(m.Hidden(3)) })
		p, w := m.parameters, newProducts(m.parameters)
		v, want := []float64{0.3, -1.2, 0.7, 0, 1}[:p.Visible()], 0.0
		for i := range p.observed() {
			along := func(x float64) float64 {
				at := slices.Clone(v)
				at[i] = x
				return quadrature(p, at)
			}
			slope := fd.Derivative(along, v[i], &fd.Settings{Formula: fd.Central})
			want += slope*slope/2 + fd.Derivative(along, v[i], &fd.Settings{Formula: fd.Central2nd})
		}
		states, hidden, means := matrix([][]float64{v}), kernels.NewMatrix(1, p.Hidden()), kernels.NewMatrix(1, p.Visible())
		w.up(hidden, states)
		var l [1]likelihood
		newMeter(w).measure(l[:], states, hidden, means, place{}, 1)
		if math.Abs(l[0].objective-want) > 1e-3*(1+math.Abs(want)) {
			t.Errorf("the score is %v, want %v", l[0].objective, want)
		}
		if f := -floats.LogSumExp(logClassesOf(p, v)); math.Abs(l[0].freeEnergy-f) > 1e-4 || p.Spec.labelled() && math.Abs(l[0].label-quadrature(p, v)-f) > 1e-4 {
			t.Errorf("F = %v and log p(y|v) = %v, want %v and %v", l[0].freeEnergy, l[0].label, f, quadrature(p, v)+f)
		}
	}
}

// Each kind learns the lines of 3by3 better than a factorised model, and a mixture, Gaussian visible
// units with one categorical hidden variable, the grey levels of digits.
func TestHiddenKindsLearn(t *testing.T) {
	lines, err := dataset.Spec{Name: "3by3", Subset: 1_000, Validation: new(100)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set     *dataset.Set
		machine Machine
		method  Method
	}{
		{lines, New(lines.Shape()).Hidden(12).HiddenCategorical(3), PCD()},
		{lines, New(lines.Shape()).Hidden(12).HiddenCategorical(4), PT().Temperatures(3)},
		{lines, New(lines.Shape()).Hidden(6).HiddenUnits(Gaussian), CD().LearningRate(0.03)},
		{grays(t), New(grays(t).Shape()).Hidden(10).HiddenCategorical(10).Visible(Gaussian), CD()},
	} {
		run, err := c.method.BatchSize(20).Epochs(8).Schedule(runs.ConstantRate).Train(t.Context(), c.machine, c.set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		e, err := run.Evaluate(t.Context(), c.set, c.set.Validation(), Annealing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e.LogPErrs != runs.Exact || !(e.LogP > e.BaselineLogP+0.5) || e.Diverged {
			t.Errorf("%v: log p is %v (%v), baseline %v", run.Experiment(), e.LogP, e.LogPErrs, e.BaselineLogP)
		}
	}
}

// A model has no units of unknown kinds, on neither side.
func TestUnknownKindsAreRefused(t *testing.T) {
	machine := New(dataset.Shape{Height: 1, Width: 3})
	for _, m := range []Machine{machine.Visible(9), machine.HiddenUnits(9)} {
		if _, err := m.Model(1); err == nil || !strings.Contains(err.Error(), "unknown kind of units 9: use bernoulli, gaussian or categorical") {
			t.Errorf("%v: error %v", m, err)
		}
	}
}

// Hidden units that there are not, or not with others, are refused.
func TestHiddenKindsThatAreRefused(t *testing.T) {
	set := patterns(t)
	machine := New(set.Shape()).Hidden(6)
	for _, c := range []struct {
		says    string
		method  Method
		machine Machine
	}{
		{"hidden_categories = 4 of categorical hidden units", PCD(), machine.HiddenCategorical(4)},
		{"hidden_categories = 0 of categorical hidden units", PCD(), machine.HiddenUnits(Categorical)},
		{"65536 categorical hidden variables: give at most 65535", PCD(), machine.Hidden(2 << 16).HiddenCategorical(2)},
		{"hidden_categories = 3 of bernoulli hidden units", PCD(), machine.HiddenCategorical(3).HiddenUnits(Bernoulli)},
		{"hidden units of a deep machine", PCD(), machine.Hidden(6, 4).HiddenUnits(Gaussian)},
		{"algorithm = pl with categorical hidden units", PL(), machine.HiddenCategorical(3)},
		{"parallel tempering needs Bernoulli or categorical", PT(), machine.HiddenUnits(Gaussian)},
		{"natural gradients need Bernoulli or categorical", PCD().Natural(Joint, 0.1), machine.HiddenUnits(Gaussian)},
		{"a target is the probability", PCD().Sparsity(0.1, 0.1), machine.HiddenCategorical(3)},
		{"of a machine that stands on a run", PCD().On("runs/none", "last"), machine.HiddenUnits(Gaussian)},
	} {
		if _, err := c.method.BatchSize(9).Train(t.Context(), c.machine, set, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
}
