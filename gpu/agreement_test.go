//go:build cuda

package gpu

import (
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// wantSameSteps tests that both engines draw the same samples in training and learn the same from them, also from rows
// that repeat in a minibatch, and that each continues from a state of the other. tolerance is relative, of directions.
func wantSameSteps(t *testing.T, a engine.Algorithm, data engine.Data, arch engine.Architecture, tolerance float64) {
	t.Helper()
	e, reference := opened(t), onCPU(t)
	j := minibatches(a, data)
	j.Rows = func(step int) []int { return []int{step % 3, 1, step % 2, 3, 4, 2} }
	j.Repeats = true
	state := engine.NewState(a, oracle.Random(arch, 3))
	for range 2 {
		var g [2]engine.Gradients
		var reports [2][]engine.Report
		var states [2]*engine.State
		for k, one := range []engine.Engine{reference, e} {
			trainer, err := one.NewTrainer(j, state.Clone())
			if err != nil {
				t.Fatal(err)
			}
			defer trainer.Close()
			if g[k], err = trainer.Gradients(0.01); err != nil {
				t.Fatal(err)
			}
			for rates := []float64{0.01, 0.02, 0.01}; len(reports[k]) < len(rates); {
				some, err := trainer.Steps(t.Context(), rates[len(reports[k]):])
				if err != nil {
					t.Fatal(err)
				}
				reports[k] = append(reports[k], some...)
			}
			if states[k], err = trainer.State(); err != nil {
				t.Fatal(err)
			}
		}
		if n := differentDraws(g[0].Wake, g[1].Wake) + differentDraws(g[0].Dreams, g[1].Dreams); n > 0 {
			t.Fatalf("%d draws differ", n)
		}
		wantClose(t, "gradient", g[1].Plain.Flat, g[0].Plain.Flat, min(tolerance, 1e-5))
		wantClose(t, "direction", g[1].Direction.Flat, g[0].Direction.Flat, tolerance)
		wantClose(t, "parameters", states[1].Parameters.Flat, states[0].Parameters.Flat, tolerance/10)
		for k := range states[0].Moments {
			wantClose(t, "moments", states[1].Moments[k].Flat, states[0].Moments[k].Flat, tolerance)
		}
		for s := range reports[0] {
			if math.Abs(reports[0][s].LogP-reports[1][s].LogP) > 1e-4 {
				t.Errorf("the reports are %v and %v", reports[0], reports[1])
			}
		}
		state = states[1]
	}
}

// wantSameEvaluations tests that both engines draw the same samples of a machine, and find the same log-probabilities.
func wantSameEvaluations(t *testing.T, arch engine.Architecture, data engine.Data) {
	t.Helper()
	data.First = 5
	var classes, weights, z2 [2][]float64
	var inferred, generated, descended [2]engine.Draws
	for k, one := range []engine.Engine{onCPU(t), opened(t)} {
		m, err := one.NewModel(oracle.Random(arch, 3), engine.FloatingPoint)
		if err != nil {
			t.Fatal(err)
		}
		var errs [6]error
		if arch.Labels() > 0 { // the samples of a row come in several pieces
			classes[k], errs[0] = m.(engine.Classifier).Classify(t.Context(), data.Part(0, 3), samplesAPass+2, 9, nil)
		}
		weights[k], errs[1] = m.LogWeights(t.Context(), data, 3, 9)
		z2[k], errs[2] = m.LogZ2(t.Context(), 2, 5, 3, 9)
		inferred[k], errs[3] = m.Infer(t.Context(), data, 3, 9)
		generated[k], errs[4] = m.Generate(t.Context(), 50, 9)
		descended[k], errs[5] = m.Descend(t.Context(), 50, 1, 9)
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for what, pair := range map[string][2][]float64{"classes": classes, "log-weights": weights, "log Z²": z2} {
		for r := range pair[0] {
			if !(math.Abs(pair[0][r]-pair[1][r]) <= 1e-4) {
				t.Fatalf("%s: number %d is %v, on the CPU %v", what, r, pair[1][r], pair[0][r])
			}
		}
	}
	for what, pair := range map[string][2]engine.Draws{"inferred": inferred, "generated": generated, "descended": descended} {
		if n := differentDraws(pair[0], pair[1]); n > 0 {
			t.Errorf("%s: %d draws differ", what, n)
		}
		wantClose(t, what+" means", slices.Concat(pair[1].Means...), slices.Concat(pair[0].Means...), 1e-5)
	}
}
