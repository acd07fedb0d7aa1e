package deterministic

import (
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

type logistic struct{}

func (logistic) logProbabilities(q, w []float64, b float64) (on, off float64) {
	a := b + floats.Dot(w, q)
	return -statistics.Softplus(-a), -statistics.Softplus(a)
}

// addGradient relies on the derivative with respect to a = b + Σ w_k q_k, which is p − t.
func (logistic) addGradient(t float64, q, w []float64, b float64, dq, dw []float64) (db float64) {
	da := statistics.Sigmoid(b+floats.Dot(w, q)) - t
	floats.AddScaled(dq, da, w)
	floats.AddScaled(dw, da, q)
	return da
}
