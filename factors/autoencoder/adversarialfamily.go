package autoencoder

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// AdversarialSettings are the settings of experiments with generative adversarial networks.
type AdversarialSettings struct {
	// Hidden lists the numbers of units of the discriminator's hidden layers, from the data upwards; the generator has
	// the same layers downwards. If the list is empty, both networks are linear.
	Hidden       []int      `toml:"hidden" json:"hidden"`
	Code         int        `toml:"code" json:"code"` // number of latent variables
	Activation   Activation `toml:"activation" json:"activation"`
	LearningRate float64    `toml:"learning_rate" json:"learning_rate"` // of Adam, for both networks
	Decay        runs.Decay `toml:"decay" json:"decay"`
	BatchSize    int        `toml:"batch_size" json:"batch_size"`
}

// AdversarialExperiment is a training run of a generative adversarial network.
type AdversarialExperiment = runs.Fit[AdversarialSettings, *Generator]

// beta1 is the decay rate of Adam's running mean. With 0.9, as in other families, the networks swing (Radford, Metz and
// Chintala 2016).
const beta1 = 0.5

// Adversarial trains generative adversarial networks, to compare their samples with samples of models that have a
// log p. Their objective is a bound that also falls if the discriminator gets worse, so that the best epoch and patience say
// little about samples.
var Adversarial = runs.NewFamily(runs.Family[AdversarialSettings, *Generator]{
	Name: "adversarial", Noun: "a generative adversarial network",
	Usual: AdversarialSettings{Hidden: []int{200}, Code: 50, Activation: ReLU, LearningRate: 1e-3, Decay: runs.Decay{StepEpochs: 100, StepFactor: 0.5}, BatchSize: 100},
	Rows: func(s *AdversarialSettings) []runs.Hyperparameter {
		if s.Hidden == nil {
			s.Hidden = []int{}
		}
		return slices.Concat(networkRows(&s.Hidden, &s.Code, &s.Activation, s.legend(), "discriminator's hidden layers, bottom up; the generator"),
			[]runs.Hyperparameter{runs.RateRow(&s.LearningRate, "learning `rate` η of Adam, for both networks"), runs.BatchRow(&s.BatchSize)}, s.Decay.Rows())
	},
	Batch: func(s *AdversarialSettings) *int { return &s.BatchSize },
	Rate:  func(s AdversarialSettings) (float64, runs.Decay) { return s.LearningRate, s.Decay },
	Check: func(e AdversarialExperiment, set *dataset.Set) error {
		s, units := e.Settings, 6*float64(set.Shape().Units())
		if b := e.Dataset.Binarization; b == dataset.Gray || b == dataset.Real {
			return fmt.Errorf("binarization = %v: a generator of binary rows needs 0 or 1; use stochastic, which draws with the grey values as probabilities, or fixed, which rounds them", b)
		}
		for _, n := range s.Hidden {
			units += 6 * float64(n)
		}
		discriminator, generator := s.layers(set.Shape().Units())
		return memory.Check(fmt.Sprintf("the networks and a step of %d rows", s.BatchSize), 4*(4*sizeOf(discriminator, generator)+float64(s.BatchSize)*(units+2*float64(s.Code))), "use fewer units, or rows per minibatch")
	},
	Measures: []runs.Measure{divergence, fooled},
	Size: func(e AdversarialExperiment, shape dataset.Shape) float64 {
		return 3 * sizeOf(e.Settings.layers(shape.Units()))
	},
	New: func(e AdversarialExperiment, shape dataset.Shape) (*Generator, error) {
		return newGenerator(e.Settings, e.Dataset.Binarization, shape), nil
	},
	Begin: func(e AdversarialExperiment, m *Generator, _ *dataset.Set) error {
		m.draw(e.Seed)
		return nil
	},
	Tensors: func(m *Generator) []runs.Tensor {
		return append(m.tensors("discriminator", "generator"), runs.AdamTensors(m.adam.Mean, m.adam.Square)...)
	},
	Step: func(_ context.Context, e AdversarialExperiment, m *Generator, b runs.Minibatch, rate float64) (runs.Measures, error) {
		before := m.differentiate(b, philox.Key(e.Seed))
		m.adam.Ascend(m.network.flat, m.gradient.flat, rate, beta1, b.Step)
		return before, nil
	},
	Validate: func(ctx context.Context, e AdversarialExperiment, m *Generator, rows dataset.Split) (runs.Measures, error) {
		of, err := m.Estimate(ctx, rows, 0, e.Seed, nil)
		return of.Values(), err
	},
})

func (s AdversarialSettings) layers(visible int) (discriminator, generator []int) {
	_, generator = Settings{Hidden: s.Hidden, Code: s.Code}.layers(visible)
	return slices.Concat([]int{visible}, s.Hidden, []int{1}), generator
}

func (s AdversarialSettings) legend(visible ...int) string {
	return "GAN " + names.Layers(slices.Concat(visible, s.Hidden, []int{s.Code}))
}
