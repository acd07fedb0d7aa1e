package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A machine with labels (Larochelle and Bengio 2008; Goodfellow et al. 2016, 20.8) has one unit for each
// class, in addition to the visible units. The unit of the row's label y is 1, and the units of all other
// classes are 0. So the label is a categorical variable in the restricted machine p(v,y,h). Since there are
// few classes,
//
//	p(y|v) = e^(−F(v,y)) / Σ_y′ e^(−F(v,y′)),   F(v) = −log Σ_y e^(−F(v,y)),
//
// can be computed exactly, without log Z.

var (
	labelMeasure = runs.Measure{Key: "label_log_p", Name: "log p(y|v)", Label: "log p(y|v) of the label", Unit: "nats", Rises: true}
	errorMeasure = runs.Measure{Key: "classification_error", Name: "error of labels", Label: "error of classification", Fraction: true}
)

func (s MachineSpec) checkLabels() error {
	switch {
	case !s.labelled():
		return nil
	case s.Classes < 2 || s.Classes >= dataset.Unlabeled:
		return fmt.Errorf("classes = %d: give the number of classes of the label, 10 for digits", s.Classes)
	case len(s.Above) > 0:
		return fmt.Errorf("classes = %d with hidden layers of %v: a label needs a machine with one hidden layer; leave it out", s.Classes, names.Layers(s.layers(0)[1:]))
	}
	return nil
}

// checkLabels refuses labels that do not fit the machine, the method or the data.
func (e Experiment) checkLabels(set *dataset.Set) error {
	classes, s := e.Machine.Classes, e.Method
	if classes == 0 {
		if s.Discriminative != 0 {
			return fmt.Errorf("discriminative = %v of a machine without labels: give the machine classes, 10 for digits, or leave discriminative out", s.Discriminative)
		}
		return nil
	}
	switch {
	case e.Below != nil:
		return errors.New("labels of a machine that stands on a run: labels belong to the data; leave them out")
	case set.Classes() == 0:
		return fmt.Errorf("classes = %d for %s, whose rows have no labels: use a set with labels, such as mnist, fashion or glyphs, or give the labels of your own file by label_file", classes, set.Name())
	case s.flips():
		return fmt.Errorf("algorithm = %v of a machine with labels: pl and rm train only machines without labels; use cd, pcd or pt", s.Algorithm)
	case s.Spins:
		return errors.New("spins in a machine with labels: the units of a label are 0 and 1; leave one of them out")
	case s.Discriminative != 0 && s.Metric != Euclidean:
		return fmt.Errorf("discriminative = %v with metric = %v: natural gradients follow log p(v,y); leave one of them out", s.Discriminative, s.Metric)
	}
	return runs.First(
		func() error { return set.CheckClasses(classes) },
		func() error { return checkLabeled(set.Train()) },
		func() error { return checkLabeled(set.Validation()) },
	)
}

func checkLabeled(rows dataset.Split) error {
	for r := range rows.Rows {
		if rows.Labels == nil || rows.Labels[r] == dataset.Unlabeled {
			return fmt.Errorf("row %d of %s has no label, and a machine with labels learns from rows that have one: label the row or leave it out of the file, or omit labels = N from the data set", r+1, rows.Name)
		}
	}
	return nil
}

func classFrequencies(rows dataset.Split, classes int) (frequencies []float64, labeled float64) {
	frequencies = make([]float64, classes)
	counts := rows.Counts()
	for r, class := range rows.Labels {
		if int(class) < classes {
			frequencies[class] += counts[r]
			labeled += counts[r]
		}
	}
	floats.Scale(1/max(1, labeled), frequencies)
	return frequencies, labeled
}

// labelled describes the units of the data followed by the units of a label, which have no variance.
type labelled struct {
	visibleUnits
	first int // index of the first unit of the label
	label visibleUnits
}

func (u labelled) of(i int) visibleUnits {
	if i < u.first {
		return u.visibleUnits
	}
	return u.label
}

