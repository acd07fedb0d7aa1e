package hm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Method is a training method, with the number of epochs and the seed. It is a value: each setter
// returns a changed copy.
type Method struct {
	spec         MethodSpec
	budget       runs.Budget
	measurements []Measurement
	start        *runs.Source
}

// LearningRate sets η.
func (m Method) LearningRate(η float64) Method { m.spec.LearningRate = η; return m }

// Schedule sets how the learning rate changes. StepDecay halves it every 100 epochs unless
// Method.StepDecay sets other numbers.
func (m Method) Schedule(s Schedule) Method { m.spec.Schedule = s; return m }

// StepDecay multiplies the learning rate by a factor after every given number of epochs.
func (m Method) StepDecay(epochs int, factor float64) Method {
	m.spec.Decay = runs.Decay{Schedule: StepDecay, StepEpochs: epochs, StepFactor: factor}
	return m
}

// Damping sets α of the damped inverse (1+α)(αI + F)⁻¹ (Várady 2025, 5.10). Below about 10⁻⁴, single
// precision loses digits of the inverses of blocks with fewer samples than parents, and of all blocks of
// the metric kronecker, which are wrong below 10⁻⁶.
func (m Method) Damping(α float64) Method { m.spec.Damping = α; return m }

// RefreshEvery sets K, the number of steps for which the Fisher blocks stay frozen (Várady 2025,
// 5.3.4). At K = 1 the blocks of FromWake come from the same samples whose gradient they multiply,
// which makes steps shorter: use a larger learning rate, or FromSleep.
func (m Method) RefreshEvery(steps int) Method { m.spec.RefreshEvery = steps; return m }

// FisherSource sets the samples from which the generative Fisher blocks are estimated, and so the
// distribution over which the Fisher matrix is a mean.
func (m Method) FisherSource(s FisherSource) Method { m.spec.FisherSource = s; return m }

// FisherPrecision sets how exactly the inverses of the Fisher blocks are stored. SixteenBits makes steps
// faster, and changes a natural gradient by less than a hundredth.
func (m Method) FisherPrecision(p FisherPrecision) Method { m.spec.FisherPrecision = p; return m }

// Arithmetic sets how products with the states of binary units are computed, in training and in
// later use of the run. With AutoArithmetic, the default, training in the directory of an earlier run
// resumes it in the run's arithmetic. FixedPoint is faster. If all layers are dense and binary, without
// tanh layers, WS, RWS, BiHM and REINFORCE without optimal baselines then produce the same bytes on
// every instruction set of amd64 and arm64.
func (m Method) Arithmetic(a Arithmetic) Method { m.spec.Arithmetic = a; return m }

// Phases sets the weights of the wake samples and the phases, with their default parameters.
func (m Method) Phases(p Phases) Method { m.spec.Phases, m.spec.PhaseParameters = p, nil; return m }

// PhaseParameters sets the parameters of the phases: λ of rws, γ of ovis, the partition of tvo, or
// the parameters of your own estimator.
func (m Method) PhaseParameters(p ...float64) Method {
	m.spec.PhaseParameters = slices.Clone(p)
	return m
}

// Metric sets the metric in which gradients are measured.
func (m Method) Metric(metric Metric) Method { m.spec.Metric = metric; return m }

// Optimizer sets how plain or natural gradients become updates. Adam has ε = 1e-8. To use another
// optimiser, write your own family: see runs.Family.
func (m Method) Optimizer(o Optimizer) Method { m.spec.Optimizer = o; return m }

// Momentum sets β, the factor by which the velocity decays per step. It also sets the optimiser
// Momentum, unless the optimiser is already Nesterov, which uses the same β. Here 0 means 0.95, the value
// of the thesis; in package boltzmann, 0 means β = 0.
func (m Method) Momentum(β float64) Method {
	m.spec.Momentum = β
	if m.spec.Optimizer != Nesterov {
		m.spec.Optimizer = Momentum
	}
	return m
}

// AdamDecays sets the optimiser Adam, and the factors by which its running means decay per step: β₁ for
// the gradient, β₂ for the squared gradient. Here 0 means the published 0.9 and 0.999; in package
// boltzmann, 0 means a factor of 0.
func (m Method) AdamDecays(β1, β2 float64) Method {
	m.spec.Optimizer, m.spec.AdamBeta1, m.spec.AdamBeta2 = Adam, β1, β2
	return m
}

