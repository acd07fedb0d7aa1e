package hm

import (
	"math"
	"reflect"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

func TestCheckAcceptsPresets(t *testing.T) {
	set := patterns(t)
	for _, name := range Presets() {
		if err := preset(name).Experiment(machineFor(set), set).Check(set); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckRefuses checks that the error for each wrong setting names the setting, its value and
// the remedy.
func TestCheckRefuses(t *testing.T) {
	set := patterns(t)
	unheld, err := dataset.Spec{Name: "3by3", Subset: trainingRows}.Open()
	if err != nil {
		t.Fatal(err)
	}
	machine := machineFor(set)
	step := func(epochs int, factor float64) Method { return short(RWS()).StepDecay(epochs, factor) }
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name    string
		method  Method
		machine Machine
		says    []string
	}{
		{"no layers", short(RWS()), New(set.Shape()), []string{"without hidden layers", "Dense", "--layers"}},
		{"empty layer", short(RWS()), machine.Dense(0), []string{"layer 3", "0 units", "at least one"}},
		{"negative layer", short(RWS()), machine.Dense(-5), []string{"layer 3", "-5 units", "at least one"}},
		{"gigantic layer", short(RWS()), machine.Dense(1 << 40), []string{"layer 3", "1099511627776 units", "between 1 and 262144"}},
		{"too many layers", short(RWS()), machine.Dense(make([]int, 0)...).Dense(ones(300)...), []string{"302 hidden layers", "at most 255"}},
		{"bias NaN", short(RWS()), machine.Bias(nan), []string{"bias NaN", "finite"}},
		{"bias infinite", short(RWS()), machine.Bias(inf), []string{"bias +Inf", "finite"}},

		{"learning rate NaN", short(RWS()).LearningRate(nan), machine, []string{"learning_rate = NaN", "positive"}},
		{"learning rate 0", short(RWS()).LearningRate(0), machine, []string{"learning_rate = 0", "positive"}},
		{"learning rate negative", short(RWS()).LearningRate(-0.1), machine, []string{"learning_rate = -0.1", "positive"}},
		{"learning rate infinite", short(RWS()).LearningRate(inf), machine, []string{"learning_rate = +Inf", "positive"}},

		{"damping 0", short(NRWS()).Damping(0), machine, []string{"damping = 0", "positive"}},
		{"damping negative", short(NRWS()).Damping(-1), machine, []string{"damping = -1", "positive"}},
		{"damping NaN", short(DNRWS()).Damping(nan), machine, []string{"damping = NaN", "positive"}},
		{"damping infinite", short(NBiHM()).Damping(inf), machine, []string{"damping = +Inf", "positive"}},
		{"damping NaN without a metric", short(RWS()).Damping(nan), machine, []string{"damping = NaN", "positive"}},
		{"K 0", short(NRWS()).RefreshEvery(0), machine, []string{"refresh_every = 0", "at least 1"}},
		{"K negative", short(NRWS()).RefreshEvery(-7), machine, []string{"refresh_every = -7", "at least 1"}},
		{"Fisher blocks of dreams without dreams", short(NBiHM()).FisherSource(FromSleep), machine, []string{"fisher_source = sleep", "use wake"}},
		{"legacy Fisher blocks without dreams", short(NBiHM()).FisherSource(FromLegacy), machine, []string{"fisher_source = legacy", "bihm have no dreams", "use wake"}},

		{"one sample of REINFORCE", short(REINFORCE()).Samples(1), machine, []string{"one sample", "reinforce_baseline = constant", "2 samples", "baselines none or learned"}},
		{"one sample of REINFORCE, optimal", short(REINFORCE()).ReinforceBaseline(OptimalBaseline).Samples(1), machine, []string{"one sample", "reinforce_baseline = optimal"}},
		{"REINFORCE's baseline without it", short(RWS()).ReinforceBaseline(NoBaseline), machine, []string{"reinforce_baseline = none", "phases rws have none", "use the phases reinforce"}},
		{"dreams of REINFORCE", short(REINFORCE()).SleepSteps(2), machine, []string{"sleep_steps = 2", "reinforce have no sleep phase"}},
		{"Fisher blocks of dreams of REINFORCE", short(REINFORCE()).Metric(Block).FisherSource(FromSleep), machine, []string{"fisher_source = sleep", "reinforce have no dreams"}},
		{"no sleep step", short(RWS()).SleepSteps(0), machine, []string{"sleep_steps = 0", "at least 1"}},
		{"sleep steps without sleep", short(BiHM()).SleepSteps(3), machine, []string{"sleep_steps = 3", "bihm have no sleep phase", "use ws or rws"}},
		{"sleep scale 0", short(NWS()).SleepScale(0), machine, []string{"sleep_scale = 0", "positive"}},
		{"sleep scale NaN", short(NWS()).SleepScale(nan), machine, []string{"sleep_scale = NaN", "positive"}},
		{"sleep scale without sleep", short(NBiHM()).SleepScale(3), machine, []string{"sleep_scale = 3", "bihm have no sleep phase", "use ws or rws"}},
		{"sleep scale that Adam undoes", short(WS()).SleepScale(3).Optimizer(Adam), machine, []string{"sleep_scale = 3", "Adam", "use sleep_steps"}},

		{"entropy of REINFORCE", short(REINFORCE()).Entropy(1), machine, []string{"entropy = 1", "use the phases ws, rws or bihm"}},
		{"momentum 1", short(RWS()).Optimizer(Momentum).Momentum(1), machine, []string{"momentum = 1", "below 1"}},
		{"momentum negative", short(RWS()).Momentum(-0.1), machine, []string{"momentum = -0.1", "above 0"}},
		{"momentum NaN", short(RWS()).Momentum(nan), machine, []string{"momentum = NaN", "above 0"}},
		{"decay of Adam's mean", short(RWS()).Optimizer(Adam).AdamDecays(2, 0), machine, []string{"adam_beta1 = 2", "below 1"}},
		{"decay of Adam's mean square", short(RWS()).AdamDecays(0, inf), machine, []string{"adam_beta2 = +Inf", "below 1"}},

		{"step every 0 epochs", step(0, 0.5), machine, []string{"step_epochs = 0", "at least 1"}},
		{"step by 0", step(2, 0), machine, []string{"step_factor = 0", "above 0"}},
		{"step by NaN", step(2, nan), machine, []string{"step_factor = NaN", "above 0"}},
		{"step by NaN without steps", step(2, nan).Schedule(CosineDecay), machine, []string{"step_factor = NaN", "above 0"}},
		{"step upward", step(2, 1.5), machine, []string{"step_factor = 1.5", "at most 1"}},

		{"samples 0", short(RWS()).Samples(0), machine, []string{"samples = 0", "at least 1"}},
		{"one sample with a baseline", short(RWS()).Samples(1), machine, []string{"one sample", "baseline", "2 samples"}},
		{"later samples negative", short(RWS()).SamplesAfter(2, -1), machine, []string{"later_samples = -1", "or 0"}},
		{"later samples never", short(RWS()).SamplesAfter(0, 100), machine, []string{"later_samples = 100", "later_samples_after = 0", "use both"}},
		{"no later samples", short(RWS()).SamplesAfter(3, 0), machine, []string{"later_samples = 0", "later_samples_after = 3", "use both"}},
		{"later samples before training", short(RWS()).SamplesAfter(-3, 0), machine, []string{"later_samples_after = -3", "use both"}},
		{"one later sample with a baseline", short(RWS()).SamplesAfter(1, 1), machine, []string{"one sample", "baseline", "2 samples"}},
		{"L1 negative", short(RWS()).L1(-1), machine, []string{"l1 = -1", "0 or more"}},
		{"L1 NaN", short(RWS()).L1(nan), machine, []string{"l1 = NaN", "0 or more"}},
		{"L2 infinite", short(RWS()).L2(inf), machine, []string{"l2 = +Inf", "0 or more"}},
		{"entropy negative", short(RWS()).Entropy(-1), machine, []string{"entropy = -1", "0 or more"}},
		{"entropy estimator NaN", short(RWS()).EntropyEstimator(nan), machine, []string{"entropy_estimator = NaN", "0 or more"}},
		{"warm-up negative", short(RWS()).L2(1).WarmUp(-1), machine, []string{"warmup = -1", "use 0"}},
		{"batch 0", short(RWS()).BatchSize(0), machine, []string{"batch_size = 0", "at least 1"}},
		{"batch larger than the set", short(RWS()).BatchSize(trainingRows + 1), machine, []string{"batch size 91", "90 training rows", "lower"}},

		{"phases without a name", short(RWS()).Phases("nine"), machine, []string{`phases "nine"`, "reinforce", "RegisterPhases"}},
		{"metric without a name", short(NRWS()).Metric(-1), machine, []string{"metric -1", "kronecker"}},
		{"source without a name", short(RWS()).FisherSource(3), machine, []string{"Fisher source 3", "legacy"}},
		{"precision without a name", short(NRWS()).FisherPrecision(2), machine, []string{"precision 2", "int16"}},
		{"optimizer without a name", short(RWS()).Optimizer(4), machine, []string{"optimizer 4", "nesterov"}},
		{"baseline without a name", short(REINFORCE()).ReinforceBaseline(4), machine, []string{"baseline of REINFORCE 4", "optimal"}},
		{"proposal without a name", short(RWS()).LabelProposal(3), machine, []string{"label proposal 3", "mixed"}},
		{"schedule without a name", short(RWS()).Schedule(3), machine, []string{"schedule 3", "cosine"}},
		{"weights without a name", short(RWS()), machine.Weights(3), []string{"initialization 3", "small-normal"}},
		{"coding without a name", short(RWS()), machine.Coding(2), []string{"coding 2", "pm1"}},
		{"units without a name", short(RWS()), machine.Units(3), []string{"kind of units 3", "gaussian"}},
		{"labels without a name", short(RWS()), machine.Labels(4, 10), []string{"label layer 4", "hidden"}},
		{"networks without a name", short(RWS()), machine.Convolve(Convolution{Channels: 1, Height: 2, Width: 2, Stride: 1, Networks: 3}), []string{"networks 3", "BothNetworks"}},

		{"epochs 0", short(RWS()).Epochs(0), machine, []string{"0 epochs", "at least 1"}},
		{"epochs negative", short(RWS()).Epochs(-2), machine, []string{"-2 epochs", "at least 1"}},
		{"epochs without end", short(RWS()).Epochs(math.MaxInt32), machine, []string{"2147483647 epochs", "2³² steps", "lower"}},
		{"patience negative", short(RWS()).Patience(-1), machine, []string{"patience of -1", "give 0"}},
		{"seed beyond TOML", short(RWS()).Seed(1 << 63), machine, []string{"seed 9223372036854775808", "from 0 to 2⁶³−1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := test.method.Experiment(test.machine, set)
			wantError(t, e.Check(set), test.says...)
			if text := test.method.String(); text == "" || len(e.Rows()) == 0 {
				t.Errorf("the method is %q, and has the rows %v", text, e.Rows())
			}

			dir := t.TempDir()
			_, err := test.method.Train(t.Context(), test.machine, set, dir)
			wantError(t, err, test.says...)
			wantUnchanged(t, dir, map[string]string{})
		})
	}
	t.Run("sleep scale that Adam keeps", func(t *testing.T) {
		scaled := short(WS()).SleepScale(3).Optimizer(Adam)
		for _, m := range []Method{scaled.L1(0.1), scaled.L2(0.1), scaled.Entropy(0.1), scaled.EntropyEstimator(0.1)} {
			if err := m.Experiment(machine, set).Check(set); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a beginning without minibatches", func(t *testing.T) {
		e := short(RWS()).BatchSize(0).Experiment(machine, set)
		_, err := e.Begin(set)
		wantError(t, err, "batch size 0", "at least 1")
		_, err = e.Learner(set, runs.Snapshot{})
		wantError(t, err, "batch size 0", "at least 1")
	})
	t.Run("patience without validation", func(t *testing.T) {
		wantError(t, short(RWS()).Patience(3).Experiment(machine, unheld).Check(unheld),
			"patience of 3", "validation rows", "--validation")
	})
	t.Run("other data", func(t *testing.T) {
		wantError(t, short(RWS()).Experiment(machine, set).Check(unheld),
			"3by3", "fingerprint", set.Fingerprint()[:12], unheld.Fingerprint()[:12], "restore the files")
	})
	t.Run("machine of another shape", func(t *testing.T) {
		dir := t.TempDir()
		_, err := short(RWS()).Train(t.Context(), New(shape(28, 28)).Dense(3), set, dir)
		wantError(t, err, "28×28", "3by3", "3×3", "New(set.Shape())")
		wantUnchanged(t, dir, map[string]string{})
	})
	t.Run("no data", func(t *testing.T) {
		_, err := short(RWS()).Train(t.Context(), machine, nil, t.TempDir())
		wantError(t, err, "no data set", "dataset.Open")
	})
	t.Run("unknown preset", func(t *testing.T) {
		e := short(RWS()).Experiment(machine, set)
		e.Method.Preset = ""
		wantError(t, e.Check(set), "unknown method", "nrws")
	})
}

// TestCheckAcceptsUnusedSettings checks that the settings of one metric or schedule do not affect
// another.
func TestCheckAcceptsUnusedSettings(t *testing.T) {
	set := patterns(t)
	for name, method := range map[string]Method{
		"damping without a metric":             short(RWS()).Damping(0),
		"K without a metric":                   short(RWS()).RefreshEvery(0),
		"step settings of the cosine schedule": short(RWS()).StepDecay(0, 0).Schedule(CosineDecay),
		"one sample without a baseline":        short(RWS()).Samples(1).Baseline(false),
		"one sample of wake-sleep":             short(WS()).Samples(1),
		"one sample, learned":                  short(REINFORCE()).ReinforceBaseline(LearnedBaseline).Samples(1),
		"one sample of plain REINFORCE":        short(REINFORCE()).Samples(1).ReinforceBaseline(NoBaseline),
		"the whole set as batch":               short(RWS()).BatchSize(trainingRows),
	} {
		if _, err := method.Epochs(1).Train(t.Context(), machineFor(set), set, t.TempDir()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ones(n int) []int {
	layers := make([]int, n)
	for i := range layers {
		layers[i] = 1
	}
	return layers
}

// TestSettingsOfOptimizersChooseThem sets decays without choosing their optimiser.
func TestSettingsOfOptimizersChooseThem(t *testing.T) {
	for _, test := range []struct {
		method Method
		want   Optimizer
	}{
		{RWS().Momentum(0.8), Momentum},
		{RWS().Optimizer(Nesterov).Momentum(0.8), Nesterov},
		{RWS().AdamDecays(0.8, 0.9), Adam},
		{RWS().AdamDecays(0.8, 0.9).Momentum(0.8), Momentum},
	} {
		if got := test.method.Spec().Optimizer; got != test.want {
			t.Errorf("%v has the optimiser %v, want %v", test.method, got, test.want)
		}
	}
}

// TestBuildersAreValues changes copies of a machine and of a method, and checks that the originals
// are unchanged.
func TestBuildersAreValues(t *testing.T) {
	base := New(shape(3, 3)).Dense(8, 4)
	a, b := base.Dense(2), base.Dense(3).Coding(ZeroOne).Bias(0.1)
	for _, test := range []struct {
		machine Machine
		want    []int
	}{{base, []int{9, 8, 4}}, {a, []int{9, 8, 4, 2}}, {b, []int{9, 8, 4, 3}}} {
		got := test.machine.Architecture().Units
		if len(got) != len(test.want) || got[len(got)-1] != test.want[len(test.want)-1] {
			t.Errorf("layers %v, want %v", got, test.want)
		}
	}
	if s := base.Spec(); s.Coding != PlusMinusOne || s.Bias != -1 {
		t.Errorf("the source has become %+v", s)
	}
	method := NRWS()
	changed := method.LearningRate(7).Damping(7).Samples(7).BatchSize(7).Epochs(7).Seed(7).Optimizer(Adam).Schedule(CosineDecay)
	if !reflect.DeepEqual(method, NRWS()) || reflect.DeepEqual(changed, method) {
		t.Errorf("the source has become %+v, the copy %+v", method, changed)
	}
}

// TestExperimentsAreValues changes an experiment, and checks that the machine, the method and
// another experiment of them are unchanged.
func TestExperimentsAreValues(t *testing.T) {
	set := patterns(t)
	machine := New(set.Shape()).Convolve(Convolution{Channels: 2, Height: 2, Width: 2, Stride: 1}).Dense(3).Units(Bernoulli)
	method := RWS().Keep(1).Measure(Measurement{Every: 2}).From("run", "last")
	want := method.Experiment(machine, set)
	hash, spec := want.Hash(), machine.Spec()
	for range 2 {
		changed := method.Experiment(machine, set)
		if hash := changed.Hash(); hash != want.Hash() {
			t.Errorf("the hash has become %s", hash)
		}
		for _, s := range []MachineSpec{changed.Machine, machine.Spec()} {
			s.Layers[0], s.Convolutions[0].Channels, s.Units[0] = 7, 7, Gaussian
		}
		changed.Keep[0], changed.Measurements[0].Every, changed.Start.Run = 7, 7, "another"
	}
	if want.Hash() != hash || !reflect.DeepEqual(machine.Spec(), spec) || want.Keep[0] != 1 || want.Measurements[0].Every != 2 {
		t.Errorf("the machine has become %+v, another experiment %+v", machine.Spec(), want)
	}
	if e := RWS().Experiment(New(set.Shape()), set); e.Machine.Layers != nil || e.Machine.Convolutions != nil || e.Machine.Units != nil || e.Keep != nil || e.Measurements != nil || e.Start != nil {
		t.Errorf("what was not given is there: %+v", e)
	}
}
