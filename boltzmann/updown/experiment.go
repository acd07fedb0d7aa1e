package updown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Experiment is a training run as a plain value: data, the network that it begins from, method, budget and
// seed. Family.Experiment returns one with the usual settings. A TOML file can store it.
type Experiment = runs.Fit[Settings, *Model]

// Settings holds the settings of this family's experiments.
type Settings struct {
	// Network is the run of the last layer of the deep belief network from which training begins.
	Network runs.Source `toml:"network" json:"network"`
	Method  MethodSpec  `toml:"method" json:"method"`
}

// MethodSpec describes training: gradient ascent at a rate that falls to 0 along a cosine.
type MethodSpec struct {
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"` // initial η, for all layers
	Steps        int     `toml:"steps" json:"steps"`                 // k of the prior's contrastive divergence
	BatchSize    int     `toml:"batch_size" json:"batch_size"`       // B, rows per minibatch
}

// Steps and validation measure, from one sample per row, the mean over rows of E_q[log p(v,h¹…|h^K) − log
// q(h|v)] plus the log-pseudo-likelihood of h^K. If the prior's units are independent, this is the lower
// bound on log p(v). Otherwise it is not a bound, but it is the best measure that needs no log Z.
var pseudoBound = runs.Measure{Key: "pseudo_bound", Name: "pseudo-bound", Label: "bound by the pseudo-likelihood of the prior", Unit: "nats", Rises: true}

// Family fine-tunes belief networks; its methods read experiments, runs and models.
var Family = runs.NewFamily(runs.Family[Settings, *Model]{
	Name:  "updown",
	Noun:  "a network that is trained up and down",
	Usual: Settings{Method: MethodSpec{LearningRate: 0.01, Steps: 5, BatchSize: 100}},
	Rows:  rows,
	Batch: func(s *Settings) *int { return &s.Method.BatchSize },
	Rate: func(s Settings) (float64, runs.Decay) {
		return s.Method.LearningRate, runs.Decay{Schedule: runs.CosineDecay}
	},
	Check: check, Resolve: resolve,

	Measures: []runs.Measure{pseudoBound},
	New:      start,
	Write:    func(m *Model, _ int) (runs.Snapshot, error) { return m.snapshot() },
	Read:     read,
	Model: func(m *Model) *Model {
		bare := *m
		bare.learner, bare.step = nil, 0
		return &bare
	},
	Step: func(ctx context.Context, _ Experiment, m *Model, b runs.Minibatch, rate float64) (runs.Measures, error) {
		bound, err := m.take(ctx, b.Rows, b.Index, rate)
		return runs.Measures{pseudoBound.Key: bound}, err
	},
	Validate: validate,
})

func rows(s *Settings) []runs.Hyperparameter {
	m := &s.Method
	return []runs.Hyperparameter{{
		Value: &s.Network.Run, Flag: "network", Group: "method", Run: true,
		Usage: "`DIR` of the run of the last layer of a deep belief network, from which training begins",
		Valid: strings.TrimSpace(s.Network.Run) != "", Remedy: "name the directory of the last layer of a deep belief network",
	}, {
		Value: &m.Steps, Flag: "gibbs-steps", Group: "method", Legend: fmt.Sprintf("up–down, CD-%d", m.Steps), Always: true,
		Usage: "`k` sweeps of the prior's chains per step",
		Valid: m.Steps >= 1 && m.Steps <= math.MaxUint32, Remedy: "give the number of sweeps of the prior's chains, at least 1",
	}, runs.RateRow(&m.LearningRate, "first learning `rate` η of all layers, which falls to 0 along a cosine"), runs.BatchRow(&m.BatchSize)}
}

func check(e Experiment, _ *dataset.Set) error {
	if b := e.Dataset.Binarization; b == dataset.Gray || b == dataset.Real {
		return fmt.Errorf("binarization = %v: the units of a belief network are 0 or 1; use stochastic, where grey values are the probabilities of draws, or fixed, where they are rounded", b)
	}
	return nil
}

func (s MethodSpec) prior() boltzmann.MethodSpec {
	return boltzmann.CD().Steps(s.Steps).BatchSize(s.BatchSize).LearningRate(s.LearningRate).Spec()
}

