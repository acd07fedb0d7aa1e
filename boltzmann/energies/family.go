package energies

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Settings holds the settings of a family: machine settings, of type K, and training settings.
type Settings[K any] struct {
	Machine  K        `toml:"machine" json:"machine"`
	Training Training `toml:"training" json:"training"`
}

// Experiment describes a training run as a plain value.
type Experiment[K any] = runs.Fit[Settings[K], *Model]

// Training holds the settings of training by Adam (Kingma and Ba 2015) along the gradient of log p. Markov
// chains estimate the part of the gradient that is an expectation under the model. The learning rate falls
// to 0 along a cosine.
type Training struct {
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"` // initial
	BatchSize    int     `toml:"batch_size" json:"batch_size"`
	// Chains is the number of persistent chains (Tieleman 2008). If it is 0, chains start at the rows of each
	// minibatch (contrastive divergence, Hinton 2002).
	Chains int `toml:"chains" json:"chains"`
	// Steps is the number of chain steps per gradient.
	Steps int `toml:"steps" json:"steps"`
}

// kind describes how a family of energies differs from the others.
type kind[K any] struct {
	name, noun, data string
	usual            K
	training         Training
	rows             func(*K) []runs.Hyperparameter
	size             func(K, dataset.Shape) float64 // a lower bound on the number of parameters
	real             bool                           // whether rows are real numbers, not zeros and ones
	// predict returns the setting that masks the units which the machine predicts from the others. The function is nil
	// for machines that model all units.
	predict func(K) string
	// new returns the energy. mask hides the units to predict; it is nil if the machine models all units.
	new func(s K, shape dataset.Shape, mask dataset.Mask) (energy, error)
	// above returns the energy of a second machine on top of the first, and the shape of its rows. The energy is
	// nil if the settings name no second machine. The function is nil for kinds without second machines.
	above func(s K, below energy) (energy, dataset.Shape, error)
}

func register[K any](k kind[K]) *runs.Family[Settings[K], *Model] {
	return runs.NewFamily(runs.Family[Settings[K], *Model]{
		Name: k.name, Noun: k.noun, Data: k.data, Usual: Settings[K]{k.usual, k.training},
		Rows:  k.hyperparameters,
		Batch: func(s *Settings[K]) *int { return &s.Training.BatchSize },
		Rate: func(s Settings[K]) (float64, runs.Decay) {
			return s.Training.LearningRate, runs.Decay{Schedule: runs.CosineDecay}
		},
		Densities: k.real,
		Check:     k.check, Baseline: k.baseline,
		Measures: k.measures(),
		Size:     k.numbers, New: k.model,
		Begin: func(e Experiment[K], m *Model, set *dataset.Set) error {
			return m.begin(set.Train().Floats())
		},
		Tensors: (*Model).tensors, Restored: (*Model).restored, Model: (*Model).bare,
		Step: func(ctx context.Context, e Experiment[K], m *Model, b runs.Minibatch, rate float64) (runs.Measures, error) {
			return m.step(ctx, e.Settings.Training, b, rate)
		},
		Validate: func(ctx context.Context, _ Experiment[K], m *Model, rows dataset.Split) (runs.Measures, error) {
			return m.validate(ctx, rows)
		},
	})
}

// numbers returns a lower bound on the number of values in the tensors of a model.
func (k kind[K]) numbers(e Experiment[K], shape dataset.Shape) float64 {
	return 3*k.size(e.Settings.Machine, shape) + float64(e.Settings.Training.Chains)*float64(shape.Units())
}

func (k kind[K]) hyperparameters(s *Settings[K]) []runs.Hyperparameter {
	const training = "training"
	t, rows := &s.Training, k.rows(&s.Machine)
	for i := range rows {
		rows[i].Group = "machine"
	}
	chains := runs.Hyperparameter{
		Value: &t.Chains, Flag: "chains", Group: training, Legend: names.Count(t.Chains, "chain"),
		Usage: "`number` of persistent chains, or 0 to start chains at the rows of each minibatch",
		Valid: t.Chains >= 0 && t.Chains <= math.MaxInt32, Remedy: "give 100 persistent chains, or 0 to start chains at the rows of each minibatch",
	}
	if k.predict != nil {
		chains.Valid, chains.Remedy = t.Chains == 0, "give 0: persistent chains belong to the given units of one row"
	}
	return append(rows, runs.RateRow(&t.LearningRate, "first learning `rate` η, which falls to 0 along a cosine"), runs.BatchRow(&t.BatchSize), chains, runs.Hyperparameter{
		Value: &t.Steps, Flag: "gibbs-steps", Group: training, Legend: names.Count(t.Steps, "step") + " of chains",
		Usage: "`steps` of the chains for each gradient",
		Valid: t.Steps >= 1 && t.Steps <= math.MaxInt32, Remedy: "give at least 1; 1 is usual",
	})
}

