package boltzmann

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Algorithm is where the chains of the negative phase come from.
type Algorithm int

const (
	// Contrastive is contrastive divergence (Hinton 2002): a chain starts at each row of
	// the minibatch.
	Contrastive Algorithm = iota
	// Persistent is persistent contrastive divergence, or stochastic maximum likelihood
	// (Younes 1989; Tieleman 2008): chains go on from step to step.
	Persistent
	// Tempered is parallel tempering (Desjardins, Courville, Bengio, Vincent and Delalleau
	// 2010): each persistent chain has replicas at higher temperatures, with which it swaps
	// its state now and then.
	Tempered
	// Pseudo has no chains: it raises the pseudo-likelihood (Besag 1975), of which each step
	// sees some units of each row.
	Pseudo
)

var algorithmNames = names.New("algorithm", "cd", "pcd", "pt", "pl")

func (a Algorithm) String() string { return algorithmNames.Name(int(a)) }

// MarshalText writes "cd", "pcd", "pt" or "pl".
func (a Algorithm) MarshalText() ([]byte, error) { return algorithmNames.Marshal(int(a)) }

// UnmarshalText reads what MarshalText writes.
func (a *Algorithm) UnmarshalText(text []byte) error { return algorithmNames.Parse((*int)(a), text) }

// Optimizer is how gradients become updates.
type Optimizer int

const (
	GradientDescent Optimizer = iota
	Momentum                  // the velocity v ← βv + g
	Adam                      // Kingma and Ba 2015, with ε = 10⁻⁸
)

var optimizerNames = names.New("optimizer", "gd", "momentum", "adam")

func (o Optimizer) String() string { return optimizerNames.Name(int(o)) }

// MarshalText writes "gd", "momentum" or "adam".
func (o Optimizer) MarshalText() ([]byte, error) { return optimizerNames.Marshal(int(o)) }

// UnmarshalText reads what MarshalText writes.
func (o *Optimizer) UnmarshalText(text []byte) error { return optimizerNames.Parse((*int)(o), text) }

// slots is the number of running means that an optimiser keeps of each parameter.
func (o Optimizer) slots() int { return int(o) }

// MethodSpec is a way of training, each setting free.
type MethodSpec struct {
	Algorithm Algorithm `toml:"algorithm" json:"algorithm"` // cd, pcd, pt or pl
	Steps     int       `toml:"steps" json:"steps"`         // k, Gibbs sweeps of each chain a step, or units of each row of pl
	Chains    int       `toml:"chains" json:"chains"`       // M of pcd and pt; cd has a chain a row
	// Temperatures is the number R of replicas of each chain of pt, at the inverse
	// temperatures 1, 1 − 1/R … 1/R.
	Temperatures int `toml:"temperatures,omitzero" json:"temperatures,omitempty"`

	// Centred says whether gradients are those of the centred parameters, and
	// OffsetRate how far the offsets move towards the means of a minibatch.
	Centred    bool    `toml:"centred" json:"centred"`
	OffsetRate float64 `toml:"offset_rate" json:"offset_rate"`

	// Metric measures the gradient, and Damping is α of its inverse: see Metric.
	Metric  Metric  `toml:"metric,omitzero" json:"metric,omitempty"` // euclidean, joint or marginal
	Damping float64 `toml:"damping,omitzero" json:"damping,omitempty"`

	Optimizer Optimizer `toml:"optimizer" json:"optimizer"`   // gd, momentum or adam
	Momentum  float64   `toml:"momentum" json:"momentum"`     // β of momentum
	AdamBeta1 float64   `toml:"adam_beta1" json:"adam_beta1"` // β₁ of adam, of the gradient
	AdamBeta2 float64   `toml:"adam_beta2" json:"adam_beta2"` // β₂ of adam, of its square

	LearningRate float64       `toml:"learning_rate" json:"learning_rate"` // η
	Schedule     runs.Schedule `toml:"schedule" json:"schedule"`           // constant, step or cosine
	StepEpochs   int           `toml:"step_epochs" json:"step_epochs"`     // schedule "step": epochs between changes
	StepFactor   float64       `toml:"step_factor" json:"step_factor"`     // schedule "step": the factor of a change

	// VarianceRate is the learning rate of log σ² of Gaussian units, which the schedule
	// changes as it does η.
	VarianceRate float64 `toml:"variance_rate" json:"variance_rate"`

	// MeanField is the most sweeps of mean field a step, of deep machines; 0 stands for 10.
	MeanField int `toml:"mean_field,omitzero" json:"mean_field,omitempty"`

	BatchSize int `toml:"batch_size" json:"batch_size"` // B, rows a minibatch

	L1 float64 `toml:"l1,omitzero" json:"l1,omitempty"` // holds ‖W‖₁ down
	L2 float64 `toml:"l2,omitzero" json:"l2,omitempty"` // holds ½‖W‖² down
	// MaxNorm is the most that the norm of the weights of a hidden unit may be, 0 for any.
	MaxNorm float64 `toml:"max_norm,omitzero" json:"max_norm,omitempty"`
	// Sparsity is the strength with which the hidden units are drawn to be on with the
	// probability SparsityTarget.
	Sparsity       float64 `toml:"sparsity,omitzero" json:"sparsity,omitempty"`
	SparsityTarget float64 `toml:"sparsity_target,omitzero" json:"sparsity_target,omitempty"`
}

