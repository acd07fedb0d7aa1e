package sequences

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// BeliefSettings are the settings of experiments with temporal sigmoid belief networks.
type BeliefSettings struct {
	Hidden int `toml:"hidden" json:"hidden"`                 // 0 trains a logistic regression
	Deep   int `toml:"deep,omitempty" json:"deep,omitempty"` // units of a second layer
	Order  int `toml:"order" json:"order"`                   // number m of previous steps that are parents
	// Lateral adds, to the parents of each visible unit, the visible units before it at the same step.
	Lateral  bool `toml:"lateral,omitempty" json:"lateral,omitempty"`
	Gaussian bool `toml:"gaussian,omitempty" json:"gaussian,omitempty"` // visible units
	// WakeSleep gives all samples the same weight and trains q on dreams. Without it, samples have importance
	// weights (RWS).
	WakeSleep bool `toml:"wake_sleep,omitempty" json:"wake_sleep,omitempty"`
	// Natural multiplies gradients by the inverse Fisher blocks, and steps along the result. Without it, Adam
	// takes the steps.
	Natural bool    `toml:"natural" json:"natural"`
	Damping float64 `toml:"damping" json:"damping"`
	Refresh int     `toml:"refresh" json:"refresh"` // steps between two refreshes of the blocks
	// Samples is the number of particles per sequence, and Lag the number of later steps that enter their weights.
	Samples      int        `toml:"samples" json:"samples"`
	Lag          int        `toml:"lag" json:"lag"`
	L2           float64    `toml:"l2,omitempty" json:"l2,omitempty"`
	LearningRate float64    `toml:"learning_rate" json:"learning_rate"`
	Decay        runs.Decay `toml:"decay" json:"decay"`
	BatchSize    int        `toml:"batch_size" json:"batch_size"` // sequences per step
}

func (s BeliefSettings) architecture() architecture {
	if s.Hidden == 0 {
		s.Deep = 0
	}
	return architecture{s.Hidden, s.Deep, s.Order, s.Lateral, s.Gaussian}
}

// BeliefExperiment is a training run of a temporal sigmoid belief network.
type BeliefExperiment = runs.Fit[BeliefSettings, *Belief]

