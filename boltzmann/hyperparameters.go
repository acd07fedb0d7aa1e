package boltzmann

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Hyperparameters returns all settings of the method with their current values, in the order of legends and
// help. Their values are pointers into s.
func (s *MethodSpec) Hyperparameters() []runs.Hyperparameter {
	const (
		method    = "method"
		optimizer = "optimizer"
		own       = "Boltzmann machines"
	)
	either := func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	}
	persistent, tempered, natural := s.persistent(), s.Algorithm == Tempered, s.Metric != Euclidean
	laddered := s.Algorithm == Trajectories
	sampled := runs.Unless(s.Discriminative != 1, "a --discriminative below 1: log p(y|v) alone has no chains")
	chains := cmp.Or(runs.Unless(persistent, "--algorithm pcd, pt or ptt"), sampled)
	climbs := cmp.Or(runs.Unless(laddered, "--algorithm ptt"), sampled)
	noLadder := fmt.Sprintf("the algorithm %v has no ladder; leave it out, or use ptt", s.Algorithm)
	centered := cmp.Or(runs.Unless(s.Centered, "--centered"), runs.Unless(!s.Spins, "offsets that move: spins have ½"))
	metric := runs.Unless(natural, "--metric joint or marginal")
	inertia := runs.Unless(s.Optimizer == Momentum, "--optimizer momentum")
	turning := s.Optimizer == CosineRate
	adam := runs.Unless(s.Optimizer == Adam, "--optimizer adam")
	sparse := runs.Unless(s.Sparsity != 0, "--sparsity")

	strength := func(β float64) bool { return β >= 0 && statistics.Finite(β) }
	legend, decay, norms := fmt.Sprintf, s.Decay.Rows(), runs.NormRows(&s.L1, &s.L2, "1e-5 to 1e-3", "1e-5 to 1e-3")
	discriminative := legend("discriminative w = %g", s.Discriminative)
	name := either(sampled == "", legend("%s-%d", strings.ToUpper(s.Algorithm.String()), s.Steps), discriminative)
	inMetric := legend("%v metric, α = %g", s.Metric, s.Damping)
	sparsity := legend("sparsity β = %g, ρ = %g", s.Sparsity, s.SparsityTarget)

	return []runs.Hyperparameter{{
		Value: &s.Algorithm, Flag: "algorithm", Group: method, Legend: name, Always: true,
		Usage: "`which` of cd, pcd, pt, pl, ptt, rm, mp",
	}, {
		Value: &s.LearningRate, Flag: "lr", Group: method, Legend: legend("η = %g", s.LearningRate), Always: true,
		Usage: "learning `rate` η",
		Valid: s.LearningRate > 0 && statistics.Finite(s.LearningRate), Remedy: "give a positive number, such as 0.2",
	}, {
		Value: &s.Steps, Flag: "gibbs-steps", Group: own, Legend: name, Idle: sampled,
		Usage: "cd, pcd, pt, ptt: `k` Gibbs sweeps of each chain per step; pl, rm: units of each row per step (default 10); mp: sweeps of mean field (default 5)",
		Valid: s.Steps >= 1 && s.Steps <= math.MaxUint32, Remedy: "give the number of Gibbs sweeps per step, of units for pl and rm, or of sweeps of mean field for mp, at least 1",
	}, {
		Value: &s.Chains, Flag: "chains", Group: own, Legend: legend("%d chains", s.Chains), Idle: chains,
		Usage: "pcd, pt, ptt: `number` of persistent chains",
		Valid: !persistent || s.Chains >= 1 && s.Chains <= math.MaxUint32, Remedy: "give the number of persistent chains, at least 1; 100 is usual",
	}, {
		Value: &s.Temperatures, Flag: "temperatures", Group: own, Legend: legend("%d temperatures", s.Temperatures), Idle: cmp.Or(runs.Unless(tempered, "--algorithm pt"), sampled),
		Usage: "pt: `number` of replicas of each chain (default 10)",
		Valid: !tempered && s.Temperatures == 0 || tempered && s.Temperatures >= 2 && s.Temperatures <= math.MaxUint32/max(1, s.Chains),
		Remedy: either(tempered,
			"give the number of replicas of each chain, at least 2; 10 is usual",
			fmt.Sprintf("the algorithm %v has none; leave them out, or use pt", s.Algorithm)),
	}, {
		Value: &s.Acceptance, Flag: "acceptance", Group: own, Legend: legend("ladder of acceptance %g", s.Acceptance), Idle: climbs,
		Usage:  "ptt: mean `probability` of swaps below which the machine becomes a rung of the ladder (default 0.3)",
		Valid:  laddered && s.Acceptance > 0 && s.Acceptance < 1 || !laddered && s.Acceptance == 0,
		Remedy: either(laddered, "give the mean probability of swaps, above 0 and below 1; 0.3 is usual", noLadder),
	}, {
		Value: &s.Rungs, Flag: "rungs", Group: own, Legend: legend("%d rungs", s.Rungs), Idle: climbs,
		Usage:  "ptt: largest number of `rungs` of the ladder (default 50)",
		Valid:  laddered && s.Rungs >= 2 && s.Rungs < mostRungs || !laddered && s.Rungs == 0,
		Remedy: either(laddered, fmt.Sprintf("the ladder is too short, or too long: give from 2 to %d rungs; 50 is usual", mostRungs-1), noLadder),
	}, {
		Value: &s.Centered, Flag: "centered", Group: own, Legend: "not centered",
		Usage: "cd, pcd, pt, ptt, pl, rm, mp: follow the gradient of the centred parameters",
	}, {
		Value: &s.OffsetRate, Flag: "offset-rate", Group: own, Legend: legend("ν = %g", s.OffsetRate), Idle: centered,
		Usage: "cd, pcd, pt, ptt, pl, rm, mp: `rate` at which the centres move",
		Valid: !s.Centered || s.OffsetRate > 0 && s.OffsetRate <= 1, Remedy: "give how far the offsets move towards the means of a minibatch, above 0 and at most 1; 0.01 is usual",
	}, {
		Value: &s.Spins, Flag: "spins", Group: own, Legend: "spins",
		Usage:  "cd, pcd, pt, ptt, pl, rm: take the steps of a machine whose units are -1 and 1: offsets stay at ½, and biases move at a quarter of the rate",
		Valid:  !s.Spins || s.Centered && !natural && s.Optimizer != Adam && s.Sparsity == 0,
		Remedy: "spins have offsets of ½ and a separate rate for biases: leave centered on, and metric, adam and sparsity out",
	}, {
		Value: &s.Metric, Flag: "metric", Group: own, Legend: inMetric,
		Usage: "pcd, pt, ptt: `which` metric natural gradients use: euclidean for plain gradients, joint for the Fisher matrix of p(v,h), or marginal for the Fisher matrix of p(v); with --damping",
		Valid: !natural || persistent, Remedy: fmt.Sprintf("the chains of pcd, pt and ptt estimate the metric, and the algorithm %v has none; use one of these, or leave it out", s.Algorithm),
	}, {
		Value: &s.Damping, Flag: "damping", Group: own, Legend: inMetric, Idle: metric,
		Usage: "`α` of the damped Fisher matrix",
		Valid: !natural && s.Damping == 0 || natural && s.Damping >= leastDamping && s.Damping <= 1/leastDamping,
		Remedy: either(natural,
			fmt.Sprintf("give α of the %v metric between %v and %v; 0.1 is usual", s.Metric, leastDamping, 1/leastDamping),
			"there is no metric to damp; leave it out, or set metric to joint or marginal"),
	}, {
		Value: &s.VarianceRate, Flag: "variance-rate", Group: own, Legend: legend("η of σ² = %g", s.VarianceRate),
		Usage: "cd, pcd: learning `rate` of the variances of gaussian visible units",
		Valid: strength(s.VarianceRate), Remedy: "give the learning rate of the variances of Gaussian units, 0 or more; 0.01 is usual",
	}, {
		Value: &s.Optimizer, Flag: "optimizer", Group: optimizer, Legend: s.Optimizer.String(),
		Usage: "`which` of gd, momentum, adam, cosine-rate",
	}, runs.MeanRow(&s.Momentum, "momentum", "β", "momentum", 0.9, false, inertia),
		runs.MeanRow(&s.AdamBeta1, "adam-beta1", "β₁", "adam", 0.9, false, adam), runs.MeanRow(&s.AdamBeta2, "adam-beta2", "β₂", "adam", 0.999, false, adam),
		{
			Value: &s.Adaptation, Flag: "adaptation", Group: optimizer, Legend: legend("γ = %g", s.Adaptation), Idle: runs.Unless(turning, "--optimizer cosine-rate"),
			Usage:  "cosine-rate: `γ` of the factor e^(γ cosine) by which each step changes the learning rate (0.01 is usual)",
			Valid:  turning && s.Adaptation > 0 && s.Adaptation <= 1 || !turning && s.Adaptation == 0,
			Remedy: either(turning, "give γ above 0 and at most 1; 0.01 is usual", "only the optimizer cosine-rate has it; leave it out"),
		},
		decay[0], decay[1], decay[2], {
			Value: &s.MeanField, Flag: "mean-field", Group: own, Legend: legend("%d sweeps of mean field", s.MeanField),
			Usage: "cd, pcd, pt, ptt: largest number of mean-field `sweeps` per step, with several layers (default 10)",
			Valid: s.MeanField >= 0, Remedy: "give the largest number of mean-field sweeps per step, at least 1; 10 is usual",
		}, {
			Value: &s.Discriminative, Flag: "discriminative", Group: own, Legend: discriminative,
			Usage: "cd, pcd, pt: for a machine with --classes, the weight `w` of log p(y|v) in the objective log p(y|v) + (1−w) log p(v): 0 for log p(v,y), 1 for log p(y|v) alone",
			Valid: s.Discriminative >= 0 && s.Discriminative <= 1, Remedy: "give 0 for log p(v,y), 1 for log p(y|v), or a number between them",
		}, runs.BatchRow(&s.BatchSize).In(method), norms[0], norms[1], {
			Value: &s.MaxNorm, Flag: "max-norm", Group: own, Legend: legend("norms ≤ %g", s.MaxNorm),
			Usage: "cd, pcd, pt, ptt, pl, rm: largest `norm` of a hidden unit's weights, 0 for no limit",
			Valid: strength(s.MaxNorm), Remedy: "give the largest norm of a hidden unit's weights, or 0 for no limit",
		}, {
			Value: &s.Sparsity, Flag: "sparsity", Group: own, Legend: sparsity,
			Usage: "cd, pcd, pt, ptt: strength `β` that pulls hidden units towards the probability --sparsity-target of being on",
			Valid: strength(s.Sparsity) && (!s.flips() || s.Sparsity == 0),
			Remedy: either(s.flips(),
				"a target of sparsity goes with cd, pcd and pt, and not with the algorithms pl and rm; leave it out",
				"give the strength of the sparsity target, 0 or more; 0.01 to 0.1 is usual"),
		}, {
			Value: &s.SparsityTarget, Flag: "sparsity-target", Group: own, Legend: sparsity, Idle: sparse,
			Usage: "cd, pcd, pt, ptt: target `probability` of hidden units to be on",
			Valid: sparse != "" && s.SparsityTarget == 0 || sparse == "" && s.SparsityTarget > 0 && s.SparsityTarget < 1,
			Remedy: either(sparse == "",
				"give the target probability of hidden units to be on, above 0 and below 1; 0.01 to 0.1 is usual",
				"without a strength it does nothing; leave it out, or set sparsity"),
		}}
}

