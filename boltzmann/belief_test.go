package boltzmann

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// randomBeliefNetwork has machines of random parameters on top of each other.
func randomBeliefNetwork(t *testing.T, layers ...int) *Model {
	t.Helper()
	top := randomModel(t, layers[len(layers)-2], layers[len(layers)-1])
	for l := range len(layers) - 2 {
		top.below = append(top.below, randomModel(t, layers[l], layers[l+1]).parameters)
	}
	top.shape = dataset.Shape{Height: 1, Width: layers[0]}
	return top
}

// A network is a belief network by enumeration.
type network struct {
	below []*oracle.Machine // the lowest first
	top   *oracle.Machine
	logZ  float64 // of top
}

func exactNetwork(m *Model) (n network) {
	for _, p := range m.below {
		n.below = append(n.below, exactly(&Model{parameters: p}))
	}
	n.top = exactly(m)
	n.logZ = n.top.LogZ()
	return n
}

// logP is log p(v).
func (n network) logP(v []float64) float64 { return n.marginal(n.below, v) }

func (n network) marginal(machines []*oracle.Machine, v []float64) float64 {
	if len(machines) == 0 {
		return -n.top.FreeEnergy(v) - n.logZ
	}
	var terms []float64
	for _, h := range machines[0].Hidden {
		terms = append(terms, machines[0].LogPVisible(v, h)+n.marginal(machines[1:], h))
	}
	return floats.LogSumExp(terms)
}

// bound is that of the factorised recognition, layer by layer.
func (n network) bound(machines []*oracle.Machine, v []float64) (sum float64) {
	if len(machines) == 0 {
		return -n.top.FreeEnergy(v) - n.logZ
	}
	for _, h := range machines[0].Hidden {
		q := machines[0].LogPHidden(h, v)
		sum += math.Exp(q) * (machines[0].LogPVisible(v, h) - q + n.bound(machines[1:], h))
	}
	return sum
}

// Importance samples estimate p(v) of a belief network without bias; one of them has the
// mean of the variational bound, and more are nearer to log p(v), and below it.
func TestBeliefNetworksAreEstimated(t *testing.T) {
	for _, layers := range [][]int{{3, 3, 2}, {3, 2, 4}, {2, 3, 2, 3}} {
		m := randomBeliefNetwork(t, layers...)
		exact := exactNetwork(m)
		logZ := exact.top.LogZ()
		for _, v := range oracle.Binary(layers[0])[:3] {
			const n = 2000
			rows := split(slices.Repeat([][]float64{v}, n))
			states, err := m.observe(rows)
			if err != nil {
				t.Fatal(err)
			}
			logP, bound := exact.logP(v), exact.bound(exact.below, v)
			var means []float64
			for _, samples := range []int{1, 20} {
				energies, _, err := m.beliefFreeEnergies(t.Context(), states, nil, samples)
				if err != nil {
					t.Fatal(err)
				}
				logs, weights := make([]float64, n), make([]float64, n)
				for d, energy := range energies {
					logs[d] = -energy - logZ
					weights[d] = math.Exp(logs[d] - logP)
				}
				if mean, sd := stat.MeanStdDev(weights, nil); math.Abs(mean-1) > 4*sd/math.Sqrt(n) {
					t.Errorf("%v: %d samples have the mean weight %v ± %v", layers, samples, mean, sd/math.Sqrt(n))
				}
				mean, sd := stat.MeanStdDev(logs, nil)
				if samples == 1 && math.Abs(mean-bound) > 4*sd/math.Sqrt(n) {
					t.Errorf("%v: one sample has the mean %v ± %v, and the bound is %v", layers, mean, sd/math.Sqrt(n), bound)
				}
				if mean > logP+4*sd/math.Sqrt(n) {
					t.Errorf("%v: log p by %d samples is %v, and exactly %v", layers, samples, mean, logP)
				}
				means = append(means, mean)
			}
			if means[1] < means[0] {
				t.Errorf("%v: log p by 20 samples is %v, by one %v", layers, means[1], means[0])
			}
		}
	}
}

// Estimate draws as many importance samples per row as it is asked for.
func TestBeliefNetworksAreEstimatedFromAnyNumberOfSamples(t *testing.T) {
	m := randomBeliefNetwork(t, 3, 3, 2)
	rows, logZ := split(oracle.Binary(3)), exactNetwork(m).top.LogZ()
	states, err := m.observe(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, samples := range []int{1, 20} {
		energies, _, err := m.beliefFreeEnergies(t.Context(), states, nil, samples)
		if err != nil {
			t.Fatal(err)
		}
		of, err := m.Estimate(t.Context(), rows, samples, m.seed, nil)
		if got, want := of[runs.LogP.Key].Value, -stat.Mean(energies, nil)-logZ; err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("log p by %d samples is %v (%v), want %v", samples, got, err, want)
		}
	}
}

