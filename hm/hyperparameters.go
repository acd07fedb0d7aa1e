package hm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Hyperparameters returns all settings of the method, in the order in which legends and help list
// them. They point into s and describe its current values.
func (s *MethodSpec) Hyperparameters() []runs.Hyperparameter {
	const (
		method      = "method"
		metric      = "Fisher metric"
		optimizer   = "optimizer"
		samples     = "samples"
		sleep       = "sleep"
		regularizer = "regularizers"
		labels      = "labels"
	)
	natural, dreams := s.Metric != Euclidean, s.algorithm(1).HasSleep()
	fisher := runs.Unless(natural, "a Fisher matrix (--fisher block, or a method such as nrws)")
	inertia := runs.Unless(s.Optimizer == Momentum || s.Optimizer == Nesterov, "--optimizer momentum or nesterov")
	adam := runs.Unless(s.Optimizer == Adam, "--optimizer adam")
	regularized := runs.Unless(s.L1 != 0 || s.L2 != 0 || s.Entropy != 0 || s.EntropyEstimator != 0, "a regulariser (--l1, --l2 or --entropy)")
	weighted := runs.Unless(s.hasBaseline(), "the phases rws or bihm")
	reinforced := runs.Unless(s.Phases == Reinforce, "the phases reinforce")

	wrong := ""
	if err := s.checkPhases(); err != nil {
		wrong = err.Error()
	}
	strength := func(β float64) bool { return β >= 0 && statistics.Finite(β) }
	legend, decay, norms := fmt.Sprintf, s.Decay.Rows(), runs.NormRows(&s.L1, &s.L2, "1e-5 to 0.01", "1e-5 to 0.1")
	later := legend("S = %d from epoch %d", s.LaterSamples, s.LaterSamplesAfter+1)

	return []runs.Hyperparameter{{
		Value: &s.Preset, Flag: "algorithm", Group: method, Legend: presetLegend(s.Preset), Always: true, Words: Presets(),
		Usage: "`method`: " + strings.Join(Presets(), ", ") + "; its defaults replace all of [method] in the --config file",
		Valid: slices.Contains(Presets(), s.Preset), Remedy: "use one of " + strings.Join(Presets(), ", "),
		Decides: []string{"method.phases", "method.phase_parameters", "method.metric"}, Misnomer: s.misnomer(),
	}, {
		Value: &s.LearningRate, Flag: "lr", Group: method, Legend: legend("η = %g", s.LearningRate), Always: true,
		Usage: "learning `rate` η",
		Valid: s.LearningRate > 0 && statistics.Finite(s.LearningRate), Remedy: "use a positive number, such as 0.002",
	}, {
		Value: &s.Damping, Flag: "damping", Group: metric, Legend: legend("α = %g", s.Damping), Always: true, Idle: fisher,
		Usage: "`α` of the damped Fisher inverse",
		Valid: (s.Damping > 0 || !natural) && statistics.Finite(s.Damping), Remedy: "use a positive number; between 0.01 and 0.2 is usual",
	}, {
		Value: &s.Phases, Flag: "phases", Group: method, Legend: legend("phases %v", s.Phases),
		Usage: "weights of the samples and phases: `which` of " + strings.Join(phasesNames(), ", "),
	}, {
		Value: &s.PhaseParameters, Flag: "phase-parameters", Group: method, Legend: legend("phase parameters %v", s.PhaseParameters),
		Usage: "`list` of parameters of the phases: λ of rws (1 wake-phase, 0 sleep-phase), γ of ovis, the partition of tvo",
		Valid: wrong == "", Remedy: wrong,
	}, {
		Value: &s.Metric, Flag: "fisher", Group: metric, Legend: legend("metric %v", s.Metric),
		Usage: "Fisher `matrix` that measures the gradients: none, block, diagonal, kronecker",
	}, {
		Value: &s.FisherSource, Flag: "fisher-source", Group: metric, Legend: legend("Fisher source %v", s.FisherSource), Idle: fisher,
		Usage: "`samples` of the generative Fisher blocks: wake, sleep, or legacy (as in the program behind Várady 2025)",
		Valid: !natural || s.FisherSource == FromWake || dreams, Remedy: fmt.Sprintf("the phases %v have no dreams; use wake", s.Phases),
	}, {
		Value: &s.RefreshEvery, Flag: "kstep", Group: metric, Legend: legend("K = %d", s.RefreshEvery), Idle: fisher,
		Usage: "`K` steps between refreshes of the Fisher blocks",
		Valid: !natural || s.RefreshEvery >= 1, Remedy: "refresh the Fisher blocks every K steps, at least 1",
	}, {
		Value: &s.FisherPrecision, Flag: "fisher-precision", Group: metric, Legend: s.FisherPrecision.String(), Idle: fisher,
		Usage: "`storage` of the inverse Fisher blocks: int16, or float32 as the reference and for α below 0.001",
	}, {
		Value: &s.Arithmetic, Flag: "arithmetic", Group: method, Legend: map[Arithmetic]string{FloatingPoint: "products in float32", FixedPoint: "fixed point"}[s.Arithmetic],
		Usage: "`how` products with binary units are computed: fixed (faster, and identical on every instruction set), float32 as the reference, or auto, which is fixed if the backend has it",
	}, {
		Value: &s.Optimizer, Flag: "optimizer", Group: optimizer, Legend: s.Optimizer.String(),
		Usage: "`which` of gd, momentum, nesterov, adam",
	}, runs.MeanRow(&s.Momentum, "momentum", "β", "momentum and nesterov", 0.95, true, inertia),
		runs.MeanRow(&s.AdamBeta1, "adam-beta1", "β₁", "adam", 0.9, true, adam), runs.MeanRow(&s.AdamBeta2, "adam-beta2", "β₂", "adam", 0.999, true, adam),
		decay[0], decay[1], decay[2], runs.BatchRow(&s.BatchSize).In(samples), {
			Value: &s.Samples, Flag: "samples", Group: samples, Legend: legend("S = %d", s.Samples),
			Usage: "`S` samples per row",
			Valid: s.Samples >= 1, Remedy: "use at least 1 per row",
		}, {
			Value: &s.LaterSamples, Flag: "later-samples", Group: samples, Legend: later,
			Usage: "`S` samples per row after the epochs of --later-samples-after",
			Valid: s.LaterSamples >= 0, Remedy: "use the number of samples per row after later_samples_after epochs, or 0 to keep samples",
		}, {
			Value: &s.LaterSamplesAfter, Flag: "later-samples-after", Group: samples, Legend: later, Epochs: s.LaterSamplesAfter + 1,
			Usage:  "number of `epochs` with --samples, before the epochs with --later-samples",
			Valid:  s.LaterSamplesAfter >= 0 && (s.LaterSamples > 0) == (s.LaterSamplesAfter > 0),
			Remedy: fmt.Sprintf("with later_samples = %d, use both, at least 1, or neither", s.LaterSamples),
		}, {
			Value: &s.Baseline, Flag: "baseline", Group: samples, Legend: "no baseline", Idle: weighted,
			Usage: "subtract 1/S from the weights of the q-wake gradient",
		}, {
			Value: &s.ReinforceBaseline, Flag: "reinforce-baseline", Group: samples, Legend: legend("baseline %v", s.ReinforceBaseline), Idle: reinforced,
			Usage:  "baseline of the phases reinforce: `which` of none, constant, optimal, learned",
			Valid:  s.ReinforceBaseline == ConstantBaseline || reinforced == "",
			Remedy: fmt.Sprintf("the phases %v have none; omit it, or use the phases reinforce", s.Phases),
		}, norms[0], norms[1], {
			Value: &s.Entropy, Flag: "entropy", Group: regularizer, Legend: legend("entropy β = %g", s.Entropy),
			Usage: "strength `β` of the regulariser that raises the entropies of the units",
			Valid: strength(s.Entropy), Remedy: "use a strength of the entropy regulariser of 0 or more; 0.5 to 5 were tried in Várady 2025",
		}, {
			Value: &s.EntropyEstimator, Flag: "entropy-estimator", Group: regularizer, Legend: legend("entropy estimator β = %g", s.EntropyEstimator),
			Usage: "`β` of the entropy estimator that the thesis prints",
			Valid: strength(s.EntropyEstimator), Remedy: "use a strength of the printed entropy regulariser of 0 or more; 0.5 to 5 were tried in Várady 2025",
		}, {
			Value: &s.WarmUp, Flag: "warmup", Group: regularizer, Legend: legend("warm-up of %d epochs", s.WarmUp), Idle: regularized, Epochs: s.WarmUp,
			Usage: "`epochs` over which the strengths β of regularisers rise from 0",
			Valid: s.WarmUp >= 0, Remedy: "use 0 epochs for no warm-up, or more",
		}, {
			Value: &s.Gamma, Flag: "gamma", Group: labels, Legend: legend("γ = %g", s.Gamma),
			Usage: "`γ` of the objective log B − γ log A of labelled rows, −1 to 1",
			Valid: s.Gamma >= -1 && s.Gamma <= 1, Remedy: "use a γ of log B − γ log A from −1, the joint log p*(x,y), to 1, log p*(y|x)",
		}, {
			Value: &s.LabelWeight, Flag: "label-weight", Group: labels, Legend: legend("labels × %g", s.LabelWeight),
			Usage: "`factor` of the objective of labelled rows (default 1)",
			Valid: strength(s.LabelWeight), Remedy: "use a positive factor of the objective of labelled rows, or 0 for the default 1",
		}, {
			Value: &s.LabelProposal, Flag: "label-proposal", Group: labels, Legend: legend("%v labels", s.LabelProposal),
			Usage: "`how` labels are drawn for log A: exact (summed), plain, mixed (BiHM thesis 2016, 4.11)",
		}, {
			Value: &s.SleepSteps, Flag: "sleep-steps", Group: sleep, Legend: legend("%d sleep steps", s.SleepSteps),
			Usage: "`N` sleep phases per step, each with an update of q (sleep-well)",
			Valid: s.SleepSteps >= 1 && s.SleepSteps <= math.MaxUint32, Remedy: "use at least 1 and fewer than 2³² sleep phases per step",
		}, {
			Value: &s.SleepScale, Flag: "sleep-scale", Group: sleep, Legend: legend("sleep × %g", s.SleepScale),
			Usage: "`factor` of the sleep gradients (rescaled sleep)",
			Valid: s.SleepScale > 0 && statistics.Finite(s.SleepScale), Remedy: "use a positive factor, 1 for the plain sleep phase",
		}}
}

