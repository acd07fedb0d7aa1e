package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// rowsAPass is the number of samples that go through the networks together in
// an evaluation.
const rowsAPass = 512

// model evaluates a machine. Its methods may run at the same time.
type model struct {
	weights *weights
}

func (cpu) NewModel(p *engine.Parameters) (engine.Model, error) {
	m := &model{weights: newWeights(p.Architecture)}
	m.weights.pack(p.Clone())
	return m, nil
}

// Evaluate draws the visible units once a datum, and sums the weights as the
// samples come.
func (m *model) Evaluate(ctx context.Context, data engine.Data, samples int, seed uint64, progress func(float64)) ([]engine.Likelihood, error) {
	likelihoods := make([]engine.Likelihood, data.Rows)
	sums := make([]engine.WeightSum, data.Rows)
	err := m.importance(ctx, data, samples, seed, progress, func(row, first int, logP, logQ []float64) {
		for k := range logP {
			sums[row].Add(logP[k] - logQ[k])
		}
		if first+len(logP) == samples {
			likelihoods[row] = sums[row].Likelihood()
		}
	})
	return likelihoods, err
}

func (m *model) LogWeights(ctx context.Context, data engine.Data, samples int, seed uint64) ([]float64, error) {
	weights := make([]float64, data.Rows*samples)
	err := m.importance(ctx, data, samples, seed, nil, func(row, first int, logP, logQ []float64) {
		for k := range logP {
			weights[row*samples+first+k] = logP[k] - logQ[k]
		}
	})
	return weights, err
}

// importance draws samples of the recognition network for each row of data and
// visits their log-probabilities: the samples of a row in their order, rows in
// any order and at the same time.
func (m *model) importance(ctx context.Context, data engine.Data, samples int, seed uint64,
	progress func(float64), visit func(row, first int, logP, logQ []float64)) error {

	chunk := min(samples, rowsAPass)
	rows := max(1, rowsAPass/chunk) // data a pass
	return m.each(ctx, (data.Rows+rows-1)/rows, progress, func() *pass {
		return newPass(m.weights, rows, chunk)
	}, func(v *pass, task int) {
		from := task * rows
		n := min(rows, data.Rows-from)
		v.resize(n, chunk)
		v.load(data, philox.Key(seed), 0, func(d int) int { return from + d })
		for first := 0; first < samples && ctx.Err() == nil; first += chunk {
			count := min(chunk, samples-first)
			v.resize(n, count)
			v.recognise(place{key: philox.Key(seed), purpose: philox.Importance, sample: uint32(first),
				datum: func(d int) uint32 { return uint32(from + d) }})
			v.scoreGeneration()
			for d := range n {
				visit(from+d, first, v.logP[d*count:(d+1)*count], v.logQ[d*count:(d+1)*count])
			}
		}
	})
}

// each performs tasks 0 … n−1 on all processors, each processor with a pass of
// its own, until they are done or the context is.
func (m *model) each(ctx context.Context, n int, progress func(float64), newPass func() *pass, task func(v *pass, i int)) error {
	passes := sync.Pool{New: func() any { return newPass() }}
	var done atomic.Int64
	var reporting sync.Mutex
	parallel(n, func(i int) {
		if ctx.Err() != nil {
			return
		}
		v := passes.Get().(*pass)
		task(v, i)
		passes.Put(v)
		if progress != nil {
			reporting.Lock()
			progress(float64(done.Add(1)) / float64(n))
			reporting.Unlock()
		}
	})
	return ctx.Err()
}

func (m *model) LogZ2(ctx context.Context, first, outer, inner int, seed uint64) ([]float64, error) {
	logs := make([]float64, outer)
	rows := max(1, rowsAPass/inner)
	type passes struct{ dreams, inner *pass }
	pool := sync.Pool{New: func() any {
		return &passes{newPass(m.weights, rows, 1), newPass(m.weights, rows, inner)}
	}}
	key := philox.Key(seed)
	parallel((outer+rows-1)/rows, func(task int) {
		if ctx.Err() != nil {
			return
		}
		p := pool.Get().(*passes)
		defer pool.Put(p)
		from := task * rows
		n := min(rows, outer-from)
		datum := func(d int) uint32 { return uint32(first + from + d) }
		p.dreams.resize(n, 1)
		p.dreams.dream(place{key: key, purpose: philox.Dream, datum: datum})
		p.dreams.scoreGeneration()
		p.dreams.scoreRecognition()
		p.inner.resize(n, inner)
		for d := range n {
			copy(kernels.Row(p.inner.states[0], d), kernels.Row(p.dreams.states[0], d))
		}
		p.inner.recognise(place{key: key, purpose: philox.Inner, datum: datum})
		p.inner.scoreGeneration()
		for d := range n {
			terms := make([]float64, inner)
			for k := range terms {
				r := d*inner + k
				terms[k] = (p.inner.logP[r] - p.inner.logQ[r]) / 2
			}
			logs[from+d] = engine.LogMeanExp(terms) + (p.dreams.logQ[d]-p.dreams.logP[d])/2
		}
	})
	return logs, ctx.Err()
}

func (m *model) Generate(ctx context.Context, n int, seed uint64) (engine.Draws, error) {
	v := newPass(m.weights, n, 1)
	v.dream(place{key: philox.Key(seed), purpose: philox.Dream, datum: func(d int) uint32 { return uint32(d) }})
	means := v.means(func(i int) kernels.Matrix { return v.generative[i] })
	v.scoreGeneration()
	v.scoreRecognition()
	d := v.draws()
	d.Means = means
	return d, ctx.Err()
}

func (m *model) Infer(ctx context.Context, data engine.Data, samples int, seed uint64) (engine.Draws, error) {
	v := newPass(m.weights, data.Rows, samples)
	v.load(data, philox.Key(seed), 0, func(d int) int { return d })
	v.recognise(place{key: philox.Key(seed), purpose: philox.Posterior, datum: func(d int) uint32 { return uint32(d) }})
	for i := 1; i < len(v.states); i++ {
		v.recognitionLogits(i)
	}
	v.generativeLogits(0)
	means := v.means(func(i int) kernels.Matrix {
		if i == 0 {
			return v.generative[0]
		}
		return v.recognition[i]
	})
	v.scoreGeneration()
	d := v.draws()
	d.Means = means
	return d, ctx.Err()
}
