package deterministic

import "math"

type printedProduct struct{}

// oddsSum returns S, the sum of the odds of the parents and of the bias.
func oddsSum(q, w []float64, b float64) float64 {
	s := math.Exp(b)
	for k, w := range w {
		s += q[k] * math.Exp(w)
	}
	return s
}

// logProbabilities uses p = S/(1+S) · (1 − exp(−E)) and 1−p = (1 + S exp(−E)) / (1+S), where E is
// as in the noisy-OR.
func (printedProduct) logProbabilities(q, w []float64, b float64) (on, off float64) {
	s, e := oddsSum(q, w, b), silence(q, w, b)
	return math.Log(s) - math.Log1p(s) + logAwake(e), math.Log1p(s*math.Exp(-e)) - math.Log1p(s)
}

// addGradient uses the derivatives with respect to S and E, where m = exp(−E),
//
//	∂/∂S: −t/(S(1+S)) + (1−t) (1−m)/((1+S)(1+Sm))
//	∂/∂E: −t/(exp(E)−1) + (1−t) Sm/(1+Sm)
func (printedProduct) addGradient(t float64, q, w []float64, b float64, dq, dw []float64) (db float64) {
	s, e := oddsSum(q, w, b), silence(q, w, b)
	m := math.Exp(-e)
	ds := (-t/s + (1-t)*-math.Expm1(-e)/(1+s*m)) / (1 + s)
	de := -t/math.Expm1(e) + (1-t)*s*m/(1+s*m)
	for k, w := range w {
		odds := math.Exp(w)
		dq[k] += ds * odds
		dw[k] += ds * odds * q[k]
	}
	return ds*math.Exp(b) + addSilenceGradient(de, q, w, b, dq, dw)
}
