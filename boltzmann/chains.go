package boltzmann

import (
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// chains are Markov chains on p(v,h), a row each. The same seed draws the same states
// whatever the number of processors.
type chains struct {
	visible, hidden             kernels.Matrix // states
	visibleInputs, hiddenInputs kernels.Matrix // of the last draws
}

func newChains(n int, p *Parameters) *chains {
	return &chains{
		visible: kernels.NewMatrix(n, p.Visible()), visibleInputs: kernels.NewMatrix(n, p.Visible()),
		hidden: kernels.NewMatrix(n, p.Hidden()), hiddenInputs: kernels.NewMatrix(n, p.Hidden()),
	}
}

// start draws the visible units, 0 or 1 alike.
func (c *chains) start(key philox.Key) {
	even := make([]float32, c.visible.Cols)
	draw := place{key: key, purpose: philox.Start}.draw(c.visible)
	for r := range c.visible.Rows {
		draw(r, even)
	}
}

// sweep draws the hidden units given the visible ones, and then these given the hidden
// ones.
func (c *chains) sweep(w *products, at place) {
	at.layer = 1
	w.up(c.hiddenInputs, c.visible, at.draw(c.hidden))
	at.layer = 0
	w.down(c.visibleInputs, c.hidden, at.draw(c.visible))
}
