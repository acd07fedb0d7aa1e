package sequences

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// singing returns few sequences of voices.
func singing(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "voices", Subset: 12, Validation: new(5)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRNNRBMFamily(t *testing.T) {
	e := RNNRBMs.Experiment(singing(t))
	e.Epochs, e.Settings = 3, RNNRBMSettings{Hidden: 4, Recurrent: 3, CD: 2, LearningRate: 0.01, Decay: runs.Decay{StepEpochs: 1, StepFactor: 0.5}, BatchSize: 4}
	runstest.Family(t, runstest.Case[RNNRBMExperiment, *RNNRBM]{
		Experiment: e, Set: singing(t), Kind: RNNRBMs.Kind(),
		Refused: []runstest.Refusal[RNNRBMExperiment]{
			runstest.Refuse(func(e *RNNRBMExperiment) { e.Settings.Hidden = 0 }, "hidden = 0", "at least 1"),
			runstest.Refuse(func(e *RNNRBMExperiment) { e.Settings.Recurrent = -1 }, "recurrent = -1", "0 or more"),
			runstest.Refuse(func(e *RNNRBMExperiment) { e.Settings.CD = 0 }, "cd = 0", "at least 1"),
			runstest.Refuse(func(e *RNNRBMExperiment) { e.Settings.Recurrent = 1 << 22 }, "numbers of the model take", "use fewer"),
		},
	})
}

func TestBeliefFamily(t *testing.T) {
	e := Beliefs.Experiment(singing(t))
	e.Epochs, e.Settings = 3, BeliefSettings{Hidden: 3, Deep: 2, Order: 1, Lateral: true, L2: 0.1, Natural: true, Damping: 0.1, Refresh: 2, Samples: 3, Lag: 1, LearningRate: 0.1, Decay: runs.Decay{StepEpochs: 1, StepFactor: 0.5}, BatchSize: 4}
	runstest.Family(t, runstest.Case[BeliefExperiment, *Belief]{
		Experiment: e, Set: singing(t), Kind: Beliefs.Kind(),
		Refused: []runstest.Refusal[BeliefExperiment]{
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Hidden = -1 }, "hidden = -1", "0 or more"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Deep = -1 }, "deep = -1", "0 or more"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Order = -1 }, "order = -1", "0 or more"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Damping = 0 }, "damping = 0", "positive"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Refresh = 0 }, "refresh = 0", "at least 1"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Samples = 0 }, "samples = 0", "at least 1"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Lag = -1 }, "lag = -1", "0 or more"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Samples = 1 << 40 }, "1099511627776 particles per sequence take", "use fewer"),
			runstest.Refuse(func(e *BeliefExperiment) { e.Settings.Order = 1 << 40 }, "numbers of the model take", "use fewer"),
		},
	})
}

