package sequences

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// RNNRBM is an RNN-RBM of D visible, H hidden and R recurrent units. Given the past, step t is a restricted
// Boltzmann machine:
//
//	p(v,h) ∝ exp(bₜ·v + cₜ·h + vᵀWh), bₜ = b + uₜ₋₁B, cₜ = c + uₜ₋₁C, uₜ = tanh(d + uₜ₋₁U + vₜV)
//
// for row vectors v, h and u. In the RTRBM, B = 0, C = U, V = W, d = c, and σ replaces tanh. Without
// recurrent units every step is the same machine.
type RNNRBM struct {
	shape    dataset.Shape
	tied     bool                        // whether it is an RTRBM
	schedule boltzmann.AnnealingSchedule // of log Z
	parameters
	w, b, c          kernels.Matrix // D×H, 1×D, 1×H
	toB, toC         kernels.Matrix // B and C: R×D and R×H
	u, v, d, initial kernels.Matrix // U, V, d and u₀: R×R, D×R, 1×R and 1×R
	adam             kernels.Moments
}

func newRNNRBM(shape dataset.Shape, hidden, recurrent int, tied bool) *RNNRBM {
	m, visible := &RNNRBM{shape: shape, tied: tied, schedule: usualSchedule}, shape.Width
	m.add("w", &m.w, visible, hidden)
	m.add("b", &m.b, 1, visible)
	m.add("c", &m.c, 1, hidden)
	m.add("u", &m.u, recurrent, recurrent)
	m.add("u0", &m.initial, 1, recurrent)
	if !tied {
		m.add("to_b", &m.toB, recurrent, visible)
		m.add("to_c", &m.toC, recurrent, hidden)
		m.add("v", &m.v, visible, recurrent)
		m.add("d", &m.d, 1, recurrent)
	}
	if m.over(nil); tied {
		m.toB, m.toC, m.v, m.d = kernels.NewMatrix(recurrent, visible), m.u, m.w, m.c
	}
	return m
}

// begin draws the weights from the seed, and sets the visible biases to the log odds of the training steps.
func (m *RNNRBM) begin(rows dataset.Split, seed uint64) {
	for i, p := range m.all {
		if !slices.Contains([]string{"b", "c", "d", "u0"}, p.name) {
			normal(p.Data, 0.1, seed, uint32(i))
		}
	}
	copy(m.b.Data, logOdds(rows))
}

// activate applies tanh, or σ in an RTRBM.
func (m *RNNRBM) activate(x kernels.Matrix) {
	if m.tied {
		sigmoid(x)
		return
	}
	for i := range x.Rows {
		kernels.RoundedTanh(kernels.Row(x, i))
	}
}

// biases holds, for N frames, the biases bₜ, N×D, and cₜ, N×H, and the recurrent units: past has uₜ₋₁, and
// now has uₜ, both N×R.
type biases struct{ b, c, past, now kernels.Matrix }

// forward computes the biases of frames.
func (m *RNNRBM) forward(f frames) (s biases) {
	n := f.v.Rows
	s.past, s.now = kernels.NewMatrix(n, m.d.Cols), kernels.NewMatrix(n, m.d.Cols)
	kernels.AddToRows(s.now, m.d.Data)
	addMulNN(s.now, f.v, m.v)
	work.Parts(f.active(0), sequencesAPart, func(first, last int) {
		for t := range f.steps() {
			past, now := f.of(s.past, t, 1, first, last), f.of(s.now, t, 1, first, last)
			if t == 0 {
				kernels.AddToRows(past, m.initial.Data)
			} else {
				add(past, f.of(s.now, t-1, 1, first, last))
			}
			kernels.AddMulNN(now, past, m.u)
			m.activate(now)
		}
	})
	s.b, s.c = m.given(s.past)
	return s
}

// given returns the biases bₜ and cₜ of frames, given their uₜ₋₁.
func (m *RNNRBM) given(past kernels.Matrix) (b, c kernels.Matrix) {
	b, c = kernels.NewMatrix(past.Rows, m.b.Cols), kernels.NewMatrix(past.Rows, m.c.Cols)
	kernels.AddToRows(b, m.b.Data)
	addMulNN(b, past, m.toB)
	kernels.AddToRows(c, m.c.Data)
	addMulNN(c, past, m.toC)
	return b, c
}

