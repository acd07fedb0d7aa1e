package updown

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Importance samples of q estimate p(v) without bias, and log p(v) to the low side, the nearer the
// more of them there are.
func TestLogPIsEstimated(t *testing.T) {
	const n = 2000
	x := randomTiny(t, 1)
	m, exact := x.model(t, boltzmann.CD().Spec(), 0), x.exactly()
	logZ := exact.top.LogZ()
	for _, v := range oracle.Binary(tinyUnits[0])[:3] {
		states, err := m.observe(split(slices.Repeat([][]float64{v}, n)))
		if err != nil {
			t.Fatal(err)
		}
		want, before := exact.logP(v), math.Inf(-1)
		for _, samples := range []int{1, 20} {
			logs, _, err := m.unnormalized(t.Context(), states, nil, samples)
			if err != nil {
				t.Fatal(err)
			}
			weights := make([]float64, n)
			for d := range logs {
				logs[d] -= logZ
				weights[d] = math.Exp(logs[d] - want)
			}
			if mean, sd := stat.MeanStdDev(weights, nil); math.Abs(mean-1) > 4*sd/math.Sqrt(n) {
				t.Errorf("%d samples have the mean weight %v ± %v", samples, mean, sd/math.Sqrt(n))
			}
			mean, sd := stat.MeanStdDev(logs, nil)
			if mean > want+4*sd/math.Sqrt(n) || mean < before {
				t.Errorf("log p by %d samples is %v, by fewer %v, and exactly %v", samples, mean, before, want)
			}
			before = mean
		}
	}
}

// Options of annealing are refused before anything is computed, even before the rows are read, if log Z is exact.
func TestAnnealingOfAnExactLogZIsRefusedFirst(t *testing.T) {
	m := randomTiny(t, 1).model(t, boltzmann.CD().Spec(), 0)
	for option, o := range map[string]runs.EvaluationOptions{"chains": {Chains: 9}, "schedule": {Schedule: "even:9"}} {
		_, err := m.Evaluations().Evaluate(t.Context(), o)
		_, _, failure := m.LogPOfRows(t.Context(), o)
		for _, err := range []error{err, failure} {
			if refused, is := errors.AsType[*runs.OptionError](err); !is || refused.Option != option {
				t.Errorf("%s: the error is %v", option, err)
			}
		}
	}
}

// Samples have the means of p(v).
func TestNetworksAreSampled(t *testing.T) {
	const n = 20_000
	x := randomTiny(t, 1)
	m, exact, want := x.model(t, boltzmann.CD().Spec(), 0), x.exactly(), make([]float64, tinyUnits[0])
	for _, v := range oracle.Binary(tinyUnits[0]) {
		floats.AddScaled(want, math.Exp(exact.logP(v)), v)
	}
	sheet, err := m.Means(t.Context(), n, 40)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		var means []float64
		for _, image := range sheet.Values {
			means = append(means, image[i])
		}
		if mean, sd := stat.MeanStdDev(means, nil); math.Abs(mean-want[i]) > 4.5*sd/math.Sqrt(n) {
			t.Errorf("unit %d has the mean %v ± %v in samples, want %v", i, mean, sd/math.Sqrt(n), want[i])
		}
	}
}

// Gray values are the probabilities of draws.
func TestGrayRowsAreDrawn(t *testing.T) {
	const n = 4000
	m := randomTiny(t, 1).model(t, boltzmann.CD().Spec(), 0)
	m.binarization = dataset.Stochastic
	gray := []uint8{0, 51, 255}
	v, err := m.observe(dataset.Split{Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), slices.Repeat(gray, n))})
	if err != nil {
		t.Fatal(err)
	}
	for i, value := range gray {
		p, mean := float64(value)/255, 0.0
		for r := range n {
			mean += float64(v.Data[r*v.Stride+i])
		}
		if se := math.Sqrt(p * (1 - p) / n); math.Abs(mean/n-p) > 4*se {
			t.Errorf("unit %d is on in %v of the draws, want %v ± %v", i, mean/n, p, se)
		}
	}
}

