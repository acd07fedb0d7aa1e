// Package deterministic is the deterministic Helmholtz machine (Dayan, Hinton, Neal and
// Zemel 1995) as the unpublished note On Helmholtz Machines has it, in which nothing is
// sampled to learn.
//
// The stochastic states of the hidden units are replaced by their means, as in a
// mean field (On Helmholtz Machines, 9). With q⁰ = x and, for the layers l = 1 … L above,
//
//	q^l = σ(φ^l q^{l−1} + c^l)
//
// the generative network predicts each layer from the means of the one above it,
// p^l = p(θ^l, q^{l+1}), the top layer from its biases alone. Activation lists
// the forms of p. The free energy of a datum, in nats, compares the two networks
// unit by unit (On Helmholtz Machines, 12, with the sign of F):
//
//	F(x) = −log p(x | q¹) + Σ_{l≥1} Σ_j KL(q_j^l ‖ p_j^l)
//
// F is a differentiable function of all parameters, and training descends on it.
// In the rest of this library each unit learns from what its own parents did;
// here a change of q^l moves every layer above it, so its derivative has to come
// down through the recognition network: see Machine.AddGradient.
//
// The free energy of the stochastic machine is never below −log p(x). Here the
// means stand inside the logarithms, and F is no such bound: it can lie on
// either side of −log p(x), which Machine.LogP computes for small machines. Where
// all means are 0 or 1, the two free energies agree.
//
// Three of the note's indices are read as they must be meant. The products of
// (10) and the sum of (12) include the data layer, and the parents of p^l are the
// layer above it, not below. The exponents of 1−q in (7) and of 1−p in (10) are
// 1−s. Both networks have biases, which the note leaves to a unit that is always
// on.
//
// # Training
//
// The family "deterministic" of package runs trains machines: runs are resumed bit
// for bit, repeated with several seeds and compared as those of any family.
//
//	e := deterministic.NewExperiment(grid, deterministic.NoisyOr, 6)
//	e.Epochs = 300
//	run, err := e.Train(ctx, grid, "runs/grid")
//	logP, err := run.Model().LogP(ctx, images)
package deterministic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Machine is a deterministic Helmholtz machine.
type Machine struct {
	Activation Activation // of the generative network
	Units      []int      // of each layer, the data first
	*Parameters
	shape dataset.Shape // of the data, of height 0 if it is not known
	adam  *adam         // of a machine that is trained
}

// String names the layers of units, the data first, and the activation.
func (m *Machine) String() string {
	return fmt.Sprintf("a deterministic Helmholtz machine of %s units, %v", names.Layers(m.Units), m.Activation)
}

// New returns a machine with these numbers of units, from the data upwards: at
// least one hidden layer. Its parameters are drawn by seed: weights from a normal
// distribution of variance 2/(in+out), all biases 0 but those of generative units
// whose weights are odds. These are −1, and the means of the weights are such
// that the odds of all parents together are about 1: unlike weights that can be
// negative, odds only ever switch a unit on.
func New(activation Activation, seed uint64, units ...int) (*Machine, error) {
	if _, err := activation.MarshalText(); err != nil {
		return nil, err
	}
	if err := checkUnits(units); err != nil {
		return nil, err
	}
	m := &Machine{Activation: activation, Units: slices.Clone(units), Parameters: newParameters(units), shape: dataset.Shape{Width: units[0]}}
	for n, network := range [][]Layer{m.Recognition, m.Generative} {
		for i, layer := range network {
			random := rand.New(philox.NewStream(seed, philox.Initialize, uint32(n<<16|i)))
			deviation := math.Sqrt(2 / float64(layer.Units+layer.Parents))
			for k := range layer.Weights {
				layer.Weights[k] = deviation * random.NormFloat64()
			}
		}
	}
	if activation != Logistic {
		for _, layer := range m.Generative {
			for k := range layer.Weights {
				layer.Weights[k] -= math.Log(float64(layer.Parents))
			}
			for j := range layer.Biases {
				layer.Biases[j] = -1
			}
		}
	}
	return m, nil
}

// mostUnits bounds the units of a layer.
const mostUnits = 1 << 18

// checkUnits refuses numbers of units, the data first, that no machine has.
func checkUnits(units []int) error {
	if len(units) < 2 {
		return fmt.Errorf("units %v: give the number of units of the data and of at least one hidden layer", units)
	}
	for l, n := range units {
		if n < 1 || n > mostUnits {
			return fmt.Errorf("units %v: layer %d has %d units; give each between 1 and %d", units, l, n, mostUnits)
		}
	}
	return nil
}

// depth is the number of hidden layers.
func (m *Machine) depth() int { return len(m.Units) - 1 }

// Recognize returns the means of the units of every layer, given a datum: q⁰,
// which is x itself, q¹ … q^L (On Helmholtz Machines, 9).
func (m *Machine) Recognize(x []float64) [][]float64 { return m.recognize(x).means }

// Generate returns the probabilities p^l that the units of layer l are on, given
// the activities in [0, 1] of the layer above it; those of the top layer, whose
// only parent is the bias, given none.
func (m *Machine) Generate(l int, above []float64) []float64 {
	layer := m.Generative[l]
	layer.check(above)
	p := make([]float64, layer.Units)
	for j := range p {
		on, _ := rules[m.Activation].logProbabilities(above, layer.Row(j), layer.Biases[j])
		p[j] = math.Exp(on)
	}
	return p
}
