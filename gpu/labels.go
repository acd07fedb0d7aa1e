//go:build cuda

package gpu

import (
	"context"
	"errors"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"gonum.org/v1/gonum/floats"
)

// classes scores all labels y of the samples of a pass, as the type of this name in package cpu does: scores has
// one row of log √(p(x,h,y) q(y|h)/q(h|x)) per sample, and logQ one of log q(y|h).
type classes struct {
	count        int
	scores, logQ address
	// A label at the top has the rows [1; y] of all labels as the parents of the layer below. conditions, means
	// and off have its logits and means, and its log-probability if all its units are off. none is such a row.
	parents, none, conditions, means, off address
	// logits and shared are what h¹ and x add to the logits of a classifier.
	logits, shared address
}

// newClasses allocates the memory for a pass, which is none if the machine has no labels.
func newClasses(m *memory, v *pass) classes {
	l, c := v.layout, classes{count: v.layout.Labels()}
	c.scores, c.logQ = m.doubles(v.rows()*c.count), m.doubles(v.rows()*c.count)
	if !l.TopLabels() {
		c.logits, c.shared = m.floats(v.rows()*padded(c.count)), m.floats(v.data*padded(c.count))
		return c
	}
	width, units := padded(1+c.count), l.Units[l.Depth()-1]
	parents := make([]float32, c.count*width)
	for y := range c.count {
		parents[y*width], parents[y*width+1+y] = 1, 1
	}
	c.parents, c.none, c.off = hold(m, parents), m.floats(padded(units)), m.doubles(tiles(units, tileSize)*c.count)
	c.conditions, c.means = m.floats(c.count*padded(units)), m.floats(c.count*padded(units))
	return c
}

// write writes the operations that score the labels of a pass. The last of them is in phase at, after the operations that
// draw and score the pass.
func (c classes) write(w *writer, v *pass, at int) {
	l, top := v.layout, v.layout.Depth()
	o := scoreLabelsOf{
		generative: v.scores[generative], recognition: v.scores[recognition], scores: c.scores, logQ: c.logQ,
		generativeTiles: uint32(l.columns(0)), recognitionTiles: uint32(l.columns(1)), rows: uint32(v.rows()), samples: uint32(v.samples),
		classes: uint32(c.count), stride: uint32(padded(c.count)),
	}
	if l.TopLabels() {
		of, units := l.layers[generative][top-1], l.Units[top-1]
		n, p := product(c.conditions, padded(units), c.parents, padded(1+c.count), c.count, w.parameters.floats(of.first), units, of.width)
		p.states, p.statesOf, p.means, p.scores, p.scoresStride = c.none, uint32(c.count), c.means, c.off, uint32(c.count)
		add(w.program, w.ready[v][0], outputs, n, p)
		o.logits, o.prior, o.conditions, o.off = v.logits[recognition][top], v.logits[generative][top], c.conditions, c.off
		o.generativeTiles, o.recognitionTiles = uint32(l.columns(0)-l.columns(top-1)), uint32(l.columns(1)-l.columns(top))
		o.states, o.statesStride, o.units = v.states[top-1].floats(1), uint32(padded(1+units)), uint32(units)
		o.conditionsStride, o.offTiles = uint32(padded(units)), uint32(tiles(units, tileSize))
	} else {
		for k, part := range classifierParts(v) {
			of, to := l.classifier[k], []address{c.shared, c.logits}[k]
			n, p := product(to, padded(c.count), part.parents, int(part.parentsStride), int(part.rows), w.parameters.floats(of.first), c.count, of.width)
			add(w.program, w.ready[v][1], outputs, n, p)
		}
		o.logits, o.shared = c.logits, c.shared
	}
	add(w.program, at, scoreLabels, tiles(v.rows(), tileSize), o)
}

// classifierParts returns the parents of both parts of the classifier. In the first part, the samples of a datum
// share their parents: x, or only the constant 1 if the classifier does not see x.
func classifierParts(v *pass) [2]source {
	below := sourceOf(v, recognition, 1, 0, 0, 0)
	if v.layout.HiddenClassifier {
		below.parents, below.parentsStride = v.one, 0
	}
	below.residualsStride = uint32(padded(v.layout.Classes))
	return [2]source{below, {
		parents: v.states[1], parentsStride: uint32(padded(1 + v.layout.Units[1])), residualsStride: below.residualsStride,
		sharing: 1, rows: uint32(v.rows()),
	}}
}

// labels weighs the labels of the wake samples in training, as the type of this name in package cpu does. rows has the
// labels of the training rows. table has the table of the weights T, or the residuals of a classifier. products has the
// sums of T times [1; h] for each label at the top, where h is the layer below.
type labels struct {
	classes
	rows, table, products address
}

