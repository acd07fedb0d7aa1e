package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
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

// Inpaint fills in the pixels of each row of split that mask hides, with a number of independent chains per
// row on p(v,h|known). Each chain gives an image with the means of the missing units in its last sweep.
// Missing units start at random: all values are equally likely, or normal around 0 for Gaussian units. Each
// sweep draws the hidden units given the visible ones, then the missing units given the hidden ones; known
// units never change. progress, which may be nil, is called with the fraction of the work done.
func (m *Model) Inpaint(ctx context.Context, split dataset.Split, mask dataset.Mask, chains, sweeps int, progress func(float64)) (dataset.Inpainting, error) {
	return m.inpaint(ctx, split, mask, chains, runs.Chain{Sweeps: sweeps}, progress)
}

// inpaint is like Inpaint, and returns draws if c asks for them.
func (m *Model) inpaint(ctx context.Context, split dataset.Split, mask dataset.Mask, chains int, c runs.Chain, progress func(float64)) (dataset.Inpainting, error) {
	if err := m.checkDistribution(); err != nil {
		return dataset.Inpainting{}, err
	}
	if m.below != nil {
		return dataset.Inpainting{}, errors.New("inpainting by a belief network: its hidden units cannot be drawn given v; use a run of a restricted or deep machine")
	}
	known, err := m.load(split)
	if err != nil {
		return dataset.Inpainting{}, err
	}
	if err := mask.Check(m.shape); err != nil && !c.Draws {
		return dataset.Inpainting{}, err
	}
	for i, hidden := range mask {
		if k := m.parameters.Spec.Categories; k > 0 && hidden != mask[i/k*k] {
			return dataset.Inpainting{}, fmt.Errorf("the mask hides some but not all of the %d units of categorical variable %d: hide all or none", k, i/k)
		}
	}
	if err := m.checkCategories(known, split.Name, mask); err != nil {
		return dataset.Inpainting{}, err
	}
	if chains < 1 || c.Sweeps < 1 || chains > math.MaxUint32 || c.Sweeps >= math.MaxUint32 {
		return dataset.Inpainting{}, fmt.Errorf("%d chains of %d sweeps for each row: give at least 1 of each, at most 2³²−1 chains, and at most 2³²−2 sweeps", chains, c.Sweeps)
	}
	bytes := 8 * float64(m.parameters.Visible()*split.Rows) * (float64(chains) + 4)
	if err := memory.Check(fmt.Sprintf("%d chains for each of %d rows", chains, split.Rows), bytes, "use fewer"); err != nil {
		return dataset.Inpainting{}, err
	}
	w := newProducts(m.parameters)
	moved := 0
	p, err := split.Inpaint(ctx, m.shape, mask, split.Floats(), chains, func(chain int) [][]float64 {
		last, changed := m.clamped(ctx, w, known, mask, chain, c.Sweeps)
		moved += changed
		if c.Draws {
			return m.rows(last.visible)
		}
		return m.images(last.visibleInputs)
	}, progress)
	p.Moved = float64(moved) / float64(chains*split.Rows)
	return p, err
}

// clamped runs a chain from each row of states on p(v,h|known) for a number of sweeps. Afterwards,
// visibleInputs holds the inputs from which the last sweep drew. The last sweep changed missing units of some rows, whose number is moved.
func (m *Model) clamped(ctx context.Context, w *products, states kernels.Matrix, mask dataset.Mask, chain, sweeps int) (all *chains, moved int) {
	all = newChains(states.Rows, m.parameters)
	var sum atomic.Int64
	inParts(states.Rows, func(first, last int) {
		c, at := all.part(first, last, place{key: philox.Key(m.seed), purpose: philox.Clamp, sample: uint32(chain)})
		sum.Add(int64(c.clamp(ctx, w, kernels.Rows(states, first, last), func(int) dataset.Mask { return mask }, at, sweeps)))
	})
	return all, int(sum.Load())
}

// clamp runs a chain from each row of states on p(v,h|known), with the mask of each row. It returns the number of rows whose missing
// units the last sweep changed.
func (c *chains) clamp(ctx context.Context, w *products, states kernels.Matrix, masks func(r int) dataset.Mask, at place, sweeps int) (moved int) {
	draw := func() {
		at.layer = 0
		at.draw(w.seen, c.visible, c.visibleInputs)
		for r := range c.visible.Rows {
			v := kernels.Row(c.visible, r)
			for i, missing := range masks(r) {
				if !missing {
					v[i] = kernels.Row(states, r)[i]
				}
			}
		}
	}
	draw()                    // from inputs that are 0
	var before kernels.Matrix // the last sweep
	for sweep := 1; sweep <= sweeps && ctx.Err() == nil; sweep++ {
		if sweep == sweeps {
			before = kernels.Clone(c.visible)
		}
		at.step, at.layer = uint32(sweep), 1
		w.up(c.hiddenInputs, c.visible)
		at.draw(w.latent, c.hidden, c.hiddenInputs)
		w.down(c.visibleInputs, c.hidden)
		draw()
	}
	for r := range before.Rows {
		if !slices.Equal(kernels.Row(c.visible, r), kernels.Row(before, r)) {
			moved++
		}
	}
	return moved
}
