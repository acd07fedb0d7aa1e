package cpu

import (
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// deconvolution connects each position of the fine grid to the positions of the coarse grid whose
// windows contain it. It computes from the coarse grid, where no tap is missing: each coarse
// position adds V·h to the outputs in its window, and the gradient of V comes from the residuals in
// the window. V holds the elements of W without the biases, with one row per tap and output, and
// one column per channel.
type deconvolution struct {
	windows
	outputs  int             // per position of the fine grid
	channels int             // per position of the coarse grid
	biases   []float32       // one per output
	taps     kernels.Matrix  // V
	packed   *kernels.Packed // V packed
	given    sync.Pool       // of *kernels.Matrix: one row per coarse position, one column per tap and output
}

func newDeconvolution(c engine.Connection) *deconvolution {
	window := c.Convolution.Height * c.Convolution.Width * c.Outputs
	channels := c.Convolution.Channels
	k := &deconvolution{
		windows: newWindows(c.Convolution), outputs: c.Outputs, channels: channels,
		biases: make([]float32, c.Outputs), taps: kernels.NewMatrix(window, channels), packed: kernels.NewPacked(window, channels),
	}
	k.given.New = func() any {
		m := kernels.NewMatrix(k.positions, window)
		return &m
	}
	return k
}

func (k *deconvolution) pack(weights kernels.Matrix, first, last int) {
	for o := first; o < last; o++ {
		row := kernels.Row(weights, o)
		k.biases[o] = row[0]
		for tap := range k.height * k.width {
			copy(kernels.Row(k.taps, tap*k.outputs+o), row[1+tap*k.channels:])
		}
	}
	k.packed.Pack(k.taps, 0, k.taps.Rows)
}

func (k *deconvolution) multiply(outputs, parents kernels.Matrix) {
	given := k.given.Get().(*kernels.Matrix)
	defer k.given.Put(given)
	for r := range parents.Rows {
		kernels.MulPacked(*given, ofPositions(kernels.Row(parents, r)[1:], k.channels), k.packed)
		fine := kernels.Row(outputs, r)
		for n := copy(fine, k.biases); n < len(fine); n *= 2 {
			copy(fine[n:], fine[:n])
		}
		k.scatter(fine, *given)
	}
}

func (k *deconvolution) accumulate(gradient kernels.Matrix, earlier float32, residuals, parents kernels.Matrix) {
	seen := k.given.Get().(*kernels.Matrix)
	defer k.given.Put(seen)
	transposed := kernels.NewMatrix(k.channels, k.taps.Rows) // the gradient of V
	biases := make([]float64, k.outputs)
	for r := range parents.Rows {
		fine := kernels.Row(residuals, r)
		for j := 0; j < len(fine); j += k.outputs {
			for o, δ := range fine[j : j+k.outputs] {
				biases[o] += float64(δ)
			}
		}
		k.windows.gather(*seen, fine)
		kernels.MulTN(transposed, 1, ofPositions(kernels.Row(parents, r)[1:], k.channels), *seen)
	}
	for o := range gradient.Rows {
		row := kernels.Row(gradient, o)
		kernels.Scale(row, float64(earlier))
		row[0] += float32(biases[o])
		for tap := range k.height * k.width {
			for channel := range k.channels {
				row[1+tap*k.channels+channel] += kernels.Row(transposed, channel)[tap*k.outputs+o]
			}
		}
	}
}

// gather copies the states of each coarse position into the patches of all fine positions in its
// window, each time at a different tap.
func (k *deconvolution) gather(inputs kernels.Matrix, parents []float32) {
	coarse := ofPositions(parents[1:], k.channels)
	for n, pixel := range k.pixels {
		for l := range k.width {
			tap := n%k.height*k.width + l
			copy(kernels.Row(inputs, pixel+l)[1+tap*k.channels:], kernels.Row(coarse, n/k.height))
		}
	}
}
