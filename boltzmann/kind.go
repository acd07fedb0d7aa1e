package boltzmann

import "github.com/helmholtz-go/helmholtz/internal/names"

// Kind is the kind of the units of a side. What it says here of visible units holds of hidden ones
// likewise, of which Gaussian ones have the variance 1.
type Kind int

const (
	// Bernoulli units are 0 or 1.
	Bernoulli Kind = iota
	// Gaussian units are real numbers, v_i ~ N(b_i + (Wh)_i, σ_i²), of the energy
	//
	//	E(v,h) = ½ Σ_i (v_i − b_i)²/σ_i² − cᵀh − Σ_ij v_i W_ij h_j/σ_i²
	//
	// (Cho, Ilin and Raiko 2011; Goodfellow et al. 2016, 20.5.1). They stand for grey values,
	// less their means and over their standard deviations in the training rows, those of the
	// run that training starts from, where it does. The variances are learned.
	Gaussian
	// Categorical units are those of variables, as many of each as it has categories:
	// exactly one of them is 1, each with a probability in proportion to e^(b_i + (Wh)_i)
	// (softmax), and the others are 0.
	Categorical
)

var kindNames = names.New("kind of units", "bernoulli", "gaussian", "categorical")

func (k Kind) String() string                { return kindNames.Name(int(k)) }
func (k Kind) MarshalText() ([]byte, error)  { return kindNames.Marshal(int(k)) }
func (k *Kind) UnmarshalText(t []byte) error { return kindNames.Parse((*int)(k), t) }
