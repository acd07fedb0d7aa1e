package enginetest

import (
	"fmt"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// sampleSchedule tests that a changing number of samples changes in the right step: draws,
// gradients and Fisher blocks use the step's own number. A trainer resumed near the change
// recomputes frozen blocks from the number of samples that they were computed from.
func sampleSchedule(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		for _, numbers := range [][2]int{{3, 7}, {7, 3}} {
			t.Run(fmt.Sprint(numbers), func(t *testing.T) {
				a.Samples, a.LaterSamples, a.LaterSamplesFrom = numbers[0], numbers[1], 5
				a.RefreshEvery = 2
				p := machine(engine.PlusMinusOne, 20, 12, 7, 5, 3)
				j := job(a, randomRows(8, 20))
				trainer := newTrainer(t, e, j, engine.NewState(a, p))
				var midway []*engine.State
				var blocks []oracle.Block
				for s := range 8 {
					midway = append(midway, state(t, trainer))
					g := gradients(t, trainer)
					samples := numbers[0]
					if s >= 5 {
						samples = numbers[1]
					}
					if want := len(j.Rows(s)) * samples; g.Wake.Rows != want {
						t.Fatalf("step %d has %d wake samples, want %d", s, g.Wake.Rows, want)
					}
					now := a
					now.Samples = samples
					if s%2 == 0 {
						blocks = fisherBlocks(now, midway[s].Parameters, g)
					}
					wantGradient(t, "plain gradient", g.Plain,
						oracle.NewNetworks(midway[s].Parameters).GradientOn(oracleSamples(g, samples), rule(a)), 1e-5)
					wantGradient(t, "natural gradient", g.Natural, natural(t, a, g.Plain, blocks), 1e-5)
					wantReport(t, step(t, trainer, learningRate), g.Wake, samples)
				}
				for s := 4; s < 8; s++ {
					resumed := newTrainer(t, e, j, midway[s])
					for range 8 - s {
						step(t, resumed, learningRate)
					}
					wantSameState(t, state(t, resumed), state(t, trainer))
				}
			})
		}
	})
}
