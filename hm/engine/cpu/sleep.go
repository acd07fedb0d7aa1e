package cpu

import (
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// dream draws dreams first to last−1 of a sleep phase of a step and scores them
// by q. The phase is the sample in the counters of the draws.
func (t *trainer) dream(step, phase, first, last int) {
	part := t.dreams.rows(first, last)
	part.dream(place{key: philox.Key(t.job.Seed), purpose: philox.Sleep, step: uint32(step), sample: uint32(phase),
		datum: func(d int) uint32 { return uint32(first + d) }})
	if phase == 0 && t.job.Algorithm.HasEntropy() {
		part.entropyOfDreams()
	}
	if t.job.Algorithm.HasSleep() {
		part.scoreRecognition()
	}
}

// sleepOn performs the sleep phases of a step that follow its first update:
// each dreams, and moves q to explain what it dreamed (Várady 2025, 5.4.1). Regularisers
// act on the first update alone.
func (t *trainer) sleepOn(learningRate float64) {
	if t.job.Algorithm.SleepSteps < 2 {
		return
	}
	t.laterDreams.resize(t.dreams.data, 1)
	t.swapDreams()
	defer t.swapDreams()
	for phase := 1; phase < t.job.Algorithm.SleepSteps; phase++ {
		t.lookAhead(learningRate)
		t.weights.pack(t.point)
		pieces := (t.dreams.data + dreamsAPiece - 1) / dreamsAPiece
		parallel(pieces, func(piece int) {
			first := piece * dreamsAPiece
			last := min(first+dreamsAPiece, t.dreams.data)
			t.dream(t.state.Step, phase, first, last)
		})
		t.ascendInSleep()
		t.updateRecognition(learningRate, phase)
	}
}

// swapDreams exchanges the dreams and the gradient of the first update for those
// of the phases that follow it, and back.
func (t *trainer) swapDreams() {
	t.dreams, t.laterDreams = t.laterDreams, t.dreams
	t.gradient, t.laterGradient = t.laterGradient, t.gradient
}

// ascendInSleep computes the natural gradient of q from the dreams alone.
func (t *trainer) ascendInSleep() {
	var terms []term
	for i := 1; i < len(t.dreams.states); i++ {
		terms = append(terms, t.sleep(i))
	}
	t.packParents(terms)
	t.eachTile(t.gradient, func(tile tile, rows kernels.Matrix) {
		if tile.network == recognition {
			t.addTerms(tile, rows, []term{t.sleep(tile.layer)})
		}
	}, func(tile tile, rows kernels.Matrix) {
		if tile.network == recognition {
			t.metric.apply(recognition, tile.layer, rows, tile.first)
		}
	})
}

// updateRecognition moves q at the end of a sleep phase of the step, the first
// of which has number 0.
func (t *trainer) updateRecognition(learningRate float64, phase int) {
	p := t.state.Parameters
	t.update(learningRate, p.Architecture.GenerativeSize(), len(p.Flat), t.state.Step*t.job.Algorithm.SleepSteps+phase+1)
}