// A row of weight 0 counts neither in log p nor in its sample size.
func TestSampleSizesCountRowsByTheirWeights(t *testing.T) {
	m := randomBeliefNetwork(t, 3, 3, 2)
	rows := split(oracle.Binary(3)[3:5])
	rows.Weights = []float64{2, 0}
	weighted, err := m.Estimate(t.Context(), rows, 20, 1, nil)
	alone, failure := m.Estimate(t.Context(), split(oracle.Binary(3)[3:4]), 20, 1, nil)
	got, want := weighted[runs.LogP.Key], alone[runs.LogP.Key]
	if err != nil || failure != nil || got.Value != want.Value || got.SampleSize.Moved != want.SampleSize.Moved || math.Abs(float64(got.SampleSize.Effective-want.SampleSize.Effective)) > 1e-9 {
		t.Errorf("%+v, want %+v of the other row alone (%v, %v)", got, want, err, failure)
	}
}

// ExactLogP is the sum over all units of the layers, of one layer between and of two.
func TestExactLogPOfBeliefNetworks(t *testing.T) {
	for _, layers := range [][]int{{3, 3, 2}, {1, 11, 1}, {2, 3, 2, 3}} {
		m := randomBeliefNetwork(t, layers...)
		rows, exact := oracle.Binary(layers[0]), exactNetwork(m)
		logP, err := m.ExactLogP(t.Context(), split(rows))
		if err != nil {
			t.Fatal(err)
		}
		for d, v := range rows {
			if want := exact.logP(v); math.Abs(logP[d]-want) > 1e-5 {
				t.Errorf("%v: log p of %v is %v, want %v", layers, v, logP[d], want)
			}
		}
	}
	m := randomBeliefNetwork(t, 3, 21, 2)
	if _, err := m.ExactLogP(t.Context(), split(oracle.Binary(3))); err == nil || !strings.Contains(err.Error(), "use at most 20") {
		t.Errorf("error %v of 21 units between", err)
	}
}

// Samples have the means of p(v), and AIS has the log Z of the top.
func TestBeliefNetworksHaveNoSpins(t *testing.T) {
	if w, err := randomBeliefNetwork(t, 4, 3, 2).Spins(); err == nil || !strings.Contains(err.Error(), "directed") {
		t.Errorf("weights %v, error %v", w, err)
	}
}

func TestBeliefNetworksAreSampled(t *testing.T) {
	m := randomBeliefNetwork(t, 3, 2, 3, 2)
	exact := exactNetwork(m)
	want := make([]float64, 3)
	for _, v := range oracle.Binary(3) {
		floats.AddScaled(want, math.Exp(exact.logP(v)), v)
	}
	const n = 20_000
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
	base := split(oracle.Binary(3)[1:])
	z, err := m.AIS(t.Context(), base, Annealing{Schedule: Even(20), Chains: 2000}, nil)
	if d := float64(z.Value) - exact.top.LogZ(); err != nil || math.Abs(d) > 4*float64(z.SE) {
		t.Errorf("log Z is %v ± %v (%v), want %v", z.Value, z.SE, err, exact.top.LogZ())
	}
}

// Draws have the probabilities of p(v).
func TestDrawsHaveTheirProbabilities(t *testing.T) {
	const n = 20_000
	states := oracle.Binary(3)
	for _, m := range []*Model{randomModel(t, 3, 2), randomBeliefNetwork(t, 3, 2, 3, 2)} {
		logP := exactNetwork(m).logP
		sheet, err := m.Sample(t.Context(), n, 40)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range states {
			drawn, p := 0.0, math.Exp(logP(v))
			for _, row := range sheet.Values {
				if slices.Equal(row, v) {
					drawn++
				}
			}
			if se := math.Sqrt(p * (1 - p) / n); math.Abs(drawn/n-p) > 4.5*se {
				t.Errorf("%v: %v is %v of the draws, and its probability is %v", m, v, drawn/n, p)
			}
		}
	}
}

// What is drawn upwards has the probabilities of its machines.
func TestUnitsRiseByTheirProbabilities(t *testing.T) {
	m := randomBeliefNetwork(t, 3, 2, 3, 2)
	exact := exactNetwork(m)
	v := []float64{1, 0, 1}
	const n = 20_000
	states, err := m.states(t.Context(), split(slices.Repeat([][]float64{v}, n)))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for r := range states.Rows {
		counts[fmt.Sprint(row(states, r))]++
	}
	for _, h := range exact.top.Visible {
		p := 0.0
		for _, between := range exact.below[0].Hidden {
			p += math.Exp(exact.below[0].LogPHidden(between, v) + exact.below[1].LogPHidden(h, between))
		}
		if got, se := counts[fmt.Sprint(h)]/n, math.Sqrt(p*(1-p)/n); math.Abs(got-p) > 4.5*se {
			t.Errorf("%v has the frequency %v ± %v, want %v", h, got, se, p)
		}
	}
}