// Beliefs trains temporal sigmoid belief networks by reweighted wake-sleep with particle filters (the wake
// and the q-wake phase), or by wake-sleep. A network without hidden units is a logistic regression.
var Beliefs = runs.NewFamily(runs.Family[BeliefSettings, *Belief]{
	Name: "temporal-belief", Noun: "a temporal sigmoid belief network", Data: "--dataset voices", Sequences: true, NearZero: true, Epochs: 100,
	Usual: BeliefSettings{Hidden: 100, Order: 1, Natural: true, Damping: 0.1, Refresh: 50, Samples: 10, Lag: 2, LearningRate: 0.3, Decay: runs.Decay{StepEpochs: 50, StepFactor: 0.5}, BatchSize: 10},
	Rows: func(s *BeliefSettings) []runs.Hyperparameter {
		kind, metric, natural := fmt.Sprintf("TSBN %d", s.Hidden), "Adam", runs.Unless(s.Natural, "--natural")
		sampled := runs.Unless(s.Hidden > 0, "hidden units (--hidden)")
		if s.Hidden == 0 {
			kind = "logistic regression"
		}
		if s.Natural {
			metric = "natural"
		}
		return append([]runs.Hyperparameter{{
			Value: &s.Hidden, Flag: "hidden", Usage: "`number` of hidden units per step; 0 trains a logistic regression", Legend: kind, Always: true,
			Valid: s.Hidden >= 0, Remedy: "give 0 or more",
		}, {
			Value: &s.Deep, Flag: "deep", Usage: "`number` of hidden units of a second layer", Legend: fmt.Sprintf("and %d above", s.Deep),
			Valid: s.Deep >= 0, Remedy: "give 0 or more", Idle: runs.Unless(s.Hidden > 0, "a first layer (--hidden)"),
		}, {
			Value: &s.Order, Flag: "order", Usage: "`number` of previous steps on which units depend directly", Legend: "of " + names.Count(s.Order, "last step"), Always: true,
			Valid: s.Order >= 0, Remedy: "give 0 or more",
		}, {
			Value: &s.Lateral, Flag: "lateral", Usage: "let each unit of a step depend on the units before it", Legend: "lateral weights",
		}, {
			Value: &s.Gaussian, Flag: "gaussian", Usage: "use Gaussian visible units, for real numbers (--binarization real)", Legend: "Gaussian units",
		}, {
			Value: &s.WakeSleep, Flag: "wake-sleep", Group: "training", Usage: "weight all samples equally and train q on dreams (WS); without it, use importance weights (RWS)", Legend: "WS", Idle: sampled,
		}, {
			Value: &s.Natural, Flag: "natural", Group: "training", Usage: "use the natural gradient; without it, Adam takes the steps", Legend: metric, Always: true,
		}, {
			Value: &s.Damping, Flag: "damping", Group: "training", Usage: "damping `α` of the Fisher blocks", Legend: fmt.Sprintf("α = %g", s.Damping), Idle: natural,
			Valid: s.Damping > 0 && statistics.Finite(s.Damping), Remedy: "give a positive number, such as 0.1",
		}, {
			Value: &s.Refresh, Flag: "refresh", Group: "training", Usage: "`steps` between two refreshes of the Fisher blocks", Legend: fmt.Sprintf("K = %d", s.Refresh), Idle: natural,
			Valid: s.Refresh >= 1, Remedy: "give at least 1",
		}, {
			Value: &s.Samples, Flag: "particles", Group: "training", Usage: "`number` of particles per sequence", Legend: names.Count(s.Samples, "particle"), Idle: sampled,
			Valid: s.Samples >= 1, Remedy: "give at least 1",
		}, {
			Value: &s.Lag, Flag: "lag", Group: "training", Usage: "`number` of later steps that enter the weights of particles", Legend: fmt.Sprintf("lag %d", s.Lag), Idle: cmp.Or(sampled, runs.Unless(!s.WakeSleep, "importance weights, without --wake-sleep")),
			Valid: s.Lag >= 0, Remedy: "give 0 or more",
		}, runs.RateRow(&s.LearningRate, "learning `rate` η"), runs.BatchRow(&s.BatchSize), runs.NormRows(new(float64), &s.L2, "", "0.002")[1]}, s.Decay.Rows()...)
	},
	Measures: []runs.Measure{LogP, MonteCarlo, ESS}, Batch: func(s *BeliefSettings) *int { return &s.BatchSize },
	Rate: func(s BeliefSettings) (float64, runs.Decay) { return s.LearningRate, s.Decay },
	Check: func(e BeliefExperiment, set *dataset.Set) error {
		switch real := set.Train().AreReal(); {
		case e.Settings.Gaussian && !real:
			return errors.New("gaussian = true, but the steps are not real numbers: omit it, or open them with binarization real")
		case real && !e.Settings.Gaussian:
			return errors.New("gaussian = false, but the steps are real numbers: use Gaussian units (gaussian = true, --gaussian)")
		case !real:
			if err := checkBits(set); err != nil {
				return err
			}
		}
		if err := checkNumbers(beliefNumbers(e, set.Shape())); err != nil {
			return err
		}
		rows := set.Train()
		frames := float64(rows.Steps()) / float64(rows.Rows) * float64(e.Settings.BatchSize) // of a minibatch, on average
		return e.Settings.architecture().checkParticles(rows.Shape.Width, frames, e.Settings.Samples)
	},
	Baseline: func(_ BeliefExperiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		return baseline(set, rows)
	},
	Size: beliefNumbers,
	New: func(e BeliefExperiment, shape dataset.Shape) (*Belief, error) {
		m := newBelief(shape, e.Settings.architecture(), nil)
		if e.Settings.Natural {
			m.blocks = &blocksOf{parameters: make([]float32, len(m.flat))}
		} else {
			m.adam = new(kernels.NewMoments(len(m.flat)))
		}
		return m, nil
	},
	Begin: func(e BeliefExperiment, m *Belief, set *dataset.Set) error {
		m.begin(set.Train(), e.Seed)
		if m.gaussian {
			return checkSpread(set.Train())
		}
		return nil
	},
	Tensors: func(m *Belief) []runs.Tensor {
		if m.blocks != nil {
			return append(m.tensors(), runs.Tensor{Name: "refresh.parameters", Shape: []int{len(m.flat)}, Data: m.blocks.parameters})
		}
		return append(m.tensors(), runs.AdamTensors(m.adam.Mean, m.adam.Square)...)
	},
	Step: func(_ context.Context, e BeliefExperiment, m *Belief, b runs.Minibatch, rate float64) (runs.Measures, error) {
		s, source := e.Settings, draws{key: philox.Key(e.Seed), purpose: philox.Wake, step: uint32(b.Step)}
		f := gather(b.Rows, b.Index)
		if m.blocks != nil {
			if err := m.upToDate(e, b); err != nil {
				return nil, err
			}
		}
		r := m.samples(f, s, source)
		before := 0.0
		for _, increments := range r.logP {
			before += floats.Sum(increments) / float64(f.v.Rows)
		}
		g := m.gradient(f, r, s.Samples, s.Lag)
		if s.WakeSleep {
			source.purpose = philox.Dream
			m.sleep(g, f, source)
		}
		if m.blocks == nil {
			m.adam.Ascend(m.flat, g.flat, rate, 0.9, b.Step)
		} else {
			m.rescale(g)
			for k, net := range g.nets {
				m.blocks.inverses[k].apply(net.Matrix)
			}
			g.nets[ofDeviations].bound(rate)
			kernels.AddMultiple(m.flat, float32(rate), g.flat)
		}
		m.shrink(rate * s.L2)
		return runs.Measures{LogP.Key: before, ESS.Key: min(1, r.ess(f, nil)/float64(f.v.Rows))}, nil
	},
	Validate: func(ctx context.Context, e BeliefExperiment, m *Belief, rows dataset.Split) (runs.Measures, error) {
		evaluation, err := m.evaluate(ctx, rows, e.Settings.Samples, 1, e.Seed, nil)
		floats.Mul(evaluation.LogP, rows.Shares()[:len(evaluation.LogP)])
		return runs.Measures{LogP.Key: floats.Sum(evaluation.LogP) / stepsOf(rows), ESS.Key: evaluation.ESS}, err
	},
})