// Method is a way of training, with the number of epochs and the seed. It is a
// value: each setter returns a changed copy.
type Method struct {
	spec     MethodSpec
	epochs   int
	patience int
	seed     uint64

	keep        []int
	recordSteps int
	below       *Below
}

// usual has the settings of an algorithm.
func usual(a Algorithm) Method {
	m := Method{
		spec: MethodSpec{
			Algorithm: a, Steps: 1, Chains: 100,
			Centred: true, OffsetRate: 0.01,
			Momentum: 0.9, AdamBeta1: 0.9, AdamBeta2: 0.999,
			LearningRate: 0.2, Schedule: runs.Cosine, VarianceRate: 0.01, StepEpochs: 100, StepFactor: 0.5,
			BatchSize: 100,
		},
		epochs: 20,
		seed:   1,
	}
	switch a {
	case Tempered:
		m.spec.Temperatures = 10
	case Pseudo:
		m.spec.Steps = 10
	}
	return m
}

// CD is contrastive divergence with one sweep a step, CD-1.
func CD() Method { return usual(Contrastive) }

// PCD is persistent contrastive divergence with 100 chains and one sweep a step, PCD-1.
func PCD() Method { return usual(Persistent) }

// PT is persistent contrastive divergence by parallel tempering, with 100 chains of 10
// replicas. Its negative phase costs ten times that of PCD.
func PT() Method { return usual(Tempered) }

// PL follows the gradient of the pseudo-likelihood, estimated by 10 units of each row.
func PL() Method { return usual(Pseudo) }

// Steps sets k, the number of Gibbs sweeps of each chain a step, or of units of each row whose
// probability given the others PL raises.
func (m Method) Steps(k int) Method { m.spec.Steps = k; return m }

// Chains sets M, the number of chains of PCD and PT.
func (m Method) Chains(n int) Method { m.spec.Chains = n; return m }

// Temperatures sets R, the number of replicas of each chain of PT.
func (m Method) Temperatures(n int) Method { m.spec.Temperatures = n; return m }

// Centred says whether gradients are those of the centred parameters (Montavon and
// Müller 2012; Melchior, Fischer and Wiskott 2016), as they are without it being said,
// or of W, b and c themselves.
func (m Method) Centred(on bool) Method { m.spec.Centred = on; return m }

// OffsetRate sets how far, of their distance, the offsets of the centred gradient move
// towards the means of a minibatch: 0.01 without it being said.
func (m Method) OffsetRate(ν float64) Method { m.spec.OffsetRate = ν; return m }

// Natural sets the metric of natural gradients of PCD and PT, which their chains estimate, and
// the damping α, in place of plain gradients.
func (m Method) Natural(metric Metric, α float64) Method {
	m.spec.Metric, m.spec.Damping = metric, α
	return m
}

