package hm

import (
	"math"
	"math/rand/v2"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Initialization selects how initial weights are drawn.
type Initialization int

const (
	// GlorotNormal draws from a normal distribution truncated at two standard deviations, with
	// variance 2/(in+out) after truncation (Várady 2025, App. A.2).
	GlorotNormal Initialization = iota
	// BidirectionalUniform draws from U(−1,1)·√(6/(in+out))/in, like the program behind Bornschein,
	// Shabanian, Fischer and Bengio 2016.
	BidirectionalUniform
	// SmallNormal draws from a normal distribution with standard deviation 0.001, truncated at two
	// standard deviations (Várady 2025, App. A.2, for BiHM and NBiHM).
	SmallNormal
)

var initializationNames = names.New("initialization", "glorot-normal", "bihm-uniform", "small-normal")

func (i Initialization) String() string               { return initializationNames.Name(int(i)) }
func (i Initialization) MarshalText() ([]byte, error) { return initializationNames.Marshal(int(i)) }
func (i *Initialization) UnmarshalText(t []byte) error {
	return initializationNames.Parse((*int)(i), t)
}

// initialize returns the initial parameters. Bernoulli units start with the bias of spec. Categorical
// units, tanh layers and the means of Gaussian units start with bias 0. The deviations of Gaussian units
// start with the bias of spec and with weights 0. The biases of the classifier are drawn like its weights.
func initialize(a engine.Architecture, spec MachineSpec, seed uint64) *engine.Parameters {
	p := engine.NewParameters(a)
	for n, network := range [][]engine.Layer{p.Generative, p.Recognition} {
		for i, layer := range network {
			random := rand.New(philox.NewStream(seed, philox.Initialize, uint32(n<<16|i)))
			deviations, means := a.Deviations(i, layer.Units), 0 // number of rows that compute means, not deviations
			for j := range layer.Units {
				if !deviations[j] {
					means++
				}
			}
			for j := range layer.Units {
				row := layer.Row(j)
				if a.Kind(i) == Bernoulli || deviations[j] {
					row[0] = float32(spec.Bias)
				}
				if deviations[j] {
					continue
				}
				for k := 1; k < len(row); k++ {
					row[k] = float32(spec.Weights.draw(random, layer.Width-1, means))
				}
			}
		}
	}
	for _, n := range a.Networks() {
		for i := range a.Units {
			layer := n.Layer(p, i)
			random := rand.New(philox.NewStream(seed, philox.Initialize, uint32(n+1)<<16|uint32(i))) // the classifier uses 2<<16
			for k := range layer.Data {
				if n.Place() > 0 && k%layer.Width > 0 {
					layer.Data[k] = float32(spec.Weights.draw(random, layer.Width-1, layer.Units))
				}
			}
		}
	}
	random := rand.New(philox.NewStream(seed, philox.Initialize, 2<<16))
	for k := range p.Classifier.Data {
		p.Classifier.Data[k] = float32(spec.Weights.draw(random, p.Classifier.Width-1, p.Classifier.Units))
	}
	return p
}

// truncatedDeviation is the standard deviation of a standard normal variable truncated at ±2.
const truncatedDeviation = 0.8796256610342398

func (i Initialization) draw(random *rand.Rand, in, out int) float64 {
	switch i {
	case BidirectionalUniform:
		return (2*random.Float64() - 1) * math.Sqrt(6/float64(in+out)) / float64(in)
	case SmallNormal:
		return 0.001 * truncatedNormal(random)
	}
	return math.Sqrt(2/float64(in+out)) / truncatedDeviation * truncatedNormal(random)
}

func truncatedNormal(random *rand.Rand) float64 {
	for {
		if x := random.NormFloat64(); math.Abs(x) <= 2 {
			return x
		}
	}
}
