package boltzmann

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Parallel trajectory tempering (Béreux, Decelle, Furtlehner, Rosset and Seoane 2025) swaps samples between
// several machines, and takes these machines from the trajectory of training itself. They are the rungs of a
// ladder. The lowest rung has no weights, so its samples are exact. Every other rung is the machine as it was
// at some step, with a reservoir of its samples. Once the current machine's chains and the samples of the
// uppermost rung swap too rarely, the machine becomes a rung. In the machines of past steps, the modes of the
// data are not yet far from each other. A ladder of temperatures, by contrast, crosses phase transitions.
//
// Chains swap their visible states v, with the hidden units summed out. If u(v) is F(v) of the lower machine
// minus F(v) of the upper one, the probability
//
//	min(1, e^(u(v of the lower) − u(v of the upper)))
//
// leaves both distributions invariant.

// mostRungs is one more than the largest number of rungs of a ladder. The counters of random draws cannot
// distinguish more.
const mostRungs = 1 << 16

// rung is a machine at some step of training, with samples of its visible units.
type rung struct {
	of        *products
	reservoir kernels.Matrix // visible states, one row per chain
}

// lowest returns a rung with the biases of parameters, and no weights.
func lowest(p *Parameters, chains int) rung {
	begun := p.clone()
	clear(begun.Weights.Data)
	return rung{newProducts(begun), kernels.NewMatrix(chains, p.Visible())}
}

// draw replaces the reservoir of the lowest rung by independent samples.
func (r rung) draw(at place) {
	for k := range r.reservoir.Rows {
		r.of.seen.draw(kernels.Row(r.reservoir, k), r.of.VisibleBiases, at.key, at.counter(k))
	}
}

// sweep moves the reservoir by some Gibbs sweeps.
func (r rung) sweep(sweeps int, at place) {
	all := newChains(r.reservoir.Rows, r.of.Parameters)
	all.visible = r.reservoir
	inParts(all.visible.Rows, func(first, last int) {
		c, at := all.part(first, last, at)
		for range sweeps {
			r.of.upDrawn(c.hiddenInputs, c.visible)
			at.layer = 1
			at.draw(r.of.latent, c.hidden, c.hiddenInputs)
			r.of.downDrawn(c.visibleInputs, c.hidden)
			at.layer = 0
			at.draw(r.of.seen, c.visible, c.visibleInputs)
			at.sample += mostRungs // another sweep
		}
	})
}

// freeEnergiesOf returns F(v) of rows of visible states, which may include a label.
func (w *products) freeEnergiesOf(visible kernels.Matrix) []float64 {
	energies, inputs := make([]float64, visible.Rows), kernels.NewMatrix(visible.Rows, w.Hidden())
	inParts(visible.Rows, func(first, last int) {
		v, h, off := kernels.Rows(visible, first, last), kernels.Rows(inputs, first, last), make([]float32, w.Hidden())
		w.upDrawn(h, v)
		for r := range v.Rows {
			energies[first+r] = w.seen.energy(kernels.Row(v, r), w.VisibleBiases) - w.latent.sumOut(kernels.Row(h, r), off)
		}
	})
	return energies
}

// over returns u(v) of rows of visible states: F(v) of the lower machine minus F(v) of the upper one.
func over(lower, upper *products, visible kernels.Matrix) []float64 {
	u, other := lower.freeEnergiesOf(visible), upper.freeEnergiesOf(visible)
	for r := range u {
		u[r] -= other[r]
	}
	return u
}

// acceptance returns the probability of swapping two samples. lower is u of the lower machine's sample, and
// upper is u of the upper machine's sample.
func acceptance(lower, upper float64) float64 { return math.Min(1, math.Exp(lower-upper)) }

// exchange swaps rows between lower and upper, the samples of two machines, and returns the mean probability
// of a swap. u holds u of each row of lower, and v holds u of each row of upper.
func exchange(lower, upper kernels.Matrix, u, v []float64, at place) (mean float64) {
	for r := range u {
		accepted := acceptance(u[r], v[r])
		mean += accepted / float64(len(u))
		if float64(philox.Uniform(at.key.Block(at.counter(r))[0])) < accepted {
			blas32.Swap(vector(kernels.Row(lower, r)), vector(kernels.Row(upper, r)))
		}
	}
	return mean
}

// climb advances one rung per step, and the next rung in the next step, so that a step costs the same for any
// length of the ladder. It swaps samples between this rung and the rung below, and between the uppermost rung
// and the machine's own chains. If swaps with the machine's chains have become rare, the machine becomes a
// rung. Chains that are not yet in equilibrium swap too often; if two neighbouring rungs turn out to be too
// far apart, climb adds a rung half way between them.
func (t *trainer) climb() {
	if len(t.rungs) == 0 {
		return
	}
	k := t.step % len(t.rungs)
	at := place{key: t.key, purpose: philox.Rung, sample: uint32(k), step: uint32(t.step)}
	swap := func(level int) place {
		return place{key: t.key, purpose: philox.Swap, sample: uint32(level), step: uint32(t.step)}
	}
	if turn := t.rungs[k]; k == 0 {
		turn.draw(at)
	} else {
		below := t.rungs[k-1]
		turn.sweep(t.method.Steps, at)
		accepted := exchange(below.reservoir, turn.reservoir, over(below.of, turn.of, below.reservoir), over(below.of, turn.of, turn.reservoir), swap(k))
		if accepted < t.method.Acceptance/2 && len(t.rungs) < t.method.Rungs {
			t.rungs = slices.Insert(t.rungs, k, rung{between(below.of.Parameters, turn.of.Parameters), kernels.Clone(turn.reservoir)})
		}
	}
	top, c := t.rungs[len(t.rungs)-1], t.chains
	accepted := exchange(top.reservoir, c.visible, over(top.of, t.products, top.reservoir), over(top.of, t.products, c.visible), swap(len(t.rungs)))
	at.sample, at.layer = uint32(len(t.rungs)), 1
	t.products.upDrawn(c.hiddenInputs, c.visible)
	at.draw(t.products.latent, c.hidden, c.hiddenInputs)
	if accepted < t.method.Acceptance && len(t.rungs) < t.method.Rungs {
		t.rungs = append(t.rungs, rung{newProducts(t.parameters.clone()), kernels.Clone(c.visible)})
	}
}

// between returns the machine half way between two machines.
func between(lower, upper *Parameters) *products {
	p := upper.clone()
	for k, from := range lower.Flat {
		p.Flat[k] = (p.Flat[k] + from) / 2
	}
	return newProducts(p)
}

// checkLadder refuses ptt together with a discriminative objective or pretrained layers, which do not fit its
// ladder.
func (e Experiment) checkLadder() error {
	switch s := e.Method; {
	case s.Algorithm != Trajectories:
		return nil
	case s.Discriminative != 0:
		return fmt.Errorf("algorithm = ptt with discriminative = %v: its ladder is for log p(v,y); use pcd, or leave discriminative out", s.Discriminative)
	case e.Pretrained != nil:
		return errors.New("algorithm = ptt of a pretrained machine: the ladder is too short, with no rung between a machine without weights and pretrained layers; train from random weights, or use pcd")
	}
	return nil
}