func newLabels(m *memory, wake *pass, rows []uint8) labels {
	c := newClasses(m, wake)
	t := labels{classes: c, rows: hold(m, rows), table: m.floats(wake.rows() * padded(c.count))}
	if wake.layout.TopLabels() {
		t.products = m.floats(c.count * padded(1+wake.layout.Units[wake.layout.Depth()-1]))
	}
	return t
}

// writeLabels writes the operations that weigh the samples and labels of a step. The last phase so far must be the one
// that weighs the samples by the rule, for the report.
func (t *trainer) writeLabels(w *writer, p *stepPrograms, at place) {
	a, v, l, top := t.job.Algorithm, p.wake, t.labels, t.layout.Depth()
	l.write(w, v, w.done()-1)
	at.word |= uint32(top) << 16
	o := weighLabelsOf{
		scores: l.scores, logQ: l.logQ, labels: l.rows, table: l.table, weights: t.weights, recognitionWeights: t.recognitionWeights,
		half: a.LabelWeight / 2, gamma: a.Gamma, scale: 1 / float64(v.data), row: w.rows(v.data), classes: uint32(l.count),
		samples: uint32(v.samples), stride: uint32(padded(l.count)), baseline: ifTrue(a.Baseline), place: at,
	}
	if t.layout.TopLabels() {
		o.states, o.statesStride = v.states[top].floats(1), uint32(padded(1+l.count))
		o.residuals, o.proposal = [2]address{v.residuals[generative][top], v.residuals[recognition][top]}, uint32(a.LabelProposal)
	}
	add(w.program, w.done(), weighLabels, v.data, o)
	if t.layout.TopLabels() {
		s := sourceOf(v, generative, top-2, l.table, 0, w.constant(1)) // whose parents are the layer below the label
		s.residualsStride = o.stride
		add(w.program, w.done(), gradient, matrixTiles(l.count, int(s.parentsStride)), gradientOf{
			gradient: l.products, units: uint32(l.count), width: s.parentsStride, sources: 1, source: [mostSources]source{s},
		})
	}
}

// condition returns the operation that computes the gradient of layer i of a network if a label at the top is its
// parent, or an operation without classes.
func (t *trainer) condition(n network, i int, of layer) conditionOf {
	if n != generative || !t.layout.isLabel(i+1) {
		return conditionOf{}
	}
	return conditionOf{
		products: t.labels.products, means: t.labels.means, gradient: t.plain.floats(of.first), units: uint32(of.units), width: uint32(of.width),
		classes: uint32(t.labels.count), productsStride: uint32(padded(1 + of.units)), meansStride: uint32(padded(of.units)), off: t.layout.Off(i),
	}
}

// writeClassifier adds to phase at the operations that compute the gradient of the classifier, if there is one, and
// its update.
func (t *trainer) writeClassifier(w *writer, at int, p *stepPrograms, updateOf func(of layer) updateOf) {
	if t.layout.Classes == 0 {
		return
	}
	for k, s := range classifierParts(p.wake) {
		of := t.layout.classifier[k]
		s.residuals, s.scale = t.labels.table, w.constant(1)
		t.writeGradient(w, at, of, t.plain, []source{s}, reinforceOf{})
		follow(w.program, at, len(w.phases[at])-1, update, updateOf(of))
	}
}

var _ engine.Classifier = (*model)(nil)

// Classify reads the terms of the estimates of B(x,y), one per sample and label, from the device, and sums them on the
// processor.
func (m *model) Classify(ctx context.Context, data engine.Data, samples int, seed uint64, progress func(float64)) ([]float64, error) {
	count := m.layout.Labels()
	if count == 0 {
		return nil, errors.New("the machine has no labels: give it a label layer")
	}
	sums, logs := make([]engine.WeightSum, data.Rows*count), make([]float64, data.Rows*count)
	p, done := newPiece(data.Rows, min(samples, samplesAPass)), work.Meter(progress, data.Rows*samples)
	err := m.in(seed, func(s *session) error {
		e := s.newImportance(data, p)
		c := newClasses(s.memory, e.pass)
		scores := make([]float64, p.rows*p.samples*count)
		return cut(ctx, data.Rows, p.rows, func(row, rows int) error {
			return cut(ctx, samples, p.samples, func(sample, each int) error {
				err := s.run(task{"labels", piece{rows, each}}, func(w *writer) {
					v := e.pass.resized(rows, each)
					e.draw(w, v)
					c.write(w, v, w.done())
				}, e.moment(row, sample, 0))
				if err != nil {
					return err
				}
				download(s.memory, scores[:rows*each*count], c.scores)
				for k, l := range scores[:rows*each*count] {
					sums[(row+k/count/each)*count+k%count].Add(l)
				}
				done(rows * each)
				return s.memory.err
			})
		})
	})
	for k := range sums {
		logs[k] = sums[k].Likelihood().LogP
	}
	for row := range slices.Chunk(logs, count) {
		floats.AddConst(-floats.LogSumExp(row), row)
	}
	return logs, err
}
