package hm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// ownVIMCO is VIMCO written as a user would in a cell.
var ownVIMCO = RegisterPhases("own-vimco", Estimator{Samples: 2, Source: "TestEstimatorOfOnesOwn", Weigh: func(_, logP, logQ, p, q []float64) {
	bound := func(k int, mean float64) float64 { // with ω_k replaced by a mean, if k is a sample
		sum := 0.0
		for j := range logP {
			logω := logP[j] - logQ[j]
			if j == k {
				logω = mean
			}
			sum += math.Exp(logω)
		}
		return math.Log(sum / float64(len(logP)))
	}
	all, total := bound(-1, 0), 0.0
	for j := range logP {
		total += logP[j] - logQ[j]
	}
	for k := range logP {
		logω := logP[k] - logQ[k]
		p[k] = math.Exp(logω-all) / float64(len(logP))
		q[k] = all - bound(k, (total-logω)/float64(len(logP)-1)) - p[k]
	}
}})

// A user's estimator must train exactly like the built-in one that it repeats, in every metric.
func TestEstimatorOfOnesOwn(t *testing.T) {
	set := patterns(t)
	for _, metric := range []Metric{Euclidean, Block} {
		own, err := Preset(string(ownVIMCO))
		if err != nil {
			t.Fatal(err)
		}
		last := func(m Method) float64 {
			run, err := short(m).Metric(metric).Train(t.Context(), machineFor(set), set, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			epochs := run.History().Epochs
			return epochs[len(epochs)-1].Validation["log_p"]
		}
		if got, want := last(own), last(VIMCO()); math.Abs(got-want) > 1e-4 {
			t.Errorf("metric %v: log p is %v at the end, want %v", metric, got, want)
		}
	}
}

// A name of phases must not be that of other phases or of a preset.
func TestNamesOfPhasesAreUnique(t *testing.T) {
	for _, name := range []Phases{ownVIMCO, ReweightedWakeSleep, "nrws"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("phases %s are registered twice", name)
				}
			}()
			RegisterPhases(name, Estimator{Weigh: func(_, _, _, _, _ []float64) {}})
		}()
	}
}

func TestImpossibleDefaultsOfPhasesAreRefused(t *testing.T) {
	for says, e := range map[string]Estimator{
		"Samples = -5":       {Samples: -5},
		"Sleep = NaN":        {Sleep: math.NaN()},
		"Parameters = [NaN]": {Parameters: []float64{math.NaN()}},
	} {
		func() {
			defer func() {
				if panicked := fmt.Sprint(recover()); !strings.Contains(panicked, says) {
					t.Errorf("the panic is %v, want one that says %q", panicked, says)
				}
			}()
			e.Weigh = func(_, _, _, _, _ []float64) {}
			RegisterPhases(Phases(says), e)
		}()
	}
}

var bestDefaults = []float64{1}

// best writes only the weights of the sample with the largest p/q, and has a sleep gradient.
var best = RegisterPhases("best", Estimator{Source: "TestEstimatorsResume", Sleep: 0.5, Parameters: bestDefaults, Weigh: func(weight, logP, logQ, p, q []float64) {
	k := 0
	for j := range logP {
		if logP[j]-logQ[j] > logP[k]-logQ[k] {
			k = j
		}
	}
	p[k], q[k] = weight[0], weight[0]
}})

// Runs must resume byte for byte, with negative weights of samples, with chains, and with an estimator that
// writes only some weights.
func TestEstimatorsResume(t *testing.T) {
	set := patterns(t)
	for _, m := range []Method{TVO(), JSA(), preset(string(best))} {
		runstest.Resume(t, short(m).Metric(Block).Epochs(2).Experiment(machineFor(set), set), set)
	}
}

// An experiment with phases that this program does not have must be refused, with their name.
func TestUnknownPhasesAreRefused(t *testing.T) {
	set := patterns(t)
	text := string(short(VIMCO()).Experiment(machineFor(set), set).TOML())
	e, err := ParseExperiment([]byte(strings.ReplaceAll(text, `"vimco"`, `"lost"`)))
	if err == nil {
		err = e.Check(set)
	}
	wantError(t, err, `"lost"`)
}

