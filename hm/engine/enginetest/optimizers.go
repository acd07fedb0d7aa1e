package enginetest

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// lookAhead tests that Nesterov's plain and natural gradients equal the gradients of gradient
// descent at θ + ηβv, and that the Fisher blocks are computed there too (Várady 2025, 6.10).
func lookAhead(t *testing.T, e engine.Engine) {
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		p := machine(engine.PlusMinusOne, 4, 3, 2)
		nesterov := a
		nesterov.Optimizer = engine.Nesterov
		data := randomRows(5, 4)
		trainer := newTrainer(t, e, job(nesterov, data), engine.NewState(nesterov, p))
		for range 3 {
			s := state(t, trainer)
			ahead := s.Parameters.Clone()
			for k, v := range s.Moments[0].Flat {
				ahead.Flat[k] += float32(learningRate*0.95) * v
			}
			there := newTrainer(t, e, job(a, data), &engine.State{Step: s.Step, Parameters: ahead})
			want := gradients(t, there)
			got := gradients(t, trainer)
			wantGradient(t, "plain gradient", got.Plain, doubles(want.Plain.Flat), 1e-5)
			wantGradient(t, "natural gradient", got.Natural, doubles(want.Natural.Flat), 1e-5)
			step(t, trainer, learningRate)
			if a.Metric != engine.Euclidean {
				wantGradient(t, "parameters of the refresh", state(t, trainer).RefreshParameters, doubles(ahead.Flat), 1e-6)
			}
		}
	})
}
