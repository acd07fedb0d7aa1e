package cpu

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

var _ engine.Chains = (*model)(nil)

func (m *model) Gibbs(ctx context.Context, n int, g engine.Gibbs, seed uint64, progress func(float64)) (engine.Draws, error) {
	start, err := m.Generate(ctx, n, seed)
	if err != nil {
		return start, err
	}
	return m.sweep(ctx, start, nil, 0, g, seed, progress)
}

func (m *model) Inpaint(ctx context.Context, data engine.Data, known []bool, chains int, g engine.Gibbs, seed uint64, progress func(float64)) (engine.Draws, error) {
	start, err := m.Infer(ctx, data, chains, seed)
	if err != nil {
		return start, err
	}
	return m.sweep(ctx, start, known, data.First*chains, g, seed, progress)
}

// sweep runs chains that begin at start, and returns their last states. first is the number of the
// first chain in the random draws.
func (m *model) sweep(ctx context.Context, start engine.Draws, known []bool, first int, g engine.Gibbs, seed uint64, progress func(float64)) (engine.Draws, error) {
	last := engine.NewDraws(m.weights.architecture, start.Rows)
	last.Means = make([][]float32, len(last.States))
	last.Means[0] = make([]float32, start.Rows*m.weights.architecture.Visible())

	report := work.Meter(progress, start.Rows*g.Sweeps)
	processors := runtime.GOMAXPROCS(0)
	p := newPiece(g.Candidates)
	p.rows = min(p.rows, (start.Rows+processors-1)/processors)
	var moved atomic.Int64
	err := each(ctx, p.tasks(start.Rows), nil, func() *chains {
		return newChains(m.weights, g, p, known)
	}, func(c *chains, task int) {
		from := task * p.rows
		c.begin(start, from, min(p.rows, start.Rows-from))
		c.at = place{key: philox.Key(seed), datum: func(r int) uint32 { return uint32(first + from + r) }}
		if g.Retain {
			c.estimateRoots(ctx, c.states[0], c.roots, func(r int) uint32 { return c.candidate(r, 0) })
		}
		var before kernels.Matrix // the last sweep
		for sweep := range g.Sweeps {
			if ctx.Err() != nil {
				return
			}
			if sweep == g.Sweeps-1 {
				before = kernels.Clone(c.states[0])
			}
			c.at.step++
			c.sweep(ctx)
			report(c.data)
		}
		for r := range before.Rows {
			if !slices.Equal(kernels.Row(c.states[0], r), kernels.Row(before, r)) {
				moved.Add(1)
			}
		}
		c.computeOutputs(generative, 0)
		m.weights.writeMeans(&last, generative, 0, from, c.outputs[generative][0])
		c.scoreStates(generative)
		c.scoreStates(recognition)
		c.writeDraws(&last, from)
	})
	last.Moved = int(moved.Load())
	return last, err
}

// chains holds Gibbs chains on p*(x,h) that pass through the networks together.
type chains struct {
	*pass              // the states: one datum per chain, with one sample
	roots    []float64 // per chain, log of the estimate of √p̃*(x) with which x was picked
	settings engine.Gibbs
	known    []bool // visible units that are never drawn, or nil
	at       place  // datum counts chains, step counts sweeps

	// These are the candidates for a layer that fit into one pass; the candidates of a chain are
	// consecutive.
	piece          piece
	candidates     []kernels.Matrix // per layer, one row [1; hⁱ] per candidate
	neighbors      []kernels.Matrix // per layer, its logits given candidates for the layer above or below
	logits         []float32        // logits of one candidate
	logWeights     []float64
	candidateRoots []float64 // roots for the candidates for x
	marginal       *pass     // h ~ q(h|x) of candidates
	marginalPiece  piece
	best           []float64 // per chain, the score of the best candidate so far
}