// draw draws the units of the data, and then the label with the next counter.
func (u labelled) draw(states, inputs []float32, key philox.Key, c philox.Counter) {
	u.visibleUnits.draw(states[:u.first], inputs[:u.first], key, c)
	c.Unit = uint16(u.counters(u.first))
	kernels.DrawCategorical(states[u.first:], inputs[u.first:], key, c)
}

func (u labelled) partition(inputs []float64) float64 {
	return u.label.partition(inputs[u.first:]) + u.visibleUnits.partition(inputs[:u.first])
}

func (u labelled) energy(states, biases []float32) float64 {
	return u.visibleUnits.energy(states[:u.first], biases) + u.label.energy(states[u.first:], biases[u.first:])
}

func (u labelled) precision(i int) float64 { return u.of(i).precision(i) }

func (u labelled) refresh(first, last int) {
	u.visibleUnits.refresh(min(first, u.first), min(last, u.first))
}

func (u labelled) bound(i int, length float32, direction []float32, bias *float32) float32 {
	return u.of(i).bound(i, length, direction, bias)
}

// choices returns infinity: the states of v and a label together are never enumerated.
func (labelled) choices(int) float64 { return math.Inf(1) }

func (u labelled) meter(w *products) meter { return labelMeter{u.visibleUnits.meter(w), w} }

// labelMeter measures rows and their labels. It sums the label out of the free energy: F(v) = F(v,y) + log
// p(y|v). The objective of v is conditional on the label.
type labelMeter struct {
	meter
	*products
}

func (m labelMeter) measure(rows []likelihood, v, h, a kernels.Matrix, at place, units int) {
	given, off := kernels.NewMatrix(m.Spec.Classes, h.Cols), make([]float32, h.Cols)
	for r := range rows {
		logs := m.classify(kernels.Row(v, r), kernels.Row(h, r), off, given)
		class := slices.Index(kernels.Row(v, r)[m.observed():], 1)
		rows[r].label, rows[r].mistaken = logs[class], statistics.Mistaken(logs, class)
	}
	m.meter.measure(rows, v, h, a, at, units)
	for r := range rows {
		rows[r].freeEnergy += rows[r].label
	}
}

func (s MachineSpec) label() categorical { return categorical{each: s.Classes} }

func (s MachineSpec) labelled() bool { return s.Classes != 0 }

// loadLabel sets the units of the label in the visible states of a row, or clears them if the row has no label.
func (p *Parameters) loadLabel(states []float32, rows dataset.Split, row int) {
	if !p.Spec.labelled() {
		return
	}
	label := states[p.observed():]
	clear(label)
	if rows.Labels != nil && int(rows.Labels[row]) < len(label) {
		label[rows.Labels[row]] = 1
	}
}

// logClasses returns −F(v,y) for each class y, in double precision. This is log p(y|v) up to a constant.
// logClasses ignores the units of the label in v. It writes the inputs that the hidden units would have
// without a label into inputs.
func (p *Parameters) logClasses(v []float32, inputs []float64) []float64 {
	first := p.observed()
	energy := p.ownEnergy(v[:first], inputs)
	logs, with := make([]float64, p.Spec.Classes), make([]float64, len(inputs))
	hidden := p.hiddenUnits()
	for k := range logs {
		copy(with, inputs)
		accumulate(with, 1, kernels.Row(p.Weights, first+k))
		logs[k] = float64(p.VisibleBiases[first+k]) + hidden.partition(with) - energy
	}
	return logs
}

// drawLabel draws the label given the units of the data in v. It does nothing if the machine has no label.
func (p *Parameters) drawLabel(v []float32, key philox.Key, c philox.Counter) {
	if !p.Spec.labelled() {
		return
	}
	logits := make([]float32, p.Spec.Classes)
	for k, log := range p.logClasses(v, make([]float64, p.Hidden())) {
		logits[k] = float32(log)
	}
	kernels.DrawCategorical(v[p.observed():], logits, key, c)
}