// beliefNumbers returns a lower bound on the number of values in the tensors of a model.
func beliefNumbers(e BeliefExperiment, shape dataset.Shape) float64 {
	a := e.Settings.architecture()
	h, deep, d := float64(a.hidden), float64(a.deep), float64(shape.Width)
	past := 2 + float64(e.Settings.Order)*d
	return 2 * (h*(2*past+d+2*h+3*deep) + d*(past+h) + deep*(2*past+d+3*h+2*deep))
}

// upToDate refreshes the Fisher blocks if a refresh is due. After training has resumed, it recomputes the
// blocks of the last refresh.
func (m *Belief) upToDate(e BeliefExperiment, b runs.Minibatch) (err error) {
	s, last := e.Settings, b.Step-b.Step%e.Settings.Refresh
	if last == b.Step {
		copy(m.blocks.parameters, m.flat)
	} else if m.blocks.inverses[ofVisible] != nil {
		return nil
	}
	f := gather(b.Rows, runs.Minibatches(e.Seed, b.Rows, s.BatchSize)(last))
	source := draws{key: philox.Key(e.Seed), purpose: philox.Sleep, step: uint32(last)}
	then := newBelief(m.shape, m.architecture, m.blocks.parameters)
	m.blocks.inverses, err = then.invert(f, then.samples(f, s, source), s.Samples, s.Lag, fisher.Settings{Damping: s.Damping, Steps: s.Refresh}, source)
	return err
}

func (m *Belief) samples(f frames, s BeliefSettings, source draws) filtered {
	if !s.WakeSleep {
		return m.filter(f, s.Samples, resampleBelow, source)
	}
	r := m.filter(f, s.Samples, 0, source)
	for i := range r.weights {
		r.weights[i] = 1 / float64(s.Samples)
	}
	return r
}

// Estimate returns LogP, MonteCarlo and ESS of rows. samples is the number of particles of each of 5 filters.
func (m *Belief) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	e, err := m.LogP(ctx, rows, samples, seed, progress)
	if err != nil {
		return nil, err
	}
	return e.Estimates(rows), nil
}

// CountSamples describes n particles, or returns "" if log p is exact.
func (m *Belief) CountSamples(n int) string {
	if m.hidden == 0 {
		return ""
	}
	return "5 filters of " + names.Count(n, "particle")
}

// LogPOfRows returns log p of each sequence in nats, and a description in words. It uses o.Samples particles per filter,
// or 1,000 if o.Samples is 0. It fails like LogP.
func (m *Belief) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	return logPOfRows(ctx, m, o, m.hidden == 0, "by %s a sequence, and too low in expectation")
}