// A belief network is trained layer by layer, learns, is resumed to the same bytes, and
// needs the runs of the layers below no more once it has begun.
func TestBeliefTraining(t *testing.T) {
	set, whole, parts := patterns(t), t.TempDir(), t.TempDir()
	machine, m := New(set.Shape()).Hidden(6, 5, 4), short(PCD())
	run, err := m.TrainBelief(t.Context(), machine, set, whole)
	if err != nil {
		t.Fatal(err)
	}
	for finished := false; !finished; {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.TrainBelief(ctx, machine, set, parts, stopper(func(step int) {
			if step%7 == 0 {
				cancel()
			}
		}))
		cancel()
		finished = err == nil
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	for l := 1; l <= 3; l++ {
		a, err := os.ReadFile(filepath.Join(LayerDir(whole, l), "checkpoint.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(LayerDir(parts, l), "checkpoint.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("layer %d is another", l)
		}
		opened, err := OpenRun(LayerDir(whole, l))
		if err != nil || len(opened.below) != l-1 {
			t.Errorf("layer %d stands on %d (%v)", l, len(opened.below), err)
		}
	}
	os.RemoveAll(LayerDir(whole, 1))
	os.RemoveAll(LayerDir(whole, 2))
	if run, err = OpenRun(run.Dir()); err != nil {
		t.Fatal(err)
	}
	e, err := run.Evaluate(t.Context(), set, set.Test(), Annealing{}, nil)
	if err != nil || e.LogPErrs != runs.ErrsLow || e.Samples != 100 || !(e.LogP < 0) || e.LogP < e.BaselineLogP-2 {
		t.Errorf("log p is %v (%v, %v), baseline %v", e.LogP, e.LogPErrs, err, e.BaselineLogP)
	}
}

// A sweep may vary the run below a machine although its base has the checksum of one.
func TestSweepsOverTheMachineBelow(t *testing.T) {
	set := patterns(t)
	e := short(PCD()).On("below", "best").Experiment(New(set.Shape()).Hidden(4), set)
	e.Below.Parameters = strings.Repeat("0", 64)
	s := &runs.Sweep{Base: e.TOML(), Axes: []runs.Axis{{Keys: []string{"below.checkpoint"}, Values: [][]any{{"best"}, {"last"}}}}, Seeds: 1}
	settings, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range settings {
		if below := setting.Experiment.(Experiment).Below; below.Parameters != "" {
			t.Errorf("%s requires the parameters %s", setting.Name, below.Parameters)
		}
	}
}

// Where a machine cannot stand, this is said, with the remedy.
func TestMachinesBelowThatAreRefused(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	train := func(machine Machine, name string) {
		t.Helper()
		if _, err := short(PCD()).Train(t.Context(), machine, set, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	train(New(set.Shape()).Hidden(5), "rbm")
	train(New(set.Shape()).Hidden(5, 4), "dbm")
	stale := short(PCD()).On(at("rbm"), "").Experiment(New(set.Shape()).Hidden(4), set)
	stale.Below.Parameters = strings.Repeat("0", 64)
	gone := stale
	gone.Below = &runs.Source{Run: at("nowhere")}
	for says, e := range map[string]Experiment{
		"restricted machines of Bernoulli units":                      short(PCD()).On(at("dbm"), "").Experiment(New(set.Shape()).Hidden(4), set),
		"its parameters no longer match the experiment":               stale,
		"the machine below, of " + at("nowhere"):                      gone,
		"a machine below without a run":                               short(PCD()).On("", "").Experiment(New(set.Shape()).Hidden(4), set),
		"it must be a restricted machine of Bernoulli units":          short(PCD()).On(at("rbm"), "").Experiment(New(set.Shape()).Hidden(4, 3), set),
		"no checkpoint of epoch 77":                                   short(PCD()).On(at("rbm"), "77").Experiment(New(set.Shape()).Hidden(4), set),
		"a belief network that stands on a run: train its layers one": {},
	} {
		var err error
		if len(e.Machine.Above) == 0 && e.Epochs == 0 {
			_, err = short(PCD()).On(at("rbm"), "").TrainBelief(t.Context(), New(set.Shape()).Hidden(4, 3), set, at("other"))
		} else {
			_, err = e.Train(t.Context(), set, at("refused"))
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	m := randomBeliefNetwork(t, 3, 3, 2)
	rows := split(oracle.Binary(3))
	_, raise := m.RAISE(t.Context(), rows, rows, Annealing{}, nil)
	_, inpaint := m.Inpaint(t.Context(), rows, dataset.Mask{true, false, false}, 1, 1, nil)
	_, samples := m.Evaluate(t.Context(), set, rows, Annealing{Samples: -1}, nil)
	for _, err := range []error{raise, inpaint, samples} {
		if err == nil {
			t.Error("a belief network does what it cannot")
		}
	}
}
