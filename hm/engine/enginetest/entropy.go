package enginetest

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// entropyEstimatorAsBaseline tests that the printed estimator, at the strength of the q-wake phase,
// changes q exactly as the baseline does.
func entropyEstimatorAsBaseline(t *testing.T, e engine.Engine) {
	for rule, strength := range map[engine.Rule]float64{engine.ReweightedWakeSleep: 0.5, engine.Bidirectional: 1} {
		a := preset{rule: rule}.algorithm()
		p := machine(engine.PlusMinusOne, 4, 3, 2)
		j := job(a, randomRows(5, 4))
		baseline := gradients(t, newTrainer(t, e, j, engine.NewState(a, p)))
		j.Algorithm.Baseline, j.Algorithm.EntropyEstimator = false, strength
		estimator := gradients(t, newTrainer(t, e, j, engine.NewState(a, p)))
		size := p.Architecture.GenerativeSize()
		if e := relativeError(doubles(estimator.Plain.Flat[size:]), doubles(baseline.Plain.Flat[size:])); !(e < 1e-5) {
			t.Errorf("%v: the gradients of q differ by a relative %.2g", rule, e)
		}
	}
}
