package boltzmann

import (
	"runtime"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// inParts divides n rows into parts and calls task for each part. One processor multiplies the rows of a part
// by the weights together. Results do not depend on how the rows are divided.
func inParts(n int, task func(first, last int)) {
	processors := runtime.GOMAXPROCS(0)
	work.Parts(n, max(16, min(64, (n+processors-1)/processors)), task)
}

// products multiplies several rows of states together by the weights, in both directions.
type products struct {
	*Parameters
	seen   visibleUnits
	latent hiddenUnits
	// ofVisible and ofHidden hold W in fixed point, for products with visible or hidden units that are 0 or 1.
	// They are nil for other units.
	ofVisible, ofHidden *kernels.Fixed
	packed              *kernels.Packed // falling, for products with hidden units that are not 0 or 1
	rising              kernels.Matrix  // W, times the factor with which the hidden units see each visible unit
	falling             kernels.Matrix  // W, times the factor with which the visible units see the hidden ones

	upwards, downwards float32 // factors with which the hidden units see the visible ones, and vice versa
}

func newProducts(p *Parameters) *products {
	w := &products{Parameters: p, seen: p.visibleUnits(), latent: p.hiddenUnits(), rising: p.Weights, falling: p.Weights}
	if p.Spec.Visible != Gaussian {
		w.ofVisible = kernels.NewFixed(p.Hidden(), p.Visible())
	}
	if p.Spec.HiddenUnits != Gaussian {
		w.ofHidden = kernels.NewFixed(p.Visible(), p.Hidden())
	}
	if w.ofHidden == nil || p.Layers != nil {
		w.packed = kernels.NewPacked(p.Visible(), p.Hidden())
	}
	if w.upwards, w.downwards = p.Spec.Doubled.factors(); w.upwards != 1 || p.LogVariances != nil {
		w.rising = kernels.NewMatrix(p.Visible(), p.Hidden())
	}
	if w.downwards != 1 {
		w.falling = kernels.NewMatrix(p.Visible(), p.Hidden())
	}
	w.refreshAll()
	return w
}

// upward returns the factor by which W is multiplied where the hidden units see visible unit i.
func (w *products) upward(i int) float32 { return w.upwards * float32(w.seen.precision(i)) }

// apart reports whether a matrix is a copy of the weights rather than a view.
func (w *products) apart(m kernels.Matrix) bool { return &m.Data[0] != &w.Weights.Data[0] }

// refresh updates the products after the weights and variances of visible units first to last−1 have changed.
// Call complete after all visible units have been refreshed. first must be a multiple of kernels.PackedRows;
// last must be another multiple, or the number of visible units.
func (w *products) refresh(first, last int) {
	w.seen.refresh(first, last)
	for i := first; i < last; i++ {
		if w.apart(w.rising) {
			scaled(kernels.Row(w.rising, i), w.upward(i), kernels.Row(w.Weights, i))
		}
		if w.apart(w.falling) {
			scaled(kernels.Row(w.falling, i), w.downwards, kernels.Row(w.Weights, i))
		}
	}
	if w.packed != nil {
		w.packed.Pack(w.falling, first, last)
	}
	if w.ofHidden != nil {
		w.ofHidden.Pack(w.falling, first, last)
	}
}

// refreshAll updates the products after all weights and variances have changed.
func (w *products) refreshAll() {
	w.refresh(0, w.Visible())
	w.complete()
}

// complete updates the products that depend on the weights of all visible units.
func (w *products) complete() {
	if w.ofVisible != nil {
		inParts(w.Hidden(), func(first, last int) { w.ofVisible.PackColumns(w.rising, first, last) })
	}
}

// up writes the inputs of the hidden units for each row v of visible states: c + Wᵀv, or c + Wᵀ(v/σ²) for
// Gaussian visible units.
func (w *products) up(inputs, visible kernels.Matrix) {
	kernels.Affine(inputs, visible, w.rising, w.HiddenBiases)
}

// down writes the inputs b + Wh of the visible units for each row h of hidden states. For Gaussian units, the
// inputs are the means.
func (w *products) down(inputs, hidden kernels.Matrix) {
	if w.packed != nil {
		kernels.MulPacked(inputs, hidden, w.packed)
	} else {
		kernels.MulNT(inputs, hidden, w.falling)
	}
	kernels.AddToRows(inputs, w.VisibleBiases)
}

// upDrawn does the same as up, but the rows of visible must hold states, not means. If the units are 0 or 1,
// it multiplies in fixed point.
func (w *products) upDrawn(inputs, visible kernels.Matrix) {
	if w.ofVisible == nil {
		w.up(inputs, visible)
		return
	}
	kernels.MulFixed(inputs, visible, 0, w.ofVisible)
	kernels.AddToRows(inputs, w.HiddenBiases)
}

// downDrawn does the same as down, but the rows of hidden must hold states, not means.
func (w *products) downDrawn(inputs, hidden kernels.Matrix) {
	if w.ofHidden == nil {
		w.down(inputs, hidden)
		return
	}
	kernels.MulFixed(inputs, hidden, 0, w.ofHidden)
	kernels.AddToRows(inputs, w.VisibleBiases)
}

// place identifies the random draws of a layer for some rows.
type place struct {
	key     philox.Key
	purpose philox.Purpose
	layer   uint8  // 0 for visible units, 1 for hidden ones
	sample  uint32 // sweep of a training step
	datum   uint32 // the first row
	step    uint32 // training step, or sweep
}

func (p place) counter(row int) philox.Counter {
	return philox.Counter{Word: philox.Word{Purpose: p.purpose, Layer: p.layer}, Sample: p.sample, Datum: p.datum + uint32(row), Step: p.step}
}

// draw draws the states of units given their inputs, row by row.
func (p place) draw(of units, states, inputs kernels.Matrix) {
	for r := range states.Rows {
		of.draw(kernels.Row(states, r), kernels.Row(inputs, r), p.key, p.counter(r))
	}
}
