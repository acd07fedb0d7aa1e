package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// regularized compares the plain and natural gradient of each preset, with a regulariser of the
// entropies at the strength reached in a warm-up of four steps, with the oracle. term returns what
// a strength of 1 adds to the plain gradient on the samples of the step.
func regularized(t *testing.T, e engine.Engine, set func(*engine.Algorithm), strength float64,
	term func(n *oracle.Networks, p, q oracle.Measure) []float64) {
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		if a.Reinforce {
			return // has no entropy
		}
		set(&a)
		a.WarmUp = 4
		everyCoding(t, func(t *testing.T, p *engine.Parameters) {
			a, data := sized(a, p)
			trainer := newTrainer(t, e, job(a, data), engine.NewState(a, p))
			for s := range 6 {
				g := gradients(t, trainer)
				parameters := state(t, trainer).Parameters
				n, samples := oracle.NewNetworks(parameters), oracleSamples(g, a.Samples)
				want := n.GradientOn(samples, rule(a))
				for k, v := range term(n, oracle.DreamMeasure(samples), n.WakeMeasure(samples, oracle.Uniform)) {
					want[k] += strength * math.Min(1, float64(s)/4) * v
				}
				wantGradient(t, "plain gradient", g.Plain, want, 1e-5)
				wantGradient(t, "natural gradient", g.Natural, natural(t, a, g.Plain, fisherBlocks(a, parameters, g)), 1e-5)
				step(t, trainer, learningRate)
			}
		}, []int{4, 3, 2}, []int{20, 12, 7, 5, 3})
	})
}

// entropy tests that the entropy regulariser adds, before the metric, β times the exact gradient of
// the local entropies of p in dreams and of q in the wake samples. It computes that gradient by
// finite differences.
func entropy(t *testing.T, e engine.Engine) {
	regularized(t, e, func(a *engine.Algorithm) { a.Entropy = 0.7 }, 0.7,
		func(n *oracle.Networks, p, q oracle.Measure) []float64 {
			gradient := n.LocalEntropyGradient(n.Generative, p)
			for k, v := range n.LocalEntropyGradient(n.Recognition, q) {
				gradient[k] += v
			}
			if len(n.Flat) < 100 {
				objective := func() float64 { return n.LocalEntropy(n.Generative, p) + n.LocalEntropy(n.Recognition, q) }
				for k := range gradient {
					gradient[k] = difference(n, k, objective)
				}
			}
			return gradient
		})
}

// entropyEstimator tests that the printed estimator subtracts β times the mean scores of p in
// dreams and of q in the wake samples.
func entropyEstimator(t *testing.T, e engine.Engine) {
	regularized(t, e, func(a *engine.Algorithm) { a.EntropyEstimator = 0.7 }, -0.7,
		func(n *oracle.Networks, p, q oracle.Measure) []float64 {
			size := n.Architecture.GenerativeSize()
			return append(n.Score(p)[:size:size], n.Score(q)[size:]...)
		})
}

// entropyEstimatorAsBaseline tests that at the strength of the q-wake phase the printed estimator
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