// classify returns log p(y|v) for each class y. inputs holds the inputs of the hidden units given v and its
// label. classify writes the negated means of the hidden units given v and each class into rows of means.
func (w *products) classify(v, inputs, off []float32, means kernels.Matrix) []float64 {
	first, logs := w.observed(), make([]float64, w.Spec.Classes)
	for k := range logs {
		with := kernels.Row(means, k)
		copy(with, inputs)
		for other, on := range v[first:] {
			if on != 0 {
				kernels.AddMultiple(with, -1, kernels.Row(w.Weights, first+other))
			}
		}
		kernels.AddMultiple(with, 1, kernels.Row(w.Weights, first+k))
		logs[k] = float64(w.VisibleBiases[first+k]) + w.latent.sumOut(with, off)
	}
	floats.AddConst(-floats.LogSumExp(logs), logs)
	return logs
}

// discrimination holds the exact gradient of log p(y|v) of a minibatch,
//
//	E[t|v,y] − Σ_y′ p(y′|v) E[t|v,y′],   t = (vhᵀ, v, h).
//
// The objective log p(y|v) + (1−w) log p(v) has the positive phase of log p(v,y). In its negative phase, the
// chains have the weight 1−w, and the sum over y′ above has the weight w.
type discrimination struct {
	classes       int
	means         kernels.Matrix // of the hidden units, negated: row classes·r+y is for row r and class y
	probabilities kernels.Matrix // p(y|v), one row per row of the minibatch
}

func newDiscrimination(batch int, p *Parameters) *discrimination {
	classes := p.Spec.Classes
	return &discrimination{classes, kernels.NewMatrix(batch*classes, p.Hidden()), kernels.NewMatrix(batch, classes)}
}

// given returns the negated means of the hidden units given row r and each class.
func (d *discrimination) given(r int) kernels.Matrix {
	return kernels.Rows(d.means, r*d.classes, (r+1)*d.classes)
}

// see stores the means of the hidden units and the probabilities of the classes for row r. v holds the
// visible states of the row, and inputs the inputs of the hidden units.
func (d *discrimination) see(r int, w *products, v, inputs, off []float32) {
	for k, log := range w.classify(v, inputs, off, d.given(r)) {
		kernels.Row(d.probabilities, r)[k] = float32(math.Exp(log))
	}
}

// discriminate adds the contribution of log p(y|v) to the gradients of the biases and to the rows of right. n
// is the number of rows in the minibatch. The chains already have the weight 1−w.
//
// Let h̄ = Σ_y p(y|v) h(v,y). Then the gradient of the weights is the gradient of log p(v,y) with the hidden
// means h(v,y) − wh̄ instead of h(v,y). The weights of the label's units k also need the term Σ_r w (y_k h̄ −
// p(k|v) h(v,k)), which gets separate rows of left and right.
func (t *trainer) discriminate(n int) {
	d, g, w, first := t.discrimination, t.gradient, float32(t.method.Discriminative), t.parameters.observed()
	visible, hidden := t.data(n)
	labels := kernels.Rows(t.right, t.at.labels, t.at.chains)
	for k := range labels.Rows {
		clear(kernels.Row(labels, k))
	}
	mean := make([]float32, hidden.Cols) // h̄, negated
	for r := range n {
		clear(mean)
		v, p, given := kernels.Row(visible, r), kernels.Row(d.probabilities, r), d.given(r)
		for k, probability := range p {
			kernels.AddMultiple(mean, probability, kernels.Row(given, k))
			kernels.AddMultiple(kernels.Row(labels, k), -w*probability, kernels.Row(given, k))
		}
		for k := range p {
			if v[first+k] != 0 {
				kernels.AddMultiple(kernels.Row(labels, k), w, mean)
			}
			g.VisibleBiases[first+k] -= w * p[k] / float32(n)
		}
		kernels.AddMultiple(g.VisibleBiases[:first], -w/float32(n), v[:first])
		kernels.AddMultiple(g.HiddenBiases, w/float32(n), mean)
		kernels.AddMultiple(kernels.Row(hidden, r), -w, mean)
	}
}

