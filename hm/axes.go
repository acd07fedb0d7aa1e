package hm

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Metric selects the metric in which gradients are measured.
type Metric = engine.Metric

const (
	Euclidean Metric = engine.Euclidean // the plain gradient
	Block     Metric = engine.Block     // one Fisher block per unit (Várady 2025, 5.5–5.7)
	Diagonal  Metric = engine.Diagonal  // the diagonal of the Fisher matrix (Várady 2025, 5.13–5.14)
	Kronecker Metric = engine.Kronecker // one block per unit; all blocks of a layer share the second moment of its parents
)

// FisherSource selects the samples from which the generative Fisher blocks are estimated.
type FisherSource = engine.FisherSource

const (
	FromWake   FisherSource = engine.FromWake   // the wake samples with their importance weights (Várady 2025, 5.7)
	FromSleep  FisherSource = engine.FromSleep  // dreams (Várady 2025, 5.5)
	FromLegacy FisherSource = engine.FromLegacy // dreams with weights of other samples, as in the program behind Várady 2025
)

// FisherPrecision selects how exactly the inverses of Fisher blocks are stored.
type FisherPrecision = engine.FisherPrecision

const (
	SinglePrecision FisherPrecision = engine.SinglePrecision // float32
	SixteenBits     FisherPrecision = engine.SixteenBits     // faster; natural gradients differ by a few thousandths if α ≥ 0.001
)

// Arithmetic selects how products with the states of binary units are computed.
type Arithmetic = engine.Arithmetic

const (
	FloatingPoint Arithmetic = engine.FloatingPoint // float32, whose last bits depend on the instruction set
	FixedPoint    Arithmetic = engine.FixedPoint    // 32-bit integers, whose sums are exact
	// AutoArithmetic is FixedPoint on the CPU and FloatingPoint on a GPU. It is the default.
	AutoArithmetic Arithmetic = engine.AutoArithmetic
)

// Optimizer turns plain or natural gradients into updates.
type Optimizer = engine.Optimizer

const (
	GradientDescent Optimizer = engine.GradientDescent
	Adam            Optimizer = engine.Adam     // (Várady 2025, 6.11, with its bias correction)
	Momentum        Optimizer = engine.Momentum // (Várady 2025, 6.9)
	Nesterov        Optimizer = engine.Nesterov // momentum, with the gradient at the point to which the velocity leads (Várady 2025, 6.10)
)

// Schedule selects how the learning rate changes over the steps of training.
type Schedule = runs.Schedule

const (
	ConstantRate Schedule = runs.ConstantRate // does not change
	StepDecay    Schedule = runs.StepDecay    // is multiplied by a factor every few epochs
	CosineDecay  Schedule = runs.CosineDecay  // falls along half a cosine, to 0 after the last step
)

// ReinforceBaseline selects the baseline that the phases Reinforce subtract from the bound of a
// sample. It changes the variance of the gradient but not its mean.
type ReinforceBaseline = engine.ReinforceBaseline

const (
	ConstantBaseline ReinforceBaseline = engine.ConstantBaseline // the mean of the bound over the other samples
	NoBaseline       ReinforceBaseline = engine.NoBaseline
	OptimalBaseline  ReinforceBaseline = engine.OptimalBaseline // minimises the variance; estimated for each parameter of q
	LearnedBaseline  ReinforceBaseline = engine.LearnedBaseline // learns to minimise the variance, for each unit of q, from x
)

// LabelProposal selects how labels are drawn to estimate A(x) (BiHM thesis 2016, 4.2). Method.Gamma defines
// A(x).
type LabelProposal = engine.LabelProposal

const (
	ExactLabels LabelProposal = engine.ExactLabels // draws no label: A(x) is a sum over all labels
	PlainLabels LabelProposal = engine.PlainLabels // y ~ q(y|h) (BiHM thesis 2016, 4.4)
	MixedLabels LabelProposal = engine.MixedLabels // the row's own label half the time (BiHM thesis 2016, 4.11)
)

// Kind is the kind of a layer's units.
type Kind = engine.Kind

const (
	Bernoulli Kind = engine.Bernoulli // on or off
	Gaussian  Kind = engine.Gaussian  // real, each with a mean and a deviation
)

// Coding is the pair of values that a unit shows to the next layer.
type Coding = engine.Coding

const (
	ZeroOne      Coding = engine.ZeroOne      // off 0, on 1
	PlusMinusOne Coding = engine.PlusMinusOne // off −1, on +1
)
