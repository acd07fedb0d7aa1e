package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// normsOfLayers tests that a step reports the norms of its gradient before the metric, of its
// direction, both in the first update, and of the weights after the step. Reading the norms must
// change nothing.
func normsOfLayers(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.L2, a.Entropy, a.RefreshEvery = 0.1, 0.2, 2
		for _, a.SleepSteps = range []int{1, 2} {
			if a.SleepSteps > 1 && !a.HasSleep() {
				continue
			}
			everyCoding(t, func(t *testing.T, p *engine.Parameters) { wantNormsOfSteps(t, e, a, p) }, small, large)
		}
	})
	t.Run("tanh", func(t *testing.T) { // the gradient follows from its weights
		a := preset{rule: engine.ReweightedWakeSleep, metric: engine.Euclidean}.algorithm()
		for _, a.SleepSteps = range []int{1, 3} {
			wantNormsOfSteps(t, e, a, oracle.Random(tinyTanh, seed))
		}
	})
}

func wantNormsOfSteps(t *testing.T, e engine.Engine, a engine.Algorithm, p *engine.Parameters) {
	t.Helper()
	a, data := sized(a, p)
	j := job(a, data)
	trainer, unasked := newTrainer(t, e, j, engine.NewState(a, p)), newTrainer(t, e, j, engine.NewState(a, p))
	for range 4 {
		g := gradients(t, trainer)
		step(t, trainer, learningRate)
		step(t, unasked, learningRate)
		got := must(trainer.Norms())(t)
		after := state(t, trainer)
		depth := p.Architecture.Depth()
		if len(got.Generative) != depth || len(got.Recognition) != depth {
			t.Fatalf("norms of %d and %d layers, want %d", len(got.Generative), len(got.Recognition), depth)
		}
		for i := range depth {
			wantNorms(t, got.Generative[i], after.Parameters.Generative[i], g.Plain.Generative[i], g.Direction.Generative[i])
			wantNorms(t, got.Recognition[i], after.Parameters.Recognition[i+1], g.Plain.Recognition[i+1], g.Direction.Recognition[i+1])
		}
		wantSameState(t, after, state(t, unasked))
	}
}

func wantNorms(t *testing.T, got engine.LayerNorms, weights, gradient, direction engine.Layer) {
	t.Helper()
	for what, pair := range map[string]struct {
		got  float64
		want engine.Layer
	}{"weights": {got.Weights, weights}, "gradient": {got.Gradient, gradient}, "direction": {got.Direction, direction}} {
		squares := 0.0
		for k, w := range pair.want.Data {
			if k%pair.want.Width > 0 {
				squares += float64(w) * float64(w)
			}
		}
		if want := math.Sqrt(squares); !(math.Abs(pair.got-want) <= 1e-6*want) {
			t.Errorf("the norm of the %s is %v, want %v", what, pair.got, want)
		}
	}
}
