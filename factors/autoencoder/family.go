package autoencoder

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Decoder is the kind of p(x|z).
type Decoder int

const (
	Bernoulli Decoder = iota // the sigmoids of the outputs are probabilities
	Normal                   // the outputs are means, and all variables have one learned variance
)

var decoderNames = names.New("decoder", "bernoulli", "normal")

func (d Decoder) String() string                { return decoderNames.Name(int(d)) }
func (d Decoder) MarshalText() ([]byte, error)  { return decoderNames.Marshal(int(d)) }
func (d *Decoder) UnmarshalText(t []byte) error { return decoderNames.Parse((*int)(d), t) }

// Settings are the settings of experiments with autoencoders.
type Settings struct {
	// Hidden lists the numbers of units of the encoder's hidden layers, from the data upwards; the decoder has
	// the same layers downwards. If the list is empty, both networks are linear.
	Hidden      []int      `toml:"hidden" json:"hidden"`
	Code        int        `toml:"code" json:"code"` // number of latent variables
	Activation  Activation `toml:"activation" json:"activation"`
	Decoder     Decoder    `toml:"decoder" json:"decoder"`
	Latent      Latent     `toml:"latent" json:"latent"`
	Temperature float64    `toml:"temperature" json:"temperature"` // τ of GumbelSoftmax
	Bound       Bound      `toml:"bound" json:"bound"`
	Samples     int        `toml:"samples" json:"samples"` // K, per row
	// LearningRate is the learning rate of Adam, and Decay lowers it. The running means of Adam have the
	// published decay rates.
	LearningRate float64    `toml:"learning_rate" json:"learning_rate"`
	Decay        runs.Decay `toml:"decay" json:"decay"`
	BatchSize    int        `toml:"batch_size" json:"batch_size"`
}

// Experiment is a training run of an autoencoder.
type Experiment = runs.Fit[Settings, *Model]

// mostUnits is the largest number of units of a layer.
const mostUnits = 1 << 18

// Family trains autoencoders.
var Family = runs.NewFamily(runs.Family[Settings, *Model]{
	Name: "autoencoder", Noun: "an autoencoder", NearZero: true,
	Usual: Settings{Hidden: []int{200}, Code: 50, Temperature: 2. / 3, Samples: 1, LearningRate: 1e-3, Decay: runs.Decay{StepEpochs: 100, StepFactor: 0.5}, BatchSize: 100},
	Rows:  rows,
	Batch: func(s *Settings) *int { return &s.BatchSize },
	Rate:  func(s Settings) (float64, runs.Decay) { return s.LearningRate, s.Decay },
	Check: check,
	Baseline: func(e Experiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		if e.Settings.Decoder == Normal {
			return factorized.Gaussian(set.Train(), rows, floor, true)
		}
		return factorized.Bernoulli(set.Train(), rows)
	},
	Measures: []runs.Measure{runs.LogP, bound, runs.ESS, active},
	Size:     func(e Experiment, shape dataset.Shape) float64 { return 3 * e.Settings.size(shape.Units()) },
	New: func(e Experiment, shape dataset.Shape) (*Model, error) {
		return newModel(e.Settings, e.Dataset.Binarization, shape), nil
	},
	Begin: func(e Experiment, m *Model, set *dataset.Set) error {
		return m.begin(set.Train(), e.Seed)
	},
	Tensors: tensors,
	Step: func(_ context.Context, e Experiment, m *Model, b runs.Minibatch, rate float64) (runs.Measures, error) {
		return m.step(b, philox.Key(e.Seed), rate), nil
	},
	Validate: func(ctx context.Context, e Experiment, m *Model, rows dataset.Split) (runs.Measures, error) {
		of, _, used, err := m.evaluate(ctx, rows, e.Settings.Samples, e.Seed, nil)
		if err != nil {
			return nil, err
		}
		engine.Weigh(of, rows.Shares())
		all := measured(engine.MeanReport(of))
		all[active.Key] = float64(used)
		return all, nil
	},
})

func (s Settings) legend(visible ...int) string {
	name := "VAE"
	if s.Bound == IWAE {
		name = "IWAE"
	}
	return name + " " + names.Layers(slices.Concat(visible, s.Hidden, []int{s.Code}))
}

