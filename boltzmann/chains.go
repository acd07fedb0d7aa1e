package boltzmann

import (
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// chains are Markov chains on p(v,h), a row each. The hidden states are what the next
// sweep needs. The same seed draws the same states whatever the number of processors.
type chains struct {
	visible, hidden             kernels.Matrix // states
	visibleInputs, hiddenInputs kernels.Matrix // from which they were drawn
}

func newChains(n int, p *Parameters) *chains {
	return &chains{
		visible: kernels.NewMatrix(n, p.Visible()), visibleInputs: kernels.NewMatrix(n, p.Visible()),
		hidden: kernels.NewMatrix(n, p.Hidden()), hiddenInputs: kernels.NewMatrix(n, p.Hidden()),
	}
}

// start draws the hidden units, 0 or 1 alike.
func (c *chains) start(key philox.Key) {
	place{key: key, purpose: philox.Start}.draw(c.hidden, kernels.NewMatrix(c.hidden.Rows, c.hidden.Cols))
}

// part are chains first to last−1, with the place of their draws.
func (c *chains) part(first, last int, at place) (*chains, place) {
	rows := func(m kernels.Matrix) kernels.Matrix { return kernels.Rows(m, first, last) }
	at.datum += uint32(first)
	return &chains{rows(c.visible), rows(c.hidden), rows(c.visibleInputs), rows(c.hiddenInputs)}, at
}

// sweep draws the visible units given the hidden ones, and then these given the visible
// ones.
func (c *chains) sweep(w *products, at place) {
	w.down(c.visibleInputs, c.hidden)
	at.layer = 0
	at.draw(c.visible, c.visibleInputs)
	w.up(c.hiddenInputs, c.visible)
	at.layer = 1
	at.draw(c.hidden, c.hiddenInputs)
}
