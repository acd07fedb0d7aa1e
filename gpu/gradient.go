//go:build cuda

package gpu

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// writeGradients writes the operations that follow the samples of a step: they compute the plain gradient, its
// product with the inverse Fisher matrix, and the direction that the optimiser receives. If move is true, they
// also update the parameters and run the later sleep phases.
func (t *trainer) writeGradients(w *writer, p *stepPrograms, move bool) {
	a := t.job.Algorithm
	rates := [2]rate{
		generative:  t.rateOf(w, func(m moment) int { return m.step + 1 }),
		recognition: t.rateOf(w, func(m moment) int { return m.step*a.SleepSteps + 1 }),
	}
	l1 := w.number(func(m moment) float64 { return a.L1 * a.WarmedUp(m.step) })
	l2 := w.number(func(m moment) float64 { return a.L2 * a.WarmedUp(m.step) })
	at := w.done()
	updateAt := func(of layer, r rate) updateOf {
		u := t.updateOf(of, t.natural, r, l1, l2)
		u.direction = t.direction.floats(of.first)
		if !move {
			u.optimizer = stay
		}
		return u
	}
	t.writeAscent(w, t.plain, t.natural, func(n network, i int, of layer) ([]source, reinforceOf, updateOf) {
		return t.sources(w, p, n, i), t.optimal(p, n, i), updateAt(of, rates[n])
	}, generative, recognition)
	t.writeClassifier(w, at, p, func(of layer) updateOf { return updateAt(of, rates[recognition]) })
	if move {
		if a.HasLearnedBaseline() {
			t.baseline.writeMove(w, at, p.wake)
		}
		if a.Chains {
			t.writeAdvance(w, at, p)
		}
		for phase := 1; phase < a.SleepSteps; phase++ {
			t.writeSleep(w, p, phase)
		}
	}
}

// writeAdvance adds to phase at the operations that move the chains of a step's rows.
func (t *trainer) writeAdvance(w *writer, at int, p *stepPrograms) {
	c := t.chains
	c.rows = w.rows(p.wake.data)
	for i, units := range t.layout.Units[1:] {
		add(w.program, at, advance, p.wake.data, advanceOf{
			states: p.wake.states[1+i].floats(1), stays: t.stays, chained: c, statesStride: uint32(padded(1 + units)),
			units: uint32(units), samples: uint32(p.wake.samples), data: uint32(p.wake.data),
		})
		c.first += uint32(engine.PackedUnits(units))
	}
}

// writeSleep writes a later sleep phase of a step, from phase 1 on (Várady 2025, 5.4.1). It draws new dreams, and
// moves only the recognition network.
func (t *trainer) writeSleep(w *writer, p *stepPrograms, phase int) {
	t.writeLookAhead(w)
	w.begin(p.dreams, w.done())
	t.writeDreams(w, p, phase)
	r := t.rateOf(w, func(m moment) int { return m.step*t.job.Algorithm.SleepSteps + phase + 1 })
	t.writeAscent(w, t.asleepPlain, t.asleepNatural, func(_ network, i int, of layer) ([]source, reinforceOf, updateOf) {
		u := t.updateOf(of, t.asleepNatural, r, w.none, w.none)
		u.direction = t.asleepNatural.floats(of.first)
		return []source{t.asleep(w, p, i)}, reinforceOf{}, u
	}, recognition)
}