// Samples sets S, the number of samples per row.
func (m Method) Samples(s int) Method { m.spec.Samples = s; return m }

// SamplesAfter changes the number of samples per row after the given number of epochs. The published runs of
// BiHM and RWS, for example, began with 10 samples and changed to 100.
func (m Method) SamplesAfter(epochs, samples int) Method {
	m.spec.LaterSamplesAfter, m.spec.LaterSamples = epochs, samples
	return m
}

// BatchSize sets B, the number of data per minibatch.
func (m Method) BatchSize(b int) Method { m.spec.BatchSize = b; return m }

// Baseline sets whether 1/S is subtracted from the weights of the q-wake gradient, which lowers its
// variance. It is a control variate, not the baseline of log p that Experiment.Baseline returns.
func (m Method) Baseline(on bool) Method { m.spec.Baseline = on; return m }

// L1 penalises the sum of the absolute values of the weights of both networks, without biases. It
// subtracts β sign(w) from each direction of ascent, after the metric and before the optimiser, so that
// Adam's running means include it (Várady 2025, 6.14). Directions are means over data, so β = 10⁻⁵
// corresponds to the 10⁻³ of (BiHM thesis 2016, 3.6), which uses sums over minibatches of 100. Weights
// shrink to within a step of 0, not to exactly 0.
func (m Method) L1(β float64) Method { m.spec.L1 = β; return m }

// L2 penalises half the sum of the squares of the weights: it subtracts βw from each direction of
// ascent, at the same point as L1 (Várady 2025, 6.14).
func (m Method) L2(β float64) Method { m.spec.L2 = β; return m }

// Entropy raises the conditional entropies of the units of both networks (Várady 2025, 6.3). Before the
// metric, it adds β times the exact gradient of the entropies to the gradient of the log-probabilities.
// The entropies are conditional on parents: for p's units, the parents are dreams, which are drawn even
// if the method has no sleep phase; for q's units, they are the wake samples.
func (m Method) Entropy(β float64) Method { m.spec.Entropy = β; return m }

// EntropyEstimator sets β for the estimator of Entropy's gradient that the thesis prints (Várady
// 2025, below 6.17), for comparison. The estimator's mean is zero. For p it only adds noise; for q it
// acts as a baseline of the q-wake gradient, equal to Baseline if β = ½ (RWS) or 1 (BiHM).
func (m Method) EntropyEstimator(β float64) Method { m.spec.EntropyEstimator = β; return m }

// WarmUp lets the strengths of the regularisers rise linearly from 0 over a number of epochs
// (Várady 2025, App. C.3, whose printed factor rises along a hyperbola).
func (m Method) WarmUp(epochs int) Method { m.spec.WarmUp = epochs; return m }

// ReinforceBaseline sets the baseline b of the phases Reinforce. It is a control variate, not the
// baseline of log p that Experiment.Baseline returns.
func (m Method) ReinforceBaseline(b ReinforceBaseline) Method { m.spec.ReinforceBaseline = b; return m }

// SleepSteps sets the number of sleep phases per step; more than one is called sleep-well (Várady
// 2025, 5.4.1). Each has its own dreams and its own update of q; the first shares its update with the
// q-wake phase, if there is one.
func (m Method) SleepSteps(n int) Method { m.spec.SleepSteps = n; return m }

// SleepScale multiplies the sleep gradients by a factor; a factor other than 1 is called rescaled sleep
// (Várady 2025, 5.4.1). If q learns only from dreams, Adam divides the factor out again.
func (m Method) SleepScale(factor float64) Method { m.spec.SleepScale = factor; return m }

// Gamma sets γ of the objective of labelled rows, log B(x,y) − γ log A(x) (BiHM thesis 2016, 4.7). Here
// A(x) = Σ_{h,y} √(p(x,h,y) q(h,y|x)), and B(x,y) is the part of this sum with the row's label y. With
// γ = 1 the objective is log p*(y|x), and with γ = −1 the joint log p*(x,y).
func (m Method) Gamma(γ float64) Method { m.spec.Gamma = γ; return m }

// LabelWeight multiplies the objective of labelled rows by a factor, to compensate for their small
// number. 0 means 1.
func (m Method) LabelWeight(w float64) Method { m.spec.LabelWeight = w; return m }

