package hm

import (
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// The axes of the methods. Their values are described in package engine.
type (
	Phases            = engine.Phases
	ReinforceBaseline = engine.ReinforceBaseline
	Metric            = engine.Metric
	FisherSource      = engine.FisherSource
	FisherPrecision   = engine.FisherPrecision
	Optimizer         = engine.Optimizer
)

const (
	WakeSleep           = engine.WakeSleep
	ReweightedWakeSleep = engine.ReweightedWakeSleep
	Bidirectional       = engine.Bidirectional
	Reinforce           = engine.Reinforce

	ConstantBaseline = engine.ConstantBaseline
	NoBaseline       = engine.NoBaseline
	OptimalBaseline  = engine.OptimalBaseline

	Euclidean = engine.Euclidean
	Block     = engine.Block
	Diagonal  = engine.Diagonal
	Kronecker = engine.Kronecker

	FromWake   = engine.FromWake
	FromSleep  = engine.FromSleep
	FromLegacy = engine.FromLegacy

	SinglePrecision = engine.SinglePrecision
	SixteenBits     = engine.SixteenBits

	GradientDescent = engine.GradientDescent
	Adam            = engine.Adam
)

// MethodSpec is a way of training: a point on the axes of the published
// methods, each setting free.
type MethodSpec struct {
	// Preset names the published method that the other settings start from:
	// ws, rws, bihm, nws, nrws, dnrws, nbihm or reinforce.
	Preset string `toml:"preset" json:"preset"`

	Phases          Phases          `toml:"phases" json:"phases"`                     // ws, rws, bihm or reinforce
	Metric          Metric          `toml:"metric" json:"metric"`                     // none, block, diagonal or kronecker
	FisherSource    FisherSource    `toml:"fisher_source" json:"fisher_source"`       // wake, sleep or legacy
	Damping         float64         `toml:"damping" json:"damping"`                   // α (004, 5.10)
	RefreshEvery    int             `toml:"refresh_every" json:"refresh_every"`       // K, in steps (004, 5.3.4)
	FisherPrecision FisherPrecision `toml:"fisher_precision" json:"fisher_precision"` // float32 or int16
	Optimizer       Optimizer       `toml:"optimizer" json:"optimizer"`               // gd or adam

	LearningRate float64  `toml:"learning_rate" json:"learning_rate"` // η
	Schedule     Schedule `toml:"schedule" json:"schedule"`           // constant, step or cosine
	StepEpochs   int      `toml:"step_epochs" json:"step_epochs"`     // schedule "step": epochs between changes
	StepFactor   float64  `toml:"step_factor" json:"step_factor"`     // schedule "step": the factor of a change

	BatchSize int  `toml:"batch_size" json:"batch_size"` // B, data a minibatch
	Samples   int  `toml:"samples" json:"samples"`       // S, samples a datum
	Baseline  bool `toml:"baseline" json:"baseline"`     // subtract 1/S from the weights of q-wake

	// ReinforceBaseline is constant, none or optimal (phases reinforce).
	ReinforceBaseline ReinforceBaseline `toml:"reinforce_baseline,omitzero" json:"reinforce_baseline,omitzero"`

	SleepSteps int     `toml:"sleep_steps" json:"sleep_steps,omitzero"` // sleep phases a step (004, 5.4.1)
	SleepScale float64 `toml:"sleep_scale" json:"sleep_scale,omitzero"` // factor of the sleep gradients (004, 5.4.1)
}

// Method is a way of training, with the number of epochs and the seed. It is a
// value: each setter returns a changed copy.
type Method struct {
	spec     MethodSpec
	epochs   int
	patience int
	seed     uint64
}

// presets are the published methods as points on the axes. 004 describes
// REINFORCE and does not train with it: its learning rate is that of the others.
var presets = []struct {
	name         string
	phases       Phases
	metric       Metric
	learningRate float64
	damping      float64
	refreshEvery int
}{
	{"ws", WakeSleep, Euclidean, 0.002, 0.2, 1000},
	{"rws", ReweightedWakeSleep, Euclidean, 0.002, 0.2, 1000},
	{"bihm", Bidirectional, Euclidean, 0.001, 0.2, 1000},
	{"nws", WakeSleep, Block, 0.002, 0.2, 1000},
	{"nrws", ReweightedWakeSleep, Block, 0.002, 0.2, 1000},
	{"dnrws", ReweightedWakeSleep, Diagonal, 0.002, 0.2, 1},
	{"nbihm", Bidirectional, Block, 0.001, 0.1, 1000},
	{"reinforce", Reinforce, Euclidean, 0.002, 0.2, 1000},
}

// Presets lists the names of the published methods.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Preset returns the published method of a name, with the settings of the
// thesis for MNIST (004, tables 5.1 and 5.3; App. A.2).
func Preset(name string) (Method, error) {
	for _, p := range presets {
		if p.name == name {
			return Method{
				spec: MethodSpec{
					Preset: p.name, Phases: p.phases, Metric: p.metric,
					LearningRate: p.learningRate, Damping: p.damping, RefreshEvery: p.refreshEvery,
					StepEpochs: 100, StepFactor: 0.5,
					BatchSize: 32, Samples: 10, Baseline: true,
					SleepSteps: 1, SleepScale: 1,
				},
				epochs: 20,
				seed:   1,
			}, nil
		}
	}
	return Method{}, fmt.Errorf("unknown method %q: use one of %s", name, strings.Join(Presets(), ", "))
}

func preset(name string) Method {
	m, err := Preset(name)
	if err != nil {
		panic(err)
	}
	return m
}

// WS is wake-sleep (004, 2.2).
func WS() Method { return preset("ws") }

// RWS is reweighted wake-sleep (004, 2.3.1).
func RWS() Method { return preset("rws") }

// BiHM trains a bidirectional Helmholtz machine (001, ch. 3; 004, 2.3.2). The
// thesis starts it and NBiHM from weights of SmallNormal (004, App. A.2), which
// is a setting of the machine.
func BiHM() Method { return preset("bihm") }

// NWS is natural wake-sleep: WS in the Fisher metric.
func NWS() Method { return preset("nws") }

// NRWS is natural reweighted wake-sleep (004, Algorithm 4).
func NRWS() Method { return preset("nrws") }

// DNRWS is NRWS with the diagonal of the Fisher matrix (004, 5.3.6).
func DNRWS() Method { return preset("dnrws") }

// NBiHM trains a bidirectional Helmholtz machine in the Fisher metric (004,
// 5.3.8).
func NBiHM() Method { return preset("nbihm") }

// REINFORCE ascends the bound of log p(x) with both networks (004, 2.3.3).
func REINFORCE() Method { return preset("reinforce") }

// LearningRate sets η.
func (m Method) LearningRate(η float64) Method { m.spec.LearningRate = η; return m }

// Schedule sets how the learning rate changes. Step halves it every 100 epochs;
// StepDecay says otherwise.
func (m Method) Schedule(s Schedule) Method { m.spec.Schedule = s; return m }

// StepDecay multiplies the learning rate by a factor every so many epochs.
func (m Method) StepDecay(epochs int, factor float64) Method {
	m.spec.Schedule, m.spec.StepEpochs, m.spec.StepFactor = Step, epochs, factor
	return m
}

// Damping sets α of the damped inverse (1+α)(αI + F)⁻¹ (004, 5.10).
func (m Method) Damping(α float64) Method { m.spec.Damping = α; return m }

// RefreshEvery sets K, the number of steps for which the Fisher blocks stay
// frozen (004, 5.3.4).
func (m Method) RefreshEvery(steps int) Method { m.spec.RefreshEvery = steps; return m }

// FisherSource sets where the samples of the generative Fisher blocks come
// from, and with it the measure under which the Fisher matrix is taken.
func (m Method) FisherSource(s FisherSource) Method { m.spec.FisherSource = s; return m }

// FisherPrecision sets how exactly the inverses of the Fisher blocks are
// stored. Sixteen bits make steps faster, and change a natural gradient by less
// than a hundredth.
func (m Method) FisherPrecision(p FisherPrecision) Method { m.spec.FisherPrecision = p; return m }

// Phases sets the importance weights and the phases.
func (m Method) Phases(p Phases) Method { m.spec.Phases = p; return m }

// Metric sets how gradients are measured.
func (m Method) Metric(metric Metric) Method { m.spec.Metric = metric; return m }

// Optimizer sets how gradients become updates. Adam has the decays 0.9 and
// 0.999 and ε = 1e-8.
func (m Method) Optimizer(o Optimizer) Method { m.spec.Optimizer = o; return m }

// Samples sets S, the number of samples a datum.
func (m Method) Samples(s int) Method { m.spec.Samples = s; return m }

// BatchSize sets B, the number of data a minibatch.
func (m Method) BatchSize(b int) Method { m.spec.BatchSize = b; return m }

// Baseline says whether 1/S is subtracted from the weights of the q-wake
// gradient, which lowers its variance.
func (m Method) Baseline(on bool) Method { m.spec.Baseline = on; return m }

// ReinforceBaseline sets b of the phases Reinforce.
func (m Method) ReinforceBaseline(b ReinforceBaseline) Method {
	m.spec.ReinforceBaseline = b
	return m
}

// SleepSteps sets the number of sleep phases a step: more than one is
// sleep-well (004, 5.4.1). Each has dreams and an update of q of its own; the
// first shares its update with the q-wake phase, where there is one.
func (m Method) SleepSteps(n int) Method { m.spec.SleepSteps = n; return m }

// SleepScale sets a factor of the sleep gradients: other than 1 it is rescaled
// sleep (004, 5.4.1). Adam divides it out again where q learns from dreams
// alone.
func (m Method) SleepScale(factor float64) Method { m.spec.SleepScale = factor; return m }

// Epochs sets the number of passes over the training rows.
func (m Method) Epochs(n int) Method { m.epochs = n; return m }

// Patience stops training when the validation log p has not risen for a number
// of epochs. 0, the default, trains for all epochs.
func (m Method) Patience(epochs int) Method { m.patience = epochs; return m }

// Seed sets the seed of all random numbers of training.
func (m Method) Seed(s uint64) Method { m.seed = s; return m }

// Spec is the method's settings.
func (m Method) Spec() MethodSpec { return m.spec }

// String names the method and its settings as a legend would: the preset, the
// learning rate, and what else is not as the preset has it.
func (s MethodSpec) String() string {
	name := strings.Replace(strings.ToUpper(s.Preset), "BIHM", "BiHM", 1)
	parts := []string{name, fmt.Sprintf("η = %g", s.LearningRate)}
	if s.Metric != Euclidean {
		parts = append(parts, fmt.Sprintf("α = %g", s.Damping))
	}
	preset, err := Preset(s.Preset)
	if err != nil {
		return strings.Join(parts, ", ")
	}
	differs := func(is bool, format string, values ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, values...))
		}
	}
	p := preset.spec
	differs(s.Phases != p.Phases, "phases %v", s.Phases)
	differs(s.Metric != p.Metric, "metric %v", s.Metric)
	differs(s.Metric != Euclidean && s.FisherSource != p.FisherSource, "Fisher source %v", s.FisherSource)
	differs(s.Optimizer != p.Optimizer, "%v", s.Optimizer)
	differs(s.Schedule != p.Schedule, "%v", s.Schedule)
	differs(s.BatchSize != p.BatchSize, "B = %d", s.BatchSize)
	differs(s.Samples != p.Samples, "S = %d", s.Samples)
	differs(s.Baseline != p.Baseline, "no baseline")
	differs(s.ReinforceBaseline != p.ReinforceBaseline, "baseline %v", s.ReinforceBaseline)
	differs(s.SleepSteps != p.SleepSteps, "%d sleep steps", s.SleepSteps)
	differs(s.SleepScale != p.SleepScale, "sleep × %g", s.SleepScale)
	return strings.Join(parts, ", ")
}

