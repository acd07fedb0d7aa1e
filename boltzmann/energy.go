package boltzmann

import (
	"context"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// energy is E(v,h) of visible and hidden units, of which each side is independent given the other:
// what chains, checkpoints and sums over states ask of a machine. TestEnergiesConform says what its
// methods promise each other.
type energy interface {
	// tensors returns the parameters by their names. They share the memory of the machine.
	tensors() []runs.Tensor
	// sides returns the units of each side.
	sides() (visible visibleUnits, hidden hiddenUnits)
	// up writes the inputs of the hidden units for each row of visible states.
	up(inputs, visible kernels.Matrix)
	// down writes the inputs of the visible units for each row of hidden states.
	down(inputs, hidden kernels.Matrix)
	// ownEnergy returns the energy of visible states by themselves, and writes the inputs of the hidden
	// units given them: F(v) is the energy less their partition.
	ownEnergy(v []float32, inputs []float64) float64
	// gradient writes Σ v hᵀ of visible units first to last−1, over rows of visible states and of
	// means or states of hidden units: the sum of −∂E/∂W, but for the units' precision.
	gradient(to *Parameters, first, last int, visible, hidden kernels.Matrix)
	// logZ returns log Z, by a sum over the states of the side that has fewer, or by an integral.
	logZ(ctx context.Context) (float64, error)
}

var _ energy = (*products)(nil)

func (p *Parameters) tensors() []runs.Tensor { return parameterTensors("", p) }

func (w *products) sides() (visibleUnits, hiddenUnits) { return w.seen, w.latent }

func (w *products) gradient(to *Parameters, first, last int, visible, hidden kernels.Matrix) {
	kernels.MulTN(kernels.Rows(to.Weights, first, last), 0, kernels.Cols(visible, first, last), hidden)
}