// LabelProposal sets how labels are drawn to estimate A(x).
func (m Method) LabelProposal(p LabelProposal) Method { m.spec.LabelProposal = p; return m }

// Epochs sets the number of passes over the training rows.
func (m Method) Epochs(n int) Method { m.budget.Epochs = n; return m }

// Patience stops training when the validation log p has not risen for a number of epochs. With 0,
// the default, training runs for all epochs.
func (m Method) Patience(epochs int) Method { m.budget.Patience = epochs; return m }

// Seed sets the seed of all random numbers of training.
func (m Method) Seed(s uint64) Method { m.budget.Seed = s; return m }

// Keep keeps the checkpoints of the given epochs, which Run.At opens.
func (m Method) Keep(epochs ...int) Method {
	m.budget.Keep = slices.Concat(m.budget.Keep, epochs)
	return m
}

// RecordSteps records the measures of every n-th step, which Run.Steps returns. With 0, the
// default, only epochs are recorded.
func (m Method) RecordSteps(n int) Method { m.budget.RecordSteps = n; return m }

// Measure adds a measurement during training.
func (m Method) Measure(measurement Measurement) Method {
	m.measurements = slices.Concat(m.measurements, []Measurement{measurement})
	return m
}

// Spec returns the method's settings.
func (m Method) Spec() MethodSpec {
	s := m.spec
	s.PhaseParameters = slices.Clone(s.PhaseParameters)
	return s
}

// Budget returns the number of epochs, the seed, and what training keeps.
func (m Method) Budget() runs.Budget {
	b := m.budget
	b.Keep = slices.Clone(b.Keep)
	return b
}

// String returns the method with its settings, the epochs and the seed.
func (m Method) String() string {
	return fmt.Sprintf("%v; %d epochs, seed %d", m.spec, m.budget.Epochs, m.budget.Seed)
}

// MethodSpec holds the settings of a training method. They start from a published method, and each
// can be changed.
type MethodSpec struct {
	// Preset names the published method that the other settings start from: one of Presets.
	Preset string `toml:"preset" json:"preset"`

	Phases          Phases          `toml:"phases" json:"phases"` // ws, rws, bihm, reinforce, jsa, or an estimator's name
	PhaseParameters []float64       `toml:"phase_parameters,omitempty" json:"phase_parameters,omitempty"`
	Metric          Metric          `toml:"metric" json:"metric"`                     // none, block, diagonal or kronecker
	FisherSource    FisherSource    `toml:"fisher_source" json:"fisher_source"`       // wake, sleep or legacy
	Damping         float64         `toml:"damping" json:"damping"`                   // α (Várady 2025, 5.10)
	RefreshEvery    int             `toml:"refresh_every" json:"refresh_every"`       // K, in steps (Várady 2025, 5.3.4)
	FisherPrecision FisherPrecision `toml:"fisher_precision" json:"fisher_precision"` // float32 or int16
	Optimizer       Optimizer       `toml:"optimizer" json:"optimizer"`               // gd, momentum, nesterov or adam

	// Decay rates of the optimiser's running means; 0 means the value of Várady 2025, 6.1.2.
	Momentum  float64 `toml:"momentum,omitzero" json:"momentum,omitempty"`     // β of momentum and nesterov, 0.95
	AdamBeta1 float64 `toml:"adam_beta1,omitzero" json:"adam_beta1,omitempty"` // β₁, for the mean of the gradient, 0.9
	AdamBeta2 float64 `toml:"adam_beta2,omitzero" json:"adam_beta2,omitempty"` // β₂, for the mean of its square, 0.999

	LearningRate float64 `toml:"learning_rate" json:"learning_rate"` // η
	runs.Decay

	// Arithmetic is float32, fixed or auto. Versions that did not record it computed in float32.
	Arithmetic Arithmetic `toml:"arithmetic" json:"arithmetic,omitzero"`

	BatchSize int  `toml:"batch_size" json:"batch_size"` // B, data per minibatch
	Samples   int  `toml:"samples" json:"samples"`       // S, samples per row
	Baseline  bool `toml:"baseline" json:"baseline"`     // subtract 1/S from the weights of q-wake

	// LaterSamples is S after LaterSamplesAfter epochs; 0 keeps Samples throughout.
	LaterSamples      int `toml:"later_samples,omitzero" json:"later_samples,omitempty"`
	LaterSamplesAfter int `toml:"later_samples_after,omitzero" json:"later_samples_after,omitempty"`

	// These are the strengths β of the regularisers of both networks; 0 turns a regulariser off.
	L1               float64 `toml:"l1,omitzero" json:"l1,omitempty"`                               // penalises ‖w‖₁
	L2               float64 `toml:"l2,omitzero" json:"l2,omitempty"`                               // penalises ½‖w‖²
	Entropy          float64 `toml:"entropy,omitzero" json:"entropy,omitempty"`                     // raises the units' conditional entropies
	EntropyEstimator float64 `toml:"entropy_estimator,omitzero" json:"entropy_estimator,omitempty"` // the same, with the estimator of the gradient that Várady 2025 prints
	WarmUp           int     `toml:"warmup,omitzero" json:"warmup,omitempty"`                       // epochs over which the strengths rise from 0
	// ReinforceBaseline is constant, none, optimal or learned (phases reinforce).
	ReinforceBaseline ReinforceBaseline `toml:"reinforce_baseline,omitzero" json:"reinforce_baseline,omitzero"`

	// These are settings of machines with labels (BiHM thesis 2016, ch. 4). The objective of a labelled
	// row is LabelWeight times (log B − Gamma log A), as in Method.Gamma; a LabelWeight of 0 means 1.
	Gamma         float64       `toml:"gamma,omitzero" json:"gamma,omitempty"`                  // γ, −1 to 1 (BiHM thesis 2016, 4.7)
	LabelWeight   float64       `toml:"label_weight,omitzero" json:"label_weight,omitempty"`    // factor of the objective of labelled rows
	LabelProposal LabelProposal `toml:"label_proposal,omitzero" json:"label_proposal,omitzero"` // exact, plain or mixed

	SleepSteps int     `toml:"sleep_steps" json:"sleep_steps,omitzero"` // sleep phases per step (Várady 2025, 5.4.1)
	SleepScale float64 `toml:"sleep_scale" json:"sleep_scale,omitzero"` // factor of the sleep gradients (Várady 2025, 5.4.1)
}