// newChains allocates chains and their candidates for a piece.
func newChains(w *weights, g engine.Gibbs, p piece, known []bool) *chains {
	c := &chains{
		pass: newPass(w, p.rows, 1), roots: make([]float64, p.rows),
		settings: g, known: known,
		piece:          p,
		logWeights:     make([]float64, p.rows*p.samples),
		candidateRoots: make([]float64, p.rows*p.samples),
		best:           make([]float64, p.rows),
		marginalPiece:  newPiece(g.Inner),
	}
	widest := 0
	for i, units := range w.architecture.Units {
		c.candidates = append(c.candidates, newInputs(p.rows*p.samples, 1+units))
		outputs := w.outputs(generative, i) // the same number as in q
		c.neighbors = append(c.neighbors, kernels.NewMatrix(p.rows*p.samples, outputs))
		widest = max(widest, outputs)
	}
	c.logits = make([]float32, widest)
	c.marginal = newPass(w, c.marginalPiece.rows, c.marginalPiece.samples)
	return c
}

// begin sets the states of the chains to n draws, starting at row from.
func (c *chains) begin(d engine.Draws, from, n int) {
	c.resize(n, 1)
	for i, layer := range d.States {
		off := c.weights.architecture.Off(i)
		for r := range n {
			units := c.units(i, r)
			if values := d.Values[i]; values != nil {
				copy(units, values[(from+r)*len(units):])
				continue
			}
			for j, on := range layer[(from+r)*len(units):][:len(units)] {
				units[j] = off
				if on == 1 {
					units[j] = 1
				}
			}
		}
	}
}

// sweep draws the odd hidden layers, the even ones and x.
func (c *chains) sweep(ctx context.Context) {
	for _, first := range []int{1, 2} {
		for i := first; i < len(c.states); i += 2 {
			c.draw(ctx, i)
		}
	}
	c.draw(ctx, 0)
}

// draw draws layer i of all chains from p* given the other layers, by importance resampling. It
// adds a separate draw from the Gumbel distribution to the logarithm of each candidate's weight,
// and picks the candidate with the largest result. The probability of a pick is then proportional
// to the weight, and no sum over the candidates is needed.
func (c *chains) draw(ctx context.Context, i int) {
	c.computeOutputs(generative, i)
	if i > 0 {
		c.computeOutputs(recognition, i)
	}
	for r := range c.data {
		c.best[r] = math.Inf(-1)
	}
	for first := 0; first < c.settings.Candidates && ctx.Err() == nil; first += c.piece.samples {
		count := min(c.piece.samples, c.settings.Candidates-first)
		if i > 0 {
			c.proposeHidden(i, first, count)
		} else {
			c.proposeVisible(ctx, first, count)
		}
		for n := range c.data * count {
			r, k := n/count, first+n%count
			score := c.logWeights[n] + gumbel(c.words(i, r, k))
			if score > c.best[r] {
				c.best[r] = score
				copy(kernels.Row(c.states[i], r), kernels.Row(c.candidates[i], n))
				if i == 0 {
					c.roots[r] = c.candidateRoots[n]
				}
			}
		}
	}
}

// words returns the random words of candidate k of chain r: the first is the coin of the mixture,
// the next two are for the pick.
func (c *chains) words(layer, r, k int) [4]uint32 {
	return c.at.key.Block(c.at.to(philox.Pick).counter(layer, r, k))
}

// gumbel returns a draw from the Gumbel distribution, −ln(−ln u).
func gumbel(words [4]uint32) float64 {
	u := (float64(uint64(words[1])<<21|uint64(words[2])>>11) + 0.5) * 0x1p-53
	return -math.Log(-math.Log(u))
}

// retained reports whether candidate k is the previous state.
func (c *chains) retained(k int) bool { return k == 0 && c.settings.Retain }

// proposeHidden draws candidates for hidden layer i from ½p + ½q and weighs them.
func (c *chains) proposeHidden(i, first, count int) {
	rows := c.data * count
	for n := range rows {
		r, k := n/count, first+n%count
		fromP, fromQ := kernels.Row(c.outputs[generative][i], r), kernels.Row(c.outputs[recognition][i], r)
		units := kernels.Row(c.candidates[i], n)[1:]
		if c.retained(k) {
			copy(units, c.units(i, r))
		} else {
			network, proposal := generative, fromP
			if c.words(i, r, k)[0]>>31 == 1 {
				network, proposal = recognition, fromQ
			}
			c.weights.units[network][i].do(kernels.Draws, units, proposal, c.at.key, c.at.to(philox.Candidate).counter(i, r, k))
		}
		logP, logQ := c.scoreBy(generative, i, fromP, units), c.scoreBy(recognition, i, fromQ, units)
		logProposal := statistics.LogAdd(logP, logQ) - math.Ln2
		c.logWeights[n] = (logP+logQ)/2 - logProposal
	}
	c.weighNeighbors(generative, i, i-1, count)
	if i+1 < len(c.states) {
		c.weighNeighbors(recognition, i, i+1, count)
	}
}

