package engine

import "github.com/helmholtz-go/helmholtz/internal/names"

// Kind selects the conditional distribution of a layer's units, given the outputs that the layer's
// weights compute from the states of the parents.
type Kind int

const (
	// Bernoulli units are on with probability σ(a), for one output a.
	Bernoulli Kind = iota
	// Gaussian units are real, with mean μ and standard deviation σ = exp(a) + SigmaFloor, for two
	// outputs μ and a (Várady 2025, 7.1, with the normalisation 1/(√(2π) σ)). The next layer sees
	// their values.
	Gaussian
	// Categorical units represent the categories of variables. With groups, a layer holds several
	// variables (see Group). Without groups, it holds one, the label y of a semi-supervised machine
	// (BiHM thesis 2016, 4.2). At most one unit of a variable is on, with probabilities given by
	// the softmax of the outputs. The next layer sees 1 for the unit that is on and 0 for the
	// others, in either coding. If some groups hold real numbers, the layer mixes categorical and
	// Gaussian units.
	Categorical
)

// SigmaFloor is the smallest standard deviation of a Gaussian unit. It keeps densities finite if
// data repeat a value exactly: log p(x) gains at most −log(√(2π)·0.01) = 3.69 nats per unit. It
// lies between two and three of the 255 steps of grey from 0 to 1.
const SigmaFloor = 0.01

// Outputs returns the number of outputs per unit, which are the parameters of its distribution.
// Each output has separate weights.
func (k Kind) Outputs() int {
	if k == Gaussian {
		return 2
	}
	return 1
}

var kindNames = names.New("kind of units", "bernoulli", "gaussian", "categorical")

func (k Kind) String() string                { return kindNames.Name(int(k)) }
func (k Kind) MarshalText() ([]byte, error)  { return kindNames.Marshal(int(k)) }
func (k *Kind) UnmarshalText(t []byte) error { return kindNames.Parse((*int)(k), t) }
