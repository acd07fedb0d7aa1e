package engine

import "github.com/helmholtz-go/helmholtz/internal/names"

// ReinforceBaseline selects the baseline b of Reinforce. The baseline changes the variance of the
// gradient but not its mean, because the b of a sample is computed from the other samples of the
// same datum, or from the datum.
type ReinforceBaseline int

const (
	// ConstantBaseline is the mean of log p(x,h) − log q(h|x), the same for all parameters.
	ConstantBaseline ReinforceBaseline = iota
	// NoBaseline is 0.
	NoBaseline
	// OptimalBaseline is a weighted mean per parameter of q: b = E[L g²]/E[g²], where L = log
	// p(x,h) − log q(h|x) and g = ∂ log q(h|x). The exact b* minimises the variance of the
	// gradient, but its estimate from a few samples is noisier than ConstantBaseline. If all g are
	// 0, b equals ConstantBaseline.
	OptimalBaseline
	// LearnedBaseline estimates the two means of OptimalBaseline for each unit of q by a network that sees
	// x and learns in each step (Goodfellow et al. 2016, 20.9.1). It also serves a single sample. Its b is
	// m + E[(L−m) δ²]/E[δ²], as BaselineShape describes, which is b* for the biases of q and the weights of x.
	LearnedBaseline
)

// Metric selects the metric in which gradients are measured.
type Metric int

const (
	Euclidean Metric = iota // the plain gradient
	Block                   // one Fisher block per unit (Várady 2025, 5.5–5.7)
	Diagonal                // the diagonal of the Fisher matrix (Várady 2025, 5.13–5.14)
	Kronecker               // blocks approximated by multiples of one matrix per layer, the second moment of the parents
)

// FisherSource selects the samples from which the generative Fisher blocks are estimated.
type FisherSource int

const (
	// FromWake uses the wake samples with their importance weights (Várady 2025, 5.7). As the
	// number of samples grows, the estimate converges to a Fisher matrix under a distribution that
	// depends on the weights: p_D(x) p(h|x) for reweighted wake-sleep (weights p/q), p_D(x) π(h|x)
	// with π ∝ √(p q) for a bidirectional machine, and p_D(x) q(h|x) for wake-sleep (equal
	// weights).
	FromWake FisherSource = iota
	// FromSleep uses dreams (Várady 2025, 5.5). It converges to the Fisher matrix under p(x,h), as
	// in Várady 2025, 5.2.
	FromSleep
	// FromLegacy repeats the computation of the program behind Várady 2025. It uses dreams, and
	// weighs each by the importance weight of an unrelated wake sample, divided by B·S. The weights
	// of a datum sum to 1, so all blocks, including the prior's, converge to the blocks of
	// FromSleep divided by S.
	FromLegacy
)

// FisherPrecision selects how exactly the inverses of Fisher blocks are stored. Reading the
// inverses takes most of the time of a natural gradient.
type FisherPrecision int

const (
	// SinglePrecision stores float32, and omits samples that together change an inverse by less
	// than its rounding error.
	SinglePrecision FisherPrecision = iota
	// SixteenBits stores the elements off the diagonal in 16 bits, with a common scale per block of
	// 16 × 16. It omits samples that together change the natural gradient of a unit by less than
	// 2⁻¹⁰ of its length. On real data, its natural gradients differ by a few thousandths from
	// those with SinglePrecision.
	SixteenBits
)

// Arithmetic selects how products with the states of binary units are computed. These products take
// most of a step's time.
type Arithmetic int

const (
	// FloatingPoint multiplies in float32 and is the reference. The last bits of its sums depend on
	// the instruction set.
	FloatingPoint Arithmetic = iota
	// FixedPoint adds 32-bit integers; weights and residuals have one scale per unit. With n
	// parents, the error of a weight is at most (1+n)·2⁻³⁰ times the largest weight of its unit,
	// and sums are exact. Convolutional layers and layers with Gaussian parents keep FloatingPoint.
	FixedPoint
	// AutoArithmetic is FixedPoint on engines that have it, and FloatingPoint on others.
	AutoArithmetic
)

// Optimizer selects how a direction of ascent g, plain or natural (Várady 2025, 6.1.1), becomes an
// update of the parameters θ with a learning rate η.
type Optimizer int

const (
	// GradientDescent moves by ηg.
	GradientDescent Optimizer = iota
	// Adam divides a running mean of g by the square root of a running mean of g² (Várady 2025,
	// 6.11, with the bias correction and the signs of its source).
	Adam
	// Momentum adds g to a velocity, v ← βv + g, and moves by ηv (Várady 2025, 6.9).
	Momentum
	// Nesterov is Momentum with g evaluated where the velocity alone would lead, at θ + ηβv (Várady
	// 2025, 6.10). At this point, the step also draws its samples and computes the Fisher blocks if
	// they are due. The point printed in the source, θ + βv, lacks the η, which the velocity does
	// not contain.
	Nesterov
)

