package boltzmann

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Algorithm selects the chains of the negative phase.
type Algorithm int

const (
	// Contrastive is contrastive divergence (Hinton 2002): a chain starts at each row of
	// the minibatch.
	Contrastive Algorithm = iota
	// Persistent is persistent contrastive divergence, or stochastic maximum likelihood (Younes 1989; Tieleman
	// 2008): chains continue from step to step.
	Persistent
	// Tempered is parallel tempering (Desjardins, Courville, Bengio, Vincent and Delalleau 2010): each
	// persistent chain has replicas at higher temperatures, and sometimes swaps states with them.
	Tempered
	// PseudoLikelihood has no chains: it raises the pseudo-likelihood (Besag 1975). Each step uses some units
	// of each row.
	PseudoLikelihood
	// Trajectories is parallel trajectory tempering (Béreux, Decelle, Furtlehner, Rosset and Seoane 2025):
	// persistent chains swap with samples of earlier machines of the same training run, down to one without
	// weights.
	Trajectories
	// RatioMatching has no chains: it lowers Σ_i p(v with unit i flipped | v_−i)² (Hyvärinen 2007). Each step
	// uses some units of each row.
	RatioMatching
	// MultiPrediction has no chains: it raises the probability that mean field gives to a random half of the units of
	// each row, given the other half (Goodfellow, Mirza, Courville and Bengio 2013). It trains deep machines.
	MultiPrediction
)

var algorithmNames = names.New("algorithm", "cd", "pcd", "pt", "pl", "ptt", "rm", "mp")

func (a Algorithm) String() string                { return algorithmNames.Name(int(a)) }
func (a Algorithm) MarshalText() ([]byte, error)  { return algorithmNames.Marshal(int(a)) }
func (a *Algorithm) UnmarshalText(t []byte) error { return algorithmNames.Parse((*int)(a), t) }

// Optimizer selects how gradients become updates.
type Optimizer int

const (
	GradientDescent Optimizer = iota
	Momentum                  // the velocity v ← βv + g
	Adam                      // Kingma and Ba 2015, with ε = 10⁻⁸
	CosineRate                // gradient descent at a rate that follows the cosine of successive gradients
)

var optimizerNames = names.New("optimizer", "gd", "momentum", "adam", "cosine-rate")

func (o Optimizer) String() string                { return optimizerNames.Name(int(o)) }
func (o Optimizer) MarshalText() ([]byte, error)  { return optimizerNames.Marshal(int(o)) }
func (o *Optimizer) UnmarshalText(t []byte) error { return optimizerNames.Parse((*int)(o), t) }

// slots returns the number of values that an optimiser keeps for each parameter.
func (o Optimizer) slots() int {
	if o == CosineRate {
		return 1
	}
	return int(o)
}