// The parameters after training do not depend on the number of processors, although these divide frames and sequences
// of several lengths.
func TestProcessorsDoNotChangeTraining(t *testing.T) {
	set := singing(t)
	rnn, belief := RNNRBMs.Experiment(set), Beliefs.Experiment(set)
	rnn.Epochs, rnn.Settings.BatchSize, belief.Epochs, belief.Settings.BatchSize = 1, 7, 1, 7
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first [2][]float32
	for _, processors := range []int{1, 3} {
		runtime.GOMAXPROCS(processors)
		a, err := rnn.Train(t.Context(), set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		b, err := belief.Train(t.Context(), set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		now := [2][]float32{a.Model().flat, b.Model().flat}
		if first[0] == nil {
			first = now
		}
		for i, flat := range now {
			if !slices.Equal(flat, first[i]) {
				t.Errorf("model %d: %d processors change the parameters", i, processors)
			}
		}
	}
}

// Without hidden units, settings of samples have no effect, and neither has the lag of wake-sleep.
func TestIdleSettingsOfBeliefs(t *testing.T) {
	for _, c := range []struct {
		hidden int
		sleep  bool
		idle   []string
	}{{3, false, nil}, {3, true, []string{"lag"}}, {0, false, []string{"deep", "lag", "samples", "wake_sleep"}}} {
		e := Beliefs.Experiment(singing(t))
		e.Settings.Hidden, e.Settings.WakeSleep = c.hidden, c.sleep
		var idle []string
		for _, row := range e.Rows() {
			if row.Idle != "" {
				idle = append(idle, row.Key)
			}
		}
		if slices.Sort(idle); !slices.Equal(idle, append([]string{"decay.step_epochs", "decay.step_factor"}, c.idle...)) {
			t.Errorf("%d hidden units, wake-sleep %v: %v have no effect, want %v", c.hidden, c.sleep, idle, c.idle)
		}
		if err := e.Check(singing(t)); err != nil {
			t.Error(err)
		}
	}
}

// Models of sequences refuse images and grey values, and other models refuse sequences.
func TestOtherDataAreRefused(t *testing.T) {
	images, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "grey.json")
	if err := os.WriteFile(path, []byte(`{"train": [[[0.5, 1]], [[0, 1]]], "test": [[[0, 1]]]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	gray, err := dataset.Spec{Name: path, Binarization: dataset.Gray}.Open()
	if err != nil {
		t.Fatal(err)
	}
	wants := func(err error, says string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q in it", err, says)
		}
	}
	wants(Beliefs.Experiment(images).Check(images), "the rows of 3by3 are not sequences, which this family models: choose a set of sequences, such as voices")
	reals, err := dataset.Spec{Name: path, Binarization: dataset.Real}.Open()
	if err != nil {
		t.Fatal(err)
	}
	wants(Beliefs.Experiment(reals).Check(reals), "gaussian = false, but the steps are real numbers")
	path = filepath.Join(t.TempDir(), "small.json")
	if err := os.WriteFile(path, []byte(`{"train": [[[0.001, 1]], [[0, 1]]], "test": [[[0, 1]]]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	small, err := dataset.Spec{Name: path, Binarization: dataset.Real}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for set, says := range map[*dataset.Set]string{reals: "", small: "unit 1 has the standard deviation 0.0005 over the training steps, but Gaussian units need at least 0.01: scale the values"} {
		e := Beliefs.Experiment(set)
		e.Settings.Gaussian = true
		if _, err := e.Begin(set); says != "" {
			wants(err, says)
		} else if err != nil { // the second unit is constant
			t.Error(err)
		}
	}
	real := Beliefs.Experiment(singing(t))
	real.Settings.Gaussian = true
	wants(real.Check(singing(t)), "gaussian = true, but the steps are not real numbers: omit it, or open them with binarization real")
	wants(RNNRBMs.Experiment(reals).Check(reals), "an RNN-RBM has binary units")
	wants(RNNRBMs.Experiment(gray).Check(gray), "a value of the train sequences is 0.502, and models of sequences have binary units")
	wants(runs.Header{Base: runs.Base{Budget: runs.Budget{Epochs: 1}}, BatchSize: 1}.Check(singing(t)), "the rows of voices are sequences, and this family models images")
}

// Models evaluate sequences of any length, but only those of their units, with at least one particle or two chains.
// Independent units and chains panic on other rows.
func TestRowsOfOtherDataAreRefused(t *testing.T) {
	fitting := bits(3, 1, 5, 2)
	images, reals, none, grey := fitting, fitting, fitting, fitting
	images.Lengths = nil
	grey.Values = dataset.Bytes(grey.Units, slices.Clone(grey.Bytes()))
	grey.Bytes()[1] = 128
	reals.Values = dataset.Reals(reals.Units, make([]float32, reals.Rows*reals.Units))
	none.Values, none.Lengths = dataset.Values{}, nil
	belief, rbm := tinyBelief(3, 4, kinds["plain"]), tiny(3, enumerated+1, 2, false)
	for _, c := range []struct {
		rows  dataset.Split
		fewer int // than the least number of samples
		says  string
	}{
		{fitting, 0, ""},
		{bits(4, 1, 5, 2), 0, "the model has 3 units per step, but the train rows have 4"},
		{images, 0, "the train rows are not sequences"},
		{reals, 0, "the model has units of 0 and 1, but the train rows have real numbers"},
		{none, 0, "the train split has no rows"},
		{fitting, 1, "give at least"},
		{fitting, 3, "give at least"},
	} {
		for m, least := range map[interface {
			Model
			runs.Estimator
		}]int{belief: 1, rbm: 2} {
			_, err := m.LogP(t.Context(), c.rows, least-c.fewer, 1, nil)
			_, same := m.Estimate(t.Context(), c.rows, least-c.fewer, 1, nil)
			for _, err := range []error{err, same} {
				if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("the error of %T is %v, want %q in it", m, err, c.says)
				}
			}
		}
		if c.fewer > 0 || c.rows.Rows == 0 {
			continue
		}
		for _, simple := range []func(train, rows dataset.Split) runs.Estimate{Independent, Chain} {
			func() {
				defer func() {
					if panicked := recover(); c.says == "" != (panicked == nil) || c.says != "" && !strings.Contains(fmt.Sprint(panicked), "sequences: "+c.says) {
						t.Errorf("the panic is %v, want %q in it", panicked, c.says)
					}
				}()
				simple(fitting, c.rows)
			}()
		}
	}
	for _, simple := range []func(train, rows dataset.Split) runs.Estimate{Independent, Chain} {
		func() {
			defer func() {
				if says := fmt.Sprint(recover()); !strings.Contains(says, "sequences: a value of the train sequences is 0.502") {
					t.Errorf("the panic of grey values is %s", says)
				}
			}()
			simple(fitting, grey)
		}()
	}
	images.Shape.Height, images.Values = 4, dataset.Bytes(12, make([]uint8, 12))
	for _, d := range belief.Drawings()[2:] {
		if _, err := d.Draw(t.Context(), runs.Sampling{N: 1, Rows: images}); err == nil || !strings.Contains(err.Error(), "are not sequences") {
			t.Errorf("the error of %s is %v", d.Kind, err)
		}
	}
}

// More particles, chains and draws than fit into memory are refused before they take it.
func TestSamplesFitIntoMemory(t *testing.T) {
	const most = 1 << 40
	for _, m := range []interface {
		Model
		runs.Sampler
	}{tinyBelief(3, 4, kinds["plain"]), tiny(3, enumerated+1, 2, false)} {
		_, err := m.LogP(t.Context(), bits(3, 1, 5, 2), most, 1, nil)
		_, draw := m.Drawings()[0].Draw(t.Context(), runs.Sampling{N: most})
		for _, err := range []error{err, draw} {
			if err == nil || !strings.Contains(err.Error(), "GB of memory") {
				t.Errorf("the error of %T is %v", m, err)
			}
		}
	}
	if _, err := tinyBelief(3, 4, architecture{order: 1}).LogP(t.Context(), bits(3, 1, 5, 2), most, 1, nil); err != nil {
		t.Errorf("exact log p takes no particles: %v", err)
	}
}

// Log p of rows is LogP of the sequences, and is described as exact or by its number of samples.
func TestLogPOfRows(t *testing.T) {
	rows := bits(3, 1, 5, 2)
	for _, c := range []struct {
		m interface {
			Model
			runs.RowEvaluator
			runs.SampleCounter
		}
		samples, used int
		count, what   string
	}{
		{tinyBelief(3, 4, kinds["plain"]), 7, 7, "5 filters of 1 particle", "by 5 filters of 7 particles a sequence, and too low in expectation; 6.8 of 35 particles a sequence effective; half of them give 0.212 less"},
		{tinyBelief(3, 4, architecture{order: 1}), 0, 1000, "", "exact"},
		{tiny(3, enumerated+1, 2, false), 2, 2, "1 chain a step", "by annealed importance sampling (AIS) of log Z with 2 chains a step, and too high in expectation; only 2 chains a step; half of them give 0.008 more"},
		{tiny(3, enumerated, 2, false), 0, 1000, "", "exact"},
	} {
		want, err := c.m.LogP(t.Context(), rows, c.used, 9, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, what, err := c.m.LogPOfRows(t.Context(), runs.EvaluationOptions{Rows: rows, Samples: c.samples, Seed: 9})
		if err != nil || what != c.what || !slices.Equal(got, want.LogP) {
			t.Errorf("log p of rows is %v, %q, %v, want %v, %q", got, what, err, want.LogP, c.what)
		}
		if simulation := want.Estimates(rows)[MonteCarlo.Key].Value; math.IsNaN(simulation) != (c.what != "exact") {
			t.Errorf("%s: the error of simulation is %v", what, simulation)
		}
		if got := c.m.CountSamples(1); got != c.count {
			t.Errorf("one sample is %q, want %q", got, c.count)
		}
	}
}

// Sequences count by their weights and their steps in all estimates: with weights w and n steps, the mean of x over steps is
// Σ w n x / Σ w n, where x is the mean of one sequence, which is measured with all the weight on it.
func TestSequencesCountByTheirWeights(t *testing.T) {
	rows := bits(3, 1, 5, 2, 4)
	weights := []float64{3, 0.5, 2}
	for name, m := range map[string]Model{"particles": tinyBelief(3, 4, kinds["plain"]), "chains": tiny(3, enumerated+1, 2, false)} {
		measure := func(weights []float64) (all [4]float64) {
			rows.Weights = weights
			e, err := m.LogP(t.Context(), rows, 100, 9, nil)
			if err != nil {
				t.Fatal(err)
			}
			of := e.Estimates(rows)
			return [4]float64{of[LogP.Key].Value, of[ESS.Key].Value, float64(e.SampleSize.Moved), of[MonteCarlo.Key].Value}
		}
		var want [4]float64
		steps := 0.0
		for i, n := range rows.Lengths {
			alone, count := make([]float64, 3), weights[i]*float64(n)
			alone[i] = 1
			steps += count
			for k, x := range measure(alone) {
				if k == 3 { // errors of sequences are independent
					x *= x * count
				}
				want[k] += count * x
			}
		}
		want[3] = math.Sqrt(want[3])
		for k, got := range measure(weights) {
			if want := want[k] / steps; !(math.Abs(got-want) < 1e-9*math.Abs(want)) {
				t.Errorf("%s: estimate %d is %v, want %v", name, k, got, want)
			}
		}
	}
}

func TestPerStep(t *testing.T) {
	if e := PerStep([]int{1, 3}, []float64{-2, -6}); e.Value != -2 || e.SE != 0 {
		t.Errorf("two sequences of -2 per step have %v", e)
	}
	defer func() {
		if said, _ := recover().(string); said != "sequences: 1 lengths and 2 sums; their numbers must agree" {
			t.Errorf("panic %q", said)
		}
	}()
	PerStep([]int{1}, []float64{-2, -6})
}

// No model of voices exceeds the entropy of their grammar, a Markov chain of single notes lies below it, and
// logistic regression on the last step lies between.
func TestBaselinesOfVoices(t *testing.T) {
	set, err := dataset.Spec{Name: "voices", Subset: 100}.Open()
	if err != nil {
		t.Fatal(err)
	}
	first, next := dataset.VoicesEntropy()
	best := -(first + 49*next) / 50
	independent, chain := Independent(set.Train(), set.Test()), Chain(set.Train(), set.Test())
	e := Beliefs.Experiment(set)
	e.Epochs, e.Settings.Hidden, e.Settings.LearningRate = 3, 0, 0.5
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	all, err := run.Model().Estimate(t.Context(), set.Test(), 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	logistic := all[LogP.Key].Value
	if math.Abs(independent.Value+7.639) > 0.05 || !(independent.Value < chain.Value && chain.Value < logistic && logistic < best) {
		t.Errorf("independent notes %v, chains %v, logistic regression %v, entropy %v", independent, chain, logistic, best)
	}
}

// The particles of Gaussian units also hold the derivatives with respect to the deviations, as many as units.
func TestMemoryOfGaussianParticles(t *testing.T) {
	const width = 1000
	limit, _ := memory.Limit()
	particles := int(float64(limit) / (4 * 1.5 * width)) // more than fit with two derivatives a unit, and fewer than with one
	if err := (architecture{}).checkParticles(width, 1, particles); err != nil {
		t.Errorf("binary units: %v", err)
	}
	if err := (architecture{gaussian: true}).checkParticles(width, 1, particles); err == nil {
		t.Errorf("%d particles of Gaussian units are accepted", particles)
	}
}

// A schedule sets the temperatures of an RNN-RBM; one that needs pilot chains is refused with a remedy.
func TestSchedulesOfRNNRBMs(t *testing.T) {
	m, rows := tiny(3, enumerated+1, 2, false), bits(3, 1, 5, 2)
	usual, err := m.LogP(t.Context(), rows, 20, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for schedule, same := range map[string]bool{"even:200": true, "even:2": false} {
		along, err := m.Along(schedule)
		if err != nil {
			t.Fatal(err)
		}
		of, err := along.(*RNNRBM).LogP(t.Context(), rows, 20, 1, nil)
		logP, _, failure := m.LogPOfRows(t.Context(), runs.EvaluationOptions{Rows: rows, Samples: 20, Seed: 1, Schedule: schedule})
		if err != nil || failure != nil || slices.Equal(of.LogP, usual.LogP) != same || !slices.Equal(logP, of.LogP) {
			t.Errorf("along %s log p is %v and %v (%v, %v), usually %v", schedule, of.LogP, logP, err, failure, usual.LogP)
		}
	}
	for schedule, says := range map[string]string{"adaptive:1000": "use published or even:N", "even:0": "give between 1 and"} {
		if _, err := m.Along(schedule); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error of %s is %v", schedule, err)
		}
	}
}