// LearningRate sets η.
func (m Method) LearningRate(η float64) Method { m.spec.LearningRate = η; return m }

// VarianceRate sets the learning rate of log σ² of Gaussian units, 0.01 without it being
// said; at 0 the variances stay.
func (m Method) VarianceRate(η float64) Method { m.spec.VarianceRate = η; return m }

// Schedule sets how the learning rate changes: Cosine without it being said, since a rate that
// stays leaves log p nats below what the machine can reach. Step halves it every 100 epochs;
// StepDecay says otherwise.
func (m Method) Schedule(s runs.Schedule) Method { m.spec.Schedule = s; return m }

// StepDecay multiplies the learning rate by a factor every so many epochs.
func (m Method) StepDecay(epochs int, factor float64) Method {
	m.spec.Schedule, m.spec.StepEpochs, m.spec.StepFactor = runs.Step, epochs, factor
	return m
}

// Optimizer sets how gradients become updates.
func (m Method) Optimizer(o Optimizer) Method { m.spec.Optimizer = o; return m }

// Momentum sets the optimiser Momentum, whose velocity decays by β in a step.
func (m Method) Momentum(β float64) Method {
	m.spec.Optimizer, m.spec.Momentum = Momentum, β
	return m
}

// AdamDecays sets the optimiser Adam, whose running means of the gradient and of its
// square decay by β₁ and β₂ in a step.
func (m Method) AdamDecays(β1, β2 float64) Method {
	m.spec.Optimizer, m.spec.AdamBeta1, m.spec.AdamBeta2 = Adam, β1, β2
	return m
}

// L1 holds the sum of the absolute values of the weights down: β sign(W) is taken from
// the gradient.
func (m Method) L1(β float64) Method { m.spec.L1 = β; return m }

// L2 holds half the sum of the squares of the weights down: βW is taken from the
// gradient.
func (m Method) L2(β float64) Method { m.spec.L2 = β; return m }

// MeanField sets the most sweeps of mean field by which the means of the hidden layers of a
// deep machine are found in a step: 10 without it being said.
func (m Method) MeanField(sweeps int) Method { m.spec.MeanField = sweeps; return m }

// settling is that of mean field in training.
func (s MethodSpec) settling() settling {
	if s.MeanField == 0 {
		return settling{10, 1e-3}
	}
	return settling{s.MeanField, 1e-3}
}

// MaxNorm shortens the weights of a hidden unit, (Σ_i W_ij²)^½, to a norm where a step has made
// them longer (Srebro and Shraibman 2005). 0, the default, leaves them.
func (m Method) MaxNorm(norm float64) Method { m.spec.MaxNorm = norm; return m }

// Sparsity takes from the objective β times the mean over rows of Σ_j −ρ log p(h_j=1|v) −
// (1−ρ) log p(h_j=0|v), the cross-entropy between a probability ρ, the target, and what the
// hidden units have (after Lee, Ekanadham and Ng 2008).
func (m Method) Sparsity(β, ρ float64) Method {
	m.spec.Sparsity, m.spec.SparsityTarget = β, ρ
	return m
}

// BatchSize sets B, the number of rows a minibatch.
func (m Method) BatchSize(b int) Method { m.spec.BatchSize = b; return m }

// Epochs sets the number of passes over the training rows.
func (m Method) Epochs(n int) Method { m.epochs = n; return m }

// Patience stops training when the validation pseudo-likelihood has not risen for a
// number of epochs. 0, the default, trains for all epochs.
func (m Method) Patience(epochs int) Method { m.patience = epochs; return m }

// Seed sets the seed of all random numbers of training.
func (m Method) Seed(s uint64) Method { m.seed = s; return m }

// Keep keeps the checkpoints of epochs, which Run.At opens.
func (m Method) Keep(epochs ...int) Method {
	m.keep = slices.Concat(m.keep, epochs)
	return m
}

