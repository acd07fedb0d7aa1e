//go:build cuda

package gpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// stepPrograms holds the programs for one shape of the steps and of the Fisher blocks. A step runs
// sample and then ascend, and the Fisher blocks may be refreshed between them; whole does both in
// one program, and renewed refreshes the blocks as well. explore is like ascend, but only computes the
// gradients. estimate computes the Fisher blocks. unchained is like sample, but without chains.
type stepPrograms struct {
	wake, dreams                                                 *pass
	sample, unchained, ascend, whole, renewed, explore, estimate *loaded
	memory                                                       *memory
}

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

// get returns one of the programs, and writes it first if it does not exist.
func (p *stepPrograms) get(t *trainer, program **loaded) *loaded {
	if *program != nil {
		return *program
	}
	w := newWriter(t.point, t.memory.device.blocks)
	switch program {
	case &p.sample, &p.unchained, &p.whole, &p.renewed:
		t.writeLookAhead(w)
		t.writeSamples(w, p, program == &p.sample || program == &p.whole)
	}
	if program == &p.estimate || program == &p.renewed {
		t.writeEstimates(w, p)
	}
	if program == &p.renewed {
		t.writeCopy(w, t.refreshed, t.point)
		if t.job.Algorithm.Chains {
			t.writeSamples(w, p, true)
		}
	}
	switch program {
	case &p.ascend, &p.whole, &p.renewed, &p.explore:
		t.writeGradients(w, p, program != &p.explore)
	}
	w.balance()
	*program = p.memory.load(w.program, t.job.Seed)
	return *program
}

// writeSamples writes the operations that draw and weigh the samples of a step, with or without the chains of the
// algorithm.
func (t *trainer) writeSamples(w *writer, p *stepPrograms, withChains bool) {
	a := t.job.Algorithm
	at := w.done()
	w.begin(p.wake, at)
	step := w.input(func(m moment) uint32 { return uint32(m.step) })
	rows := w.rows(p.wake.data)
	wake := place{word: word(philox.Wake), step: step, sample: w.none, datum: rows, listed: 1}
	if t.job.Repeats {
		wake.datum, wake.listed = w.none, 0
	}
	binarize := wake
	binarize.word = word(philox.Binarize)
	w.observe(p.wake, loadOf{
		data: t.data, stochastic: ifTrue(t.job.Data.Stochastic), row: rows, listed: 1,
		place: binarize,
	})
	chains := chained{}
	if withChains && a.Chains {
		chains = t.chains
		chains.rows = rows
	}
	w.recognize(p.wake, wake, chains)
	if p.dreams != nil {
		w.begin(p.dreams, at)
		t.writeDreams(w, p, 0)
	}
	w.score(p.wake, generative)
	weights := weighOf{
		logWeights: t.logWeights, joint: t.joint, sums: t.sums, weights: t.weights, recognitionWeights: t.recognitionWeights,
		factor: 1, scale: 1 / float64(p.wake.data),
		exponent: a.Exponent, signal: ifTrue(a.Reinforce) + ifTrue(a.Reinforce && a.ReinforceBaseline == engine.NoBaseline),
		score:    t.printedEntropy(w, p),
		outputAt: w.input(func(m moment) uint32 { return uint32(m.output) }),
	}
	if a.HasRecognitionWake() && a.Estimator == nil {
		weights.recognitionScale = a.QWake / float64(p.wake.data)
	}
	if a.Baseline {
		weights.baseline = 1 / float64(p.wake.samples)
	}
	if chains.chains != 0 {
		weights.stays, weights.place = t.stays, wake
		weights.place.word = word(philox.Accept)
	}
	w.weigh(p.wake, weights)
	if t.layout.Labels() > 0 {
		t.writeLabels(w, p, wake) // which replaces the weights
	}
	if a.HasLearnedBaseline() {
		t.baseline.writePredictions(w, p.wake, t.logWeights, a.QWake)
	}
}

func (t *trainer) writeDreams(w *writer, p *stepPrograms, phase int) {
	w.dream(p.dreams, len(p.dreams.states), place{
		word: word(philox.Sleep), step: w.input(func(m moment) uint32 { return uint32(m.step) }),
		sample: w.input(func(moment) uint32 { return uint32(phase) }), datum: w.none,
	})
	if t.job.Algorithm.HasSleep() {
		w.score(p.dreams, recognition)
	}
}

// warmed adds an input, the warmed-up strength of a regulariser divided by B·S, and returns its
// place.
func (t *trainer) warmed(w *writer, strength float64, p *stepPrograms) uint32 {
	return w.number(func(m moment) float64 {
		return strength * t.job.Algorithm.WarmedUp(m.step) / float64(p.wake.rows())
	})
}
