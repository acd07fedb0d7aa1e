// Package deterministic implements the deterministic Helmholtz machine (Dayan, Hinton, Neal and
// Zemel 1995) in the form of the unpublished note On Helmholtz Machines. It learns without
// sampling.
//
// The means of the hidden units replace their stochastic states, as in a mean field (On Helmholtz
// Machines, 9). With q⁰ = x and, for the layers l = 1 … L above,
//
//	q^l = σ(φ^l q^{l−1} + c^l)
//
// the generative network predicts each layer from the means of the layer above, p^l = p(θ^l,
// q^{l+1}), and the top layer from its biases only. Activation lists the forms of p. The free
// energy of a datum, in nats, compares the two networks unit by unit (On Helmholtz Machines, 12,
// with the sign of F):
//
//	F(x) = −log p(x | q¹) + Σ_{l≥1} Σ_j KL(q_j^l ‖ p_j^l)
//
// F is a differentiable function of all parameters, and training minimises it. In the rest of this
// library, each unit learns only from its state and the states of its parents. Here, a change of
// q^l changes the means of every layer above, so the derivative with respect to q^l has to come
// down through the recognition network: see Machine.AddGradient.
//
// The free energy of the stochastic machine is never below −log p(x). Here the means are inside the
// logarithms, so F is not a bound: it can lie on either side of −log p(x), which Machine.LogP
// computes for small machines. If all means are 0 or 1, the two free energies agree.
//
// Three indices of the note are corrected. The products of (10) and the sum of (12) include the
// data layer. The parents of p^l are in the layer above l, not below. The exponents of 1−q in (7)
// and of 1−p in (10) are 1−s. Both networks have biases; the note uses a unit that is always on
// instead.
//
// # Training
//
// The family "deterministic" of package runs trains machines. Like the runs of any family, its runs
// resume bit for bit, and can be repeated with several seeds and compared.
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
	"github.com/helmholtz-go/helmholtz/runs"
)

// Machine is a deterministic Helmholtz machine.
type Machine struct {
	Activation Activation // for the generative network
	Units      []int      // per layer, the data first
	*Parameters
	shape dataset.Shape // shape of the data; its height is 0 if unknown
	adam  *adam         // nil unless the machine is being trained
}

// String describes the machine by the number of units of each layer, the data first, and by the
// activation.
func (m *Machine) String() string {
	return fmt.Sprintf("a deterministic Helmholtz machine of %s units, %v", names.Layers(m.Units), m.Activation)
}

// New returns a machine with these numbers of units, from the data upward, including at least one
// hidden layer. It draws the weights from a normal distribution with variance 2/(in+out), using the
// seed, and sets the biases to 0. For NoisyOr and PrintedProduct, in which weights are logarithms
// of odds and parents can only switch a unit on, the generative biases are −1, and the generative
// weights are shifted so that the odds of all parents together are about 1.
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

// mostUnits is the largest number of units in a layer.
const mostUnits = 1 << 18

// checkUnits returns an error if no machine can have these numbers of units, the data first.
func checkUnits(units []int) error {
	if len(units) < 2 {
		return fmt.Errorf("units %v: use the number of units of the data and of at least one hidden layer", units)
	}
	for l, n := range units {
		if n < 1 || n > mostUnits {
			return fmt.Errorf("units %v: layer %d has %d units; use between 1 and %d for each layer", units, l, n, mostUnits)
		}
	}
	return nil
}

// depth returns the number of hidden layers.
func (m *Machine) depth() int { return len(m.Units) - 1 }

// Recognize returns the means of the units of every layer given a datum: q⁰ = x, q¹ … q^L (On
// Helmholtz Machines, 9). It panics if x does not have the length of the data layer.
func (m *Machine) Recognize(x []float64) [][]float64 { return m.recognize(x).means }

// Generate returns the probabilities p^l that the units of layer l are on, given the activities in
// [0, 1] of the layer above. For the top layer, whose only parent is the bias, above is empty. It panics
// if there is no layer l or above has the wrong length.
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

// Draw draws n states of all units from the generative network with stochastic binary units (On
// Helmholtz Machines, 10): the top layer from its biases, and each other layer from the states of
// the layer above. Sample i has one row of zeros and ones per layer, the data first. It depends
// only on seed and i. n must not be negative.
func (m *Machine) Draw(seed uint64, n int) [][][]float64 {
	samples := make([][][]float64, n)
	for i := range samples {
		random := philox.NewStream(seed, philox.Ancestral, uint32(i))
		samples[i] = make([][]float64, len(m.Units))
		var above []float64
		for l := m.depth(); l >= 0; l-- {
			states := m.Generate(l, above)
			for j, p := range states {
				states[j] = 0
				if float64(philox.Uniform(random.Uint32())) < p {
					states[j] = 1
				}
			}
			samples[i][l], above = states, states
		}
	}
	return samples
}

// Drawings returns two kinds of drawing: "means", the probabilities of the data given a sample of
// the layer above, and "draws", samples of the data.
func (m *Machine) Drawings() []runs.Drawing {
	shape := dataset.Shape{Height: max(1, m.shape.Height), Width: m.shape.Width}
	return runs.Drawings(runs.Samples(shape, func(n int, seed uint64) (rows, means [][]float64) {
		for _, states := range m.Draw(seed, n) {
			rows, means = append(rows, states[0]), append(means, m.Generate(0, states[1]))
		}
		return rows, means
	})...)
}