// RecordSteps records the measures of every n-th step, which Run.Steps returns; 0,
// the default, records epochs alone.
func (m Method) RecordSteps(n int) Method { m.recordSteps = n; return m }

// Spec is the method's settings.
func (m Method) Spec() MethodSpec { return m.spec }

// String names the method and its settings as a legend would: the learning rate, and
// what else is not as usual.
func (s MethodSpec) String() string {
	parts := []string{fmt.Sprintf("%s-%d", strings.ToUpper(s.Algorithm.String()), s.Steps), fmt.Sprintf("η = %g", s.LearningRate)}
	differs := func(is bool, format string, values ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, values...))
		}
	}
	u := usual(s.Algorithm).spec
	differs(s.persistent() && s.Chains != u.Chains, "%d chains", s.Chains)
	differs(s.Temperatures != u.Temperatures, "%d temperatures", s.Temperatures)
	differs(!s.Centred, "not centred")
	differs(s.Centred && s.OffsetRate != u.OffsetRate, "ν = %g", s.OffsetRate)
	differs(s.Metric != u.Metric, "%v metric, α = %g", s.Metric, s.Damping)
	differs(s.VarianceRate != u.VarianceRate, "η of σ² = %g", s.VarianceRate)
	differs(s.Optimizer != u.Optimizer, "%v", s.Optimizer)
	differs(s.Optimizer == Momentum && s.Momentum != u.Momentum, "β = %g", s.Momentum)
	differs(s.Optimizer == Adam && s.AdamBeta1 != u.AdamBeta1, "β₁ = %g", s.AdamBeta1)
	differs(s.Optimizer == Adam && s.AdamBeta2 != u.AdamBeta2, "β₂ = %g", s.AdamBeta2)
	differs(s.Schedule != u.Schedule, "%v", s.Schedule)
	differs(s.Schedule == runs.Step && (s.StepEpochs != u.StepEpochs || s.StepFactor != u.StepFactor), "× %g every %d epochs", s.StepFactor, s.StepEpochs)
	differs(s.MeanField != 0, "%d sweeps of mean field", s.MeanField)
	differs(s.BatchSize != u.BatchSize, "B = %d", s.BatchSize)
	differs(s.L1 != 0, "L1 β = %g", s.L1)
	differs(s.L2 != 0, "L2 β = %g", s.L2)
	differs(s.MaxNorm != 0, "norms ≤ %g", s.MaxNorm)
	differs(s.Sparsity != 0, "sparsity β = %g, ρ = %g", s.Sparsity, s.SparsityTarget)
	return strings.Join(parts, ", ")
}