// writeAscent writes the operations that compute the plain gradients of networks, their products with the
// inverse Fisher matrix, and the new parameters. of returns the terms of a layer's gradient, and the layer's
// update. In the Euclidean metric, each thread block updates the parameters whose gradient it has computed.
func (t *trainer) writeAscent(w *writer, plain, natural address, of func(n network, i int, of layer) ([]source, reinforceOf, updateOf), networks ...network) {
	euclidean, at := t.job.Algorithm.Metric == engine.Euclidean, w.done()
	visit := func(f func(n network, i int, l layer)) {
		t.layout.each(func(n network, i int, l layer) {
			if slices.Contains(networks, n) {
				f(n, i, l)
			}
		})
	}
	var updates []updateOf
	visit(func(n network, i int, l layer) {
		sources, optimal, u := of(n, i, l)
		if c := t.condition(n, i, l); c.classes > 0 {
			add(w.program, at, condition, matrixTiles(l.units, l.width), c)
		} else {
			t.writeGradient(w, at, l, plain, sources, optimal)
		}
		if updates = append(updates, u); euclidean {
			follow(w.program, at, len(w.phases[at])-1, update, u)
		}
	})
	if euclidean {
		return
	}
	at = w.done()
	visit(func(n network, i int, l layer) { t.applyMetric(w, at, n, i, l, plain, natural) })
	at = w.done()
	for _, u := range updates {
		add(w.program, at, update, matrixTiles(int(u.units), int(u.width)), u)
	}
}

// writeGradient adds to phase at the operations that sum the terms of a layer's gradient. to is the address
// of the gradients of all layers. optimal has no samples if there is no such term.
func (t *trainer) writeGradient(w *writer, at int, of layer, to address, sources []source, optimal reinforceOf) {
	o := gradientOf{gradient: to.floats(of.first), units: uint32(of.units), width: uint32(of.width), sources: uint32(len(sources))}
	copy(o.source[:], sources)
	if optimal.samples == 0 {
		add(w.program, at, gradient, matrixTiles(of.units, of.width), o)
		return
	}
	o.base, o.baseScale, optimal.gradient = o.gradient, 1, o.gradient
	add(w.program, at, reinforce, matrixTiles(of.units, of.width), optimal)
	if len(sources) > 0 {
		follow(w.program, at, len(w.phases[at])-1, gradient, o)
	}
}

// sources returns the terms of the gradient of layer i of network n. They come from wake samples, the entropy
// regulariser and dreams, as far as the algorithm has them.
func (t *trainer) sources(w *writer, p *stepPrograms, n network, i int) []source {
	a := t.job.Algorithm
	var s []source
	if t.layout.isLabel(i) { // whose residuals have their weights
		return []source{sourceOf(p.wake, n, i, p.wake.residuals[n][i], 0, w.constant(1))}
	}
	if n == generative {
		s = append(s, sourceOf(p.wake, n, i, p.wake.residuals[n][i], t.generativeWeights, w.constant(1)))
		if a.EntropyEstimator != 0 {
			s = append(s, sourceOf(p.dreams, n, i, p.dreams.residuals[n][i], 0, t.printedEntropy(w, p)))
		}
		if a.Entropy != 0 {
			s = append(s, sourceOf(p.dreams, n, i, p.dreams.slopes[n][i], 0, t.warmed(w, a.Entropy, p)))
		}
		return s
	}
	switch {
	case a.HasLearnedBaseline():
		s = append(s, sourceOf(p.wake, n, i, t.baseline.weighted[i], 0, w.constant(1)))
	case t.optimal(p, n, i).samples > 0:
	case a.HasRecognitionWake() || a.HasEntropy():
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

// asleep returns the term of the gradient of layer i of q that comes from dreams, weighted by the algorithm's
// factor Sleep.
func (t *trainer) asleep(w *writer, p *stepPrograms, i int) source {
	a := t.job.Algorithm
	return sourceOf(p.dreams, recognition, i, p.dreams.residuals[recognition][i], 0, w.constant(a.Sleep/float64(p.dreams.data)))
}

// sourceOf returns the term of a gradient that comes from the residuals of layer i of network n in a pass.
// weights has the weight of each sample, or is 0 if all have the weight 1; scale is the input that multiplies
// the term. In the first layer of q, all samples of a datum have the same parents.
func sourceOf(v *pass, n network, i int, residuals, weights address, scale uint32) source {
	at, stride := parentsOf(v, n, i)
	s := source{
		residuals: residuals, parents: at, weights: weights, residualsStride: uint32(padded(v.layout.Units[i])),
		parentsStride: uint32(stride), sharing: 1, rows: uint32(v.rows()), scale: scale,
	}
	if n == recognition && i == 1 {
		s.rows, s.sharing = uint32(v.data), uint32(v.samples)
	}
	return s
}
