package sequences

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// RNNRBMSettings are the settings of experiments with RNN-RBMs.
type RNNRBMSettings struct {
	Hidden    int `toml:"hidden" json:"hidden"`
	Recurrent int `toml:"recurrent" json:"recurrent"` // 0 trains one RBM for all steps
	// Tied trains an RTRBM, whose recurrent units are the means of its hidden units.
	Tied         bool       `toml:"tied" json:"tied"`
	CD           int        `toml:"cd" json:"cd"` // sweeps of contrastive divergence
	LearningRate float64    `toml:"learning_rate" json:"learning_rate"`
	Decay        runs.Decay `toml:"decay" json:"decay"`
	BatchSize    int        `toml:"batch_size" json:"batch_size"` // sequences per step
}

// RNNRBMExperiment is a training run of an RNN-RBM.
type RNNRBMExperiment = runs.Fit[RNNRBMSettings, *RNNRBM]

// Pseudo is the log pseudo-likelihood per step. Training evaluates it on validation sequences, because it is
// exact and cheap, unlike log p.
var Pseudo = runs.Measure{Key: "pseudo", Name: "log pseudo-likelihood per step", Label: "log pseudo-likelihood per step", Unit: "nats", Rises: true}

// RNNRBMs trains RNN-RBMs, RTRBMs and RBMs of single steps by contrastive divergence and back-propagation
// through time, with Adam.
var RNNRBMs = runs.NewFamily(runs.Family[RNNRBMSettings, *RNNRBM]{
	Name: "rnn-rbm", Noun: "an RNN-RBM", Data: "--dataset voices", Sequences: true, Epochs: 100,
	Usual: RNNRBMSettings{Hidden: 150, Recurrent: 100, CD: 15, LearningRate: 0.01, Decay: runs.Decay{StepEpochs: 50, StepFactor: 0.5}, BatchSize: 10},
	Rows: func(s *RNNRBMSettings) []runs.Hyperparameter {
		kind := "RNN-RBM"
		if s.Tied {
			kind = "RTRBM"
		}
		return append([]runs.Hyperparameter{{
			Value: &s.Hidden, Flag: "hidden", Usage: "`number` of hidden units per step", Legend: fmt.Sprintf("%s %d", kind, s.Hidden), Always: true,
			Valid: s.Hidden >= 1, Remedy: "give at least 1",
		}, {
			Value: &s.Recurrent, Flag: "recurrent", Usage: "`number` of recurrent units; 0 trains one RBM for all steps", Legend: names.Count(s.Recurrent, "recurrent unit"),
			Valid: s.Recurrent >= 0, Remedy: "give 0 or more", Idle: runs.Unless(!s.Tied, "an RNN-RBM, without --tied"),
		}, {
			Value: &s.Tied, Flag: "tied", Usage: "train an RTRBM: recurrent units are means of hidden units", Legend: "tied weights",
		}, {
			Value: &s.CD, Flag: "cd", Group: "training", Usage: "`sweeps` of contrastive divergence", Legend: fmt.Sprintf("CD-%d", s.CD),
			Valid: s.CD >= 1, Remedy: "give at least 1; 15 are usual",
		}, runs.RateRow(&s.LearningRate, "learning `rate` η of Adam"), runs.BatchRow(&s.BatchSize)}, s.Decay.Rows()...)
	},
	Measures: []runs.Measure{Pseudo, LogP, MonteCarlo, ESS}, Batch: func(s *RNNRBMSettings) *int { return &s.BatchSize },
	Rate: func(s RNNRBMSettings) (float64, runs.Decay) { return s.LearningRate, s.Decay },
	Check: func(e RNNRBMExperiment, set *dataset.Set) error {
		return runs.First(func() error { return checkBits(set) }, func() error { return checkNumbers(rnnNumbers(e, set.Shape())) })
	},
	Baseline: func(_ RNNRBMExperiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		return baseline(set, rows)
	},
	Size: rnnNumbers,
	New: func(e RNNRBMExperiment, shape dataset.Shape) (*RNNRBM, error) {
		s := e.Settings
		if s.Tied {
			s.Recurrent = s.Hidden
		}
		m := newRNNRBM(shape, s.Hidden, s.Recurrent, s.Tied)
		m.adam = kernels.NewMoments(len(m.flat))
		return m, nil
	},
	Begin: func(e RNNRBMExperiment, m *RNNRBM, set *dataset.Set) error {
		m.begin(set.Train(), e.Seed)
		return nil
	},
	Tensors: func(m *RNNRBM) []runs.Tensor {
		return append(m.tensors(), runs.AdamTensors(m.adam.Mean, m.adam.Square)...)
	},
	Step: func(_ context.Context, e RNNRBMExperiment, m *RNNRBM, b runs.Minibatch, rate float64) (runs.Measures, error) {
		f := gather(b.Rows, b.Index)
		s, gradient := m.forward(f), newRNNRBM(m.shape, m.w.Cols, m.d.Cols, m.tied)
		before := floats.Sum(m.pseudo(f, s)) / float64(f.v.Rows)
		toB, toC := m.contrast(f, s, e.Settings.CD, draws{key: philox.Key(e.Seed), purpose: philox.Negative, step: uint32(b.Step)}, gradient.w)
		m.backward(f, s, toB, toC, gradient)
		kernels.Scale(gradient.flat, 1/float64(f.v.Rows))
		m.adam.Ascend(m.flat, gradient.flat, rate, 0.9, b.Step)
		return runs.Measures{Pseudo.Key: before}, nil
	},
	Validate: func(ctx context.Context, _ RNNRBMExperiment, m *RNNRBM, rows dataset.Split) (runs.Measures, error) {
		sum, shares := 0.0, rows.Shares()
		err := blocks(rows, nil, func(f frames, _ int) error {
			logs := m.pseudo(f, m.forward(f))
			for t := range f.steps() {
				for n := range f.active(t) {
					logs[f.start[t]+n] *= shares[f.rows[n]]
				}
			}
			sum += floats.Sum(logs)
			return ctx.Err()
		})
		return runs.Measures{Pseudo.Key: sum / stepsOf(rows)}, err
	},
})

// rnnNumbers returns a lower bound on the number of values in the tensors of a model.
func rnnNumbers(e RNNRBMExperiment, shape dataset.Shape) float64 {
	d, h, r := float64(shape.Width), float64(e.Settings.Hidden), float64(e.Settings.Recurrent)
	if e.Settings.Tied {
		return 3 * h * (d + h)
	}
	return 3 * (d*h + r*(r+2*d+h))
}
