package boltzmann

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// labeledModel has random parameters, and exactly what it is the oracle says, whose visible
// states end with the label's.
func labeledModel(t *testing.T, visible, hidden, classes int) (*Model, *oracle.Machine) {
	t.Helper()
	return labeled(t, New(dataset.Shape{Height: 1, Width: visible}).Hidden(hidden).Labels(classes))
}

func labeled(t *testing.T, machine Machine) (*Model, *oracle.Machine) {
	t.Helper()
	visible, hidden := machine.shape.Units(), machine.spec.Hidden
	m, err := machine.Model(1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(visible), uint64(hidden)))
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] = float32(random.NormFloat64())
	}
	return m, exactly(m)
}

// splitLabeled has rows of states that end with those of a label.
func splitLabeled(states [][]float64, classes int) dataset.Split {
	var rows [][]float64
	var labels []uint8
	for _, state := range states {
		visible := len(state) - classes
		rows = append(rows, state[:visible])
		labels = append(labels, uint8(slices.Index(state[visible:], 1)))
	}
	s := split(rows)
	s.Labels = labels
	return s
}

// logLabel is log p(y|v) of a state by enumeration of the labels.
func logLabel(exact *oracle.Machine, state []float64, classes int) float64 {
	var terms []float64
	for k := range classes {
		other := slices.Clone(state)
		clear(other[len(state)-classes:])
		other[len(state)-classes+k] = 1
		terms = append(terms, -exact.FreeEnergy(other))
	}
	return -exact.FreeEnergy(state) - floats.LogSumExp(terms)
}

// log Z, log p(v), p(y|v) and log p(v,y) are those of enumeration, and so is what training
// measures in single precision.
func TestLabelsAreExact(t *testing.T) {
	t.Run("bernoulli", func(t *testing.T) { testLabelsAreExact(t, New(dataset.Shape{Height: 1, Width: 4}).Hidden(3).Labels(3)) })
	t.Run("categorical", func(t *testing.T) {
		testLabelsAreExact(t, New(dataset.Shape{Height: 1, Width: 6}).Hidden(3).Categorical(3).Labels(3))
	})
}

