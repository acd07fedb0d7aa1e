//go:build cuda

package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// trainer keeps on the device all that a step needs.
type trainer struct {
	job    engine.Job
	layout layout
	memory *memory
	state  *engine.State
	stale  bool // whether state is behind what is on the device

	parameters, point address // point is where the gradient is evaluated
	moments           []address
	refreshed         address // parameters of the last refresh
	data              address

	wake, dreams                *pass // with room for a full minibatch; dreams may be nil
	weights, recognitionWeights address
	logWeights, sums            address
	plain, natural, direction   address
	// asleep stands for plain and natural in the later sleep phases of a step.
	asleepPlain, asleepNatural address

	inverses    [2][]*inverse
	scratch     address
	scratchSize int // of a thread block, numbers

	blocks   shape // of the minibatch that the Fisher blocks were estimated from
	programs map[[2]shape]*stepPrograms
}

// shape is that of a minibatch.
type shape struct{ data, samples int }

// stepPrograms are those of steps of one shape, with Fisher blocks of one shape.
// Between sample and ascend the Fisher blocks may be refreshed; whole is one
// behind the other. explore is ascend that changes nothing but gradients.
type stepPrograms struct {
	wake, dreams                   *pass
	sample, ascend, whole, explore *loaded
	memory                         *memory
}

func (e *cuda) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	arch := state.Parameters.Architecture
	if err := refuse(append(arch.Features(), job.Algorithm.Features()...)...); err != nil {
		return nil, err
	}
	m, err := e.device.newMemory()
	if err != nil {
		return nil, err
	}
	t := newTrainer(m, e.device.blocks, job, arch)
	t.state = state
	upload(m, t.parameters, state.Parameters.Flat)
	for k, moments := range state.Moments {
		upload(m, t.moments[k], moments.Flat)
	}
	if m.err == nil && state.RefreshParameters != nil && job.Algorithm.Metric != engine.Euclidean {
		t.restoreMetric()
	}
	if m.err != nil {
		return nil, errors.Join(m.err, t.Close())
	}
	return t, nil
}

// newTrainer allocates the memory of a trainer on a device that runs a number of
// thread blocks.
func newTrainer(m *memory, threadBlocks int, job engine.Job, arch engine.Architecture) *trainer {
	a, l := job.Algorithm, newLayout(arch)
	rows, size := a.BatchSize*a.MostSamples(), arch.Size()
	t := &trainer{
		job: job, layout: l, memory: m, programs: map[[2]shape]*stepPrograms{},
		parameters: m.floats(size), plain: m.floats(size), direction: m.floats(size),
		wake:    newPass(m, l, a.BatchSize, a.MostSamples()),
		weights: m.floats(rows), recognitionWeights: m.floats(rows), logWeights: m.doubles(rows),
		sums: m.doubles(mostPasses * a.BatchSize * weightSumSize),
	}
	t.data = hold(m, job.Data.Values)
	t.point, t.natural = t.parameters, t.plain
	if a.Optimizer == engine.Nesterov {
		t.point = m.floats(size)
	}
	for range a.Slots() {
		t.moments = append(t.moments, m.floats(size))
	}
	t.wake.want(m, t.wake.residuals[generative], generative)
	t.wake.want(m, t.wake.residuals[recognition], recognition)
	if a.Entropy != 0 {
		t.wake.want(m, t.wake.slopes[recognition], recognition)
	}
	if a.HasDreams() || dreamt(a) {
		t.dreams = newPass(m, l, rows, 1)
		if a.HasSleep() {
			t.dreams.want(m, t.dreams.residuals[recognition], recognition)
		}
		if a.HasEntropy() || dreamt(a) {
			t.dreams.want(m, t.dreams.residuals[generative], generative)
		}
		if a.Entropy != 0 {
			t.dreams.want(m, t.dreams.slopes[generative], generative)
		}
	}
	if a.Metric != engine.Euclidean {
		t.natural, t.refreshed = m.floats(size), m.floats(size)
		t.makeInverses(threadBlocks)
	}
	if a.SleepSteps > 1 {
		t.asleepPlain, t.asleepNatural = m.floats(size), m.floats(size)
		if a.Metric == engine.Euclidean {
			t.asleepNatural = t.asleepPlain
		}
	}
	return t
}

