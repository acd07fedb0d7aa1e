package enginetest

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// tinyTanh has one tanh layer in each conditional, wideTanh two.
var (
	tinyTanh = engine.Architecture{Units: []int{3, 2, 2}, Tanh: []int{2}}
	wideTanh = engine.Architecture{Units: []int{40, 6, 7}, Tanh: []int{35, 4}, Coding: engine.PlusMinusOne}
)

// gradientOfTanh compares the plain and natural gradients of machines with tanh layers with the
// oracle's gradients on the samples that the engine has drawn. It also does so in parts and with
// regularisers.
func gradientOfTanh(t *testing.T, e engine.Engine) {
	gradientOf(t, e, tinyTanh, wideTanh)
	a := preset{rule: engine.ReweightedWakeSleep, metric: engine.Euclidean}.algorithm()
	a.Entropy, a.L2, a.Samples = 0.7, 0.2, 120
	trainer := newTrainer(t, e, job(a, randomRows(3, 40)), engine.NewState(a, oracle.Random(wideTanh, seed)))
	g, n := gradients(t, trainer), oracle.NewNetworks(state(t, trainer).Parameters)
	wantGradient(t, "plain gradient", g.Plain, plainGradient(a, n, oracleSamples(g, a.Samples), 0), 1e-5)
}

// resumptionOfTanh tests that training continues bit for bit from a copy of the state.
func resumptionOfTanh(t *testing.T, e engine.Engine) { resumptionOf(t, e, wideTanh) }