// algorithm is what the engine needs of a method.
func (s MethodSpec) algorithm() engine.Algorithm {
	return engine.Algorithm{
		Phases: s.Phases, Metric: s.Metric, FisherSource: s.FisherSource,
		Damping: s.Damping, RefreshEvery: s.RefreshEvery, FisherPrecision: s.FisherPrecision,
		Optimizer: s.Optimizer, AdamBeta1: 0.9, AdamBeta2: 0.999, AdamEpsilon: 1e-8,
		BatchSize: s.BatchSize, Samples: s.Samples, Baseline: s.Baseline,
		ReinforceBaseline: s.ReinforceBaseline,
		SleepSteps:        s.SleepSteps, SleepScale: s.SleepScale,
	}
}

// identity leaves out the settings of a later version that are as the earlier
// ones had them, so that runs keep their hash.
func (s MethodSpec) identity() MethodSpec {
	if s.SleepSteps == 1 {
		s.SleepSteps = 0
	}
	if s.SleepScale == 1 {
		s.SleepScale = 0
	}
	return s
}

// checkSleep refuses sleep phases that there cannot be.
func (s MethodSpec) checkSleep() error {
	dreams := s.algorithm().HasSleep()
	switch {
	case s.SleepSteps < 1:
		return fmt.Errorf("sleep_steps = %d: give the number of sleep phases a step, at least 1", s.SleepSteps)
	case !(s.SleepScale > 0) || !finite(s.SleepScale):
		return fmt.Errorf("sleep_scale = %v: give a positive factor, 1 for the sleep phase as it is", s.SleepScale)
	case s.SleepSteps > 1 && !dreams:
		return fmt.Errorf("sleep_steps = %d: the phases %v have no sleep phase; use ws or rws, or leave it 1", s.SleepSteps, s.Phases)
	case s.SleepScale != 1 && !dreams:
		return fmt.Errorf("sleep_scale = %v: the phases %v have no sleep phase; use ws or rws, or leave it 1", s.SleepScale, s.Phases)
	case s.SleepScale != 1 && s.Optimizer == Adam && s.Phases == WakeSleep:
		return fmt.Errorf("sleep_scale = %v: Adam divides a factor out again where q learns from dreams alone; use sleep_steps, or the optimiser gd", s.SleepScale)
	}
	return nil
}