// dreamt says whether Fisher blocks of p are estimated from dreams.
func dreamt(a engine.Algorithm) bool {
	return a.Metric != engine.Euclidean && a.FisherSource != engine.FromWake
}

func (t *trainer) makeInverses(threadBlocks int) {
	a := t.job.Algorithm
	for n := range t.inverses {
		t.inverses[n] = make([]*inverse, len(t.layout.Units))
	}
	t.layout.each(func(n network, i int, of layer) {
		samples := blockSamples(n, i, a.BatchSize, a.MostSamples())
		side := min(of.width, samples)
		if a.Metric == engine.Block && side > mostPacked {
			t.memory.fail(fmt.Errorf("layer %d: the backend %s multiplies Fisher blocks of at most %d × %d numbers, and these would be of %d × %d: lower the batch size or the number of samples, or choose the diagonal metric",
				i, name, mostPacked, mostPacked, side, side))
		}
		t.inverses[n][i] = newInverse(t.memory, a.Metric, of, samples)
		t.scratchSize = max(t.scratchSize, packed(side)+tileSize*tiles(samples, tileSize))
	})
	if a.Metric == engine.Block {
		t.scratch = t.memory.floats(threadBlocks * t.scratchSize)
	}
}

func (t *trainer) Close() error {
	var errs []error
	for _, p := range t.programs {
		errs = append(errs, p.memory.close())
	}
	return errors.Join(append(errs, t.memory.close())...)
}

func (t *trainer) MetricBytes() int64 {
	bytes, a := int64(0), t.job.Algorithm
	if a.Metric == engine.Euclidean {
		return 0
	}
	t.layout.each(func(n network, i int, of layer) {
		bytes += blockBytes(a.Metric, of, blockSamples(n, i, a.BatchSize, a.MostSamples()))
	})
	return bytes
}

// State copies from the device what has changed there.
func (t *trainer) State() (*engine.State, error) {
	if !t.stale {
		return t.state, nil
	}
	download(t.memory, t.state.Parameters.Flat, t.parameters)
	for k, a := range t.moments {
		download(t.memory, t.state.Moments[k].Flat, a)
	}
	if t.state.RefreshParameters != nil {
		download(t.memory, t.state.RefreshParameters.Flat, t.refreshed)
	}
	t.stale = t.memory.err != nil
	return t.state, t.memory.err
}

func (t *trainer) Step(learningRate float64) (engine.Report, error) {
	reports, err := t.Steps(context.Background(), []float64{learningRate})
	if len(reports) == 0 {
		return engine.Report{}, err
	}
	return reports[0], err
}

// Steps performs the next steps with their learning rates, and returns the
// reports of those that were done. Those between two refreshes of the Fisher
// blocks are one launch.
func (t *trainer) Steps(ctx context.Context, learningRates []float64) ([]engine.Report, error) {
	var reports []engine.Report
	for len(reports) < len(learningRates) && ctx.Err() == nil {
		some, err := t.launch(learningRates[len(reports):])
		reports = append(reports, some...)
		if err != nil {
			return reports, err
		}
	}
	return reports, ctx.Err()
}

// moment is that of the step a number of steps ahead.
func (t *trainer) moment(ahead int, learningRate float64) moment {
	step := t.state.Step + ahead
	return moment{step: step, learningRate: learningRate, rows: t.job.Rows(step), output: ahead * t.job.Algorithm.BatchSize}
}

// shape is that of the minibatch of a moment.
func (t *trainer) shape(m moment) shape {
	return shape{len(m.rows), t.job.Algorithm.SamplesAt(m.step)}
}

// refreshDue says whether the Fisher blocks are due in the step a number of
// steps ahead.
func (t *trainer) refreshDue(ahead int) bool {
	a, s := t.job.Algorithm, t.state
	return a.Metric != engine.Euclidean && (s.RefreshParameters == nil || s.Step+ahead-s.RefreshStep >= a.RefreshEvery)
}

