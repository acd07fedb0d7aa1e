package boltzmann

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// chains holds Markov chains on p(v,h), one per row. The next sweep needs only the hidden states. The same
// seed draws the same states on any number of processors.
type chains struct {
	of                          *Parameters
	visible, hidden             kernels.Matrix // states
	visibleInputs, hiddenInputs kernels.Matrix // the inputs from which the states were drawn
	// β holds the inverse temperatures of the chains, which sample p^β(v,h) ∝ e^(−βE(v,h)); nil if all are 1.
	β []float32
}

func newChains(n int, p *Parameters) *chains {
	return &chains{
		of:      p,
		visible: kernels.NewMatrix(n, p.Visible()), visibleInputs: kernels.NewMatrix(n, p.Visible()),
		hidden: kernels.NewMatrix(n, p.Hidden()), hiddenInputs: kernels.NewMatrix(n, p.Hidden()),
	}
}

// start draws the hidden units as if their inputs were 0. A unit is then 0 or 1 with equal probability, any
// category with equal probability, or standard normal.
func (c *chains) start(key philox.Key) {
	place{key: key, purpose: philox.Start}.draw(c.of.hiddenUnits(), c.hidden, kernels.NewMatrix(c.hidden.Rows, c.hidden.Cols))
}

// part returns chains first to last−1, which share memory with c, and the place of their draws.
func (c *chains) part(first, last int, at place) (*chains, place) {
	rows := func(m kernels.Matrix) kernels.Matrix { return kernels.Rows(m, first, last) }
	at.datum += uint32(first)
	p := &chains{of: c.of, visible: rows(c.visible), hidden: rows(c.hidden), visibleInputs: rows(c.visibleInputs), hiddenInputs: rows(c.hiddenInputs)}
	if c.β != nil {
		p.β = c.β[first:last]
	}
	return p, at
}

// sweep draws the visible units given the hidden ones, then the hidden units given the visible ones.
func (c *chains) sweep(w *products, at place) {
	w.downDrawn(c.visibleInputs, c.hidden)
	c.temper(c.visibleInputs)
	at.layer = 0
	at.draw(w.seen, c.visible, c.visibleInputs)
	w.upDrawn(c.hiddenInputs, c.visible)
	c.temper(c.hiddenInputs)
	at.layer = 1
	at.draw(w.latent, c.hidden, c.hiddenInputs)
}

func (c *chains) temper(inputs kernels.Matrix) {
	for r, β := range c.β {
		scaled(kernels.Row(inputs, r), β, kernels.Row(inputs, r))
	}
}

// energy returns E(v,h) of chain r after a sweep, given the biases of the visible units.
func (c *chains) energy(r int, biases []float32) float64 {
	β := float64(1)
	if c.β != nil {
		β = float64(c.β[r])
	}
	given := blas32.Dot(vector(kernels.Row(c.hidden, r)), vector(kernels.Row(c.hiddenInputs, r))) // (c + Wᵀv)ᵀh, tempered
	return -float64(blas32.Dot(vector(kernels.Row(c.visible, r)), vector(biases))) - float64(given)/β
}