// MethodSpec describes a way of training. Experiment.Check refuses settings that exclude each other.
type MethodSpec struct {
	Algorithm Algorithm `toml:"algorithm" json:"algorithm"` // cd, pcd, pt, pl, ptt, rm or mp
	Steps     int       `toml:"steps" json:"steps"`         // k: Gibbs sweeps of each chain per step, units of each row for pl and rm, or sweeps of mean field for mp
	Chains    int       `toml:"chains" json:"chains"`       // M of pcd, pt and ptt; cd has one chain per row
	// Temperatures is the number R of replicas of each chain of pt, at the inverse temperatures 1, 1 − 1/R …
	// 1/R.
	Temperatures int `toml:"temperatures,omitzero" json:"temperatures,omitempty"`

	// Acceptance is a threshold for ptt: if swaps between the machine and the uppermost rung of the ladder have
	// a lower mean probability, the machine becomes another rung. Rungs is the largest number of rungs.
	Acceptance float64 `toml:"acceptance,omitzero" json:"acceptance,omitempty"`
	Rungs      int     `toml:"rungs,omitzero" json:"rungs,omitempty"`

	// Centered selects the gradient of the centred parameters. OffsetRate is the fraction of the distance by
	// which each step moves the offsets towards the means of its minibatch.
	Centered   bool    `toml:"centered" json:"centered"`
	OffsetRate float64 `toml:"offset_rate" json:"offset_rate"`
	// Spins selects the steps that a machine with units of −1 and 1 would take: see Method.Spins.
	Spins bool `toml:"spins,omitzero" json:"spins,omitempty"`

	// Metric is the metric of the gradient, and Damping is the α that is used to invert it: see the type Metric.
	Metric  Metric  `toml:"metric,omitzero" json:"metric,omitempty"` // euclidean, joint or marginal
	Damping float64 `toml:"damping,omitzero" json:"damping,omitempty"`

	Optimizer Optimizer `toml:"optimizer" json:"optimizer"`   // gd, momentum, adam or cosine-rate
	Momentum  float64   `toml:"momentum" json:"momentum"`     // β of momentum
	AdamBeta1 float64   `toml:"adam_beta1" json:"adam_beta1"` // β₁ of adam, for the gradient
	AdamBeta2 float64   `toml:"adam_beta2" json:"adam_beta2"` // β₂ of adam, for its square

	// Adaptation is γ of cosine-rate.
	Adaptation float64 `toml:"adaptation,omitzero" json:"adaptation,omitempty"`

	LearningRate float64 `toml:"learning_rate" json:"learning_rate"` // η
	runs.Decay

	// VarianceRate is the learning rate of log σ² of Gaussian units. The schedule changes it like η.
	VarianceRate float64 `toml:"variance_rate" json:"variance_rate"`

	// Discriminative is the weight w of log p(y|v) in the objective log p(y|v) + (1−w) log p(v) of a machine
	// with labels.
	Discriminative float64 `toml:"discriminative,omitzero" json:"discriminative,omitempty"`

	// MeanField is the largest number of mean-field sweeps per step, for deep machines; 0 stands for 10.
	MeanField int `toml:"mean_field,omitzero" json:"mean_field,omitempty"`

	BatchSize int `toml:"batch_size" json:"batch_size"` // B, rows per minibatch

	L1 float64 `toml:"l1,omitzero" json:"l1,omitempty"` // strength of the penalty ‖W‖₁
	L2 float64 `toml:"l2,omitzero" json:"l2,omitempty"` // strength of the penalty ½‖W‖²
	// MaxNorm is the largest norm of the weights of a hidden unit, or 0 for no limit.
	MaxNorm float64 `toml:"max_norm,omitzero" json:"max_norm,omitempty"`
	// Sparsity is the strength with which training pulls the hidden units' probabilities of being on towards
	// SparsityTarget.
	Sparsity       float64 `toml:"sparsity,omitzero" json:"sparsity,omitempty"`
	SparsityTarget float64 `toml:"sparsity_target,omitzero" json:"sparsity_target,omitempty"`
}

// Method is a way of training, with the number of epochs and the seed. It is a value: each setter returns a
// changed copy.
type Method struct {
	spec   MethodSpec
	budget runs.Budget
	below  *runs.Source
	start  *runs.Source
}

// String names the method and its settings, the epochs and the seed.
func (m Method) String() string {
	return fmt.Sprintf("%v; %d epochs, seed %d", m.spec, m.budget.Epochs, m.budget.Seed)
}

func usual(a Algorithm) Method {
	m := Method{
		spec: MethodSpec{
			Algorithm: a, Steps: 1, Chains: 100,
			Centered: true, OffsetRate: 0.01,
			Momentum: 0.9, AdamBeta1: 0.9, AdamBeta2: 0.999,
			LearningRate: 0.2, VarianceRate: 0.01, Decay: runs.Decay{Schedule: runs.CosineDecay, StepEpochs: 100, StepFactor: 0.5},
			BatchSize: 100,
		},
		budget: runs.Budget{Epochs: 20, Seed: 1},
	}
	switch a {
	case Tempered:
		m.spec.Temperatures = 10
	case PseudoLikelihood, RatioMatching:
		m.spec.Steps = 10
	case MultiPrediction:
		m.spec.Steps = 5
	case Trajectories:
		m.spec.Acceptance, m.spec.Rungs = 0.3, 50
	}
	return m
}

// CD returns contrastive divergence with one sweep per step, CD-1.
func CD() Method { return usual(Contrastive) }

// PCD returns persistent contrastive divergence with 100 chains and one sweep per step, PCD-1.
func PCD() Method { return usual(Persistent) }

// PT returns persistent contrastive divergence by parallel tempering, with 100 chains of 10 replicas. Its
// negative phase costs ten times as much as the negative phase of PCD.
func PT() Method { return usual(Tempered) }

// PTT returns persistent contrastive divergence by parallel trajectory tempering, with 100 chains. Its negative
// phase costs some five times as much as the negative phase of PCD, and each rung of its ladder takes the
// memory of two machines. Bridge estimates log Z along its ladder.
func PTT() Method { return usual(Trajectories) }