func (s MethodSpec) algorithm(stepsPerEpoch int) engine.Algorithm {
	rule := s.rule()
	rule.Sleep *= s.SleepScale
	return engine.Algorithm{
		Rule: rule, Metric: s.Metric, FisherSource: s.FisherSource,
		Damping: s.Damping, RefreshEvery: s.RefreshEvery, FisherPrecision: s.FisherPrecision,
		Arithmetic: s.Arithmetic,
		Optimizer:  s.Optimizer, Momentum: cmp.Or(s.Momentum, 0.95),
		AdamBeta1: cmp.Or(s.AdamBeta1, 0.9), AdamBeta2: cmp.Or(s.AdamBeta2, 0.999), AdamEpsilon: 1e-8,
		BatchSize: s.BatchSize, Samples: s.Samples, Baseline: s.Baseline && s.hasBaseline(),
		LaterSamples: s.LaterSamples, LaterSamplesFrom: stepsOf(s.LaterSamplesAfter, stepsPerEpoch),
		L1: s.L1, L2: s.L2, Entropy: s.Entropy, EntropyEstimator: s.EntropyEstimator,
		WarmUp:            stepsOf(s.WarmUp, stepsPerEpoch),
		ReinforceBaseline: s.ReinforceBaseline,
		LabelProposal:     s.LabelProposal, Gamma: s.Gamma, LabelWeight: cmp.Or(s.LabelWeight, 1),
		SleepSteps: s.SleepSteps,
	}
}

// stepsOf returns the number of steps in a number of epochs, or the largest int if that overflows.
func stepsOf(epochs, stepsPerEpoch int) int {
	if stepsPerEpoch > 0 && epochs > math.MaxInt/stepsPerEpoch {
		return math.MaxInt
	}
	return epochs * stepsPerEpoch
}

// identity clears each setting that a later version added, if it has the value that earlier versions
// always used, so that older runs keep their hash.
func (s MethodSpec) identity() MethodSpec {
	if s.SleepSteps == 1 {
		s.SleepSteps = 0
	}
	if s.SleepScale == 1 {
		s.SleepScale = 0
	}
	return s
}
