package engine

import "github.com/helmholtz-go/helmholtz/internal/names"

// ReinforceBaseline is the b of Reinforce. It changes the variance of the
// gradient, and not its mean: b of a sample is computed from the other samples
// of the same datum.
type ReinforceBaseline int

const (
	// ConstantBaseline is the mean of log p(x,h) − log q(h|x), the same for all
	// parameters.
	ConstantBaseline ReinforceBaseline = iota
	// NoBaseline is 0.
	NoBaseline
	// OptimalBaseline is, for each parameter of q, the mean weighted by the
	// squares of ∂ log q(h|x), b = E[L g²]/E[g²]. The
	// exact b* has the least variance of all numbers b; the estimate from a few
	// samples is noisier than ConstantBaseline. Where all squares are 0 it is
	// ConstantBaseline.
	OptimalBaseline
)

// Metric is how gradients are measured.
type Metric int

const (
	Euclidean Metric = iota // the plain gradient
	Block                   // one Fisher block a unit (Várady 2025, 5.5–5.7)
	Diagonal                // the diagonal of the Fisher matrix (Várady 2025, 5.13–5.14)
	Kronecker               // blocks that share the second moment of their layer's parents
)

// FisherSource is where the samples of the generative Fisher blocks come from.
type FisherSource int

const (
	// FromWake uses the wake samples with their importance weights (Várady 2025, 5.7).
	// As their number grows it converges to the Fisher matrix under
	// p_D(x) p(h|x) with the weights p/q of reweighted wake-sleep, under
	// p_D(x) π(h|x) with π ∝ √(p q) with those of a bidirectional machine, and
	// under p_D(x) q(h|x) with the equal ones of wake-sleep.
	FromWake FisherSource = iota
	// FromSleep uses dreams (Várady 2025, 5.5). It converges to the Fisher matrix
	// under p(x,h), the one of Várady 2025, 5.2.
	FromSleep
	// FromLegacy is what the program behind Várady 2025 computes: dreams, each with the
	// importance weight of a wake sample that it has nothing to do with, over
	// B·S. The weights of a datum sum to 1, so the blocks, that of the prior
	// among them, converge to those of FromSleep divided by S.
	FromLegacy
)

// FisherPrecision is how exactly the inverses of Fisher blocks are stored.
// Reading them is most of what a natural gradient costs.
type FisherPrecision int

const (
	// SinglePrecision keeps float32, and leaves out samples that change an
	// inverse by less than its rounding.
	SinglePrecision FisherPrecision = iota
	// SixteenBits keeps sixteen bits off the diagonal, with a common scale a
	// block of 16 × 16, and leaves out samples that change the natural gradient
	// of a unit by less than 2⁻¹⁰ of its length. Natural gradients of real data
	// differ by some thousandths.
	SixteenBits
)

// Arithmetic is how the products with the states of binary units are computed, which
// are most of what a step does.
type Arithmetic int

const (
	// FloatingPoint multiplies float32, the reference. The last bits of its sums
	// depend on the instruction set.
	FloatingPoint Arithmetic = iota
	// FixedPoint adds integers of 32 bits, weights and residuals with a scale a
	// unit. A weight is off by at most (1+n)·2⁻³⁰ of the largest of its unit with
	// n parents, and sums are exact. Layers that are convolved, and those whose
	// parents are Gaussian, keep FloatingPoint.
	FixedPoint
)

// Optimizer turns directions of ascent g, plain or natural (Várady 2025, 6.1.1), into
// updates of the parameters θ with a learning rate η.
type Optimizer int

const (
	// GradientDescent moves by ηg.
	GradientDescent Optimizer = iota
	// Adam divides a running mean of g by the root of one of g² (Várady 2025, 6.11;
	// with its bias correction, and with the signs of its source).
	Adam
	// Momentum adds g to a velocity, v ← βv + g, and moves by ηv (Várady 2025, 6.9).
	Momentum
	// Nesterov is Momentum with g evaluated where the velocity alone would lead,
	// at θ + ηβv (Várady 2025, 6.10). The samples, and the Fisher blocks where they are
	// due, are those of that point too. The printed point θ + βv lacks the η
	// that the velocity leaves out.
	Nesterov
)

// LabelProposal is the distribution from which the label y of a sample is drawn
// to estimate A(x) = Σ_{h,y} √(p(x,h,y) q(h|x) q(y|h)) (BiHM thesis 2016, 4.2), with the h of
// the estimate of B(x,y), the sum over h alone.
type LabelProposal int

