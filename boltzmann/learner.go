package boltzmann

import (
	"context"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// What training measures: means over rows.
var (
	pseudoMeasure         = runs.Measure{Key: "pseudo_likelihood", Name: "log PL", Label: "log-pseudo-likelihood", Unit: "nats", Rises: true}
	freeEnergyMeasure     = runs.Measure{Key: "free_energy", Name: "free energy", Label: "free energy F(x)", Unit: "nats"}
	reconstructionMeasure = runs.Measure{Key: "reconstruction_error", Name: "reconstruction error", Label: "squared error of reconstruction"}
)

// Measures implements runs.Experiment. Steps and validation measure the
// log-pseudo-likelihood, the objective, estimated by one unit a row in steps, and by 16 in
// validation; and the free energy, whose difference between training and validation rows
// tells of overfitting, and whose value tells nothing. Validation measures the squared
// error of reconstruction by the means of the hidden units, which is no likelihood,
// and, of machines with so few units on one side that it takes less than a second, log
// p(x), exactly.
func (e Experiment) Measures() []runs.Measure {
	return []runs.Measure{pseudoMeasure, freeEnergyMeasure, reconstructionMeasure, runs.LogP}
}

// validationUnits is the number of units of a row by which validation estimates its
// pseudo-likelihood.
const validationUnits = 16

// cheapTerms is the number of factors of which log Z may be summed after each epoch.
const cheapTerms = 1 << 26

// Begin implements runs.Experiment. Weights are drawn by seed, hidden biases are 0, and
// visible ones such that units without weights would have the means of the training
// rows.
func (e Experiment) Begin(set *dataset.Set) (runs.Snapshot, error) {
	m, err := Machine{set.Shape(), e.Machine}.Model(e.Seed)
	if err != nil {
		return runs.Snapshot{}, err
	}
	p := m.parameters
	s := state{parameters: p, visibleOffsets: make([]float32, p.Visible()), hiddenOffsets: make([]float32, p.Hidden())}
	n := float64(set.Train().Rows)
	for i, on := range means(set.Train(), e.Dataset.Binarization) {
		on = (n*on + 0.5) / (n + 1) // a unit that is never on may still be
		p.VisibleBiases[i] = float32(math.Log(on) - math.Log1p(-on))
		if e.Method.Centred {
			s.visibleOffsets[i] = float32(on)
		}
	}
	for j := range s.hiddenOffsets {
		if e.Method.Centred {
			s.hiddenOffsets[j] = 0.5
		}
	}
	for range e.Method.Optimizer.slots() {
		s.moments = append(s.moments, newParameters(p.Visible(), p.Hidden()))
	}
	if e.Method.Algorithm != Contrastive {
		c := newChains(e.Method.replicas(0), p)
		c.start(philox.Key(e.Seed))
		s.persistent = c.hidden
	}
	return s.snapshot(set.Shape())
}

// means are the mean values of the units of rows.
func means(rows dataset.Split, binarization dataset.Binarization) []float64 {
	means := make([]float64, rows.Shape.Units())
	for r := range rows.Rows {
		for i, value := range rows.Row(r) {
			if binarization == dataset.Fixed {
				value = value / 128 * 255
			}
			means[i] += float64(value) / 255
		}
	}
	for i := range means {
		means[i] /= float64(rows.Rows)
	}
	return means
}

// Learner implements runs.Experiment.
func (e Experiment) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	s, shape, err := readSnapshot(at)
	if err != nil {
		return nil, err
	}
	if err := e.checkState(s, shape); err != nil {
		return nil, err
	}
	if shape != set.Shape() {
		return nil, fmt.Errorf("the parameters are of a machine for images of %v, the rows of %s have %v", shape, set.Name(), set.Shape())
	}
	order := runs.NewOrder(e.Seed, set.Train().Rows, e.Method.BatchSize)
	return &learner{e, set, newTrainer(s, e.Method, e.Seed, set.Train(), e.Dataset.Binarization, order.Minibatch)}, nil
}

// learner trains a machine.
type learner struct {
	experiment Experiment
	set        *dataset.Set
	trainer    *trainer
}

// Steps implements runs.Learner. It takes one step.
func (l *learner) Steps(ctx context.Context, _ int, rate func(k int) float64) ([]runs.Measures, error) {
	rows, err := l.trainer.take(ctx, rate(0))
	if err != nil {
		return nil, err
	}
	return []runs.Measures{measures(rows)}, nil
}

// measures are the means of likelihoods over rows.
func measures(rows []likelihood) runs.Measures {
	var pseudo, energy float64
	for _, row := range rows {
		pseudo += row.pseudo
		energy += row.freeEnergy
	}
	n := float64(len(rows))
	return runs.Measures{pseudoMeasure.Key: pseudo / n, freeEnergyMeasure.Key: energy / n}
}

// Norms implements runs.Learner.
func (l *learner) Norms() (runs.Norms, error) { return nil, nil }

// Validate implements runs.Learner.
func (l *learner) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	m := l.experiment.model(l.trainer.parameters, rows.Shape)
	states, err := m.states(rows)
	if err != nil {
		return nil, err
	}
	p, w, key := m.parameters, l.trainer.products, philox.Key(m.seed)
	each, errors := make([]likelihood, rows.Rows), make([]float64, rows.Rows)
	work.Parts(rows.Rows, rowsAPart, func(first, last int) {
		visible := kernels.Rows(states, first, last)
		hidden, inputs, flip := kernels.NewMatrix(visible.Rows, p.Hidden()), kernels.NewMatrix(visible.Rows, p.Visible()), newFlipper(p)
		w.up(hidden, visible)
		for r := range visible.Rows {
			if ctx.Err() != nil {
				return
			}
			c := place{key: key, purpose: philox.Flip, sample: 1}.counter(first + r) // steps have sample 0
			unit := int(uint64(key.Block(c)[0]) * uint64(p.Visible()) >> 32)
			h := kernels.Row(hidden, r)
			each[first+r] = flip.measure(kernels.Row(visible, r), h, unit, validationUnits)
			scaled(h, -1, h)
		}
		w.down(inputs, hidden)
		for r := range visible.Rows {
			for i, a := range kernels.Row(inputs, r) {
				d := float64(kernels.Row(visible, r)[i] - kernels.Sigmoid(a))
				errors[first+r] += d * d
			}
		}
	})
	measured, reconstruction := measures(each), 0.0
	for _, e := range errors {
		reconstruction += e / float64(rows.Rows)
	}
	measured[reconstructionMeasure.Key] = reconstruction
	if p.terms() <= cheapTerms {
		logZ, err := p.logZ(ctx)
		if err != nil {
			return nil, err
		}
		measured[runs.LogP.Key] = -measured[freeEnergyMeasure.Key] - logZ
	}
	return measured, ctx.Err()
}

// Observe implements runs.Learner.
func (l *learner) Observe(context.Context, int) (map[string]runs.Measures, error) { return nil, nil }

// Snapshot implements runs.Learner.
func (l *learner) Snapshot() (runs.Snapshot, error) {
	return l.trainer.snapshot(l.set.Shape())
}

// Close implements runs.Learner.
func (l *learner) Close() error { return nil }
