package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// normsHeldDown tests that the direction of a step is the natural gradient minus the gradient of
// β₁‖w‖₁ + ½β₂‖w‖², computed by finite differences, at the strength that the warm-up has reached.
// The metric does not change that gradient, and biases are not penalised.
func normsHeldDown(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		for _, strength := range [][2]float64{{0.3, 0}, {0, 0.2}, {0.3, 0.2}} {
			for _, a.Optimizer = range everyOptimizer {
				a.L1, a.L2, a.WarmUp = strength[0], strength[1], 4
				t.Run(fmt.Sprintf("%v,%v", strength, a.Optimizer), func(t *testing.T) {
					trainer := newTrainer(t, e, job(a, randomRows(5, 4)), engine.NewState(a, machine(engine.PlusMinusOne, 4, 3, 2)))
					for s := range 6 {
						g, point := gradients(t, trainer), evaluationPoint(a, state(t, trainer))
						want := doubles(g.Natural.Flat)
						warmth := math.Min(1, float64(s)/4)
						for k := range want {
							want[k] -= warmth * difference(point, k, func() float64 { return norms(point, a.L1, a.L2) })
						}
						wantGradient(t, "direction", g.Direction, want, 1e-5)
						step(t, trainer, learningRate)
					}
				})
			}
		}
	})
}

// norms returns β₁‖w‖₁ + ½β₂‖w‖² of the weights of both networks.
func norms(n *oracle.Networks, l1, l2 float64) (sum float64) {
	for _, units := range [][]oracle.Unit{n.Generative, n.Recognition} {
		for _, u := range units {
			for _, w := range n.Flat[u.Start+1 : u.Start+u.Width] {
				sum += l1*math.Abs(w) + l2*w*w/2
			}
		}
	}
	return sum
}

// difference returns the derivative of f by parameter k, by central differences.
func difference(n *oracle.Networks, k int, f func() float64) float64 {
	const h = 1e-5
	was := n.Flat[k]
	n.Flat[k] = was + h
	above := f()
	n.Flat[k] = was - h
	below := f()
	n.Flat[k] = was
	return (above - below) / (2 * h)
}

// evaluationPoint returns the parameters at which a step with learningRate evaluates its gradient.
func evaluationPoint(a engine.Algorithm, s *engine.State) *oracle.Networks {
	n := oracle.NewNetworks(s.Parameters)
	if a.Optimizer == engine.Nesterov {
		for k, v := range s.Moments[0].Flat {
			n.Flat[k] += learningRate * a.Momentum * float64(v)
		}
	}
	return n
}