// PL returns the method that follows the gradient of the pseudo-likelihood. The gradient is estimated from 10
// units of each row.
func PL() Method { return usual(PseudoLikelihood) }

// RM returns the method of ratio matching (Hyvärinen 2007). Its gradient is the gradient of the pseudo-likelihood
// with the weight 2p(1−p) of each unit, if p is the conditional probability of the unit's other state: units that
// the model predicts well or not at all count little. The gradient is estimated from 10 units of each row.
func RM() Method { return usual(RatioMatching) }

// MP returns multi-prediction training (Goodfellow, Mirza, Courville and Bengio 2013) of deep machines: it follows the
// gradient, by back-propagation through 5 sweeps of mean field, of how well the sweeps predict random halves of each
// row from the other halves. It is not a gradient of log p(v).
func MP() Method { return usual(MultiPrediction) }

// flips reports whether the negative phase consists of data with flipped units.
func (s MethodSpec) flips() bool {
	return s.Algorithm == PseudoLikelihood || s.Algorithm == RatioMatching
}

// Steps sets k: the number of Gibbs sweeps of each chain per step, for PL and RM the number of units in each
// row whose conditional probabilities a step raises, or for MP the number of sweeps of mean field.
func (m Method) Steps(k int) Method { m.spec.Steps = k; return m }

// Chains sets M, the number of chains of PCD, PT and PTT.
func (m Method) Chains(n int) Method { m.spec.Chains = n; return m }

// Temperatures sets R, the number of replicas of each chain of PT.
func (m Method) Temperatures(n int) Method { m.spec.Temperatures = n; return m }

// Ladder sets when PTT makes the machine a rung of its ladder: when the mean probability of swaps with the
// uppermost rung falls below acceptance, 0.3 by default. PTT inserts a rung between two neighbours whose mean
// probability of swaps falls below acceptance/2. rungs, 50 by default, is the largest number of rungs.
func (m Method) Ladder(acceptance float64, rungs int) Method {
	m.spec.Acceptance, m.spec.Rungs = acceptance, rungs
	return m
}

// Centered selects the gradient of the centred parameters (true, the default; Montavon and Müller 2012;
// Melchior, Fischer and Wiskott 2016) or the gradient of W, b and c themselves (false).
func (m Method) Centered(on bool) Method { m.spec.Centered = on; return m }

// OffsetRate sets how far each step moves the offsets of the centred gradient towards the means of its
// minibatch: by the fraction ν of the distance, 0.01 by default.
func (m Method) OffsetRate(ν float64) Method { m.spec.OffsetRate = ν; return m }

// Spins sets whether training takes the steps that a machine of spins would take. Its units s and t are −1 or
// 1, and its energy is −Σ J_ij s_i t_j − Σ B_i s_i − Σ C_j t_j, so that W = 4J. A step at the rate η follows
// the centred gradient with constant offsets of ½: W moves at the rate η, b and c at a quarter of it. J, B
// and C then move at the rate η/16.
func (m Method) Spins(on bool) Method { m.spec.Spins = on; return m }

// Natural replaces plain gradients by natural gradients with the damping α. It works with PCD, PT and PTT,
// whose chains estimate the metric.
func (m Method) Natural(metric Metric, α float64) Method {
	m.spec.Metric, m.spec.Damping = metric, α
	return m
}

// LearningRate sets η. For Gaussian visible units, the steps of W and b are multiplied by σ². So η differs by
// this factor from the rate in programs whose steps follow the gradient itself.
func (m Method) LearningRate(η float64) Method { m.spec.LearningRate = η; return m }

// VarianceRate sets the learning rate of log σ² of Gaussian units, 0.01 by default. At 0 the variances do not
// change.
func (m Method) VarianceRate(η float64) Method { m.spec.VarianceRate = η; return m }

// Schedule sets how the learning rate changes: runs.CosineDecay by default, since a constant rate leaves log p
// some nats below what the machine can reach. The schedule runs.StepDecay halves it every 100 epochs;
// Method.StepDecay changes that.
func (m Method) Schedule(s runs.Schedule) Method { m.spec.Schedule = s; return m }

// StepDecay multiplies the learning rate by a factor every epochs epochs.
func (m Method) StepDecay(epochs int, factor float64) Method {
	m.spec.Decay = runs.Decay{Schedule: runs.StepDecay, StepEpochs: epochs, StepFactor: factor}
	return m
}

