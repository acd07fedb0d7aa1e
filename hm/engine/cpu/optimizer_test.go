package cpu

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// TestUpdate checks two steps of each optimiser against hand computations: from θ = 1, with η = 0.1
// and the gradients 2 and −1.
func TestUpdate(t *testing.T) {
	for _, test := range []struct {
		algorithm engine.Algorithm
		ahead     float64 // where the second gradient is evaluated
		after     [2]float64
	}{
		{engine.Algorithm{Optimizer: engine.GradientDescent}, 1.2, [2]float64{1.2, 1.1}},
		// v = 2, then 0.5·2 − 1 = 0.
		{engine.Algorithm{Optimizer: engine.Momentum, Momentum: 0.5}, 1.2, [2]float64{1.2, 1.2}},
		// As above, but the velocity alone leads to 1.2 + 0.1·0.5·2.
		{engine.Algorithm{Optimizer: engine.Nesterov, Momentum: 0.5}, 1.3, [2]float64{1.2, 1.2}},
		// m = 1, m̂ = 2; v = 1, v̂ = 4; θ = 1 + 0.1·2/2. Then m = 0.5·1 − 0.5 = 0.
		{engine.Algorithm{Optimizer: engine.Adam, AdamBeta1: 0.5, AdamBeta2: 0.75}, 1.1, [2]float64{1.1, 1.1}},
	} {
		a := test.algorithm
		architecture := engine.Architecture{Units: []int{1, 1}}
		state := engine.NewState(a, engine.NewParameters(architecture))
		a.BatchSize, a.Samples = 1, 1
		made, err := cpu{}.NewTrainer(engine.Job{Algorithm: a}, state)
		if err != nil {
			t.Fatal(err)
		}
		trainer := made.(*trainer)
		want := func(what string, got float32, want float64) {
			t.Helper()
			if !(math.Abs(float64(got)-want) <= 1e-6) {
				t.Errorf("%v: %s is %v, want %v", a.Optimizer, what, got, want)
			}
		}
		state.Parameters.Flat[0] = 1
		for s, g := range []float32{2, -1} {
			trainer.lookAhead(0.1)
			if s == 1 {
				want("the point of the second gradient", trainer.point.Flat[0], test.ahead)
			}
			trainer.gradient.Flat[0] = g
			trainer.update(trainer.gradient, 0.1, 0, 1, s+1)
			state.Step++
			want("the parameter after a step", state.Parameters.Flat[0], test.after[s])
		}
	}
}