func testLabelsAreExact(t *testing.T, machine Machine) {
	const classes = 3
	m, exact := labeled(t, machine)
	logZ, err := m.ExactLogZ(t.Context())
	if err != nil || math.Abs(logZ-exact.LogZ()) > 1e-10 {
		t.Errorf("log Z = %v (%v), want %v", logZ, err, exact.LogZ())
	}
	rows := splitLabeled(exact.Visible, classes)
	logP, err := m.ExactLogP(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := m.LogLabelProbabilities(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	w := newProducts(m.parameters)
	states, hidden := matrix(exact.Visible), kernels.NewMatrix(len(exact.Visible), 3)
	w.up(hidden, states)
	measured := make([]likelihood, len(exact.Visible))
	newMeter(w).measure(measured, states, hidden, kernels.Matrix{}, place{}, 4)
	wrong := 0.0
	for s, v := range exact.Visible {
		label, mistaken := logLabel(exact, v, classes), 0.0
		if floats.Max(labels[s]) > labels[s][rows.Labels[s]] {
			mistaken = 1
		}
		wrong += mistaken / float64(len(labels))
		if got := labels[s][rows.Labels[s]]; math.Abs(got-label) > 1e-10 || math.Abs(floats.LogSumExp(labels[s])) > 1e-10 {
			t.Errorf("log p(y|v) of %v is %v of %v, want %v", v, got, labels[s], label)
		}
		if got := logP[s] + label; math.Abs(got-exact.LogP(v)) > 1e-10 {
			t.Errorf("log p(v,y) of %v is %v, want %v", v, got, exact.LogP(v))
		}
		pseudo := 0.0
		for i, each := 0, machine.spec.Categories; i < machine.shape.Units(); i += max(1, each) {
			var terms []float64 // −F(v) with each value of the variable
			for value := range max(2, each) {
				other := slices.Clone(v)
				if each > 0 {
					clear(other[i : i+each])
					other[i+value] = 1
				} else {
					other[i] = float64(value)
				}
				terms = append(terms, -exact.FreeEnergy(other))
			}
			pseudo -= exact.FreeEnergy(v) + floats.LogSumExp(terms)
		}
		want := likelihood{objective: pseudo, freeEnergy: -logP[s] - logZ, label: label, mistaken: mistaken}
		if got := measured[s]; math.Abs(got.objective-want.objective)+math.Abs(got.freeEnergy-want.freeEnergy)+math.Abs(got.label-want.label) > 1e-5 || got.mistaken != want.mistaken {
			t.Errorf("of %v training measures %v, want %v", v, got, want)
		}
	}
	c, err := m.Classify(t.Context(), rows)
	if err != nil || math.Abs(float64(c.Error)-wrong) > 1e-12 || c.Data != len(exact.Visible) {
		t.Errorf("the error is %v of %d rows (%v), want %v", c.Error, c.Data, err, wrong)
	}
}

// A step follows the gradient of log p(y|v), by finite differences, with its weight, and the
// difference of the statistics of data and chains with the rest.
func TestDiscriminativeSteps(t *testing.T) {
	const classes, rate = 3, 0.1
	m, exact := labeledModel(t, 4, 3, classes)
	random := rand.New(rand.NewPCG(7, 8))
	var data [][]float64
	for range 11 {
		data = append(data, exact.Visible[random.IntN(len(exact.Visible))])
	}
	slopes := fd.Gradient(nil, func(θ []float64) (sum float64) {
		at := &oracle.Machine{Visible: exact.Visible, Hidden: exact.Hidden, Statistics: exact.Statistics, Parameters: θ}
		for _, v := range data {
			sum += logLabel(at, v, classes) / float64(len(data))
		}
		return sum
	}, slices.Clone(exact.Parameters), &fd.Settings{Formula: fd.Central})
	for _, method := range []Method{CD(), CD().Centered(false), PCD().Chains(7), PT().Chains(5).Temperatures(3), PCD().Chains(7).Centered(false)} {
		for _, weight := range []float64{0, 0.3, 1} {
			s := method.Discriminative(weight).BatchSize(20).spec
			tr := training(t, m, s, splitLabeled(data, classes))
			before := wide(tr.parameters)
			if _, err := tr.take(t.Context(), rate); err != nil {
				t.Fatal(err)
			}
			gradient := slices.Clone(slopes)
			floats.Scale(weight, gradient)
			for _, v := range data {
				floats.AddScaled(gradient, (1-weight)/float64(len(data)), exact.Posterior(v))
			}
			n := s.chains(len(data))
			for r := range n {
				floats.AddScaled(gradient, -(1-weight)/float64(n), exact.Posterior(row(tr.chains.visible, r)))
			}
			if (n == 0) != (weight == 1) {
				t.Errorf("%v: %d chains", s, n)
			}
			floats.AddScaled(before, rate, centeredStep(gradient, tr.visibleOffsets, tr.hiddenOffsets))
			if after := wide(tr.parameters); !floats.EqualApprox(after, before, 2e-6) {
				t.Errorf("%v: the parameters are %v, want %v", s, after, before)
			}
		}
	}
}

// frequent checks that rows are states with their probabilities, within 4.5 standard errors.
func frequent(t *testing.T, rows kernels.Matrix, states [][]float64, probability func(v []float64) float64) {
	t.Helper()
	counts, n := map[string]float64{}, float64(rows.Rows)
	for r := range rows.Rows {
		counts[fmt.Sprint(row(rows, r)[:len(states[0])])]++
	}
	for _, v := range states {
		p := probability(v)
		if got, se := counts[fmt.Sprint(v)]/n, math.Sqrt(p*(1-p)/n); math.Abs(got-p) > 4.5*se {
			t.Errorf("%v has the frequency %v ± %v, want %v", v, got, se, p)
		}
	}
}

// Chains settle at p(v,y), and clamped ones draw the label given v.
func TestLabeledChainsSettleAtTheModel(t *testing.T) {
	const n, sweeps, classes = 8_000, 30, 3
	m, exact := labeledModel(t, 2, 2, classes)
	w, c := newProducts(m.parameters), newChains(n, m.parameters)
	c.start(1)
	for sweep := range sweeps {
		c.sweep(w, place{key: 1, step: uint32(sweep)})
	}
	frequent(t, c.visible, exact.Visible, func(v []float64) float64 { return math.Exp(exact.LogP(v)) })
	known := kernels.NewMatrix(n, 2+classes)
	for r := range n {
		kernels.Row(known, r)[1] = 1
	}
	clamped, _ := m.clamped(t.Context(), w, known, dataset.Mask{false, false}, 0, 30)
	frequent(t, clamped.visible, exact.Visible, func(v []float64) float64 {
		if v[0] != 0 || v[1] != 1 {
			return 0
		}
		return math.Exp(logLabel(exact, v, classes))
	})
}

// AIS and its reverse have Z within the standard errors, and with many steps RAISE has log p(v),
// whose label is summed out.
func TestAnnealingWithLabels(t *testing.T) {
	m, exact := labeledModel(t, 4, 3, 3)
	base := splitLabeled(exact.Visible[5:19], 3)
	for name, of := range map[string]func() (LogZ, error){
		"forward": func() (LogZ, error) {
			return m.AIS(t.Context(), base, Annealing{Schedule: Even(20), Chains: 600}, nil)
		},
		"reverse": func() (LogZ, error) {
			return m.ReverseAIS(t.Context(), base, Annealing{Schedule: Even(20), Chains: 600}, nil)
		},
	} {
		z, err := of()
		if err != nil || math.Abs(float64(z.Value)-exact.LogZ()) > 4.5*float64(z.SE) {
			t.Errorf("%s: log Z = %v ± %v (%v), want %v", name, z.Value, z.SE, err, exact.LogZ())
		}
	}
	rows := splitLabeled(exact.Visible, 3)
	logP, err := m.ExactLogP(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	logs, err := m.RAISE(t.Context(), base, rows, Annealing{Schedule: Even(300), Chains: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for r := range logs {
		if math.Abs(logs[r]-logP[r]) > 0.15 {
			t.Errorf("log p(%v) = %v, estimated as %v", exact.Visible[r], logP[r], logs[r])
		}
	}
}

// A machine with labels has diverged where it tells them far worse than a guess, whatever p(v) is.
func TestDivergedLabels(t *testing.T) {
	m, exact := labeledModel(t, 4, 3, 3)
	set, err := dataset.FromRows("all", m.shape, oracle.Binary(4), oracle.Binary(4))
	if err != nil {
		t.Fatal(err)
	}
	rows := splitLabeled(exact.Visible[:1], 3)
	for bias, diverged := range map[float32]bool{20: false, -20: true} {
		m.parameters.VisibleBiases[4+int(rows.Labels[0])] = bias
		m.parameters.VisibleBiases[0] = 60 // so that p(v) is far from the rows
		e, err := m.Evaluate(t.Context(), set, rows, Annealing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e.Diverged != diverged || float64(e.LogP) > -50 {
			t.Errorf("with log p(y|v) = %v and log p(v) = %v training has diverged: %v", e.Classification.LogP, e.LogP, e.Diverged)
		}
	}
}

// digits are glyphs with their labels.
func digits(t *testing.T, train, validation int) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Subset: train, Validation: new(validation)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Whatever the weight of log p(y|v), digits are classified better than by chance, and what an
// epoch measures of their labels is what the model says of them. With more weight log p(y|v) of the
// training rows is better, and log p(v) worse.
func TestLabelsAreLearned(t *testing.T) {
	set := digits(t, 1_000, 200)
	machine := New(set.Shape()).Hidden(10).Labels(10)
	var discriminative, generative []float64
	for _, weight := range []float64{1, 0.9, 0} {
		run, err := PCD().Discriminative(weight).BatchSize(20).Optimizer(Adam).LearningRate(0.005).Epochs(6).Train(t.Context(), machine, set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c, err := run.Classify(t.Context(), set.Validation())
		if err != nil {
			t.Fatal(err)
		}
		h := run.History()
		last := h.Epochs[len(h.Epochs)-1].Validation
		if !(c.Error < 0.8) || math.Abs(last["classification_error"]-float64(c.Error)) > 1e-9 || math.Abs(last["label_log_p"]-float64(c.LogP)) > 1e-4 {
			t.Errorf("w = %v: the classification is %+v, of which training measured %v", weight, c, last)
		}
		if base := h.Baseline.Factorized.Value; math.Abs(base+math.Log(10)) > 0.1 || h.Baseline.Model != "class frequencies" {
			t.Errorf("the baseline of labels is %v of %q, want about %v of class frequencies", base, h.Baseline.Model, -math.Log(10))
		}
		train, err := run.Classify(t.Context(), set.Train())
		if err != nil {
			t.Fatal(err)
		}
		discriminative, generative = append(discriminative, -float64(train.LogP)), append(generative, last["log_p"])
	}
	if !slices.IsSorted(discriminative) || !slices.IsSorted(generative) {
		t.Errorf("with less weight log p(y|v) is %v, negated, and log p(v) %v", discriminative, generative)
	}
}

// The baseline of labels is over the rows that have one.
func TestBaselineOfFewLabels(t *testing.T) {
	set := digits(t, 60, 20)
	e := PCD().Experiment(New(set.Shape()).Labels(10), set)
	rows := set.Test().Subset(4, 1)
	labels, want := rows.Labels, 0.0
	for r := range 2 {
		one := rows
		one.Labels = []uint8{dataset.Unlabeled, dataset.Unlabeled, dataset.Unlabeled, labels[r]}
		want += e.Baseline(set, one).Factorized.Value / 2
	}
	rows.Labels = []uint8{labels[0], dataset.Unlabeled, labels[1], dataset.Unlabeled}
	if got := e.Baseline(set, rows).Factorized.Value; math.Abs(got-want) > 1e-9 || want == 0 {
		t.Errorf("the baseline of two rows is %v, want %v", got, want)
	}
	for _, rows.Labels = range [][]uint8{nil, slices.Repeat([]uint8{dataset.Unlabeled}, 4)} {
		if of := e.Baseline(set, rows); of.Rows != "" {
			t.Errorf("the baseline of rows without labels is %+v", of)
		}
	}
}

// Labels that the machine, the method or the data cannot have are refused.
func TestLabelsThatAreRefused(t *testing.T) {
	labeled, few := digits(t, 60, 20), new(20)
	unlabeled, err := dataset.Spec{Name: "miniglyphs", Subset: 60, Validation: few, Labels: 20}.Open()
	if err != nil {
		t.Fatal(err)
	}
	machine := New(labeled.Shape()).Hidden(4)
	for _, c := range []struct {
		says    string
		method  Method
		machine Machine
		set     *dataset.Set
	}{
		{"whose rows have no labels", PCD(), New(patterns(t).Shape()).Labels(2), patterns(t)},
		{"labels go up to 9: give classes = 10", PCD(), machine.Labels(9), labeled},
		{"label the row or leave it out of the file, or omit labels = N", PCD(), machine.Labels(10), unlabeled},
		{"classes = 1", PCD(), machine.Labels(1), labeled},
		{"classes = 255", PCD(), machine.Labels(255), labeled},
		{"a label needs a machine with one hidden layer", PCD(), machine.Labels(10).Hidden(4, 3), labeled},
		{"use cd, pcd or pt", PL(), machine.Labels(10), labeled},
		{"discriminative = 2", PCD().Discriminative(2), machine.Labels(10), labeled},
		{"of a machine without labels", PCD().Discriminative(0.5), machine, labeled},
		{"natural gradients follow log p(v,y)", PCD().Discriminative(0.5).Natural(Joint, 0.1), machine.Labels(10), labeled},
		{"labels of a machine that stands on a run", PCD().On("runs/none", "last"), machine.Labels(10), labeled},
	} {
		if _, err := c.method.BatchSize(20).Train(t.Context(), c.machine, c.set, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
	m, _ := labeledModel(t, 4, 3, 3)
	rows := split([][]float64{{1, 0, 1, 0}})
	if _, err := m.Classify(t.Context(), rows); err == nil || !strings.Contains(err.Error(), "have no labels") {
		t.Errorf("rows without labels: %v", err)
	}
	rows.Labels = []uint8{3}
	if _, err := m.Classify(t.Context(), rows); err == nil || !strings.Contains(err.Error(), "has class 3, but the model has 3 classes") {
		t.Errorf("rows of other classes: %v", err)
	}
	for _, labels := range [][]uint8{{}, {1, 2}} {
		rows.Labels = labels
		_, classify := m.Classify(t.Context(), rows)
		for _, err := range []error{second(m.FreeEnergy(t.Context(), rows)), second(randomModel(t, 4, 3).FreeEnergy(t.Context(), rows)), classify} {
			if says := fmt.Sprintf("%d labels for 1 row: give one per row", len(labels)); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("error %v, want one that says %q", err, says)
			}
		}
	}
	if _, err := randomModel(t, 4, 3).LogLabelProbabilities(t.Context(), rows); err == nil || !strings.Contains(err.Error(), "the model has no labels") {
		t.Errorf("a model without labels: %v", err)
	}
}
