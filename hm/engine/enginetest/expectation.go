package enginetest

import (
	"fmt"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// anotherRule is a rule with every phase that no method has.
var anotherRule = engine.Rule{Exponent: 0.3, QWake: 0.8, Sleep: 0.5}

// meanGradient tests that the plain gradient, averaged over many steps, is the exact mean of the
// self-normalised estimator at its number of samples (a sum over all tuples of samples), and not
// its limit. One rule is enough, because gradientOfSamples compares the gradients of all rules, given
// the samples.
func meanGradient(t *testing.T, e engine.Engine) {
	steps := many(2000)
	a := preset{rule: anotherRule}.algorithm()
	everyCoding(t, func(t *testing.T, p *engine.Parameters) {
		n, data := oracle.NewNetworks(p), randomRows(3, p.Architecture.Visible())
		a.BatchSize = data.Rows
		for _, a.Samples = range []int{1, 3} {
			trainer := newTrainer(t, e, job(a, data), engine.NewState(a, p))
			mean := make([]float64, len(p.Flat))
			for range steps {
				for k, v := range gradients(t, trainer).Plain.Flat {
					mean[k] += float64(v) / float64(steps)
				}
				step(t, trainer, 0) // the next step, with unchanged parameters
			}
			want := n.Expected(n.Rows(data), a.Samples, data.Rows*a.Samples, a)
			for k := range want.Variance {
				want.Variance[k] /= float64(steps)
			}
			got, expected, variance := parts(p.Architecture, mean), parts(p.Architecture, want.Mean), parts(p.Architecture, want.Variance)
			for part := range got {
				wantMean(t, fmt.Sprintf("%s, S = %d", part, a.Samples), got[part], expected[part], variance[part])
			}
		}
	}, tiny, small)
}