func (s MethodSpec) check() error {
	if _, err := Preset(s.Preset); err != nil {
		return err
	}
	switch {
	case !(s.LearningRate > 0) || !finite(s.LearningRate):
		return fmt.Errorf("learning rate %v: give a positive number, such as 0.002", s.LearningRate)
	case s.Schedule == Step && s.StepEpochs < 1:
		return fmt.Errorf("step_epochs = %d: the step schedule changes the learning rate every so many epochs, at least 1", s.StepEpochs)
	case s.Schedule == Step && !(s.StepFactor > 0 && s.StepFactor <= 1), !finite(s.StepFactor):
		return fmt.Errorf("step_factor = %v: give a factor above 0 and at most 1", s.StepFactor)
	case s.Metric != Euclidean && !(s.Damping > 0), !finite(s.Damping):
		return fmt.Errorf("damping %v: give a positive number; between 0.01 and 0.2 is usual", s.Damping)
	case s.Metric != Euclidean && s.RefreshEvery < 1:
		return fmt.Errorf("refresh_every (K) = %d: refresh the Fisher blocks every so many steps, at least 1", s.RefreshEvery)
	case s.Metric != Euclidean && s.FisherSource != FromWake && !s.algorithm().HasSleep():
		return fmt.Errorf("fisher_source = %v: the phases %v have no dreams; use wake", s.FisherSource, s.Phases)
	case s.BatchSize < 1:
		return fmt.Errorf("batch size %d: give at least 1", s.BatchSize)
	case s.Samples < 1:
		return fmt.Errorf("%d samples a datum: give at least 1", s.Samples)
	case s.Samples == 1 && s.ReinforceBaseline != NoBaseline && s.Phases == Reinforce:
		return fmt.Errorf("one sample a datum with reinforce_baseline = %v: it is taken from the datum's other samples; give 2 samples or more, or the baseline none", s.ReinforceBaseline)
	case s.ReinforceBaseline != ConstantBaseline && s.Phases != Reinforce:
		return fmt.Errorf("reinforce_baseline = %v: the phases %v have none; leave it out, or use the phases reinforce", s.ReinforceBaseline, s.Phases)
	case s.Samples == 1 && s.Baseline && s.Phases != WakeSleep && s.Phases != Reinforce:
		return fmt.Errorf("one sample a datum with a baseline: the q-wake gradient is then always 0; give 2 samples or more, or turn the baseline off")
	}
	return s.checkSleep()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
