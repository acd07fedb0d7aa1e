package updown

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

var pseudoBound = runs.Measure{Key: "pseudo_bound", Name: "pseudo-bound", Label: "bound by the pseudo-likelihood of the prior", Unit: "nats", Rises: true}

// Measures implements runs.Experiment. Steps and validation measure the mean over rows of
// E_q[log p(v,h¹…|h^K) − log q(h|v)] and the log-pseudo-likelihood of h^K, by one sample: the
// lower bound of log p(v) where the prior's units are independent, and otherwise no bound, but
// what can be known without log Z.
func (e Experiment) Measures() []runs.Measure { return []runs.Measure{pseudoBound} }

// Begin implements runs.Experiment.
func (e Experiment) Begin(set *dataset.Set) (runs.Snapshot, error) {
	t, err := e.start(set.Shape())
	if err != nil {
		return runs.Snapshot{}, err
	}
	return t.snapshot(set.Shape())
}

// Learner implements runs.Experiment.
func (e Experiment) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	t, shape, err := e.restore(at)
	if err != nil {
		return nil, &runs.SnapshotError{Err: err}
	}
	if shape != set.Shape() {
		return nil, fmt.Errorf("the parameters are of a network for images of %v, the rows of %s have %v", shape, set.Name(), set.Shape())
	}
	return &learner{t, set, runs.NewOrder(e.Seed, set.Train().Rows, e.Method.BatchSize)}, nil
}

// learner trains a network.
type learner struct {
	*trainer
	set   *dataset.Set
	order *runs.Order
}

// Steps implements runs.Learner. It takes one step.
func (l *learner) Steps(ctx context.Context, _ int, rate func(k int) float64) ([]runs.Measures, error) {
	bound, err := l.take(ctx, l.set.Train(), l.order.Minibatch(l.step), rate(0))
	if err != nil {
		return nil, err
	}
	return []runs.Measures{{pseudoBound.Key: bound}}, nil
}

// Norms implements runs.Learner.
func (l *learner) Norms() (runs.Norms, error) { return nil, nil }

// validationUnits is the number of units of a row by which validation estimates the
// pseudo-likelihood.
const validationUnits = 16

// Validate implements runs.Learner.
func (l *learner) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	m, logs, errs := l.model(rows.Shape), make([]float64, rows.Rows), make([]error, rows.Rows)
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
		pseudo, err := m.prior.LogPseudoLikelihoods(p.top(), validationUnits)
		if err != nil {
			errs[first] = err
			return
		}
		floats.Add(part, pseudo)
	})
	return runs.Measures{pseudoBound.Key: floats.Sum(logs) / float64(rows.Rows)}, cmp.Or(errors.Join(errs...), ctx.Err())
}

// Observe implements runs.Learner.
func (l *learner) Observe(context.Context, int) (map[string]runs.Measures, error) { return nil, nil }

// Snapshot implements runs.Learner.
func (l *learner) Snapshot() (runs.Snapshot, error) { return l.trainer.snapshot(l.set.Shape()) }

// Close implements runs.Learner.
func (l *learner) Close() error { return nil }