// Hyperparameters returns all settings of the machine. They point into s, and all are marked valid:
// Experiment.Check finds settings that are not.
func (s *MachineSpec) Hyperparameters() []runs.Hyperparameter {
	labels := ""
	if s.LabelLayer == NoLabels {
		labels = "--label-layer"
	}
	row := func(value any, flag, usage, idle string) runs.Hyperparameter {
		return runs.Hyperparameter{Value: value, Flag: flag, Group: "machine", Usage: usage, Idle: idle, Valid: true}
	}
	return []runs.Hyperparameter{
		row(&s.Layers, "layers", "units of the dense hidden layers, bottom up", ""),
		row(&s.Convolutions, "conv", "convolutional hidden layers below them, bottom up: `list` of channels@height×width/stride, such as 8@4x4/2, or q:8@4x4/2 and p:8@4x4/2 for only one network", ""),
		row(&s.Units, "units", "`kinds` of the units, bernoulli or gaussian: one for all layers, or one each, the visible first", ""),
		row(&s.Groups, "groups", "categorical variables: `list` of count*units, such as 42*3; + at the end allows a group without a unit on, 1+ is a Bernoulli unit; 3r are real numbers; h1:25*4 in hidden layer 1; data for the columns of the data set", ""),
		row(&s.Tanh, "tanh", "deterministic tanh layers inside each conditional of p and q: `list` of their sizes from the parents to the units, such as 200 or 200,200", ""),
		row(&s.Coding, "coding", "`values` of a unit: pm1 or 01", ""),
		row(&s.Weights, "weight-init", "initial weights: `how` of glorot-normal, bihm-uniform, small-normal (Várady 2025, App. A.2, for bihm and nbihm)", ""),
		row(&s.Bias, "bias-init", "initial `bias` of each unit", ""),
		row(&s.LabelLayer, "label-layer", "`where` the label is: none, top, lower (a classifier of x and h¹), or hidden (of h¹ only)", ""),
		row(&s.Classes, "classes", "`number` of classes of the label", labels),
	}
}

