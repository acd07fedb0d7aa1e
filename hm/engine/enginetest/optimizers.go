package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

var everyOptimizer = []engine.Optimizer{engine.GradientDescent, engine.Adam, engine.Momentum, engine.Nesterov}

// optimizers compares two steps of each optimiser with its formula, with a direction that the
// metric and penalised norms have shaped.
func optimizers(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.L1, a.L2, a.WarmUp = 0.02, 0.03, 3
		p := machine(engine.PlusMinusOne, 4, 3, 2)
		run := func(a engine.Algorithm) (g [2][]float64, after [2]*engine.State) {
			trainer := newTrainer(t, e, job(a, randomRows(5, 4)), engine.NewState(a, p))
			for s := range 2 {
				g[s] = doubles(gradients(t, trainer).Direction.Flat)
				step(t, trainer, learningRate)
				after[s] = state(t, trainer)
			}
			return g, after
		}
		want := func(what string, k int, got float32, want float64) {
			t.Helper()
			if !(math.Abs(float64(got)-want) <= 1e-6*(math.Abs(want)+learningRate)) {
				t.Errorf("%s %d is %v, want %v", what, k, got, want)
			}
		}

		g, after := run(a)
		for k, start := range p.Flat {
			first := float64(start) + learningRate*g[0][k]
			want("gradient descent, step 1, parameter", k, after[0].Parameters.Flat[k], first)
			want("gradient descent, step 2, parameter", k, after[1].Parameters.Flat[k], first+learningRate*g[1][k])
		}

		a.Optimizer = engine.Adam
		g, after = run(a)
		for k, start := range p.Flat {
			g1, g2 := g[0][k], g[1][k]
			// The bias correction makes the first moments g and g².
			first := float64(start) + learningRate*g1/(math.Abs(g1)+1e-8)
			want("Adam, step 1, parameter", k, after[0].Parameters.Flat[k], first)
			m := 0.9*0.1*g1 + 0.1*g2
			v := 0.999*0.001*g1*g1 + 0.001*g2*g2
			want("Adam, first moment", k, after[1].Moments[0].Flat[k], m)
			want("Adam, second moment", k, after[1].Moments[1].Flat[k], v)
			corrected := math.Sqrt(v / (1 - 0.999*0.999))
			want("Adam, step 2, parameter", k, after[1].Parameters.Flat[k],
				first+learningRate*m/(1-0.9*0.9)/(corrected+1e-8))
		}

		for _, a.Optimizer = range []engine.Optimizer{engine.Momentum, engine.Nesterov} {
			g, after = run(a)
			name := a.Optimizer.String()
			for k, start := range p.Flat {
				first := float64(start) + learningRate*g[0][k]
				velocity := 0.95*g[0][k] + g[1][k]
				want(name+", step 1, parameter", k, after[0].Parameters.Flat[k], first)
				want(name+", velocity", k, after[1].Moments[0].Flat[k], velocity)
				want(name+", step 2, parameter", k, after[1].Parameters.Flat[k], first+learningRate*velocity)
			}
		}
	})
}

// lookAhead tests that Nesterov's plain and natural gradients equal those at θ + ηβv by gradient
// descent, and that the Fisher blocks are computed there too (Várady 2025, 6.10).
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
