package sequences

import (
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
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
	adam             adam
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
		row := kernels.Row(x, i)
		for j, a := range row {
			row[j] = float32(math.Tanh(float64(a)))
		}
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
	kernels.AddMulNN(s.now, f.v, m.v)
	for t := range f.steps() {
		past, now := f.at(s.past, t, 1), f.at(s.now, t, 1)
		if t == 0 {
			kernels.AddToRows(past, m.initial.Data)
		} else {
			add(past, kernels.Rows(f.at(s.now, t-1, 1), 0, past.Rows))
		}
		kernels.AddMulNN(now, past, m.u)
		m.activate(now)
	}
	s.b, s.c = m.given(s.past)
	return s
}

// given returns the biases bₜ and cₜ of frames, given their uₜ₋₁.
func (m *RNNRBM) given(past kernels.Matrix) (b, c kernels.Matrix) {
	b, c = kernels.NewMatrix(past.Rows, m.b.Cols), kernels.NewMatrix(past.Rows, m.c.Cols)
	kernels.AddToRows(b, m.b.Data)
	kernels.AddMulNN(b, past, m.toB)
	kernels.AddToRows(c, m.c.Data)
	kernels.AddMulNN(c, past, m.toC)
	return b, c
}

// backward sets the gradient of the sum of log p over frames by back-propagation through time. toB and toC
// are the derivatives of this sum with respect to the biases of each frame. At the call, gradient.w holds the
// derivative with respect to W at constant biases.
func (m *RNNRBM) backward(f frames, s biases, toB, toC kernels.Matrix, gradient *RNNRBM) {
	n, r := f.v.Rows, m.d.Cols
	back, more := kernels.NewMatrix(n, r), kernels.NewMatrix(n, r) // with respect to uₜ₋₁ of each frame
	kernels.MulNT(back, toC, m.toC)
	kernels.MulNT(more, toB, m.toB)
	add(back, more)
	through := kernels.NewMatrix(n, r) // with respect to the logits of uₜ
	for t := f.steps() - 1; t >= 0; t-- {
		e, now := f.at(through, t, 1), f.at(s.now, t, 1)
		if t+1 < f.steps() {
			add(kernels.Rows(e, 0, f.active(t+1)), f.at(back, t+1, 1))
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
		add(f.at(back, t, 1), past)
	}
	sumRows(gradient.initial.Data, f.at(back, 0, 1))
	sumRows(gradient.b.Data, toB)
	sumRows(gradient.c.Data, toC)
	kernels.MulTN(gradient.toC, 1, s.past, toC) // in an RTRBM, toC, v and d share the memory of u, w and c
	kernels.MulTN(gradient.u, 1, s.past, through)
	kernels.MulTN(gradient.v, 1, f.v, through)
	sumRows(gradient.d.Data, through)
	if !m.tied {
		kernels.MulTN(gradient.toB, 1, s.past, toB)
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
		kernels.Draw(row, row, 0, d.key, philox.Counter{Purpose: d.purpose, Layer: layer, Sample: uint32(sweep), Datum: uint32(d.first + i), Step: d.step})
	}
}

// contrast estimates the derivatives of log p of frames by contrastive divergence with k sweeps from the data. It
// returns the derivatives with respect to the biases, and sets gradient to the derivative with respect to W.
func (m *RNNRBM) contrast(f frames, s biases, k int, d draws, gradient kernels.Matrix) (toB, toC kernels.Matrix) {
	n := f.v.Rows
	h, v := kernels.NewMatrix(n, m.w.Cols), kernels.NewMatrix(n, m.w.Rows)
	m.up(h, f.v, s.c)
	mean := kernels.Clone(h)
	sigmoid(mean)
	kernels.MulTN(gradient, 0, f.v, mean)
	for sweep := range k {
		d.draw(h, 0, sweep)
		m.down(v, h, s.b)
		d.draw(v, 1, sweep)
		m.up(h, v, s.c)
	}
	sigmoid(h)
	negative := kernels.NewMatrix(m.w.Rows, m.w.Cols)
	kernels.MulTN(negative, 0, v, h)
	for i := range gradient.Rows {
		kernels.AddMultiple(kernels.Row(gradient, i), -1, kernels.Row(negative, i))
	}
	toB, toC = kernels.Clone(f.v), mean
	for i := range n {
		kernels.AddMultiple(kernels.Row(toB, i), -1, kernels.Row(v, i))
		kernels.AddMultiple(kernels.Row(toC, i), -1, kernels.Row(h, i))
	}
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
	n, off := f.v.Rows, make([]float32, m.w.Cols)
	h := kernels.NewMatrix(n, m.w.Cols)
	m.up(h, f.v, s.c)
	logP, other := make([]float64, n), make([]float32, m.w.Cols)
	for i := range n {
		x := kernels.Row(h, i)
		here := kernels.Score(x, off)
		for j, v := range kernels.Row(f.v, i) {
			copy(other, x)
			kernels.AddMultiple(other, 1-2*v, kernels.Row(m.w, j))
			change := float64(1-2*v)*float64(kernels.Row(s.b, i)[j]) + here - kernels.Score(other, off) // of log p when the unit flips
			logP[i] -= statistics.Softplus(change)
		}
	}
	return logP
}
