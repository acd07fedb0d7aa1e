package deterministic

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Activation selects how the probability p that a generative unit is on depends on the activities
// q_k of its parents, the weights w_k and the bias b.
type Activation int

const (
	// Logistic is the form of the recognition network (On Helmholtz Machines, 9), p = σ(b + Σ w_k q_k).
	Logistic Activation = iota
	// NoisyOr is the second factor of (On Helmholtz Machines, 11), p = 1 − (1−r_b) Π_k (1 − r_k
	// q_k): each parent that is on would switch the unit on with probability r_k = θ_k/(1+θ_k),
	// independently of the others. The odds are θ_k = exp(w_k), so r_k = σ(w_k). The bias acts as a
	// parent that is always on, r_b = σ(b).
	NoisyOr
	// PrintedProduct is (On Helmholtz Machines, 11) as printed, NoisyOr times S/(1+S), where S =
	// exp(b) + Σ_k exp(w_k) q_k is the sum of the odds. For one parent that is certainly on with
	// odds 1, either factor alone gives ½ and their product ¼: as printed, a cause of odds θ
	// switches the unit on with probability (θ/(1+θ))², not θ/(1+θ).
	PrintedProduct
)

var activationNames = names.New("activation", "logistic", "noisy-or", "printed-product")

func (a Activation) String() string                { return activationNames.Name(int(a)) }
func (a Activation) MarshalText() ([]byte, error)  { return activationNames.Marshal(int(a)) }
func (a *Activation) UnmarshalText(t []byte) error { return activationNames.Parse((*int)(a), t) }

// rule computes one form of activation for a unit with weights w and bias b, whose parents have the
// activities q.
type rule interface {
	// logProbabilities returns log p and log(1−p).
	logProbabilities(q, w []float64, b float64) (on, off float64)
	// addGradient adds the derivatives of −t log p − (1−t) log(1−p) with respect to q and w, at
	// constant t, to dq and dw. It returns the derivative with respect to b.
	addGradient(t float64, q, w []float64, b float64, dq, dw []float64) (db float64)
}

var rules = map[Activation]rule{Logistic: logistic{}, NoisyOr: noisyOr{}, PrintedProduct: printedProduct{}}

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