// patterns are 40 training and 12 validation rows.
func patterns(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "3by3", Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// belief trains a deep belief network, and returns the directory of its last layer.
func belief(t *testing.T, set *dataset.Set) string {
	t.Helper()
	run, err := boltzmann.PCD().BatchSize(9).Chains(10).Epochs(20).TrainBelief(t.Context(), boltzmann.New(set.Shape()).Hidden(8, 6, 5), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return run.Dir()
}

func short(set *dataset.Set, run string) Experiment {
	e := Family.Experiment(set)
	e.Settings.Network.Run = run
	e.Settings.Method.BatchSize, e.Epochs = 9, 4
	return e
}

// stopper is a recorder that acts on steps.
type stopper func(step int)

func (stopper) Begin(runs.Plan)        {}
func (s stopper) Step(p runs.Progress) { s(p.Step) }
func (stopper) Epoch(runs.Epoch)       {}
func (stopper) End(error)              {}

// Training begins at the belief network, whose log p it has; it is resumed to the same bytes, needs
// the network's run no more once it has begun, and learns.
func TestTraining(t *testing.T) {
	set := patterns(t)
	dir := belief(t, set)
	e, whole, parts := short(set, dir), t.TempDir(), t.TempDir()
	first, err := e.Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	start, _, err := read(e, first)
	if err != nil {
		t.Fatal(err)
	}
	a := boltzmann.Annealing{Samples: 3000}
	begins, err := start.Evaluate(t.Context(), set, set.Test(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	network, err := boltzmann.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	gray := slices.Repeat([]float64{0.3}, set.Shape().Units())
	other, err := dataset.Spec{Name: "grey", Binarization: dataset.Stochastic}.FromRows(set.Shape(), [][]float64{gray, gray}, [][]float64{gray})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start.Evaluate(t.Context(), other, other.Test(), a, nil); err == nil || !strings.Contains(err.Error(), "open the set with the binarization of the model") {
		t.Errorf("a set of another binarisation: %v", err)
	}
	was, err := network.Evaluate(t.Context(), set, set.Test(), a, nil)
	if err != nil || begins.LogPErrs != runs.ErrsLow || begins.LogZ.Value != was.LogZ.Value || math.Abs(float64(begins.LogP-was.LogP)) > 0.05 {
		t.Errorf("training begins at log p = %v (%v, log Z = %v), the network has %v (%v, %v)", begins.LogP, begins.LogPErrs, begins.LogZ.Value, was.LogP, was.LogZ.Value, err)
	}
	run, err := e.Train(t.Context(), set, whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := runs.Claim(e, set, parts); err != nil {
		t.Fatal(err)
	}
	for step, finished := 0, false; !finished; {
		claimed, err := runs.ExperimentIn(parts)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = runs.Train(ctx, claimed, set, parts, stopper(func(at int) {
			if step = at; step%4 == 0 {
				cancel()
			}
		}))
		cancel()
		finished = err == nil
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if step > 0 {
			os.RemoveAll(filepath.Dir(dir))
		}
	}
	for _, name := range []string{"checkpoint.safetensors", "best.safetensors"} {
		a, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(parts, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s is another", name)
		}
	}
	ends, err := run.Model().Evaluate(t.Context(), set, set.Train(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, err := start.Evaluate(t.Context(), set, set.Train(), a, nil)
	if err != nil || ends.LogP < before.LogP {
		t.Errorf("log p of the training rows is %v after training, and was %v (%v)", ends.LogP, before.LogP, err)
	}
	estimates, err := run.Model().Estimate(t.Context(), set.Test(), 100, 1, nil)
	if test, _ := run.Model().WithSeed(1).Evaluate(t.Context(), set, set.Test(), boltzmann.Annealing{}, nil); err != nil || math.Abs(estimates[runs.LogP.Key].Value-float64(test.LogP)) > 1e-9 {
		t.Errorf("a comparison has log p = %v (%v), an evaluation %v", estimates[runs.LogP.Key], err, test.LogP)
	}
}

// What cannot be trained is refused, with the remedy.
func TestExperimentsThatAreRefused(t *testing.T) {
	set := patterns(t)
	dir := belief(t, set)
	other, err := dataset.Open("miniglyphs")
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*Experiment)) Experiment {
		e := short(set, dir)
		change(&e)
		return e
	}
	for says, e := range map[string]Experiment{
		"no longer match the experiment": with(func(e *Experiment) { e.Settings.Network.Parameters = strings.Repeat("0", 64) }),
	} {
		if _, err := e.Train(t.Context(), set, filepath.Join(t.TempDir(), "run")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	if _, err := short(other, dir).Train(t.Context(), other, t.TempDir()); err == nil || !strings.Contains(err.Error(), "it is for rows of 9 values, the data have 196") {
		t.Errorf("other data are trained on: %v", err)
	}
	m := randomTiny(t, 1).model(t, boltzmann.CD().Spec(), 0)
	_, shape := m.LogZ(t.Context(), split([][]float64{{0, 1}}), boltzmann.Annealing{}, nil)
	_, _, samples := m.unnormalized(t.Context(), m.newPass(1).states[0], nil, 0)
	for _, err := range []error{shape, samples} {
		if err == nil {
			t.Error("a network does what it cannot")
		}
	}
}

// Snapshots that are of no network, or of another, are refused.
func TestSnapshotsThatAreRefused(t *testing.T) {
	set := patterns(t)
	e := short(set, belief(t, set))
	whole, err := e.Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*runs.Snapshot){
		"the description of the network": func(s *runs.Snapshot) { s.Header = []byte("[") },
		"no network of layers":           func(s *runs.Snapshot) { s.Header = bytes.Replace(s.Header, []byte("9,"), []byte("7,"), 1) },
		"have more numbers than":         func(s *runs.Snapshot) { s.Header = bytes.Replace(s.Header, []byte("8,"), []byte("88888,"), 1) },
		"the prior: no machine is for images of": func(s *runs.Snapshot) {
			s.Header = bytes.Replace(s.Header, []byte(`"hidden":5`), []byte(`"hidden":0`), 1)
		},
	} {
		damaged := whole
		damaged.Tensors = slices.Clone(whole.Tensors)
		change(&damaged)
		if _, _, err := read(e, damaged); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}