// start reads the network from which training on images of a shape begins.
func start(e Experiment, shape dataset.Shape) (*Model, error) {
	network := e.Settings.Network
	fail := func(err error) (*Model, error) { return nil, fmt.Errorf("the network of %s: %w", network.Run, err) }
	run, err := boltzmann.OpenRun(network.Run)
	if err != nil {
		return fail(err)
	}
	prior, below, err := run.Prior(network.Checkpoint, e.Settings.Method.prior(), e.Seed)
	if err != nil {
		return fail(err)
	}
	if of := below[0].Visible(); of != shape.Units() {
		return fail(fmt.Errorf("it is for rows of %d values, the data have %d: train both on the same data", of, shape.Units()))
	}
	m := newModel(unrolled(below), shape, prior, e)
	is, err := m.checksum()
	if err != nil {
		return fail(err)
	}
	if err := network.CheckParameters(is); err != nil {
		return fail(err)
	}
	return m, nil
}

func (m *Model) checksum() (string, error) {
	s, err := m.snapshot()
	return s.Checksum(), err
}

func resolve(e Experiment, set *dataset.Set) (Experiment, error) {
	network, err := e.Settings.Network.Resolved(func() (string, error) {
		m, err := start(e, set.Shape())
		if err != nil {
			return "", err
		}
		return m.checksum()
	})
	if err == nil {
		e.Settings.Network = *network
	}
	return e, err
}

// validationUnits is the number of units per row from which validation estimates the pseudo-likelihood.
const validationUnits = 16

func validate(ctx context.Context, _ Experiment, m *Model, rows dataset.Split) (runs.Measures, error) {
	logs, errs := make([]float64, rows.Rows), make([]error, rows.Rows)
	work.Parts(rows.Rows, rowsAPart, func(first, last int) {
		if ctx.Err() != nil {
			return
		}
		p, at, part := m.newPass(last-first), place{key: philox.Key(m.seed), purpose: philox.Observe, datum: uint32(first)}, logs[first:last]
		for r := range part {
			p.load(rows, m.binarization, r, first+r, at)
		}
		at.purpose = philox.Posterior
		p.rise(at, part, -1)
		p.generate(part)
		pseudo, err := m.prior.LogPseudoLikelihoods(p.tops(), validationUnits)
		if err != nil {
			errs[first] = err
			return
		}
		floats.Add(part, pseudo)
	})
	floats.Mul(logs, rows.Shares())
	return runs.Measures{pseudoBound.Key: floats.Sum(logs) / float64(rows.Rows)}, cmp.Or(errors.Join(errs...), ctx.Err())
}

// take takes a step along the gradients of some rows of split, and returns the mean of the pseudo-bound over
// these rows. If the context is cancelled, the state does not change.
func (m *Model) take(ctx context.Context, split dataset.Split, rows []int, rate float64) (float64, error) {
	at := place{key: philox.Key(m.seed), step: uint32(m.step)}
	wake, logs := m.newPass(len(rows)), make([]float64, len(rows))
	work.Parts(len(rows), rowsAPart, func(first, last int) {
		part, at := wake.rows(first, last), at
		at.purpose, at.datum = philox.Binarize, uint32(first)
		for r := range last - first {
			part.load(split, m.binarization, r, rows[first+r], at)
		}
		at.purpose = philox.Wake
		part.rise(at, logs[first:last], -1)
		part.generate(logs[first:last])
	})
	ends, pseudoLikelihood, err := m.learner.Step(ctx, wake.tops(), rate)
	if err != nil {
		return 0, err
	}
	dreams := m.newPass(ends.Rows)
	work.Parts(ends.Rows, rowsAPart, func(first, last int) {
		part, at := dreams.rows(first, last), at
		at.purpose, at.datum = philox.Sleep, uint32(first)
		for r := range last - first {
			copy(kernels.Row(part.top(), r), kernels.Row(ends, first+r))
		}
		part.descend(at)
		part.recognize()
	})
	for l := range m.generative {
		m.generative[l].ascend(rate, wake.states[l+1], wake.generative[l])
		m.recognition[l].ascend(rate, dreams.states[l], dreams.recognition[l])
	}
	m.step++
	return floats.Sum(logs)/float64(len(logs)) + pseudoLikelihood, nil
}
