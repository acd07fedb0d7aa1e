package deterministic

import (
	"github.com/helmholtz-go/helmholtz/internal/names"
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