// proposeVisible draws the unknown units of candidates for x from p(x|h¹), and weighs the
// candidates. Known units may be included in p(x|h¹), because they contribute the same factor for
// all candidates.
func (c *chains) proposeVisible(ctx context.Context, first, count int) {
	rows := c.data * count
	for n := range rows {
		r, k := n/count, first+n%count
		fromP, state := kernels.Row(c.outputs[generative][0], r), c.units(0, r)
		units := kernels.Row(c.candidates[0], n)[1:]
		if c.retained(k) {
			copy(units, state)
		} else {
			c.weights.units[generative][0].do(kernels.Draws, units, fromP, c.at.key, c.at.to(philox.Candidate).counter(0, r, k))
		}
		for j, known := range c.known {
			if known {
				units[j] = state[j]
			}
		}
		c.logWeights[n] = -c.scoreBy(generative, 0, fromP, units) / 2
	}
	c.weighNeighbors(recognition, 0, 1, count)
	c.estimateRoots(ctx, kernels.Rows(c.candidates[0], 0, rows), c.candidateRoots, func(n int) uint32 {
		return c.candidate(n/count, first+n%count)
	})
	for n := range rows {
		if c.retained(first + n%count) {
			c.candidateRoots[n] = c.roots[n/count]
		}
		c.logWeights[n] += c.candidateRoots[n]
	}
}

// weighNeighbors multiplies the weight of each candidate for layer i by √p, where p is the
// probability of the states of a neighbouring layer in a network, with the candidate as their
// parents.
func (c *chains) weighNeighbors(of network, i, layer, count int) {
	rows := c.data * count
	logits := kernels.Rows(c.neighbors[layer], 0, rows)
	c.weights.logits(of, layer, logits, kernels.Rows(c.candidates[i], 0, rows))
	for n := range rows {
		c.logWeights[n] += c.weights.units[of][layer].do(kernels.Scores, c.units(layer, n/count), kernels.Row(logits, n), 0, philox.Counter{}) / 2
	}
}

// scoreBy returns the log-probability of units of layer i in a network, in nats. It does not change
// logits, the layer's logits in that network.
func (c *chains) scoreBy(n network, i int, logits, units []float32) float64 {
	return c.weights.units[n][i].do(kernels.Scores, units, c.logits[:copy(c.logits, logits)], 0, philox.Counter{})
}

// candidate returns the index of candidate k of chain r among the candidates of all chains.
func (c *chains) candidate(r, k int) uint32 {
	return c.at.datum(r)*uint32(c.settings.Candidates) + uint32(k)
}

// estimateRoots writes an estimate of log √p̃*(x) to roots for each row [1; x]. number returns the
// number that stands for a row's datum in the counters of the draws.
func (c *chains) estimateRoots(ctx context.Context, x kernels.Matrix, roots []float64, number func(row int) uint32) {
	v, p := c.marginal, c.marginalPiece
	for from := 0; from < x.Rows && ctx.Err() == nil; from += p.rows {
		n := min(p.rows, x.Rows-from)
		at := place{key: c.at.key, purpose: philox.Marginal, step: c.at.step, datum: func(d int) uint32 { return number(from + d) }}
		v.resize(n, p.samples)
		for d := range n {
			copy(kernels.Row(v.states[0], d), kernels.Row(x, from+d))
		}
		sums := make([]engine.WeightSum, n)
		v.eachPart(ctx, p, n, c.settings.Inner, at, func(int) {
			for s := range v.rows() {
				sums[s/v.samples].Add(v.logP[s] - v.logQ[s])
			}
		})
		for d := range n {
			roots[from+d] = sums[d].Likelihood().LogPTildeStar / 2
		}
	}
}