// launch performs as many of the next steps as go together.
func (t *trainer) launch(learningRates []float64) ([]engine.Report, error) {
	moments := []moment{t.moment(0, learningRates[0])}
	programs := t.stepPrograms(t.shape(moments[0]))
	var refresh time.Duration
	t.stale = true
	if t.refreshDue(0) {
		err := programs.get(t, &programs.sample).run(fmt.Sprintf("samples of step %d", t.state.Step), moments[0])
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if err := t.refreshNow(programs); err != nil {
			return t.reports(moments), err // which say whether training has diverged
		}
		refresh = time.Since(start)
		programs = t.stepPrograms(t.shape(moments[0])) // those for the new blocks
		err = programs.get(t, &programs.ascend).run(fmt.Sprintf("gradients of step %d", t.state.Step), moments[0])
		if err != nil {
			return nil, err
		}
	} else {
		for k := 1; k < min(len(learningRates), mostPasses) && !t.refreshDue(k); k++ {
			m := t.moment(k, learningRates[k])
			if t.shape(m) != t.shape(moments[0]) {
				break
			}
			moments = append(moments, m)
		}
		if err := programs.get(t, &programs.whole).run(fmt.Sprintf("steps from %d on", t.state.Step), moments...); err != nil {
			return nil, err
		}
	}
	reports := t.reports(moments)
	reports[0].Refresh = refresh
	t.state.Step += len(moments)
	return reports, t.memory.err
}

// reports are those of steps that were done.
func (t *trainer) reports(moments []moment) []engine.Report {
	a := t.job.Algorithm
	numbers := make([]float64, len(moments)*a.BatchSize*weightSumSize)
	download(t.memory, numbers, t.sums)
	reports := make([]engine.Report, len(moments))
	for k, m := range moments {
		n := len(m.rows)
		for d := range n {
			sum := weightSum(numbers[(m.output+d)*weightSumSize:], a.SamplesAt(m.step))
			l := sum.Likelihood()
			reports[k].LogP += l.LogP / float64(n)
			reports[k].Bound += l.Bound / float64(n)
			reports[k].ESS += l.ESS / float64(n)
		}
	}
	return reports
}

// refreshNow computes the Fisher blocks from the samples of the step, and notes
// the parameters.
func (t *trainer) refreshNow(p *stepPrograms) error {
	s := t.state
	s.RefreshStep = s.Step
	if s.RefreshParameters == nil {
		s.RefreshParameters = engine.NewParameters(t.layout.Architecture)
	}
	t.memory.copy(t.refreshed, t.point, 4*t.layout.Size())
	return t.refresh(p)
}

// restoreMetric computes the blocks of the last refresh again, from the same
// data, draws and parameters.
func (t *trainer) restoreMetric() {
	s := t.state
	upload(t.memory, t.refreshed, s.RefreshParameters.Flat)
	m := moment{step: s.RefreshStep, rows: t.job.Rows(s.RefreshStep)}
	p := t.newStepPrograms(t.shape(m))
	defer p.memory.close()
	w := newWriter(t.refreshed, t.memory.device.blocks)
	t.writeSamples(w, p)
	if err := p.memory.load(w.program, t.job.Seed).run(fmt.Sprintf("samples of step %d", s.RefreshStep), m); err != nil {
		t.memory.fail(err)
		return
	}
	if err := t.refresh(p); err != nil {
		t.memory.fail(err)
	}
}

// Gradients runs a step in parts and reads what it computes.
func (t *trainer) Gradients(learningRate float64) (engine.Gradients, error) {
	m := t.moment(0, learningRate)
	p := t.stepPrograms(t.shape(m))
	var g engine.Gradients
	if err := p.get(t, &p.sample).run(fmt.Sprintf("samples of step %d", t.state.Step), m); err != nil {
		return g, err
	}
	if t.refreshDue(0) {
		t.stale = true
		if err := t.refreshNow(p); err != nil {
			return g, err
		}
		p = t.stepPrograms(t.shape(m))
	}
	if err := p.get(t, &p.explore).run(fmt.Sprintf("gradients of step %d", t.state.Step), m); err != nil {
		return g, err
	}
	for _, of := range []struct {
		to   **engine.Parameters
		from address
	}{{&g.Plain, t.plain}, {&g.Natural, t.natural}, {&g.Direction, t.direction}} {
		*of.to = engine.NewParameters(t.layout.Architecture)
		download(t.memory, (*of.to).Flat, of.from)
	}
	g.Wake = p.wake.draws(t.memory, generative, recognition)
	if p.dreams != nil && t.job.Algorithm.HasDreams() {
		scored := []network{generative}
		if t.job.Algorithm.HasSleep() {
			scored = append(scored, recognition)
		}
		g.Dreams = p.dreams.draws(t.memory, scored...)
	}
	return g, t.memory.err
}