// presetLegend returns the name of a method in the spelling of the theses, such as NRWS or BiHM.
func presetLegend(name string) string {
	return strings.Replace(strings.ToUpper(name), "BIHM", "BiHM", 1)
}

// String returns the method and its settings, as legends show them: the preset, the learning rate, the
// damping if it has an effect, and each setting that has an effect and differs from the preset.
func (s MethodSpec) String() string {
	usual := s
	if preset, err := Preset(s.Preset); err == nil {
		usual = preset.spec
	}
	return runs.Legend(s.Hyperparameters(), usual.Hyperparameters())
}

// Rows describes the measurements and the settings of the method and the machine.
func (e Experiment) Rows() (rows []runs.Hyperparameter) {
	for _, m := range e.Measurements {
		rows = append(rows, runs.Hyperparameter{Value: new(fmt.Sprintf("every=%d", m.Every)), Flag: "measure", Epochs: m.Every})
	}
	return slices.Concat(rows, runs.Keyed("method", &e.Method, e.Method.Hyperparameters()), runs.Keyed("machine", &e.Machine, e.Machine.Hyperparameters()))
}

// hasBaseline reports whether 1/S can be subtracted from the weights of the q-wake gradient.
func (s MethodSpec) hasBaseline() bool {
	return (s.Phases == ReweightedWakeSleep || s.Phases == Bidirectional) && s.rule().QWake != 0
}

