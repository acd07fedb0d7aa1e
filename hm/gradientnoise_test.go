package hm

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The estimates must lie within 4.5 standard errors of the exact moments of the gradient, by
// enumeration of all pairs of samples and all dreams.
func TestGradientNoise(t *testing.T) {
	set := patterns(t)
	machine := New(set.Shape()).Dense(2, 2).Bias(0.3)
	estimated := func(e *engine.Estimator) engine.Algorithm {
		return engine.Algorithm{Rule: engine.Rule{QWake: 1, Estimator: e}}
	}
	for _, test := range []struct {
		method Method
		rule   engine.Algorithm
	}{
		{WS(), oracle.WakeSleep},
		{RWS(), oracle.ReweightedWakeSleep},
		{REINFORCE(), engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: engine.ConstantBaseline}},
		{REINFORCE().ReinforceBaseline(NoBaseline), engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: engine.NoBaseline}},
		{REINFORCE().ReinforceBaseline(OptimalBaseline), engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: engine.OptimalBaseline}},
		{VIMCO(), estimated(oracle.VIMCO(false))},
		{OVIS().PhaseParameters(0.5), estimated(oracle.OVIS(0.5))},
		{TVO().PhaseParameters(0, 0.2), estimated(oracle.TVO([]float64{0, 0.2}))},
		{RWS().PhaseParameters(1), engine.Algorithm{Rule: engine.Rule{Exponent: 1, QWake: 1}, Baseline: true}},
		{RWS().PhaseParameters(0), engine.Algorithm{Rule: engine.Rule{Exponent: 1, Sleep: 1}}},
	} {
		t.Run(test.method.Spec().String(), func(t *testing.T) {
			method := test.method.Samples(2).BatchSize(trainingRows).Metric(Block).Optimizer(Adam)
			p, q, err := method.GradientNoise(t.Context(), machine, set, 400)
			if err != nil {
				t.Fatal(err)
			}
			start := starting(t, method.Experiment(machine, set), set).Parameters
			m := oracle.NewNetworks(start)
			exact := m.Expected(states(m, set.Train())[:trainingRows], 2, 2*trainingRows, test.rule)
			size := start.Architecture.GenerativeSize()
			for name, network := range map[string]struct {
				got            GradientNoise
				mean, variance []float64
			}{
				"p": {p, exact.Mean[:size], exact.Variance[:size]},
				"q": {q, exact.Mean[size:], exact.Variance[size:]},
			} {
				variance, square := 0.0, 0.0
				for k, v := range network.variance {
					variance += v
					square += network.mean[k] * network.mean[k]
				}
				got := network.got
				if got.Parameters != len(network.mean) {
					t.Errorf("%s has %d parameters, want %d", name, got.Parameters, len(network.mean))
				}
				within := func(what string, got, want float64, se runs.Float) {
					t.Helper()
					if !(math.Abs(got-want) <= 4.5*float64(se)) {
						t.Errorf("%s of %s is %g ± %g, want %g", what, name, got, se, want)
					}
				}
				within("variance", got.Variance, variance, got.VarianceSE)
				within("square of the mean", got.MeanSquare, square, got.MeanSquareSE)
				for k, v := range network.variance {
					if math.Abs(got.Mean[k]-network.mean[k]) > 4.5*math.Sqrt(v/float64(got.Draws))+1e-6 {
						t.Errorf("mean of parameter %d of %s is %g, want %g", k, name, got.Mean[k], network.mean[k])
					}
				}
				// The squared distance of a mean of n draws varies by √2 of its expectation at most.
				if bias, se := got.SquaredBias(network.mean), variance/float64(got.Draws); math.Abs(bias) > 4.5*math.Sqrt2*se {
					t.Errorf("squared bias of %s is %g ± %g, want 0", name, bias, math.Sqrt2*se)
				}
			}
		})
	}
}

