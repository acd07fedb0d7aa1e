package deterministic

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

type noisyOr struct{}

// silence returns E, the negative logarithm of the probability that no parent switches the unit on.
// E is a sum over the parents and the bias, because they act independently.
func silence(q, w []float64, b float64) float64 {
	e := statistics.Softplus(b)
	for k, w := range w {
		e -= math.Log(spared(q[k], w))
	}
	return e
}

// spared returns the probability 1 − q σ(w) that a parent of activity q does not switch the unit
// on, in a form that vanishes only if the parent is certain to switch it on.
func spared(q, w float64) float64 { return (1 - q) + q*statistics.Sigmoid(-w) }

// logAwake returns log p = log(1 − exp(−E)).
func logAwake(e float64) float64 { return math.Log(-math.Expm1(-e)) }

func (noisyOr) logProbabilities(q, w []float64, b float64) (on, off float64) {
	e := silence(q, w, b)
	return logAwake(e), -e
}

// addGradient relies on the derivative with respect to E, which is (1−t) − t/(exp(E)−1).
func (noisyOr) addGradient(t float64, q, w []float64, b float64, dq, dw []float64) (db float64) {
	de := (1 - t) - t/math.Expm1(silence(q, w, b))
	return addSilenceGradient(de, q, w, b, dq, dw)
}

// addSilenceGradient adds de times the derivatives of E:
//
//	∂E/∂q_k = r_k / (1 − q_k r_k),  ∂E/∂w_k = q_k r_k (1−r_k) / (1 − q_k r_k),  ∂E/∂b = r_b.
func addSilenceGradient(de float64, q, w []float64, b float64, dq, dw []float64) (db float64) {
	for k, w := range w {
		scaled := de * statistics.Sigmoid(w) / spared(q[k], w)
		dq[k] += scaled
		dw[k] += scaled * q[k] * statistics.Sigmoid(-w)
	}
	return de * statistics.Sigmoid(b)
}