// Hyperparameters returns the settings of the machine that have their own flags. Experiment.Check validates
// them.
func (s *MachineSpec) Hyperparameters() []runs.Hyperparameter {
	row := func(value any, flag, usage string) runs.Hyperparameter {
		return runs.Hyperparameter{Value: value, Flag: flag, Group: "Boltzmann machines", Usage: usage, Valid: true}
	}
	return []runs.Hyperparameter{
		row(&s.Categories, "categories", "cd, pcd, pt, ptt: `number` of categories of each variable of categorical visible units"),
		row(&s.HiddenCategories, "hidden-categories", "cd, pcd, pt, ptt: `number` of categories of each variable of categorical hidden units"),
		row(&s.Classes, "classes", "`number` of classes of the label"),
		row(&s.Beside, "beside", "`numbers` of the last units of v and of the lowest hidden layers that form a separate pathway, such as tags beside an image"),
	}
}

// String describes the method as a legend would: it names the algorithm, the learning rate, and every other
// setting that has an effect and differs from its usual value.
func (s MethodSpec) String() string {
	usual := usual(s.Algorithm).spec
	return runs.Legend(s.Hyperparameters(), usual.Hyperparameters())
}

// Rows describes the settings of the method and the machine.
func (e Experiment) Rows() []runs.Hyperparameter {
	return append(runs.Keyed("method", &e.Method, e.Method.Hyperparameters()), runs.Keyed("machine", &e.Machine, e.Machine.Hyperparameters())...)
}

// Notice warns of Gaussian units for categories.
func (e Experiment) Notice(set *dataset.Set) string { return set.DensityNotice() }

func (s MethodSpec) check() error { return runs.CheckHyperparameters(&s, s.Hyperparameters()) }
