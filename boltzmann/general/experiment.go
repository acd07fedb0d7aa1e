package general

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Experiment is a training run as a plain value: data, machine, training, budget and seed. Family.Experiment
// returns one with the usual settings. A TOML file can store it.
type Experiment = runs.Fit[Settings, *Model]

// Settings holds the settings of this family's experiments.
type Settings struct {
	Machine  MachineSpec  `toml:"machine" json:"machine"`
	Training TrainingSpec `toml:"training" json:"training"`
}

// TrainingSpec describes training: each step follows the gradient of log p(v) of a minibatch. The learning
// rate falls to 0 along a cosine.
type TrainingSpec struct {
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"` // initial η
	BatchSize    int     `toml:"batch_size" json:"batch_size"`
	// Chains is the number of persistent chains, and Steps is the number of sweeps of each chain per training
	// step. Only machines of more than 20 units use them; the gradient of smaller machines is exact.
	Chains int `toml:"chains" json:"chains"`
	Steps  int `toml:"steps" json:"steps"`
}

// Family trains machines with any connections; its methods read experiments, runs and models.
var Family = runs.NewFamily(runs.Family[Settings, *Model]{
	Name:  "general-boltzmann",
	Noun:  "a general Boltzmann machine",
	Usual: Settings{Training: TrainingSpec{LearningRate: 0.1, BatchSize: 100, Chains: 100, Steps: 1}},
	Rows:  rows,
	Batch: func(s *Settings) *int { return &s.Training.BatchSize },
	Rate: func(s Settings) (float64, runs.Decay) {
		return s.Training.LearningRate, runs.Decay{Schedule: runs.CosineDecay}
	},
	Check: check, Baseline: baseline,

	Measures: []runs.Measure{runs.PseudoLikelihood, runs.FreeEnergy, runs.LogP},
	Size:     size, New: newModel, Begin: begin, Tensors: tensors, Restored: restored,
	Step: step, Validate: validate,
	Model: func(m *Model) *Model {
		bare := *m
		bare.chains = nil
		return &bare
	},
})

func rows(s *Settings) []runs.Hyperparameter {
	const machine, training = "machine", "training"
	m, t := &s.Machine, &s.Training
	count := func(n int) bool { return n >= 1 && n <= math.MaxUint32 }
	return []runs.Hyperparameter{{
		Value: &m.Hidden, Flag: "hidden", Group: machine, Legend: fmt.Sprintf("general BM %d", m.Hidden), Always: true,
		Usage: "`number` of hidden units, whose states are all enumerated",
		Valid: m.Hidden >= 0 && m.Hidden <= mostHidden, Remedy: fmt.Sprintf("give 0 to %d hidden units, whose states are all enumerated; a restricted machine of package boltzmann can have more", mostHidden),
	}, {
		Value: &m.Connections, Flag: "connections", Group: machine, Legend: m.Connections.String(), Always: true,
		Usage: "`which` units are connected: all, semi-restricted (all but hidden with hidden), restricted, or listed, by pairs in a file",
	}, runs.RateRow(&t.LearningRate, "first learning `rate` η, which falls to 0 along a cosine"), runs.BatchRow(&t.BatchSize), {
		Value: &t.Chains, Flag: "chains", Group: training, Legend: names.Count(t.Chains, "chain"),
		Usage: "`number` of persistent chains of a machine of more than 20 units",
		Valid: count(t.Chains), Remedy: "give at least 1 chain; 100 are usual",
	}, {
		Value: &t.Steps, Flag: "gibbs-steps", Group: training, Legend: fmt.Sprintf("%s of chains a step", names.Count(t.Steps, "sweep")),
		Usage: "`sweeps` of the chains per step",
		Valid: count(t.Steps), Remedy: "give at least 1 sweep per step; 1 is usual",
	}}
}

// check refuses connections, data and sizes that cannot be trained.
func check(e Experiment, set *dataset.Set) error {
	if err := e.Settings.Machine.check(set.Shape().Units()); err != nil {
		return err
	}
	if err := checkBinarization(e.Dataset.Binarization); err != nil {
		return err
	}
	return checkMemory(e.Settings, set.Shape().Units())
}

func checkBinarization(b dataset.Binarization) error {
	if b != dataset.Fixed && b != dataset.Drawn {
		return fmt.Errorf("binarization = %v: the units of a general Boltzmann machine are fixed zeros and ones; use fixed or drawn", b)
	}
	return nil
}

func checkMemory(s Settings, visible int) error {
	n, t := float64(visible+s.Machine.Hidden), s.Training
	chains := t.Chains
	if n <= enumerable {
		chains = 0
	}
	bytes := 8 * (3.5*n*n + n*(2*float64(t.BatchSize)+3*float64(chains))) // W, the gradient and pairs with their weights
	things := fmt.Sprintf("%d visible and %s with %s and minibatches of %s", visible, names.Count(s.Machine.Hidden, "hidden unit"), names.Count(chains, "chain"), names.Count(t.BatchSize, "row"))
	return memory.Check(things, bytes, "use fewer")
}

// baseline returns log p(v) of a factorised model, which equals its pseudo-likelihood. Training has diverged
// if an exact log p(v) is far worse. The pseudo-likelihood cannot show this: it may be 0 nats for a machine
// that gives the data no probability.
func baseline(e Experiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
	b := factorized.Bernoulli(set.Train(), rows)
	if set.Shape().Units()+e.Settings.Machine.Hidden <= enumerable {
		b.LimitOf = runs.LogP.Key
	}
	return b
}
