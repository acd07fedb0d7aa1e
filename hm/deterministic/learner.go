package deterministic

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

var freeEnergy = runs.Measure{Key: "free_energy", Name: "free energy", Label: "free energy F(x)", Unit: "nats"}

// Measures implements runs.Experiment. Steps and validation measure the mean free
// energy F(x) of the rows, which falls; log p(x) is of LogPEvery.
func (e Experiment) Measures() []runs.Measure { return []runs.Measure{freeEnergy, runs.LogP} }

// Begin implements runs.Experiment.
func (e Experiment) Begin(set *dataset.Set) (runs.Snapshot, error) {
	m, err := New(e.Machine.Activation, e.Seed, slices.Concat([]int{set.Shape().Units()}, e.Machine.Layers)...)
	if err != nil {
		return runs.Snapshot{}, err
	}
	return newSnapshot(m, &adam{mean: m.NewGradient(), square: m.NewGradient()})
}

// Learner implements runs.Experiment.
func (e Experiment) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	m, a, err := readSnapshot(at)
	if err == nil {
		err = e.checkMachine(m)
	}
	if err != nil {
		return nil, &runs.SnapshotError{Err: err}
	}
	if visible := set.Shape().Units(); m.Units[0] != visible {
		return nil, fmt.Errorf("the parameters are of a machine of %d visible units, the rows of %s have %d values", m.Units[0], set.Name(), visible)
	}
	return &learner{
		machine: m, adam: a, gradient: m.NewGradient(), set: set, logPEvery: e.LogPEvery,
		order: runs.NewOrder(e.Seed, set.Train().Rows, e.Training.BatchSize),
	}, nil
}

// learner trains a machine.
type learner struct {
	machine   *Machine
	adam      *adam
	gradient  *Parameters
	set       *dataset.Set
	order     *runs.Order
	logPEvery int
}

// Steps implements runs.Learner. It takes one step, of Adam on the mean gradient of
// the free energy of a minibatch.
func (l *learner) Steps(ctx context.Context, _ int, rate func(k int) float64) ([]runs.Measures, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, sum := l.order.Minibatch(l.adam.step), 0.0
	clear(l.gradient.Flat)
	for _, i := range rows {
		sum += l.machine.AddGradient(l.gradient, Binary(l.set.Train().Row(i)))
	}
	n := float64(len(rows))
	floats.Scale(1/n, l.gradient.Flat)
	l.adam.descend(l.machine.Parameters, l.gradient, rate(0))
	return []runs.Measures{{freeEnergy.Key: sum / n}}, nil
}

// Norms implements runs.Learner.
func (l *learner) Norms() (runs.Norms, error) { return nil, nil }

// Validate implements runs.Learner.
func (l *learner) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	if err := rows.Check(); err != nil {
		return nil, err
	}
	if visible := l.machine.Units[0]; rows.Shape.Units() != visible {
		return nil, fmt.Errorf("the machine has %d visible units, the %s rows have %d", visible, rows.Name, rows.Shape.Units())
	}
	sum := 0.0
	for i := range rows.Rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum += l.machine.FreeEnergy(Binary(rows.Row(i)))
	}
	return runs.Measures{freeEnergy.Key: sum / float64(rows.Rows)}, nil
}

// Snapshot implements runs.Learner.
func (l *learner) Snapshot() (runs.Snapshot, error) { return newSnapshot(l.machine, l.adam) }

// Close implements runs.Learner.
func (l *learner) Close() error { return nil }

// Binary returns the values of a row, rounded to 0 and 1.
func Binary(row []uint8) []float64 {
	x := make([]float64, len(row))
	for i, v := range row {
		if v >= 128 {
			x[i] = 1
		}
	}
	return x
}