// LabelProposal selects the distribution from which the label y of a sample is drawn to estimate
// A(x) = Σ_{h,y} √(p(x,h,y) q(h|x) q(y|h)) (BiHM thesis 2016, 4.2). B(x,y) is the same sum over h
// alone, and its estimate uses the same samples h.
type LabelProposal int

const (
	// ExactLabels draws no label, but sums over all y: Ã(x) = Σ_y B̃(x,y), so the estimate B̃/Ã of
	// p*(y|x) is a distribution.
	ExactLabels LabelProposal = iota
	// PlainLabels draws y ~ q(y|h) (BiHM thesis 2016, 4.4).
	PlainLabels
	// MixedLabels draws y ~ ½ q(y|h) + ½ δ at the datum's label, if it has one (BiHM thesis 2016,
	// 4.11). B̃/Ã can exceed 1, but less often than with PlainLabels.
	MixedLabels
)

// Algorithm describes a training method by the choices in which the published methods differ.
type Algorithm struct {
	Rule
	Metric          Metric
	FisherSource    FisherSource
	Damping         float64 // α of (1+α)(αI + F)⁻¹ (Várady 2025, 5.10)
	RefreshEvery    int     // K: steps between refreshes of the Fisher blocks
	FisherPrecision FisherPrecision
	Optimizer       Optimizer
	AdamBeta1       float64 // decay of the first moment
	AdamBeta2       float64 // decay of the second moment
	AdamEpsilon     float64
	Momentum        float64 // β of Momentum and Nesterov, the decay of the velocity
	Arithmetic      Arithmetic
	BatchSize       int  // B
	Samples         int  // S, samples per datum
	Baseline        bool // subtract c = 1/S from the weights of the q-wake gradient
	// LaterSamples is S from step LaterSamplesFrom onwards; 0 keeps Samples throughout.
	LaterSamples, LaterSamplesFrom int
	// L1 and L2 are the strengths β of the penalties ‖w‖₁ and ½‖w‖² on the weights; biases are not
	// penalised. Their gradients are evaluated at the same parameters as the main gradient, and are
	// subtracted after the metric and before the optimiser (Várady 2025, 6.14, with the sign and
	// the learning rate of a descent).
	L1, L2 float64
	// Entropy is the strength β of a term that raises the conditional entropies of the units
	// (Várady 2025, 6.18, applied before the metric). It is computed in dreams for p and in wake
	// samples for q. The exact gradient with the parents fixed is ∂H/∂a = −a σ(a)(1−σ(a)) = −F·w,
	// so without damping, the natural gradient turns the term into weight decay. Reinforce has no
	// entropy term.
	Entropy float64
	// EntropyEstimator is the strength β of another estimator of the same gradient, which Várady
	// 2025 prints below 6.17 with the opposite sign: −(1/BS) Σ ∂ ln p over samples of p, and
	// −(1/BS) Σ ∂ ln q over samples of q. Its mean is zero. For p it is pure noise. For q it uses
	// the q-wake samples and reduces their weights by β/S, so it equals Baseline at β = ½ under
	// reweighted wake-sleep, and at β = 1 under Bidirectional.
	EntropyEstimator float64
	// WarmUp is the number of steps over which the strengths of regularisers rise linearly from 0
	// (Várady 2025, App. C.3, corrected).
	WarmUp int

	ReinforceBaseline ReinforceBaseline // b of Reinforce

	// The objective of a datum is LabelWeight times (log B(x,y) − Gamma log A(x)) if it has a label
	// (BiHM thesis 2016, 4.7), and otherwise 2 log A(x) (BiHM thesis 2016, 4.8). With a Gamma of 1,
	// the difference is log p*(y|x); with −1, it is log p*(x,y) + 2 log Z.
	LabelProposal LabelProposal
	Gamma         float64
	LabelWeight   float64

	// SleepSteps is the number of sleep phases per step, at least 1. With more than one, the method
	// is sleep-well (Várady 2025, 5.4.1). Each phase has separate dreams and ends with an update of
	// q. The first phase shares its update with the q-wake phase. The later phases dream from the
	// updated parameters and keep the Fisher blocks of the step.
	SleepSteps int
}

// SamplesAt returns S, the number of samples per datum, at a step.
func (a Algorithm) SamplesAt(step int) int {
	if a.LaterSamples > 0 && step >= a.LaterSamplesFrom {
		return a.LaterSamples
	}
	return a.Samples
}

// MostSamples returns the largest S of any step.
func (a Algorithm) MostSamples() int { return max(a.Samples, a.LaterSamples) }

// WarmedUp returns the factor, from 0 to 1, by which the strengths of regularisers are multiplied
// at a step.
func (a Algorithm) WarmedUp(step int) float64 {
	if step >= a.WarmUp {
		return 1
	}
	return float64(step) / float64(a.WarmUp)
}

// HasSleep reports whether q learns from dreams.
func (a Algorithm) HasSleep() bool { return a.Sleep != 0 }