func (s MethodSpec) check() error {
	if _, err := Preset(s.Preset); err != nil {
		return err
	}
	if err := runs.CheckHyperparameters(&s, s.Hyperparameters()); err != nil {
		return err
	}
	one := s.Samples == 1 || s.LaterSamples == 1
	estimator, _ := s.Phases.estimator()
	dreams := s.algorithm(1).HasSleep()
	switch {
	case max(s.Samples, s.LaterSamples) > math.MaxUint32/s.BatchSize:
		return fmt.Errorf("%d samples per row in minibatches of %d: their product has to be below 2³²; lower one of them", max(s.Samples, s.LaterSamples), s.BatchSize)
	case (s.Phases == Reinforce || s.Phases == JointStochastic) && (s.Entropy != 0 || s.EntropyEstimator != 0):
		return fmt.Errorf("entropy = %v, entropy_estimator = %v: the phases %v have no such regulariser; use the phases ws, rws or bihm", s.Entropy, s.EntropyEstimator, s.Phases)
	case one && s.Phases == JointStochastic:
		return fmt.Errorf("one sample per row with the phases jsa: sample 0 is the chain's last state, and the others are its proposals; use 2 samples or more")
	case one && (s.ReinforceBaseline == ConstantBaseline || s.ReinforceBaseline == OptimalBaseline) && s.Phases == Reinforce:
		return fmt.Errorf("one sample per row with reinforce_baseline = %v: it is computed from the row's other samples; use 2 samples or more, or the baselines none or learned", s.ReinforceBaseline)
	case s.Samples < estimator.Samples || s.LaterSamples != 0 && s.LaterSamples < estimator.Samples:
		return fmt.Errorf("samples = %d, later_samples = %d: the phases %s compare the samples of a row; use at least %d", s.Samples, s.LaterSamples, s.Phases, estimator.Samples)
	case one && s.Baseline && s.hasBaseline():
		return fmt.Errorf("one sample per row with a baseline: the q-wake gradient is then always 0; use 2 samples or more, or turn the baseline off")
	case s.SleepSteps > 1 && !dreams:
		return fmt.Errorf("sleep_steps = %d: the phases %v have no sleep phase; use ws or rws, or set it to 1", s.SleepSteps, s.Phases)
	case s.SleepScale != 1 && !dreams:
		return fmt.Errorf("sleep_scale = %v: the phases %v have no sleep phase; use ws or rws, or set it to 1", s.SleepScale, s.Phases)
	case s.SleepScale != 1 && s.Optimizer == Adam && s.rule().QWake == 0 && s.L1 == 0 && s.L2 == 0 && s.Entropy == 0 && s.EntropyEstimator == 0:
		return fmt.Errorf("sleep_scale = %v: Adam divides a factor out again if q learns only from dreams; use sleep_steps, or the optimiser gd", s.SleepScale)
	}
	return nil
}