// Norms reads them from the gradients of the last step, those of its first
// update where it has several.
func (t *trainer) Norms() (engine.Norms, error) {
	n, p := engine.NewNorms(t.layout.Depth()), engine.NewParameters(t.layout.Architecture)
	for _, of := range []struct {
		from  address
		which func(*engine.LayerNorms) *float64
	}{
		{t.parameters, func(l *engine.LayerNorms) *float64 { return &l.Weights }},
		{t.plain, func(l *engine.LayerNorms) *float64 { return &l.Gradient }},
		{t.direction, func(l *engine.LayerNorms) *float64 { return &l.Direction }},
	} {
		download(t.memory, p.Flat, of.from)
		n.Note(p, of.which)
	}
	return n, t.memory.err
}

// stepPrograms returns the programs of steps of a shape.
func (t *trainer) stepPrograms(s shape) *stepPrograms {
	key := [2]shape{s, t.blocks}
	if t.programs[key] == nil {
		t.programs[key] = t.newStepPrograms(s)
	}
	return t.programs[key]
}

func (t *trainer) newStepPrograms(s shape) *stepPrograms {
	p := &stepPrograms{wake: t.wake.resized(s.data, s.samples), memory: t.memory.part()}
	if t.dreams != nil {
		p.dreams = t.dreams.resized(s.data*s.samples, 1)
	}
	return p
}

// get returns one of the programs, which it writes if it is not there.
func (p *stepPrograms) get(t *trainer, program **loaded) *loaded {
	if *program != nil {
		return *program
	}
	w := newWriter(t.point, t.memory.device.blocks)
	if program == &p.sample || program == &p.whole {
		t.writeLookAhead(w)
		t.writeSamples(w, p)
	}
	if program != &p.sample {
		t.writeGradients(w, p, program != &p.explore)
	}
	*program = p.memory.load(w.program, t.job.Seed)
	return *program
}

func (t *trainer) writeLookAhead(w *writer) {
	a, count := t.job.Algorithm, t.layout.Size()
	if a.Optimizer != engine.Nesterov {
		return
	}
	add(w.program, w.done(), lookAhead, tiles(count, elements), lookAheadOf{
		parameters: t.parameters, velocity: t.moments[0], point: t.point, count: uint32(count),
		ahead: w.number(func(m moment) float64 { return m.learningRate * a.Momentum }),
	})
}

// writeSamples writes the draws of a step, their scores and their weights.
func (t *trainer) writeSamples(w *writer, p *stepPrograms) {
	a := t.job.Algorithm
	at := w.done()
	w.begin(p.wake, at)
	step := w.input(func(m moment) uint32 { return uint32(m.step) })
	rows := w.rows(p.wake.data)
	w.observe(p.wake, loadOf{
		data: t.data, stochastic: ifTrue(t.job.Data.Stochastic), row: rows, listed: 1,
		place: place{word: word(philox.Binarize), step: step, sample: w.none, datum: rows, listed: 1},
	})
	w.recognize(p.wake, place{word: word(philox.Wake), step: step, sample: w.none, datum: rows, listed: 1})
	if p.dreams != nil {
		w.begin(p.dreams, at)
		t.writeDreams(w, p, 0)
	}
	w.score(p.wake, generative)
	weights := weighOf{
		logWeights: t.logWeights, sums: t.sums, weights: t.weights, recognitionWeights: t.recognitionWeights,
		factor: 1, scale: 1 / float64(p.wake.data),
		exponent: a.Exponent,
		score:    t.warmed(w, -a.EntropyEstimator, p),
		outputAt: w.input(func(m moment) uint32 { return uint32(m.output) }),
	}
	if a.HasRecognitionWake() {
		weights.recognitionScale = a.QWake / float64(p.wake.data)
	}
	if a.Baseline {
		weights.baseline = 1 / float64(p.wake.samples)
	}
	w.weigh(p.wake, weights)
}

