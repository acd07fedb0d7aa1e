package deterministic

import "gonum.org/v1/gonum/floats"

type logistic struct{}

func (logistic) logProbabilities(q, w []float64, b float64) (on, off float64) {
	a := b + floats.Dot(w, q)
	return -softplus(-a), -softplus(a)
}

// The derivative with respect to a = b + Σ w_k q_k is p − t.
func (logistic) addGradient(t float64, q, w []float64, b float64, dq, dw []float64) (db float64) {
	da := sigmoid(b+floats.Dot(w, q)) - t
	floats.AddScaled(dq, da, w)
	floats.AddScaled(dw, da, q)
	return da
}
