package hm

import (
	"cmp"
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

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
	// ReinforceBaseline is constant, none or optimal (phases reinforce).
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