const (
	// ExactLabels draws no label: with the same h, Ã(x) = Σ_y B̃(x,y), so that
	// the estimate B̃/Ã of p*(y|x) is a distribution.
	ExactLabels LabelProposal = iota
	// PlainLabels draws y ~ q(y|h) (BiHM thesis 2016, 4.4).
	PlainLabels
	// MixedLabels draws y ~ ½ q(y|h) + ½ δ of the datum's label where it has one
	// (BiHM thesis 2016, 4.11). B̃/Ã can exceed 1, as with PlainLabels, if less often.
	MixedLabels
)

// Algorithm is a way of training: a point on the axes of the published
// methods.
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
	Samples         int  // S, samples a datum
	Baseline        bool // subtract c = 1/S from the weights of the q-wake gradient
	// LaterSamples is S from step LaterSamplesFrom on; 0 leaves it as it is.
	LaterSamples, LaterSamplesFrom int
	// L1 and L2 are the strengths β with which the norms ‖w‖₁ and ½‖w‖² of the
	// weights, biases left out, are held down. Their gradients join the direction
	// behind the metric and before the optimiser (Várady 2025, 6.14, with the sign and
	// the learning rate that descend), evaluated where the gradient is.
	L1, L2 float64
	// Entropy is the strength β with which the conditional entropies of the units
	// are raised, those of p in dreams and those of q in the wake samples
	// (Várady 2025, 6.18, before the metric). Their exact gradient with the parents fixed
	// is ∂H/∂a = −a σ(a)(1−σ(a)) = −F·w, so that without damping the natural
	// gradient makes it weight decay. Reinforce has none.
	Entropy float64
	// EntropyEstimator is the strength β of the estimator of the same gradient
	// that Várady 2025 prints below 6.17, −(1/BS) Σ ∂ ln p and −(1/BS) Σ ∂ ln q over
	// samples of p and q themselves. Its mean is zero. For p it is noise; for q
	// its samples are those of q-wake, of whose weights it takes β/S: under
	// reweighted wake-sleep β = ½, under Bidirectional β = 1 is the Baseline.
	EntropyEstimator float64
	// WarmUp is the number of steps over which the strengths of regularisers
	// rise from 0, in proportion to the steps done (Várady 2025, App. C.3, corrected).
	WarmUp int

	ReinforceBaseline ReinforceBaseline // b of Reinforce

	// The objective of a datum with a label is LabelWeight times
	// log B(x,y) − Gamma log A(x) (BiHM thesis 2016, 4.7), that of one without 2 log A(x) (BiHM thesis 2016,
	// 4.8). Gamma is 1 for log p*(y|x), −1 for log p*(x,y) + 2 log Z.
	LabelProposal LabelProposal
	Gamma         float64
	LabelWeight   float64

	// SleepSteps is the number of sleep phases a step, at least 1, each with dreams and an
	// update of q of its own; more than one is sleep-well (Várady 2025, 5.4.1). The
	// first shares its update with the q-wake phase. The others follow it, with
	// dreams of the parameters as they have become, and the Fisher blocks of
	// the step.
	SleepSteps int
}

// SamplesAt is S, the number of samples a datum, in a step.
func (a Algorithm) SamplesAt(step int) int {
	if a.LaterSamples > 0 && step >= a.LaterSamplesFrom {
		return a.LaterSamples
	}
	return a.Samples
}

// MostSamples is the largest S of any step.
func (a Algorithm) MostSamples() int { return max(a.Samples, a.LaterSamples) }

// WarmedUp is the part of their strength that regularisers have in a step.
func (a Algorithm) WarmedUp(step int) float64 {
	if step >= a.WarmUp {
		return 1
	}
	return float64(step) / float64(a.WarmUp)
}

// HasSleep says whether q learns from dreams.
func (a Algorithm) HasSleep() bool { return a.Sleep != 0 }

// HasEntropy says whether the entropies of both networks are regularised.
func (a Algorithm) HasEntropy() bool { return a.Entropy != 0 || a.EntropyEstimator != 0 }

// HasDreams says whether a step draws dreams: q learns from them, and the
// entropy of p is taken in them, also where q does not learn from them.
func (a Algorithm) HasDreams() bool { return a.HasSleep() || a.HasEntropy() }

// HasDreamtBlocks says whether the Fisher blocks of p are estimated from dreams.
func (a Algorithm) HasDreamtBlocks() bool {
	return a.Metric != Euclidean && a.FisherSource != FromWake
}

// HasRecognitionWake says whether q learns from wake samples (q-wake).
func (a Algorithm) HasRecognitionWake() bool { return a.QWake != 0 }

// Slots is the number of moments that the optimiser keeps.
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
	baselineNames   = names.New("baseline of REINFORCE", "constant", "none", "optimal")
	metricNames     = names.New("metric", "none", "block", "diagonal", "kronecker")
	sourceNames     = names.New("Fisher source", "wake", "sleep", "legacy")
	precisionNames  = names.New("precision", "float32", "int16")
	arithmeticNames = names.New("arithmetic", "float32", "fixed")
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
