package cpu

import (
	"context"
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// rowsAPass is the number of samples that pass through the networks together in an evaluation.
const rowsAPass = 512

// model evaluates a machine. Its methods are safe for concurrent use.
type model struct {
	weights *weights
}

func (cpu) NewModel(p *engine.Parameters, arithmetic engine.Arithmetic) (engine.Model, error) {
	m := &model{weights: newWeights(p.Architecture, arithmetic)}
	m.weights.pack(p.Clone())
	return m, nil
}

// each performs tasks 0 … n−1 on all processors until all are done or the context is cancelled.
// Tasks that run at the same time have different workspaces.
func each[W any](ctx context.Context, n int, progress func(float64), workspace func() *W, task func(w *W, i int)) error {
	workspaces := sync.Pool{New: func() any { return workspace() }}
	report := work.Meter(progress, n)
	parallel(n, func(i int) {
		if ctx.Err() != nil {
			return
		}
		w := workspaces.Get().(*W)
		task(w, i)
		workspaces.Put(w)
		report(1)
	})
	return ctx.Err()
}

// piece is the size of a part of the data that passes through the networks together: the number of
// rows, and the number of samples per row.
type piece struct{ rows, samples int }

func newPiece(samples int) piece {
	chunk := min(samples, rowsAPass)
	return piece{rows: max(1, rowsAPass/chunk), samples: chunk}
}

// tasks returns the number of pieces that this many rows form.
func (p piece) tasks(rows int) int { return (rows + p.rows - 1) / p.rows }

// observe loads rows of data into a pass, starting at row from, and returns the place of their
// draws.
func (v *pass) observe(data engine.Data, seed uint64, from int) place {
	at := place{key: philox.Key(seed), datum: func(d int) uint32 { return uint32(data.First + from + d) }}
	v.load(data, at.to(philox.Observe), func(d int) int { return from + d })
	return at
}

// Evaluate draws the visible units once per datum, and sums the weights as the samples arrive.
func (m *model) Evaluate(ctx context.Context, data engine.Data, samples int, seed uint64, progress func(float64)) ([]engine.Likelihood, error) {
	likelihoods := make([]engine.Likelihood, data.Rows)
	sums, halves := make([]engine.WeightSum, data.Rows), make([]engine.WeightSum, data.Rows)
	err := m.importance(ctx, data, samples, philox.Importance, seed, progress, func(v *pass, from, first int) {
		for r := range v.rows() {
			row := from + r/v.samples
			if sums[row].Add(v.logP[r] - v.logQ[r]); sums[row].Count == samples/2 {
				halves[row] = sums[row]
			}
		}
		if first+v.samples == samples {
			for row := from; row < from+v.data; row++ {
				likelihoods[row] = sums[row].AfterHalf(halves[row])
			}
		}
	})
	return likelihoods, err
}

func (m *model) LogWeights(ctx context.Context, data engine.Data, samples int, seed uint64) ([]float64, error) {
	weights := make([]float64, data.Rows*samples)
	err := m.importance(ctx, data, samples, philox.Importance, seed, nil, func(v *pass, from, first int) {
		for r := range v.rows() {
			weights[(from+r/v.samples)*samples+first+r%v.samples] = v.logP[r] - v.logQ[r]
		}
	})
	return weights, err
}

// importance draws samples of the recognition network for each row of data and scores them. It calls
// visit with each pass and the numbers of its first row and of its first sample of each row. It
// visits the samples of a row in order, but the rows in any order and concurrently.
func (m *model) importance(ctx context.Context, data engine.Data, samples int, purpose philox.Purpose, seed uint64,
	progress func(float64), visit func(v *pass, from, first int)) error {

	p := newPiece(samples)
	return each(ctx, p.tasks(data.Rows), progress, func() *pass {
		v := newPass(m.weights, p.rows, p.samples)
		if data.Missing != nil {
			v.open()
		}
		return v
	}, func(v *pass, task int) {
		from := task * p.rows
		n := min(p.rows, data.Rows-from)
		v.resize(n, p.samples)
		at := v.observe(data, seed, from)
		v.eachPart(ctx, p, n, samples, at.to(purpose), func(first int) { visit(v, from, first) })
	})
}

// eachPart draws samples of the recognition network for each of n data, in parts of the size of a piece, and scores
// them. It calls visit for each part with the number of its first sample.
func (v *pass) eachPart(ctx context.Context, p piece, n, samples int, at place, visit func(first int)) {
	for first := 0; first < samples && ctx.Err() == nil; first += p.samples {
		v.resize(n, min(p.samples, samples-first))
		v.recognize(at.from(first), nil)
		v.scoreStates(generative)
		visit(first)
	}
}

func (m *model) LogZ2(ctx context.Context, first, outer, inner int, seed uint64) ([]float64, error) {
	logs := make([]float64, outer)
	p := newPiece(inner)
	type passes struct{ dreams, inner *pass }
	err := each(ctx, p.tasks(outer), nil, func() *passes {
		return &passes{newPass(m.weights, p.rows, 1), newPass(m.weights, p.rows, p.samples)}
	}, func(v *passes, task int) {
		from := task * p.rows
		n := min(p.rows, outer-from)
		at := place{key: philox.Key(seed), datum: func(d int) uint32 { return uint32(first + from + d) }}
		v.dreams.resize(n, 1)
		v.dreams.dream(at.to(philox.Dream))
		v.dreams.scoreStates(generative)
		v.dreams.scoreStates(recognition)
		for d := range n {
			copy(kernels.Row(v.inner.states[0], d), kernels.Row(v.dreams.states[0], d))
		}
		sums := make([]engine.WeightSum, n)
		v.inner.eachPart(ctx, p, n, inner, at.to(philox.Inner), func(int) {
			for r := range v.inner.rows() {
				sums[r/v.inner.samples].Add((v.inner.logP[r] - v.inner.logQ[r]) / 2)
			}
		})
		for d := range n {
			logs[from+d] = sums[d].Likelihood().LogP + (v.dreams.logQ[d]-v.dreams.logP[d])/2
		}
	})
	return logs, err
}

func (m *model) Generate(ctx context.Context, n int, seed uint64) (engine.Draws, error) {
	return m.Descend(ctx, n, 0, seed) // no layer lies below x, so nothing is redrawn
}

func (m *model) Descend(ctx context.Context, n, layer int, seed uint64) (engine.Draws, error) {
	draws := engine.NewDrawsWithMeans(m.weights.architecture, n)
	p := newPiece(1)
	err := each(ctx, p.tasks(n), nil, func() *pass { return newPass(m.weights, p.rows, 1) }, func(v *pass, task int) {
		from := task * p.rows
		v.resize(min(p.rows, n-from), 1)
		at := place{key: philox.Key(seed), datum: func(d int) uint32 { return uint32(from + d) }}
		v.dream(at.to(philox.Ancestral))
		at.step = uint32(layer)
		v.descend(layer, at.to(philox.Descend))
		for i := range v.states {
			m.weights.writeMeans(&draws, generative, i, from, v.outputs[generative][i])
		}
		v.scoreStates(generative)
		v.scoreStates(recognition)
		v.writeDraws(&draws, from)
	})
	return draws, err
}

func (m *model) Infer(ctx context.Context, data engine.Data, samples int, seed uint64) (engine.Draws, error) {
	draws := engine.NewDrawsWithMeans(m.weights.architecture, data.Rows*samples)
	err := m.importance(ctx, data, samples, philox.Posterior, seed, nil, func(v *pass, from, first int) {
		// A pass holds several rows with all their samples, or some samples of one row.
		row := from*samples + first
		for i := 1; i < len(v.states); i++ {
			v.computeOutputs(recognition, i)
			m.weights.writeMeans(&draws, recognition, i, row, v.outputs[recognition][i])
		}
		v.computeOutputs(generative, 0)
		m.weights.writeMeans(&draws, generative, 0, row, v.outputs[generative][0])
		v.writeDraws(&draws, row)
		at := place{key: philox.Key(seed), purpose: philox.Posterior, datum: func(d int) uint32 { return uint32(data.First + from + d) }}
		for r := range v.rows() {
			if mask := data.Mask(from + r/v.samples); mask != nil {
				v.drawMissing(&draws, row+r, mask, kernels.Row(v.outputs[generative][0], r), at.from(first).counter(0, r/v.samples, r%v.samples), at.key)
			}
		}
	})
	return draws, err
}
