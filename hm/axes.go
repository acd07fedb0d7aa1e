package hm

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Metric is how gradients are measured.
type Metric = engine.Metric

const (
	Euclidean Metric = engine.Euclidean // the plain gradient
	Block     Metric = engine.Block     // one Fisher block a unit (Várady 2025, 5.5–5.7)
	Diagonal  Metric = engine.Diagonal  // the diagonal of the Fisher matrix (Várady 2025, 5.13–5.14)
	Kronecker Metric = engine.Kronecker // blocks that share the second moment of their layer's parents
)

// FisherSource is where the samples of the generative Fisher blocks come from.
type FisherSource = engine.FisherSource

const (
	FromWake   FisherSource = engine.FromWake   // the wake samples with their importance weights (Várady 2025, 5.7)
	FromSleep  FisherSource = engine.FromSleep  // dreams (Várady 2025, 5.5)
	FromLegacy FisherSource = engine.FromLegacy // dreams with weights of other samples, as the program behind Várady 2025 has them
)

// FisherPrecision is how exactly the inverses of Fisher blocks are stored.
type FisherPrecision = engine.FisherPrecision

const (
	SinglePrecision FisherPrecision = engine.SinglePrecision // float32
	SixteenBits     FisherPrecision = engine.SixteenBits     // faster; natural gradients differ by some thousandths, but for α < 0.001
)

// Arithmetic is how the products with the states of binary units are computed.
type Arithmetic = engine.Arithmetic

const (
	FloatingPoint Arithmetic = engine.FloatingPoint // float32, whose last bits depend on the instruction set
	FixedPoint    Arithmetic = engine.FixedPoint    // integers of 32 bits, whose sums are exact
)

// Optimizer is how gradients, plain or natural, become updates.
type Optimizer = engine.Optimizer

const (
	GradientDescent Optimizer = engine.GradientDescent
	Adam            Optimizer = engine.Adam     // (Várady 2025, 6.11, with its bias correction)
	Momentum        Optimizer = engine.Momentum // (Várady 2025, 6.9)
	Nesterov        Optimizer = engine.Nesterov // momentum, with the gradient where the velocity leads (Várady 2025, 6.10)
)

// Schedule is how the learning rate changes over the steps of training.
type Schedule = runs.Schedule

const (
	ConstantRate Schedule = runs.ConstantRate // it stays
	StepDecay    Schedule = runs.StepDecay    // it is multiplied by a factor every so many epochs
	CosineDecay  Schedule = runs.CosineDecay  // it falls along half a cosine, to 0 after the last step
)

// ReinforceBaseline is what the phases Reinforce subtract from the bound of a sample. It changes
// the variance of the gradient, and not its mean.
type ReinforceBaseline = engine.ReinforceBaseline

const (
	ConstantBaseline ReinforceBaseline = engine.ConstantBaseline // the mean of the bound over the other samples
	NoBaseline       ReinforceBaseline = engine.NoBaseline
	OptimalBaseline  ReinforceBaseline = engine.OptimalBaseline // that of the least variance, estimated for each parameter of q
)

// LabelProposal is how labels are drawn where A(x) is estimated (BiHM thesis 2016, 4.2).
type LabelProposal = engine.LabelProposal

const (
	ExactLabels LabelProposal = engine.ExactLabels // no label is drawn: A(x) is a sum over them
	PlainLabels LabelProposal = engine.PlainLabels // y ~ q(y|h) (BiHM thesis 2016, 4.4)
	MixedLabels LabelProposal = engine.MixedLabels // half the time the datum's own label (BiHM thesis 2016, 4.11)
)

// Kind is what the units of a layer are.
type Kind = engine.Kind

const (
	Bernoulli Kind = engine.Bernoulli // on or off
	Gaussian  Kind = engine.Gaussian  // real, with a mean and a deviation of their own
)

// Coding is the pair of values that a unit shows to the next layer.
type Coding = engine.Coding

const (
	ZeroOne      Coding = engine.ZeroOne      // off 0, on 1
	PlusMinusOne Coding = engine.PlusMinusOne // off −1, on +1
)