func rows(s *Settings) []runs.Hyperparameter {
	if s.Hidden == nil {
		s.Hidden = []int{} // both lists are empty, so both hash and train alike
	}
	layers := s.legend()
	return slices.Concat([]runs.Hyperparameter{{
		Value: &s.Bound, Flag: "bound", Legend: layers, Always: true,
		Usage: "lower `bound` of log p that training ascends: elbo or iwae",
	}}, networkRows(&s.Hidden, &s.Code, &s.Activation, layers, "encoder's hidden layers, bottom up; the decoder"), []runs.Hyperparameter{{
		Value: &s.Decoder, Flag: "decoder", Legend: s.Decoder.String() + " decoder",
		Usage: "`kind` of p(x|z): bernoulli, or normal with one variance, for grey values",
	}, {
		Value: &s.Latent, Flag: "latent", Legend: s.Latent.String(),
		Usage: "`kind` of latent variables: gaussian, or Bernoulli variables trained by straight-through or gumbel-softmax",
	}, {
		Value: &s.Temperature, Flag: "temperature", Legend: fmt.Sprintf("τ = %.3g", s.Temperature), Idle: runs.Unless(s.Latent == GumbelSoftmax, "--latent gumbel-softmax"),
		Usage: "temperature `τ` of relaxed draws",
		Valid: s.Temperature >= 0.1 && s.Temperature <= 10, Remedy: "give a temperature between 0.1, below which gradients explode, and 10; 2/3 is usual",
	}, {
		Value: &s.Samples, Flag: "samples", Usage: "`K` samples of latent variables per row", Legend: fmt.Sprintf("K = %d", s.Samples),
		Valid: s.Samples >= 1, Remedy: "give at least 1",
	}, runs.RateRow(&s.LearningRate, "learning `rate` η of Adam"), runs.BatchRow(&s.BatchSize)}, s.Decay.Rows())
}

// networkRows describes the settings of two networks. them names both in a text about their hidden layers.
func networkRows(hidden *[]int, code *int, a *Activation, layers, them string) []runs.Hyperparameter {
	return []runs.Hyperparameter{{
		Value: hidden, Flag: "hidden", Legend: layers, Always: true,
		Usage:  "`numbers` of units of the " + them + " has the same ones. An empty list, \"\", makes both networks linear",
		Valid:  !slices.ContainsFunc(*hidden, func(n int) bool { return n < 1 || n > mostUnits }),
		Remedy: fmt.Sprintf("give numbers between 1 and %d, such as [200], or an empty list (--hidden \"\") for linear networks", mostUnits),
	}, {
		Value: code, Flag: "code", Usage: "`number` of latent variables", Legend: layers, Always: true,
		Valid: *code >= 1 && *code <= mostUnits, Remedy: fmt.Sprintf("give a number between 1 and %d", mostUnits),
	}, {
		Value: a, Flag: "activation", Legend: a.String(), Idle: runs.Unless(len(*hidden) > 0, "--hidden"),
		Usage: "`function` of hidden units: tanh or relu",
	}}
}

// check refuses data that do not fit the decoder, and settings that need too much memory.
func check(e Experiment, set *dataset.Set) error {
	s, b := e.Settings, e.Dataset.Binarization
	switch {
	case s.Decoder == Normal && b != dataset.Gray && b != dataset.Real:
		return fmt.Errorf("binarization = %v with decoder = normal, which needs grey values or real numbers: use grey or real, or decoder = bernoulli", b)
	case s.Decoder == Bernoulli && (b == dataset.Gray || b == dataset.Real):
		return fmt.Errorf("binarization = %v with decoder = bernoulli, which needs 0 or 1: use stochastic, which draws with the grey values as probabilities, or fixed, which rounds them, or decoder = normal", b)
	}
	units := 2 * (float64(set.Shape().Units()) + 2*float64(s.Code))
	for _, n := range s.Hidden {
		units += 4 * float64(n)
	}
	bytes := 4 * (4*s.size(set.Shape().Units()) + float64(s.BatchSize)*float64(s.Samples)*units)
	return memory.Check(fmt.Sprintf("the networks and a step of %d × %d samples", s.BatchSize, s.Samples), bytes, "use fewer units, samples, or rows per minibatch")
}

// tensors lists the tensors that TENSORS.md of package runs describes.
func tensors(m *Model) []runs.Tensor {
	all := m.tensors("encoder", "decoder")
	if m.prior != nil {
		all = append(all, vector("prior", m.prior))
	}
	if m.noise != nil {
		all = append(all, vector("noise", m.noise))
	}
	return append(all, runs.AdamTensors(m.adam.Mean, m.adam.Square)...)
}

func vector(name string, values []float32) runs.Tensor {
	return runs.Tensor{Name: name, Shape: []int{len(values)}, Data: values}
}

func (n *network) tensors(encoder, decoder string) (all []runs.Tensor) {
	for k, layers := range [][]dense{n.encoder, n.decoder} {
		for l, of := range layers {
			name := fmt.Sprintf("%s.%d.", []string{encoder, decoder}[k], l)
			all = append(all, runs.Tensor{Name: name + "weights", Shape: []int{of.weights.Rows, of.weights.Cols}, Data: of.weights.Data}, vector(name+"biases", of.biases))
		}
	}
	return all
}