func TestParametersOfPhases(t *testing.T) {
	set := patterns(t)
	for _, c := range []struct {
		method Method
		says   []string
	}{
		{VIMCO().Samples(1), []string{"samples = 1", "at least 2"}},
		{TVO().Samples(1), []string{"samples = 1", "at least 2"}},
		{OVIS().SamplesAfter(1, 1), []string{"later_samples = 1", "at least 2"}},
		{OVIS().PhaseParameters(1.5), []string{"phase_parameters = [1.5]", "one number γ"}},
		{TVO().PhaseParameters(0, 0.5, 0.5), []string{"partition", "increasing numbers"}},
		{TVO().PhaseParameters(0.1, 0.5), []string{"partition", "from 0"}},
		{TVO().PhaseParameters(0, math.NaN()), []string{"partition"}},
		{RWS().PhaseParameters(-0.1), []string{"phase_parameters = [-0.1]", "one number λ"}},
		{JSA().Samples(1), []string{"one sample", "phases jsa", "2 samples"}},
		{JSA().Entropy(1), []string{"entropy = 1", "jsa"}},
		{WS().PhaseParameters(1), []string{"phases ws have no parameters"}},
		{VIMCO().PhaseParameters(1), []string{"phases vimco have no parameters"}},
	} {
		wantError(t, c.method.Experiment(machineFor(set), set).Check(set), c.says...)
	}
}

// A method must not change with a slice that a caller gave it or got from it.
func TestMethodsOwnTheirParameters(t *testing.T) {
	set := patterns(t)
	given := []float64{0.25}
	m := RWS().PhaseParameters(given...)
	for _, of := range [][]float64{given, m.Spec().PhaseParameters, m.Experiment(machineFor(set), set).Method.PhaseParameters} {
		of[0] = 0.75
	}
	if is := m.Spec().PhaseParameters[0]; is != 0.25 {
		t.Errorf("the parameter is %v, want 0.25", is)
	}
	bestDefaults[0] = 0.75
	if e, _ := best.estimator(); e.Parameters[0] != 1 {
		t.Errorf("the default parameter is %v, want 1", e.Parameters[0])
	}
	if p := RWS().PhaseParameters().Spec().PhaseParameters; p != nil {
		t.Errorf("without arguments, the parameters are %v", p)
	}
}

// A tensor of chains with a wrong shape or impossible values must be refused, with its name.
func TestChainsOfACheckpointAreChecked(t *testing.T) {
	set := patterns(t)
	run, err := short(JSA()).Epochs(1).Train(t.Context(), machineFor(set), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(c *runs.Tensor){
		"a fraction":      func(c *runs.Tensor) { c.Data[1] = 0.5 },
		"too many units":  func(c *runs.Tensor) { c.Data[1] = 1 << 24 },
		"no number":       func(c *runs.Tensor) { c.Data[1] = float32(math.NaN()) },
		"begun twice":     func(c *runs.Tensor) { c.Data[0] = 2 },
		"rows too narrow": func(c *runs.Tensor) { c.Shape = []int{c.Size(), 1} },
	} {
		s := run.Snapshot()
		for i := range s.Tensors {
			if c := &s.Tensors[i]; c.Name == "chains" {
				c.Data = append([]float32{}, c.Data...)
				spoil(c)
			}
		}
		_, err := run.Experiment().Learner(set, s)
		if err == nil || !strings.Contains(err.Error(), "tensor chains") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// Wake-phase RWS must draw no dreams, and λ = ½ must equal RWS to the byte.
func TestShareOfTheQWakePhase(t *testing.T) {
	set := patterns(t)
	checkpoint := func(m Method) string {
		run, err := short(m).Train(t.Context(), machineFor(set), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return run.Snapshot().Checksum()
	}
	if checkpoint(RWS()) != checkpoint(RWS().PhaseParameters(0.5)) {
		t.Error("λ = ½ is not RWS")
	}
	if RWS().PhaseParameters(1).spec.algorithm(1).HasDreams() {
		t.Error("wake-phase RWS draws dreams")
	}
	if RWS().PhaseParameters(0).spec.algorithm(1).HasRecognitionWake() {
		t.Error("sleep-phase RWS has a q-wake gradient")
	}
}