// measures lists the measures of training and evaluation.
func (k kind[K]) measures() []runs.Measure {
	objective := runs.PseudoLikelihood
	if k.real {
		objective = runs.Score
	}
	all := []runs.Measure{objective, runs.FreeEnergy, acceptanceMeasure, runs.LogP, runs.LogZ, runs.ESS}
	if k.above != nil {
		all = append(all, aboveMeasure)
	}
	return all
}

func (k kind[K]) check(e Experiment[K], set *dataset.Set) error {
	switch b := e.Dataset.Binarization; {
	case k.real && b != dataset.Gray && b != dataset.Real:
		return fmt.Errorf("binarization = %v: %s has a density of real numbers; use grey, or real for numbers on any scale (--binarization)", b, k.noun)
	case !k.real && b != dataset.Fixed && b != dataset.Drawn:
		return fmt.Errorf("binarization = %v: the units of %s are fixed zeros and ones; use fixed or drawn (--binarization)", b, k.noun)
	}
	numbers := k.numbers(e, set.Shape())
	if err := memory.Check(fmt.Sprintf("the %.3g numbers of the machine and its chains", numbers), 8*numbers, "use fewer"); err != nil {
		return err
	}
	m, err := k.model(e, set.Shape())
	if err != nil {
		return err
	}
	t, units := e.Settings.Training, float64(set.Shape().Units())
	bytes := 8 * (float64(len(m.first))*float64(5+parts(max(t.BatchSize, t.Chains))) + units*float64(set.Train().Rows+2*t.Chains))
	if err := memory.Check("the steps of training", bytes, "use a smaller machine, a smaller batch or fewer chains"); err != nil {
		return err
	}
	if m.scaling != nil {
		return m.scale(set.Train().Floats())
	}
	return nil
}

// baseline returns the pseudo-likelihood of a factorised model of binary rows; for this model it equals log p.
// Machines of real numbers and conditional machines have no baseline.
func (k kind[K]) baseline(_ Experiment[K], set *dataset.Set, rows dataset.Split) runs.Baseline {
	if k.real || k.predict != nil {
		return runs.Baseline{}
	}
	return factorized.Bernoulli(set.Train(), rows)
}

func (k kind[K]) model(e Experiment[K], shape dataset.Shape) (*Model, error) {
	m := &Model{shape: shape, seed: e.Seed, given: k.predict != nil, schedule: usualSchedule, free: all(shape.Units())}
	var mask dataset.Mask
	var err error
	if m.given {
		if mask, err = dataset.ParseMask(k.predict(e.Settings.Machine), shape, 1); err != nil {
			return nil, fmt.Errorf("predict: %w", err)
		}
		m.free = where(mask, true)
	}
	if k.real {
		m.scaling = newScaling(shape.Units())
	}
	if m.energy, err = k.new(e.Settings.Machine, shape, mask); err != nil {
		return nil, err
	}
	m.allocate(e.Settings.Training.Chains)
	if k.above == nil {
		return m, nil
	}
	above, shape, err := k.above(e.Settings.Machine, m.energy)
	if err != nil {
		return nil, fmt.Errorf("the machine above: %w", err)
	}
	if above != nil {
		m.above = &Model{shape: shape, seed: e.Seed, energy: above, layer: 1, schedule: usualSchedule, free: all(shape.Units())}
		m.above.allocate(e.Settings.Training.Chains)
	}
	return m, nil
}

func (m *Model) allocate(chains int) {
	n := 0
	for _, p := range m.energy.Parameters() {
		n += p.Size()
	}
	m.first, m.second = make([]float64, n), make([]float64, n)
	m.chains = make([]float64, chains*m.shape.Units())
}

func all(n int) []int {
	return lists.N(n, func(i int) int { return i })
}

// where returns the units that a mask hides, if missing is true, or the other units.
func where(mask dataset.Mask, missing bool) (units []int) {
	for i, is := range mask {
		if is == missing {
			units = append(units, i)
		}
	}
	return units
}

func (m *Model) stream(purpose philox.Purpose, datum, step int) *rand.Rand {
	return rand.New(kernels.NewStream(philox.Key(m.seed), philox.Counter{Word: philox.Word{Purpose: purpose, Layer: m.layer}, Datum: uint32(datum), Step: uint32(step)}))
}
