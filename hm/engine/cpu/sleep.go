package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// sleepOn performs the sleep phases of a step after its first update. Each phase draws dreams, and
// moves q to explain them (Várady 2025, 5.4.1). Regularisers act only on the first update.
func (t *trainer) sleepOn(learningRate float64) {
	if t.job.Algorithm.SleepSteps < 2 {
		return
	}
	t.laterDreams.resize(t.dreams.data, 1)
	rows := t.job.Rows(t.state.Step)
	for phase := 1; phase < t.job.Algorithm.SleepSteps; phase++ {
		t.lookAhead(learningRate)
		t.weights.pack(t.point)
		pieces := (t.laterDreams.data + dreamsAPiece - 1) / dreamsAPiece
		parallel(pieces, func(piece int) {
			first := piece * dreamsAPiece
			last := min(first+dreamsAPiece, t.laterDreams.data)
			t.dream(t.laterDreams, t.state.Step, phase, first, last, rows)
		})
		t.ascendInSleep()
		t.updateRecognition(t.laterGradient, learningRate, phase)
	}
}

// ascendInSleep computes the natural gradient of q from the later dreams.
func (t *trainer) ascendInSleep() {
	t.count(t.laterDreams)
	terms := t.newTerms(t.laterDreams)
	t.eachTile(t.laterGradient, func(tile tile, rows kernels.Matrix) {
		if tile.network.Base() == recognition {
			t.addTerms(tile, rows, terms[tile.network][tile.layer])
		}
	}, func(tile tile, rows kernels.Matrix) {
		if tile.network == recognition {
			t.metric.apply(tile, rows)
		}
	})
}

// updateRecognition moves q along a gradient at the end of a sleep phase of the step. Phases are
// counted from 0.
func (t *trainer) updateRecognition(gradient *engine.Parameters, learningRate float64, phase int) {
	t.update(gradient, learningRate, gradient.Architecture.GenerativeSize(), len(gradient.Flat), t.state.Step*t.job.Algorithm.SleepSteps+phase+1)
}