// backward sets the gradient of the sum of log p over frames by back-propagation through time. toB and toC
// are the derivatives of this sum with respect to the biases of each frame. At the call, gradient.w holds the
// derivative with respect to W at constant biases.
func (m *RNNRBM) backward(f frames, s biases, toB, toC kernels.Matrix, gradient *RNNRBM) {
	n, r := f.v.Rows, m.d.Cols
	back, more := kernels.NewMatrix(n, r), kernels.NewMatrix(n, r) // with respect to uₜ₋₁ of each frame
	mulNT(back, toC, m.toC)
	mulNT(more, toB, m.toB)
	add(back, more)
	through := kernels.NewMatrix(n, r) // with respect to the logits of uₜ
	work.Parts(f.active(0), sequencesAPart, func(first, last int) {
		for t := f.steps() - 1; t >= 0; t-- {
			e, now := f.of(through, t, 1, first, last), f.of(s.now, t, 1, first, last)
			if t+1 < f.steps() {
				later := f.of(back, t+1, 1, first, last)
				add(kernels.Rows(e, 0, later.Rows), later)
			}
			for i := range e.Rows {
				row := kernels.Row(e, i)
				for j, u := range kernels.Row(now, i) {
					if m.tied {
						row[j] *= u * (1 - u)
					} else {
						row[j] *= 1 - u*u
					}
				}
			}
			past := kernels.NewMatrix(e.Rows, r)
			kernels.MulNT(past, e, m.u)
			add(f.of(back, t, 1, first, last), past)
		}
	})
	sumRows(gradient.initial.Data, f.at(back, 0, 1))
	sumRows(gradient.b.Data, toB)
	sumRows(gradient.c.Data, toC)
	mulTN(gradient.toC, 1, s.past, toC) // in an RTRBM, toC, v and d share the memory of u, w and c
	mulTN(gradient.u, 1, s.past, through)
	mulTN(gradient.v, 1, f.v, through)
	sumRows(gradient.d.Data, through)
	if !m.tied {
		mulTN(gradient.toB, 1, s.past, toB)
	}
}

// up sets h to the logits of the hidden units given v.
func (m *RNNRBM) up(h, v, c kernels.Matrix) {
	fill(h, c)
	kernels.AddMulNN(h, v, m.w)
}

// down sets v to the logits of the visible units given h.
func (m *RNNRBM) down(v, h, b kernels.Matrix) {
	kernels.MulNT(v, h, m.w)
	add(v, b)
}

// draws identifies the random numbers of chains: row i of a chain's units is datum first+i.
type draws struct {
	key     philox.Key
	purpose philox.Purpose
	step    uint32
	first   int
}

// draw replaces the logits of units by draws of the units.
func (d draws) draw(logits kernels.Matrix, layer uint8, sweep int) {
	for i := range logits.Rows {
		row := kernels.Row(logits, i)
		kernels.Draw(row, row, 0, d.key, philox.Counter{Word: philox.Word{Purpose: d.purpose, Layer: layer}, Sample: uint32(sweep), Datum: uint32(d.first + i), Step: d.step})
	}
}

// contrast estimates the derivatives of log p of frames by contrastive divergence with k sweeps from the data. It
// returns the derivatives with respect to the biases, and sets gradient to the derivative with respect to W.
func (m *RNNRBM) contrast(f frames, s biases, k int, d draws, gradient kernels.Matrix) (toB, toC kernels.Matrix) {
	n := f.v.Rows
	h, v, mean := kernels.NewMatrix(n, m.w.Cols), kernels.NewMatrix(n, m.w.Rows), kernels.NewMatrix(n, m.w.Cols)
	toB, toC = kernels.Clone(f.v), mean
	work.Parts(n, rowsAPart, func(first, last int) {
		h, v, mean := kernels.Rows(h, first, last), kernels.Rows(v, first, last), kernels.Rows(mean, first, last)
		b, c, d := kernels.Rows(s.b, first, last), kernels.Rows(s.c, first, last), d
		d.first += first
		m.up(h, kernels.Rows(f.v, first, last), c)
		fill(mean, h)
		sigmoid(mean)
		for sweep := range k {
			d.draw(h, 0, sweep)
			m.down(v, h, b)
			d.draw(v, 1, sweep)
			m.up(h, v, c)
		}
		sigmoid(h)
	})
	negative := kernels.NewMatrix(m.w.Rows, m.w.Cols)
	mulTN(gradient, 0, f.v, mean)
	mulTN(negative, 0, v, h)
	subtract(gradient, negative)
	subtract(toB, v)
	subtract(toC, h)
	return toB, toC
}

// free returns log Σₕ exp(b·v + c·h + vᵀWh) of each frame, in nats, and overwrites h.
func (m *RNNRBM) free(v, h kernels.Matrix, s biases) []float64 {
	m.up(h, v, s.c)
	free, off := make([]float64, v.Rows), make([]float32, m.w.Cols)
	for i := range free {
		free[i] = dot(kernels.Row(s.b, i), kernels.Row(v, i)) - kernels.Score(kernels.Row(h, i), off)
	}
	return free
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// pseudo returns, for each frame, the sum over visible units j of log p(vⱼ|other visible units).
func (m *RNNRBM) pseudo(f frames, s biases) []float64 {
	n := f.v.Rows
	h, logP := kernels.NewMatrix(n, m.w.Cols), make([]float64, n)
	work.Parts(n, rowsAPart, func(first, last int) {
		m.up(kernels.Rows(h, first, last), kernels.Rows(f.v, first, last), kernels.Rows(s.c, first, last))
		other, off, changes := make([]float32, m.w.Cols), make([]float32, m.w.Cols), make([]float64, m.w.Rows)
		for i := first; i < last; i++ {
			x := kernels.Row(h, i)
			here := kernels.Score(x, off)
			for j, v := range kernels.Row(f.v, i) {
				copy(other, x)
				kernels.AddMultiple(other, 1-2*v, kernels.Row(m.w, j))
				changes[j] = float64(1-2*v)*float64(kernels.Row(s.b, i)[j]) + here - kernels.Score(other, off) // of log p when the unit flips
			}
			kernels.Softplus(changes)
			for _, change := range changes {
				logP[i] -= change
			}
		}
	})
	return logP
}
