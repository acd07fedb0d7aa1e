package boltzmann

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

var reconstructionMeasure = runs.Measure{Key: "reconstruction_error", Name: "reconstruction error", Label: "squared error of reconstruction"}

// Measures describes what training may measure, the objective first. Steps and validation measure
//
//   - the objective: the log-pseudo-likelihood, estimated from one unit per row in steps and from 16 in validation;
//     for Gaussian visible units the Hyvärinen score, which falls;
//   - the free energy. Its value means nothing by itself, but its difference between training and validation rows
//     shows overfitting.
//
// Validation also measures the squared error of reconstruction from the means of the hidden units, which is
// not a likelihood, and the exact log p(x) if one side has so few units that the sum takes less than a
// second.
//
// If values are missing, the measures are of rows whose missing units were drawn given the others, but the
// pseudo-likelihood, the error of reconstruction and log p count only the observed units.
//
// For machines with labels, the objective is the exact log p(y|v). Steps and validation then also measure the
// fraction of rows for which another class is likelier than the label, and the pseudo-likelihood or score of
// v given the label.
func (e Experiment) Measures() []runs.Measure {
	measures := []runs.Measure{e.Machine.Visible.aspects().objective, runs.FreeEnergy, reconstructionMeasure, runs.LogP}
	if e.Machine.labelled() {
		measures = append([]runs.Measure{labelMeasure, errorMeasure}, measures...)
	}
	return measures
}

// validationUnits is the number of units per row from which validation estimates the pseudo-likelihood.
const validationUnits = 16

// cheapTerms is the largest cost of an exact log Z after each epoch, in factors multiplied.
const cheapTerms = 1 << 26

// Begin returns the state before the first step. It draws weights from the seed and sets hidden biases to 0.
// It sets visible biases so that units without weights have the means of the training rows, or of the hidden
// units of the machine below. Pretrained layers, imported parameters, or the parameters of a run from which
// training starts replace these values. Begin fails if it cannot read them.
func (e Experiment) Begin(set *dataset.Set) (runs.Snapshot, error) {
	shape, below := set.Shape(), stack(nil)
	if e.Below != nil {
		var err error
		if below, err = e.readBelow(shape); err != nil {
			return runs.Snapshot{}, err
		}
		shape = dataset.Shape{Height: 1, Width: below[len(below)-1].Hidden()}
		if err := e.checkFlips(shape.Units()); err != nil {
			return runs.Snapshot{}, err
		}
	}
	m, err := Machine{shape, e.Machine}.Model(e.Seed)
	if err != nil {
		return runs.Snapshot{}, err
	}
	p := m.parameters
	if e.Pretrained != nil {
		layers, err := e.Pretrained.read(p.Layers)
		if err != nil {
			return runs.Snapshot{}, err
		}
		p.compose(layers)
	}
	s := state{parameters: p, below: below, visibleOffsets: make([]float32, p.Visible()), hiddenOffsets: make([]float32, p.Hidden())}
	if units, is := e.Machine.data(); is {
		err = e.beginRates(s, units, set)
	} else {
		s.standard = standardOf(set.Train()) // so that means and biases are 0
	}
	if err != nil {
		return runs.Snapshot{}, err
	}
	frequencies, _ := classFrequencies(set.Train(), e.Machine.Classes)
	e.beginAt(s, e.Machine.label(), p.observed(), frequencies, set.Train().Rows)
	if e.Method.Centered {
		for j := range s.hiddenOffsets {
			s.hiddenOffsets[j] = p.hiddenUnits().rest()
		}
		for i := p.observed() + e.Machine.Classes; i < p.Visible(); i++ {
			s.visibleOffsets[i] = 0.5
		}
	}
	s.begin(e.Method, e.Seed)
	if e.IsImported() {
		if err := e.Imported.restore(p); err != nil {
			return runs.Snapshot{}, err
		}
	}
	if e.Start != nil {
		if err := e.start(&s, set); err != nil {
			return runs.Snapshot{}, err
		}
	}
	s.fixOffsets(e.Method)
	return s.snapshot(set.Shape())
}

// beginRates sets the biases and offsets of the visible units from their means in the training rows. In a
// belief network, these are the means of the units drawn given the training rows.
func (e Experiment) beginRates(s state, units discrete, set *dataset.Set) (err error) {
	rows := set.Train()
	first := means(rows, e.Dataset.Binarization)
	if s.below != nil {
		rows = rows.Subset(latentRows, e.Seed)
		if first, err = e.model(s, set.Shape()).latentMeans(context.Background(), rows); err != nil {
			return err
		}
	}
	e.beginAt(s, units, 0, first, rows.Rows)
	return nil
}

// beginAt writes the biases and offsets of the visible units from index from on, given their means over n rows.
func (e Experiment) beginAt(s state, units discrete, from int, means []float64, n int) {
	for i, mean := range means {
		bias, on := units.initial(mean, float64(n))
		if e.Pretrained == nil {
			s.parameters.VisibleBiases[from+i] = bias
		}
		if e.Method.Centered {
			s.visibleOffsets[from+i] = on
		}
	}
}

// fixOffsets sets the offsets of a method that does not move them: ½ for spins, 0 without centring.
func (s *state) fixOffsets(method MethodSpec) {
	offset := float32(0)
	if method.Spins {
		offset = 0.5
	} else if method.Centered {
		return
	}
	s.visibleOffsets = slices.Repeat([]float32{offset}, s.parameters.Visible())
	s.hiddenOffsets = slices.Repeat([]float32{offset}, s.parameters.Hidden())
}