// Classification measures how well a model predicts the labels of Data rows. Rows without a label do not
// count.
type Classification struct {
	Error   runs.Float `json:"error"` // fraction of the rows whose label is not the likeliest; ties count with the probability of a wrong guess
	ErrorSE runs.Float `json:"error_se"`
	LogP    runs.Float `json:"log_p"` // mean of log p(y|v) of the rows' labels, nats
	LogPSE  runs.Float `json:"log_p_se"`
	Data    int        `json:"data"`
}

// LogLabelProbabilities returns log p(y|v) of each row and each class, in nats and in double precision. It
// ignores the labels of the rows.
func (m *Model) LogLabelProbabilities(ctx context.Context, rows dataset.Split) ([][]float64, error) {
	p := m.parameters
	if !p.Spec.labelled() {
		return nil, errors.New("the model has no labels: train a machine with Labels(10) or --classes 10")
	}
	states, err := m.states(ctx, rows)
	if err != nil {
		return nil, err
	}
	all := make([][]float64, states.Rows)
	inParts(states.Rows, func(first, last int) {
		inputs := make([]float64, p.Hidden())
		for r := first; r < last && ctx.Err() == nil; r++ {
			logs := p.logClasses(kernels.Row(states, r), inputs)
			floats.AddConst(-floats.LogSumExp(logs), logs)
			all[r] = logs
		}
	})
	return all, ctx.Err()
}

// LogLabels returns LogLabelProbabilities of o.Rows, or nil if the model has no labels.
func (m *Model) LogLabels(ctx context.Context, o runs.EvaluationOptions) ([][]float64, error) {
	if !m.parameters.Spec.labelled() {
		return nil, nil
	}
	return m.WithSeed(o.Seed).LogLabelProbabilities(ctx, o.Rows)
}

// Classify compares the label of each row with the likeliest label under p(y|v). It skips rows without a
// label.
func (m *Model) Classify(ctx context.Context, rows dataset.Split) (Classification, error) {
	logs, err := m.LogLabelProbabilities(ctx, rows)
	if err != nil {
		return Classification{}, err
	}
	labeled, err := rows.Labeled(m.parameters.Spec.Classes)
	if err != nil {
		return Classification{}, err
	}
	var own, wrong []float64
	for _, r := range labeled {
		own = append(own, logs[r][rows.Labels[r]])
		wrong = append(wrong, statistics.Mistaken(logs[r], int(rows.Labels[r])))
	}
	c := Classification{Data: len(own)}
	c.Error, c.ErrorSE = meanAndError(rows, wrong, labeled...)
	c.LogP, c.LogPSE = meanAndError(rows, own, labeled...)
	return c, nil
}

// classification returns the classification of rows, or nil if the machine has no label or no row has one.
func (m *Model) classification(ctx context.Context, rows dataset.Split) (*Classification, error) {
	if !m.parameters.Spec.labelled() || !slices.ContainsFunc(rows.Labels, func(class uint8) bool { return class != dataset.Unlabeled }) {
		return nil, nil
	}
	c, err := m.Classify(ctx, rows)
	return &c, err
}

// labelBaseline returns log p(y) of the labelled rows under the class frequencies of the training rows, smoothed by
// half a row per class.
func labelBaseline(train, rows dataset.Split, classes int) runs.Baseline {
	frequencies, n := classFrequencies(train, classes)
	var logs []float64
	var labeled []int
	for r, class := range rows.Labels {
		if int(class) < classes {
			labeled = append(labeled, r)
			logs = append(logs, math.Log((n*frequencies[class]+0.5)/(n+0.5*float64(classes))))
		}
	}
	if len(logs) == 0 {
		return runs.Baseline{}
	}
	return runs.Baseline{Rows: rows.Name, Model: "class frequencies", Factorized: runs.EstimateOver(rows, logs, labeled...), Limit: labelLimit(classes)}
}

// labelLimit returns the log p(y|v) below which training has diverged: ten times log p(y) of a uniform guess.
func labelLimit(classes int) float64 { return -10 * math.Log(float64(classes)) }