// writeDreams writes the dreams of a sleep phase.
func (t *trainer) writeDreams(w *writer, p *stepPrograms, phase int) {
	w.dream(p.dreams, len(p.dreams.states), place{
		word: word(philox.Sleep), step: w.input(func(m moment) uint32 { return uint32(m.step) }),
		sample: w.input(func(moment) uint32 { return uint32(phase) }), datum: w.none,
	})
	if t.job.Algorithm.HasSleep() {
		w.score(p.dreams, recognition)
	}
}

// warmed returns the place of the strength of a regulariser, over B·S.
func (t *trainer) warmed(w *writer, strength float64, p *stepPrograms) uint32 {
	return w.number(func(m moment) float64 {
		return strength * t.job.Algorithm.WarmedUp(m.step) / float64(p.wake.rows())
	})
}

// writeGradients writes what follows from the samples of a step: the gradient,
// the metric, the update, unless only the direction is wanted, and the later
// sleep phases.
func (t *trainer) writeGradients(w *writer, p *stepPrograms, move bool) {
	a := t.job.Algorithm
	at := w.done()
	t.layout.each(func(n network, i int, of layer) {
		t.writeGradient(w, at, of, t.plain, t.sources(w, p, n, i))
	})
	t.writeMetric(w, t.plain, t.natural, generative, recognition)
	at = w.done()
	rates := [2]rate{
		generative:  t.rateOf(w, func(m moment) int { return m.step + 1 }),
		recognition: t.rateOf(w, func(m moment) int { return m.step*a.SleepSteps + 1 }),
	}
	l1 := w.number(func(m moment) float64 { return a.L1 * a.WarmedUp(m.step) })
	l2 := w.number(func(m moment) float64 { return a.L2 * a.WarmedUp(m.step) })
	t.layout.each(func(n network, i int, of layer) {
		u := t.updateOf(of, t.natural, rates[n], l1, l2)
		if u.direction = t.direction.floats(of.first); !move {
			u.optimizer = stay
		}
		add(w.program, at, update, tiles(of.count(), elements), u)
	})
	if move {
		for phase := 1; phase < a.SleepSteps; phase++ {
			t.writeSleep(w, p, phase)
		}
	}
}

// writeSleep writes a later sleep phase of a step (Várady 2025, 5.4.1).
func (t *trainer) writeSleep(w *writer, p *stepPrograms, phase int) {
	t.writeLookAhead(w)
	w.begin(p.dreams, w.done())
	t.writeDreams(w, p, phase)
	at, a := w.done(), t.job.Algorithm
	of := t.layout.layers[recognition]
	for i := 1; i < len(of); i++ {
		t.writeGradient(w, at, of[i], t.asleepPlain, []source{t.asleep(w, p, i)})
	}
	t.writeMetric(w, t.asleepPlain, t.asleepNatural, recognition)
	at = w.done()
	r := t.rateOf(w, func(m moment) int { return m.step*a.SleepSteps + phase + 1 })
	for i := 1; i < len(of); i++ {
		u := t.updateOf(of[i], t.asleepNatural, r, w.none, w.none)
		u.direction = t.asleepNatural.floats(of[i].first)
		add(w.program, at, update, tiles(of[i].count(), elements), u)
	}
}

func (t *trainer) writeMetric(w *writer, plain, natural address, networks ...network) {
	if t.job.Algorithm.Metric == engine.Euclidean {
		return
	}
	at := w.done()
	for _, n := range networks {
		for i, of := range t.layout.layers[n] {
			if of.units > 0 {
				t.applyMetric(w, at, n, i, of, plain, natural)
			}
		}
	}
}

func (t *trainer) writeGradient(w *writer, at int, of layer, to address, sources []source) {
	o := gradientOf{gradient: to.floats(of.first), units: uint32(of.units), width: uint32(of.width), sources: uint32(len(sources))}
	copy(o.source[:], sources)
	add(w.program, at, gradient, tiles(of.units, tileSize)*tiles(of.width, tileSize), o)
}

