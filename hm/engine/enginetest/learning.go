package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// learning tests that each preset, with each optimiser, learns a distribution that independent
// units cannot explain: KL(p_D‖p) falls below half of its initial value.
func learning(t *testing.T, e engine.Engine) {
	data := engine.Data{Values: numbers.Bytes(3, []uint8{
		0, 0, 0,
		0, 0, 0,
		255, 255, 0,
		0, 255, 255,
	})}
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		every(t, func(t *testing.T, p *engine.Parameters) {
			a.BatchSize, a.Samples, a.RefreshEvery = 4, 10, 10
			n := oracle.NewNetworks(p)
			rows := n.Rows(data)
			before := n.KL(rows)
			for optimizer, rate := range map[engine.Optimizer]float64{
				engine.GradientDescent: 0.5, engine.Adam: 0.05, engine.Momentum: 0.05, engine.Nesterov: 0.05,
			} {
				if testing.Short() && int(optimizer) != (int(2*a.Exponent)+int(a.Metric))%4 {
					continue // one optimiser for each preset
				}
				a.Optimizer = optimizer
				trainer := newTrainer(t, e, job(a, data), engine.NewState(a, p))
				for range 800 {
					step(t, trainer, rate)
				}
				after := oracle.NewNetworks(state(t, trainer).Parameters).KL(rows)
				t.Logf("%v: KL from %.3f to %.3f nats", optimizer, before, after)
				if !(after < before/2) {
					t.Errorf("%v: KL is %.3f nats after training, %.3f before", optimizer, after, before)
				}
			}
		}, tiny)
	})
}

// divergence tests that the steps of a machine that has diverged report NaN as the bound, or fail.
func divergence(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		p := machine(engine.ZeroOne, 4, 3, 2)
		p.Generative[0].Row(1)[0] = float32(math.NaN())
		p.Recognition[1].Row(1)[0] = float32(math.NaN())
		trainer := newTrainer(t, e, job(a, randomRows(5, 4)), engine.NewState(a, p))
		reports, err := trainer.Steps(t.Context(), []float64{learningRate})
		if err == nil && !math.IsNaN(reports[0].Bound) {
			t.Errorf("a step with parameters that are NaN reports a bound of %v", reports[0].Bound)
		}
	})
}