// HasEntropy reports whether the entropies of both networks are regularised.
func (a Algorithm) HasEntropy() bool { return a.Entropy != 0 || a.EntropyEstimator != 0 }

// HasDreams reports whether a step draws dreams, because q learns from them or because the entropy
// of p is measured in them.
func (a Algorithm) HasDreams() bool { return a.HasSleep() || a.HasEntropy() }

// HasDreamtBlocks reports whether the Fisher blocks of p are estimated from dreams.
func (a Algorithm) HasDreamtBlocks() bool {
	return a.Metric != Euclidean && a.FisherSource != FromWake
}

// HasRecognitionWake reports whether q learns from wake samples (q-wake).
func (a Algorithm) HasRecognitionWake() bool { return a.QWake != 0 }

// HasLearnedBaseline reports whether training keeps the network of LearnedBaseline.
func (a Algorithm) HasLearnedBaseline() bool {
	return a.Reinforce && a.ReinforceBaseline == LearnedBaseline
}

// BaselineShape returns the shape of the weights of LearnedBaseline's network, which is linear. Its inputs
// are a constant and x. Its first output estimates the mean of L = log p(x,h) − log q(h|x). For each
// output a of each layer of q, from the bottom, the mean of (L − m)δ² and the mean of δ² follow, where δ is
// ∂ log q/∂a, and m is the mean L of the other samples of the datum, or the first output if there are none.
func BaselineShape(a Architecture) (inputs, outputs int) {
	outputs = 1
	for i := 1; i <= a.Depth(); i++ {
		c := Recognition.Connection(a, i)
		outputs += 2 * c.Positions * c.Outputs
	}
	return 1 + a.Units[0], outputs
}

const (
	// LeastDenominator keeps the learned baselines of units with rare errors, to which they matter little, close to m.
	LeastDenominator = 0.01
	// BaselineRate is the fraction of the error of a minibatch that the network of LearnedBaseline corrects in a step.
	BaselineRate = 0.2
)

// Slots returns how many State.Moments the optimiser keeps.
func (a Algorithm) Slots() int {
	switch a.Optimizer {
	case Adam:
		return 2
	case Momentum, Nesterov:
		return 1
	}
	return 0
}

var (
	baselineNames   = names.New("baseline of REINFORCE", "constant", "none", "optimal", "learned")
	metricNames     = names.New("metric", "none", "block", "diagonal", "kronecker")
	sourceNames     = names.New("Fisher source", "wake", "sleep", "legacy")
	precisionNames  = names.New("precision", "float32", "int16")
	arithmeticNames = names.New("arithmetic", "float32", "fixed", "auto")
	optimizerNames  = names.New("optimizer", "gd", "adam", "momentum", "nesterov")
	proposalNames   = names.New("label proposal", "exact", "plain", "mixed")
)

func (b ReinforceBaseline) String() string { return baselineNames.Name(int(b)) }
func (m Metric) String() string            { return metricNames.Name(int(m)) }
func (s FisherSource) String() string      { return sourceNames.Name(int(s)) }
func (p FisherPrecision) String() string   { return precisionNames.Name(int(p)) }
func (a Arithmetic) String() string        { return arithmeticNames.Name(int(a)) }
func (o Optimizer) String() string         { return optimizerNames.Name(int(o)) }
func (p LabelProposal) String() string     { return proposalNames.Name(int(p)) }

func (b ReinforceBaseline) MarshalText() ([]byte, error) { return baselineNames.Marshal(int(b)) }
func (m Metric) MarshalText() ([]byte, error)            { return metricNames.Marshal(int(m)) }
func (s FisherSource) MarshalText() ([]byte, error)      { return sourceNames.Marshal(int(s)) }
func (p FisherPrecision) MarshalText() ([]byte, error)   { return precisionNames.Marshal(int(p)) }
func (a Arithmetic) MarshalText() ([]byte, error)        { return arithmeticNames.Marshal(int(a)) }
func (o Optimizer) MarshalText() ([]byte, error)         { return optimizerNames.Marshal(int(o)) }
func (p LabelProposal) MarshalText() ([]byte, error)     { return proposalNames.Marshal(int(p)) }

func (b *ReinforceBaseline) UnmarshalText(t []byte) error { return baselineNames.Parse((*int)(b), t) }
func (m *Metric) UnmarshalText(t []byte) error            { return metricNames.Parse((*int)(m), t) }
func (s *FisherSource) UnmarshalText(t []byte) error      { return sourceNames.Parse((*int)(s), t) }
func (p *FisherPrecision) UnmarshalText(t []byte) error   { return precisionNames.Parse((*int)(p), t) }
func (a *Arithmetic) UnmarshalText(t []byte) error        { return arithmeticNames.Parse((*int)(a), t) }
func (o *Optimizer) UnmarshalText(t []byte) error         { return optimizerNames.Parse((*int)(o), t) }
func (p *LabelProposal) UnmarshalText(t []byte) error     { return proposalNames.Parse((*int)(p), t) }