// sources are the terms of the gradient of a layer.
func (t *trainer) sources(w *writer, p *stepPrograms, n network, i int) []source {
	a := t.job.Algorithm
	var s []source
	if n == generative {
		s = append(s, sourceOf(p.wake, n, i, p.wake.residuals[n][i], t.weights, w.constant(1)))
		if a.EntropyEstimator != 0 {
			s = append(s, sourceOf(p.dreams, n, i, p.dreams.residuals[n][i], 0, t.warmed(w, -a.EntropyEstimator, p)))
		}
		if a.Entropy != 0 {
			s = append(s, sourceOf(p.dreams, n, i, p.dreams.slopes[n][i], 0, t.warmed(w, a.Entropy, p)))
		}
		return s
	}
	if a.HasRecognitionWake() || a.HasEntropy() {
		s = append(s, sourceOf(p.wake, n, i, p.wake.residuals[n][i], t.recognitionWeights, w.constant(1)))
	}
	if a.Entropy != 0 {
		s = append(s, sourceOf(p.wake, n, i, p.wake.slopes[n][i], 0, t.warmed(w, a.Entropy, p)))
	}
	if a.HasSleep() {
		s = append(s, t.asleep(w, p, i))
	}
	return s
}

// asleep is the term that dreams give to the gradient of layer i of q.
func (t *trainer) asleep(w *writer, p *stepPrograms, i int) source {
	a := t.job.Algorithm
	return sourceOf(p.dreams, recognition, i, p.dreams.residuals[recognition][i], 0, w.constant(a.Sleep/float64(p.dreams.data)))
}

// sourceOf is a term from the residuals of a layer of a pass. The samples of a
// datum share the parents of the first layer of q.
func sourceOf(v *pass, n network, i int, residuals, weights address, scale uint32) source {
	at, stride := parentsOf(v, n, i)
	s := source{
		residuals: residuals, parents: at, weights: weights, residualsStride: uint32(v.layout.Units[i]),
		parentsStride: uint32(stride), parentsOf: 1, rows: uint32(v.rows()), scale: scale,
	}
	if n == recognition && i == 1 {
		s.parentsOf = uint32(v.samples)
	}
	return s
}

// rate is the learning rate of an update and what Adam's second moment is
// multiplied by: places of inputs.
type rate struct{ rate, correction uint32 }

// rateOf is that of the n-th update.
func (t *trainer) rateOf(w *writer, n func(moment) int) rate {
	a := t.job.Algorithm
	if a.Optimizer != engine.Adam {
		return rate{w.number(func(m moment) float64 { return m.learningRate }), w.none}
	}
	return rate{
		w.number(func(m moment) float64 { return m.learningRate / (1 - math.Pow(a.AdamBeta1, float64(n(m)))) }),
		w.number(func(m moment) float64 { return 1 / (1 - math.Pow(a.AdamBeta2, float64(n(m)))) }),
	}
}

// updateOf moves the parameters of a layer.
func (t *trainer) updateOf(of layer, natural address, r rate, l1, l2 uint32) updateOf {
	a := t.job.Algorithm
	u := updateOf{
		parameters: t.parameters.floats(of.first), point: t.point.floats(of.first), natural: natural.floats(of.first),
		count: uint32(of.count()), width: uint32(of.width), rate: r.rate, correction: r.correction, l1: l1, l2: l2,
	}
	switch a.Optimizer {
	case engine.Adam:
		u.optimizer, u.epsilon = adam, float32(a.AdamEpsilon)
		u.beta1, u.beta2, u.rest1, u.rest2 = float32(a.AdamBeta1), float32(a.AdamBeta2), 1-a.AdamBeta1, 1-a.AdamBeta2
		u.first, u.second = t.moments[0].floats(of.first), t.moments[1].floats(of.first)
	case engine.Momentum, engine.Nesterov:
		u.optimizer, u.beta1 = momentum, float32(a.Momentum)
		u.first = t.moments[0].floats(of.first)
	}
	return u
}