// Settings that change after the first step must not affect the noise of the first step.
func TestGradientNoiseIsThatOfTheFirstStep(t *testing.T) {
	set := patterns(t)
	method := RWS().Samples(2).BatchSize(trainingRows)
	noise := func(m Method) [2]GradientNoise {
		t.Helper()
		p, q, err := m.GradientNoise(t.Context(), machineFor(set), set, 10)
		if err != nil {
			t.Fatal(err)
		}
		return [2]GradientNoise{p, q}
	}
	want := noise(method)
	for name, later := range map[string]Method{
		"samples":   method.SamplesAfter(1, 9),
		"entropy":   method.Entropy(5).WarmUp(3),
		"estimator": method.EntropyEstimator(5).WarmUp(3),
	} {
		if got := noise(later); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if reflect.DeepEqual(noise(method.Entropy(5)), want) {
		t.Error("an entropy regulariser without a warm-up has no part in the noise")
	}
}

// Relative to its signal, the variance of REINFORCE without a baseline must grow with the machine
// more than twice as much as the variance of wake-sleep.
func TestReinforceIsNoisierTheLargerTheMachine(t *testing.T) {
	set := patterns(t)
	relative := func(m Method, units int) float64 {
		_, q, err := m.Samples(5).GradientNoise(t.Context(), New(set.Shape()).Dense(units, units), set, 200)
		if err != nil {
			t.Fatal(err)
		}
		return q.Variance / q.MeanSquare
	}
	plain := REINFORCE().ReinforceBaseline(NoBaseline)
	growth := relative(plain, 30) / relative(plain, 3)
	sleep := relative(WS(), 30) / relative(WS(), 3)
	if !(growth > 2*sleep && growth > 2) {
		t.Errorf("growth by %.2f for REINFORCE, by %.2f for wake-sleep", growth, sleep)
	}
	t.Logf("from 3 to 30 units a layer, variance over signal grows by %.2f for REINFORCE, by %.2f for wake-sleep", growth, sleep)
}

// With a start, the noise must be measured at the run's parameters instead of drawn ones.
func TestGradientNoiseOfAStart(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	run, method := mustTrain(t, short(RWS()).LearningRate(0.5), set, dir), RWS().BatchSize(trainingRows)
	p, _, err := method.From(dir, "last").GradientNoise(t.Context(), machineFor(set), set, 10)
	if err != nil {
		t.Fatal(err)
	}
	drawn, _, err := method.GradientNoise(t.Context(), machineFor(set), set, 10)
	if err != nil {
		t.Fatal(err)
	}
	// The machine has learned most of the data, so the gradient is shorter.
	if !(p.MeanSquare < drawn.MeanSquare/2) {
		t.Errorf("after %v the mean gradient has the square %v, before it %v", run, p.MeanSquare, drawn.MeanSquare)
	}
	_, _, err = method.From("nowhere", "last").GradientNoise(t.Context(), machineFor(set), set, 10)
	wantError(t, err, "start from nowhere")
}

// The chains of JSA begin anew for each gradient, as they do for other seeds.
func TestGradientNoiseOfJSAIsThatOfTheFirstStep(t *testing.T) {
	const repeats = 200
	set, dir := patterns(t), t.TempDir()
	mustTrain(t, short(RWS()).LearningRate(0.5), set, dir)
	method := JSA().Samples(2).BatchSize(trainingRows).From(dir, "last")
	noise := func(m Method, pairs int) GradientNoise {
		t.Helper()
		_, q, err := m.GradientNoise(t.Context(), machineFor(set), set, pairs)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	of := noise(method, repeats)
	variances, squares := make([]float64, repeats), make([]float64, repeats)
	for k := range repeats {
		q := noise(method.Seed(uint64(k+2)), 1)
		variances[k], squares[k] = q.Variance, q.MeanSquare
	}
	for what, c := range map[string]struct {
		got  float64
		se   runs.Float
		each []float64
	}{"variance": {of.Variance, of.VarianceSE, variances}, "square of the mean": {of.MeanSquare, of.MeanSquareSE, squares}} {
		mean, se := statistics.MeanAndError(repeats, func(k int) float64 { return c.each[k] })
		if difference := math.Abs(c.got - mean); difference > 4.5*math.Hypot(float64(c.se), se) {
			t.Errorf("the %s is %v ± %v, and %v ± %v from %d seeds", what, c.got, c.se, mean, se, repeats)
		}
	}
}

func TestGradientNoiseRefuses(t *testing.T) {
	set := patterns(t)
	_, _, err := RWS().GradientNoise(t.Context(), machineFor(set), set, 0)
	wantError(t, err, "0 pairs", "at least 1")
	_, _, err = RWS().Samples(0).GradientNoise(t.Context(), machineFor(set), set, 3)
	wantError(t, err, "samples = 0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err = RWS().GradientNoise(ctx, machineFor(set), set, 3); err != context.Canceled {
		t.Errorf("a cancelled call ended with %v", err)
	}
}

// Copies of a row that its weight repeats in a minibatch have different draws, so the gradient is as noisy as with a
// file that repeats the row.
func TestGradientNoiseOfRepeatedRows(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const row, other = "1,0,1,1,0\n", "0,1,0,0,1\n"
	test := write("test.csv", row)
	variance := func(spec dataset.Spec) (v, se float64) {
		spec.Test, spec.Validation = test, new(0)
		set, err := spec.Open()
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := RWS().Samples(2).BatchSize(10).GradientNoise(t.Context(), New(set.Shape()).Dense(3), set, 400)
		if err != nil {
			t.Fatal(err)
		}
		return p.Variance, float64(p.VarianceSE)
	}
	weighted, weightedSE := variance(dataset.Spec{
		Name:       write("weighted.csv", row+strings.Repeat(other, 9)),
		WeightFile: write("weights.txt", "1\n"+strings.Repeat("0\n", 9)),
	})
	repeated, repeatedSE := variance(dataset.Spec{Name: write("repeated.csv", strings.Repeat(row, 10))})
	if difference := math.Abs(weighted - repeated); !(difference <= 4.5*math.Hypot(weightedSE, repeatedSE)) {
		t.Errorf("the variance of the gradient is %v ± %v with weights, and %v ± %v with repeated rows", weighted, weightedSE, repeated, repeatedSE)
	}
}