// Optimizer sets how gradients become updates. To use another optimiser, define a family: see runs.Family.
func (m Method) Optimizer(o Optimizer) Method { m.spec.Optimizer = o; return m }

// Momentum sets the optimiser Momentum, whose velocity decays by β each step. Unlike in package hm, 0 means a β
// of 0, not the default.
func (m Method) Momentum(β float64) Method {
	m.spec.Optimizer, m.spec.Momentum = Momentum, β
	return m
}

// AdamDecays sets the optimiser Adam. Its running means of the gradient and of its square decay by β₁ and β₂
// each step. Unlike in package hm, 0 means a decay of 0, not the default.
func (m Method) AdamDecays(β1, β2 float64) Method {
	m.spec.Optimizer, m.spec.AdamBeta1, m.spec.AdamBeta2 = Adam, β1, β2
	return m
}

// CosineRate sets the optimiser CosineRate, which multiplies the learning rate by a factor. The factor is 1
// at first. After each step, it is multiplied by e^(γc), where c is the cosine of the angle between the
// gradients of W in this step and in the previous one. So the factor grows while gradients agree, and falls
// when they turn back. It stays between 1/1000 and 1000.
func (m Method) CosineRate(γ float64) Method {
	m.spec.Optimizer, m.spec.Adaptation = CosineRate, γ
	return m
}

// L1 penalises the sum of the absolute values of the weights: it subtracts β sign(W) from the gradient.
func (m Method) L1(β float64) Method { m.spec.L1 = β; return m }

// L2 penalises half the sum of the squares of the weights: it subtracts βW from the gradient.
func (m Method) L2(β float64) Method { m.spec.L2 = β; return m }

// Discriminative sets what a machine with labels learns: it raises log p(y|v) + (1−w) log p(v) (Larochelle
// and Bengio 2008). With w = 0, the default, this is log p(v,y). With w = 1 it is log p(y|v) alone, whose
// gradient is exact and needs no chains. With w in between, the machine models rows as far as this helps to
// classify them.
func (m Method) Discriminative(w float64) Method { m.spec.Discriminative = w; return m }

// MeanField sets the largest number of mean-field sweeps per step, 10 by default. These sweeps find the means
// of the hidden layers of a deep machine.
func (m Method) MeanField(sweeps int) Method { m.spec.MeanField = sweeps; return m }

// settling returns when mean field ends in training.
func (s MethodSpec) settling() settling { return settling{cmp.Or(s.MeanField, 10), 1e-3} }

// MaxNorm sets the largest norm (Σ_i W_ij²)^½ of the weights of a hidden unit. Whenever a step makes them
// longer, they are shortened to this norm (Srebro and Shraibman 2005). 0, the default, sets no limit.
func (m Method) MaxNorm(norm float64) Method { m.spec.MaxNorm = norm; return m }

// Sparsity subtracts from the objective β times the mean over rows of Σ_j −ρ log p(h_j=1|v) − (1−ρ) log
// p(h_j=0|v). This is the cross-entropy between the target probability ρ and the probabilities of the hidden
// units (after Lee, Ekanadham and Ng 2008).
func (m Method) Sparsity(β, ρ float64) Method {
	m.spec.Sparsity, m.spec.SparsityTarget = β, ρ
	return m
}

// BatchSize sets B, the number of rows per minibatch.
func (m Method) BatchSize(b int) Method { m.spec.BatchSize = b; return m }

// Epochs sets the number of passes over the training rows.
func (m Method) Epochs(n int) Method { m.budget.Epochs = n; return m }

// Patience stops training when the objective has not improved on the validation rows for a number of epochs. 0,
// the default, trains for all epochs.
func (m Method) Patience(epochs int) Method { m.budget.Patience = epochs; return m }

// Seed sets the seed of all random numbers of training.
func (m Method) Seed(s uint64) Method { m.budget.Seed = s; return m }

// Keep keeps the checkpoints of some epochs. Run.At opens them.
func (m Method) Keep(epochs ...int) Method {
	m.budget.Keep = slices.Concat(m.budget.Keep, epochs)
	return m
}

// RecordSteps records the measures of every n-th step, which Run.Steps returns; 0, the default, records only
// epochs.
func (m Method) RecordSteps(n int) Method { m.budget.RecordSteps = n; return m }

// Spec returns the method's settings.
func (m Method) Spec() MethodSpec { return m.spec }

// leastDamping is the smallest damping of a metric. Below it, single precision cannot resolve the directions
// that no chain covers.
const leastDamping = 1e-5
