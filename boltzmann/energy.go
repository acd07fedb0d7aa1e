package boltzmann

import (
	"context"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// energy is the interface to E(v,h) of a machine whose sides are each independent given the other. Chains,
// checkpoints and sums over states use it. TestEnergiesConform checks how its methods must agree.
type energy interface {
	// tensors returns the parameters by their names. They share the memory of the machine.
	tensors() []runs.Tensor
	// sides returns the units of each side.
	sides() (visible visibleUnits, hidden hiddenUnits)
	// up writes the inputs of the hidden units for each row of visible states.
	up(inputs, visible kernels.Matrix)
	// down writes the inputs of the visible units for each row of hidden states.
	down(inputs, hidden kernels.Matrix)
	// ownEnergy returns the energy of the visible states alone, and writes the inputs of the hidden units given
	// them. F(v) is this energy less the partition of the hidden units.
	ownEnergy(v []float32, inputs []float64) float64
	// gradient writes Σ v hᵀ of visible units first to last−1, over rows of visible states and of means or
	// states of hidden units. It is the sum of −∂E/∂W, without the units' precision.
	gradient(to *Parameters, first, last int, visible, hidden kernels.Matrix)
	// logZ returns log Z: a sum over the states of the side with fewer, or an integral.
	logZ(ctx context.Context) (float64, error)
}

var _ energy = (*products)(nil)

func (p *Parameters) tensors() []runs.Tensor { return parameterTensors("", p) }

func (w *products) sides() (visibleUnits, hiddenUnits) { return w.seen, w.latent }

func (w *products) gradient(to *Parameters, first, last int, visible, hidden kernels.Matrix) {
	kernels.MulTN(kernels.Rows(to.Weights, first, last), 0, kernels.Cols(visible, first, last), hidden)
}