// begin adds the state that a method needs in addition to the parameters.
func (s *state) begin(method MethodSpec, seed uint64) {
	for range method.Optimizer.slots() {
		s.moments = append(s.moments, s.parameters.zeros())
	}
	if method.persistent() {
		c := newChains(method.keptChains(), s.parameters)
		c.start(philox.Key(seed))
		s.persistent = c.hidden
	}
	if method.Algorithm == Trajectories {
		s.rungs = []rung{lowest(s.parameters, method.keptChains())}
		s.rungs[0].draw(place{key: philox.Key(seed), purpose: philox.Rung})
	}
}

func means(rows dataset.Split, binarization dataset.Binarization) []float64 {
	means, missing := make([]float64, rows.Shape.Units()), make([]float64, rows.Shape.Units())
	for r := range rows.Rows {
		for i := range means {
			switch value := rows.At(r*len(means) + i); {
			case rows.IsMissing(r*len(means) + i):
				missing[i]++
			case binarization != dataset.Fixed:
				means[i] += value
			case value >= 0.5:
				means[i]++
			}
		}
	}
	for i := range means {
		means[i] /= max(1, float64(rows.Rows)-missing[i])
	}
	return means
}

// Learner resumes training on set from a snapshot. If the snapshot does not fit the experiment, it returns a
// runs.SnapshotError. It also refuses a set whose rows have another shape than the machine.
func (e Experiment) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	s, shape, err := e.restore(at)
	if err != nil {
		return nil, &runs.SnapshotError{Err: err}
	}
	if shape != set.Shape() {
		return nil, fmt.Errorf("the parameters belong to a machine for images of %v, the rows of %s have %v", shape, set.Name(), set.Shape())
	}
	return &learner{e, set, newTrainer(s, e.Method, e.Seed, set.Train(), e.Dataset.Binarization, runs.Minibatches(e.Seed, set.Train(), e.Method.BatchSize))}, nil
}

type learner struct {
	experiment Experiment
	set        *dataset.Set
	trainer    *trainer
}

// Steps takes a single step, even if it may take more, and returns the means of its measures over the
// minibatch.
func (l *learner) Steps(ctx context.Context, _ int, rate func(k int) float64) ([]runs.Measures, error) {
	rows, err := l.trainer.take(ctx, rate(0))
	if err != nil {
		return nil, err
	}
	return []runs.Measures{l.measures(rows)}, nil
}

func (l *learner) measures(rows []likelihood) runs.Measures {
	var objective, energy, label, mistaken float64
	for _, row := range rows {
		objective += row.objective
		energy += row.freeEnergy
		label += row.label
		mistaken += row.mistaken
	}
	n := float64(len(rows))
	measured := runs.Measures{l.experiment.Machine.Visible.aspects().objective.Key: objective / n, runs.FreeEnergy.Key: energy / n}
	if l.experiment.Machine.labelled() {
		measured[labelMeasure.Key], measured[errorMeasure.Key] = label/n, mistaken/n
	}
	return measured
}

// Norms returns nil: training records no norms of layers.
func (l *learner) Norms() (runs.Norms, error) { return nil, nil }

// Validate returns the means of the measures over rows. It refuses rows that do not fit the machine.
func (l *learner) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	m := l.experiment.model(l.trainer.state, rows.Shape)
	states, err := m.states(ctx, ignoring(rows))
	if err != nil {
		return nil, err
	}
	p, w := m.parameters, l.trainer.products
	meter := newMeter(w)
	each, errors := make([]likelihood, rows.Rows), make([]float64, rows.Rows)
	inParts(rows.Rows, func(first, last int) {
		if ctx.Err() != nil {
			return
		}
		visible := kernels.Rows(states, first, last)
		for r := first; r < last; r++ {
			each[r].mask = rows.Mask(r)
		}
		w.fillIn(visible, each[first:last], m.seed, first)
		hidden, inputs := kernels.NewMatrix(visible.Rows, p.Hidden()), kernels.NewMatrix(visible.Rows, p.Visible())
		w.up(hidden, visible)
		flip := place{key: philox.Key(m.seed), purpose: philox.Flip, sample: 1, datum: uint32(first)} // steps have sample 0
		meter.measure(each[first:last], visible, hidden, inputs, flip, validationUnits)
		w.reconstruct(inputs, hidden)
		for r := range visible.Rows {
			for i, mean := range w.seen.means(kernels.Row(inputs, r)[:p.observed()]) {
				if d := float64(kernels.Row(visible, r)[i]) - mean; !rows.IsMissing((first+r)*p.observed() + i) {
					errors[first+r] += d * d
				}
			}
		}
	})
	shares, reconstruction := rows.Shares(), 0.0
	for r, e := range errors {
		reconstruction += shares[r] * e / float64(rows.Rows)
		row := &each[r]
		row.objective, row.freeEnergy, row.label, row.mistaken = shares[r]*row.objective, shares[r]*row.freeEnergy, shares[r]*row.label, shares[r]*row.mistaken
	}
	measured := l.measures(each)
	measured[reconstructionMeasure.Key] = reconstruction
	if m.below == nil && p.Spec.Doubled == DoubledNeither && p.terms() <= cheapTerms && p.posteriorTerms()*float64(rows.Rows)+m.gapTerms(rows) <= cheapTerms {
		logP, err := m.exactLogP(ctx, rows, states)
		if err != nil {
			return nil, err
		}
		floats.Mul(logP, shares)
		measured[runs.LogP.Key] = floats.Sum(logP) / float64(rows.Rows)
	}
	return measured, ctx.Err()
}

// Observe returns nil: the experiment asks for no measurements during training.
func (l *learner) Observe(context.Context, int) (map[string]runs.Measures, error) { return nil, nil }

func (l *learner) Snapshot() (runs.Snapshot, error) { return l.trainer.snapshot(l.set.Shape()) }

func (l *learner) Close() error { return nil }
