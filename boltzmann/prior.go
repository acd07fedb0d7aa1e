package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Prior is a restricted machine of Bernoulli units that serves as the distribution of the uppermost units of a
// larger model. In each step, it learns from new rows that the larger model draws.
type Prior struct{ trainer *trainer }

// Prior returns the top machine of a belief network at a checkpoint, ready to learn by a method with a seed.
// It also returns the parameters of the machines below, the lowest first.
func (r *Run) Prior(checkpoint string, method MethodSpec, seed uint64) (*Prior, []*Parameters, error) {
	if err := method.checkPrior(); err != nil {
		return nil, nil, err
	}
	at, err := r.Run.Checkpoint(checkpoint)
	if err != nil {
		return nil, nil, err
	}
	s, _, err := r.Experiment().restore(at)
	if err != nil {
		return nil, nil, err
	}
	if len(s.below) == 0 || s.below.doubled() != DoubledNeither || !s.parameters.restricted() {
		return nil, nil, fmt.Errorf("%s is a run of %v, no belief network: give one that was trained with --belief or --on", r.Dir(), r.Experiment())
	}
	below := s.below
	if append(slices.Clone(below), s.parameters).beside() != nil {
		return nil, nil, fmt.Errorf("%s has a second pathway (beside), and a larger model would join the two: train the belief network without it", r.Dir())
	}
	s = state{parameters: s.parameters, visibleOffsets: s.visibleOffsets, hiddenOffsets: s.hiddenOffsets}
	s.fixOffsets(method)
	s.begin(method, seed)
	return newPrior(s, method, seed), below, nil
}

// ReadPrior returns the machine of a snapshot that Snapshot made. method and seed must be the same as in
// training.
func ReadPrior(at runs.Snapshot, method MethodSpec, seed uint64) (*Prior, error) {
	if err := method.checkPrior(); err != nil {
		return nil, err
	}
	s, _, err := readSnapshot(at)
	if err != nil {
		return nil, err
	}
	if !s.parameters.restricted() || s.below != nil || len(s.moments) != method.Optimizer.slots() || s.persistent.Rows != method.keptChains() {
		return nil, errors.New("it is not a restricted machine of Bernoulli units, or was trained by another method")
	}
	return newPrior(s, method, seed), nil
}

func (s MethodSpec) checkPrior() error {
	if s.flips() || s.Algorithm == MultiPrediction || s.Algorithm == Trajectories || s.Discriminative != 0 {
		return fmt.Errorf("algorithm = %v, discriminative = %v: a prior learns p(v) and draws with its chains; use cd, pcd or pt, and leave discriminative out", s.Algorithm, s.Discriminative)
	}
	return s.check()
}

// restricted reports whether the machine is a restricted machine of Bernoulli units, without a label or a
// doubled side.
func (p *Parameters) restricted() bool {
	return p.Layers == nil && p.Spec.Doubled == DoubledNeither && p.Spec.plain()
}

func newPrior(s state, method MethodSpec, seed uint64) *Prior {
	return &Prior{newTrainer(s, method, seed, dataset.Split{}, dataset.Fixed, nil)}
}

// Step learns from rows of zeros and ones, at most the method's batch size, at a learning rate. ends holds the
// visible states at the ends of the chains, which stay valid until the next step. pseudoLikelihood is the mean
// log-pseudo-likelihood of the rows before the step, estimated from one unit of each row. If the context is
// cancelled, nothing changes.
func (p *Prior) Step(ctx context.Context, rows dataset.Split, rate float64) (ends blas32.General, pseudoLikelihood float64, err error) {
	t := p.trainer
	if err := p.Model().checkRows(rows); err != nil {
		return ends, 0, err
	}
	if rows.Rows < 1 || rows.Rows > t.method.BatchSize {
		return ends, 0, fmt.Errorf("%d rows for minibatches of %d: use at least 1, and no more", rows.Rows, t.method.BatchSize)
	}
	t.rows = rows
	t.order = func(int) (all []int) {
		for r := range rows.Rows {
			all = append(all, r)
		}
		return all
	}
	measured, err := t.take(ctx, rate)
	if err != nil {
		return ends, 0, err
	}
	for _, row := range measured {
		pseudoLikelihood += row.objective / float64(len(measured))
	}
	return kernels.Rows(t.chains.visible, 0, t.method.chains(rows.Rows)), pseudoLikelihood, nil
}

// Snapshot returns everything that the next step needs. ReadPrior reads it.
func (p *Prior) Snapshot() (runs.Snapshot, error) {
	return p.trainer.snapshot(dataset.Shape{Height: 1, Width: p.trainer.parameters.Visible()})
}

// Model returns the machine as a model of its visible units. It shares the memory of the prior.
func (p *Prior) Model() *Model {
	t := p.trainer
	return &Model{shape: dataset.Shape{Height: 1, Width: t.parameters.Visible()}, parameters: t.parameters, seed: uint64(t.key)}
}

// LogPseudoLikelihoods returns the log-pseudo-likelihood of each row, in nats. It is estimated from a number of
// units of each row, at least 1; with all units it is exact. The model must be a restricted machine of Bernoulli
// units.
func (m *Model) LogPseudoLikelihoods(rows dataset.Split, units int) ([]float64, error) {
	if m.below != nil || !m.parameters.restricted() {
		return nil, fmt.Errorf("pseudo-likelihoods of %v: use a restricted machine of Bernoulli units, such as a Prior has", m)
	}
	if units < 1 {
		return nil, fmt.Errorf("pseudo-likelihoods from %d units: use at least 1", units)
	}
	states, err := m.load(rows)
	if err != nil {
		return nil, err
	}
	w := newProducts(m.parameters)
	inputs, measured, logs := kernels.NewMatrix(states.Rows, m.parameters.Hidden()), make([]likelihood, states.Rows), make([]float64, states.Rows)
	w.up(inputs, states)
	newMeter(w).measure(measured, states, inputs, kernels.Matrix{}, place{key: philox.Key(m.seed), purpose: philox.Flip}, units)
	for r, row := range measured {
		logs[r] = row.objective
	}
	return logs, nil
}
