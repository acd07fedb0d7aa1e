package oracle

import "github.com/helmholtz-go/helmholtz/internal/statistics"

// LocalEntropy returns the mean, under a measure, of the sum of the conditional entropies
// H(unit|parents) of units, in nats. Under the distribution of the units themselves it is their
// joint entropy (Várady 2025, 6.17, with the sign of an entropy).
func (n *Networks) LocalEntropy(units []Unit, m Distribution) float64 {
	sum := 0.0
	for v, weight := range m {
		for _, u := range units {
			_, _, a := n.Outputs(u, v)
			on := statistics.Sigmoid(a)
			sum -= weight * (on*logBernoulli(true, a) + (1-on)*logBernoulli(false, a))
		}
	}
	return sum
}

// LocalEntropyGradient returns the gradient of LocalEntropy with the measure held fixed: ∂H/∂a = −a
// σ(a)(1−σ(a)) times [1; parents] for each unit. It neglects that the distribution of the parents
// depends on the parameters too.
func (n *Networks) LocalEntropyGradient(units []Unit, m Distribution) []float64 {
	gradient := make([]float64, len(n.Flat))
	for v, weight := range m {
		for _, u := range units {
			_, _, a := n.Outputs(u, v)
			on := statistics.Sigmoid(a)
			n.addGradient(gradient, u, u.Start, u.parentsOf(v), -weight*a*on*(1-on))
		}
	}
	return gradient
}