// check refuses settings with which nothing can be trained.
func (s MethodSpec) check() error {
	switch {
	case s.Steps < 1 || s.Steps > math.MaxUint32:
		return fmt.Errorf("steps = %d: give the number of Gibbs sweeps a step, or of units of pl, at least 1", s.Steps)
	case s.Algorithm == Pseudo && s.Sparsity > 0:
		return fmt.Errorf("sparsity = %v with the algorithm pl: a target of sparsity goes with cd, pcd and pt; leave it out", s.Sparsity)
	case s.persistent() && (s.Chains < 1 || s.Chains > math.MaxUint32):
		return fmt.Errorf("chains = %d: give the number of persistent chains, at least 1; 100 is usual", s.Chains)
	case s.Algorithm == Tempered && (s.Temperatures < 2 || s.Temperatures > math.MaxUint32/s.Chains):
		return fmt.Errorf("temperatures = %d: give the number of replicas of each chain, at least 2; 10 is usual", s.Temperatures)
	case s.Algorithm != Tempered && s.Temperatures != 0:
		return fmt.Errorf("temperatures = %d with the algorithm %v: leave them out, or use pt", s.Temperatures, s.Algorithm)
	case s.Centred && !(s.OffsetRate > 0 && s.OffsetRate <= 1):
		return fmt.Errorf("offset_rate = %v: give how far the offsets move towards the means of a minibatch, above 0 and at most 1; 0.01 is usual", s.OffsetRate)
	case s.Metric != Euclidean && !s.persistent():
		return fmt.Errorf("metric = %v with the algorithm %v: the chains of pcd and pt estimate the metric; use one of these, or leave it out", s.Metric, s.Algorithm)
	case s.Metric != Euclidean && !(s.Damping >= leastDamping && s.Damping <= 1/leastDamping):
		return fmt.Errorf("damping = %v of the %v metric: give α between %v and %v; 0.1 is usual", s.Damping, s.Metric, leastDamping, 1/leastDamping)
	case s.Metric == Euclidean && s.Damping != 0:
		return fmt.Errorf("damping = %v without a metric: leave it out, or set metric to joint or marginal", s.Damping)
	case s.Optimizer == Momentum && !decay(s.Momentum):
		return fmt.Errorf("momentum %v: give a decay of 0 or more, below 1; 0.9 is usual", s.Momentum)
	case s.Optimizer == Adam && !decay(s.AdamBeta1):
		return fmt.Errorf("adam_beta1 = %v: give a decay of 0 or more, below 1; 0.9 is usual", s.AdamBeta1)
	case s.Optimizer == Adam && !decay(s.AdamBeta2):
		return fmt.Errorf("adam_beta2 = %v: give a decay of 0 or more, below 1; 0.999 is usual", s.AdamBeta2)
	case !(s.LearningRate > 0) || !statistics.Finite(s.LearningRate):
		return fmt.Errorf("learning rate %v: give a positive number, such as 0.2", s.LearningRate)
	case !(s.VarianceRate >= 0) || !statistics.Finite(s.VarianceRate):
		return fmt.Errorf("variance_rate = %v: give the learning rate of the variances of Gaussian units, 0 or more; 0.01 is usual", s.VarianceRate)
	case s.Schedule == runs.Step && s.StepEpochs < 1:
		return fmt.Errorf("step_epochs = %d: the step schedule changes the learning rate every so many epochs, at least 1", s.StepEpochs)
	case s.Schedule == runs.Step && !(s.StepFactor > 0 && s.StepFactor <= 1):
		return fmt.Errorf("step_factor = %v: give a factor above 0 and at most 1", s.StepFactor)
	case s.MeanField < 0:
		return fmt.Errorf("mean_field = %d: give the most sweeps of mean field a step, at least 1; 10 is usual", s.MeanField)
	case s.BatchSize < 1:
		return fmt.Errorf("batch size %d: give at least 1", s.BatchSize)
	case !(s.L1 >= 0) || !statistics.Finite(s.L1):
		return fmt.Errorf("l1 = %v: give the strength of the L1 norm, 0 or more; 1e-5 to 1e-3 is usual", s.L1)
	case !(s.L2 >= 0) || !statistics.Finite(s.L2):
		return fmt.Errorf("l2 = %v: give the strength of the L2 norm, 0 or more; 1e-5 to 1e-3 is usual", s.L2)
	case !(s.MaxNorm >= 0) || !statistics.Finite(s.MaxNorm):
		return fmt.Errorf("max_norm = %v: give the most that the norm of a hidden unit's weights may be, or 0 for any", s.MaxNorm)
	case !(s.Sparsity >= 0) || !statistics.Finite(s.Sparsity):
		return fmt.Errorf("sparsity = %v: give the strength of the sparsity target, 0 or more; 0.01 to 0.1 is usual", s.Sparsity)
	case s.Sparsity > 0 && !(s.SparsityTarget > 0 && s.SparsityTarget < 1):
		return fmt.Errorf("sparsity_target = %v: give the probability with which hidden units are to be on, above 0 and below 1; 0.01 to 0.1 is usual", s.SparsityTarget)
	case s.Sparsity == 0 && s.SparsityTarget != 0:
		return fmt.Errorf("sparsity_target = %v without a strength: leave it out, or set sparsity", s.SparsityTarget)
	}
	return nil
}

// leastDamping is the least of a metric, below which single precision has nothing to say of the
// directions that no chain knows.
const leastDamping = 1e-5

// decay says whether a running mean can decay by a factor in each step.
func decay(β float64) bool { return β >= 0 && β < 1 }
