package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// rowChains holds the Metropolis chains of the training rows. Their proposals are draws from q. A
// chain at h moves to h' with probability min(1, ω(h')/ω(h)), where ω = p(x,h)/q(h|x), so its
// distribution tends to p(h|x) (Ou and Song 2020). The stored states change only at the end of a
// step.
type rowChains struct {
	states []float32 // one row per row of the training set, width numbers each
	next   []float32 // one row per datum of the minibatch
	width  int
}

func newRowChains(job engine.Job, state *engine.State) *rowChains {
	c := &rowChains{width: engine.ChainWidth(state.Parameters.Architecture)}
	if state.Chains == nil {
		state.Chains = make([]float32, job.Data.Rows*c.width)
	}
	c.states, c.next = state.Chains, make([]float32, job.Algorithm.BatchSize*c.width)
	return c
}

// given returns a function that restores layer i of sample r of a part from the chain of the
// sample's row, and reports whether it did. It restores only sample 0 of each datum, and only if
// the chain has begun. rows lists the data rows of the part. If c is nil, given returns nil.
func (c *rowChains) given(part *pass, rows []int) func(i, r int) bool {
	if c == nil {
		return nil
	}
	return func(i, r int) bool {
		state := c.states[rows[r/part.samples]*c.width:][:c.width]
		if r%part.samples != 0 || state[0] == 0 {
			return false
		}
		architecture := part.weights.architecture
		from := state[1:]
		for below := 1; below < i; below++ {
			from = from[engine.PackedUnits(architecture.Units[below]):]
		}
		engine.UnpackUnits(part.units(i, r), from, architecture.Off(i))
		return true
	}
}

// choose runs the chains of a part over the part's samples. The part begins at datum first of the
// minibatch. choose writes the importance of each sample (the number of proposals after which the
// chain was at this sample, divided by S−1) and the states in which the chains stop.
func (c *rowChains) choose(part *pass, first int, importance []float64, at place) {
	s := part.samples
	for d := range part.data {
		visits := importance[(first+d)*s : (first+d+1)*s]
		clear(visits)
		stays, is := 0, part.logP[d*s]-part.logQ[d*s]
		for k := 1; k < s; k++ {
			proposed := part.logP[d*s+k] - part.logQ[d*s+k]
			words := at.key.Block(at.counter(0, d, k))
			if float64(philox.Uniform(words[0])) < math.Exp(proposed-is) {
				stays, is = k, proposed
			}
			visits[stays] += 1 / float64(s-1)
		}
		next := c.next[(first+d)*c.width:][:c.width]
		next[0] = 1
		rest := next[1:]
		for i := 1; i < len(part.states); i++ {
			rest = engine.PackUnits(rest, part.units(i, d*s+stays))
		}
	}
}

// advance stores the states in which the chains of a minibatch stopped.
func (c *rowChains) advance(rows []int) {
	for d, row := range rows {
		copy(c.states[row*c.width:][:c.width], c.next[d*c.width:][:c.width])
	}
}
