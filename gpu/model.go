//go:build cuda

package gpu

import (
	"context"
	"errors"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// rowsAPass is the largest number of samples that go through the networks together in an
// evaluation. If only sums over samples are needed, a pass has at most samplesAPass samples per
// datum, because one thread block weighs all of them. A launch has at most passesALaunch passes, so
// that it is short even on a slow device, whose display waits for it.
const (
	rowsAPass     = 1 << 14
	samplesAPass  = 1 << 7
	passesALaunch = 16
)

// model evaluates a machine. It keeps nothing on the device between calls, which may run
// concurrently.
type model struct {
	device     *device
	layout     layout
	parameters []float32
}

func (e *cuda) NewModel(p *engine.Parameters, arithmetic engine.Arithmetic) (engine.Model, error) {
	if err := refuse(append(p.Architecture.Features(), arithmetic.Features()...)...); err != nil {
		return nil, err
	}
	l := newLayout(p.Architecture)
	return &model{e.device, l, l.pad(p.Flat)}, nil
}

// session is one evaluation: its memory on the device, and the parameters and programs in this
// memory.
type session struct {
	*model
	memory     *memory
	parameters address
	seed       uint64
	programs   map[task]*loaded
}

// task names the work of a program, and the size of the piece that it works on.
type task struct {
	what string
	piece
}

func (m *model) in(seed uint64, f func(s *session) error) (err error) {
	memory, err := m.device.newMemory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.close()) }()
	s := &session{m, memory, hold(memory, m.parameters), seed, map[task]*loaded{}}
	if memory.err == nil {
		err = f(s)
	}
	if err == nil {
		err = memory.err
	}
	return err
}

// run runs the program of a task, and writes the program first if it does not exist.
func (s *session) run(t task, write func(w *writer), moments ...moment) error {
	if s.programs[t] == nil {
		w := newWriter(s.parameters, s.memory.device.blocks)
		write(w)
		w.balance()
		s.programs[t] = s.memory.load(w.program, s.seed)
	}
	return s.programs[t].run(t.what, moments...)
}

// piece is the size of a part of the data that goes through the networks together: the number of
// rows, and the number of samples per row.
type piece struct{ rows, samples int }

func newPiece(rows, samples int) piece {
	chunk := min(samples, rowsAPass)
	return piece{rows: min(rows, max(1, rowsAPass/chunk)), samples: chunk}
}

// cut visits n things in parts of at most size, until the context is done.
func cut(ctx context.Context, n, size int, visit func(first, count int) error) error {
	for first := 0; first < n; first += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(first, min(size, n-first)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// datum, sample and observed add the inputs of an evaluation.
func (w *writer) datum() uint32 {
	return w.input(func(m moment) uint32 { return uint32(m.datum) })
}

func (w *writer) sample() uint32 {
	return w.input(func(m moment) uint32 { return uint32(m.sample) })
}

func (w *writer) observed(data engine.Data, at address) loadOf {
	return loadOf{
		data: at, stochastic: ifTrue(data.Stochastic), row: w.input(func(m moment) uint32 { return uint32(m.row) }),
		place: place{word: word(philox.Observe), step: w.none, sample: w.none, datum: w.datum()},
	}
}

// importance evaluates data with samples of the recognition network.
type importance struct {
	*session
	data       engine.Data
	at         address
	pass       *pass
	logWeights address
	sums       address
}

func (s *session) newImportance(data engine.Data, p piece) *importance {
	m := s.memory
	return &importance{
		session: s, data: data, at: holdRows(m, data), pass: newPass(m, s.layout, p.rows, p.samples),
		logWeights: m.doubles(p.rows * p.samples), sums: m.doubles(passesALaunch * p.rows * weightSumSize),
	}
}

func (e *importance) run(p piece, moments ...moment) error {
	return e.session.run(task{"importance weights", p}, func(w *writer) {
		v := e.pass.resized(p.rows, p.samples)
		e.draw(w, v)
		w.weigh(v, weighOf{
			logWeights: e.logWeights, sums: e.sums, factor: 1,
			outputAt: w.input(func(m moment) uint32 { return uint32(m.output) }),
		})
	}, moments...)
}

// draw writes the operations that draw and score the samples of a pass.
func (e *importance) draw(w *writer, v *pass) {
	w.begin(v, 0)
	w.observe(v, w.observed(e.data, e.at))
	w.recognize(v, place{word: word(philox.Importance), step: w.none, sample: w.sample(), datum: w.datum()}, chained{})
	w.score(v, generative)
}

// moment returns the inputs of a pass whose first row and first sample are given.
func (e *importance) moment(row, sample, output int) moment {
	return moment{row: row, datum: e.data.First + row, sample: sample, output: output}
}

func (m *model) Evaluate(ctx context.Context, data engine.Data, samples int, seed uint64, progress func(float64)) ([]engine.Likelihood, error) {
	sums, halves := make([]engine.WeightSum, data.Rows), make([]engine.WeightSum, data.Rows)
	p, done := newPiece(data.Rows, min((samples+1)/2, samplesAPass)), work.Meter(progress, data.Rows*samples)
	err := m.in(seed, func(s *session) error {
		e := s.newImportance(data, p)
		numbers := make([]float64, passesALaunch*p.rows*weightSumSize)
		return cut(ctx, data.Rows, p.rows, func(row, rows int) error {
			// some evaluates n samples starting at from; each is the number per pass.
			some := func(from, n, each int) error {
				return cut(ctx, n, passesALaunch*each, func(first, count int) error {
					moments := make([]moment, count/each)
					for k := range moments {
						moments[k] = e.moment(row, from+first+k*each, k*rows)
					}
					if err := e.run(piece{rows, each}, moments...); err != nil {
						return err
					}
					download(s.memory, numbers[:len(moments)*rows*weightSumSize], e.sums)
					for k := range len(moments) * rows {
						sums[row+k%rows].Merge(weightSum(numbers[k*weightSumSize:], each))
					}
					done(count * rows)
					return s.memory.err
				})
			}
			all := func(from, n int) error {
				full := n / p.samples * p.samples
				if err := some(from, full, p.samples); err != nil || full == n {
					return err
				}
				return some(from+full, n-full, n-full)
			}
			if err := all(0, samples/2); err != nil {
				return err
			}
			copy(halves[row:row+rows], sums[row:])
			return all(samples/2, samples-samples/2)
		})
	})
	likelihoods := make([]engine.Likelihood, data.Rows)
	for r := range likelihoods {
		likelihoods[r] = sums[r].AfterHalf(halves[r])
	}
	return likelihoods, err
}

func (m *model) LogWeights(ctx context.Context, data engine.Data, samples int, seed uint64) ([]float64, error) {
	weights := make([]float64, data.Rows*samples)
	p := newPiece(data.Rows, samples)
	err := m.in(seed, func(s *session) error {
		e := s.newImportance(data, p)
		return cut(ctx, data.Rows, p.rows, func(row, rows int) error {
			return cut(ctx, samples, p.samples, func(sample, count int) error {
				if err := e.run(piece{rows, count}, e.moment(row, sample, 0)); err != nil {
					return err
				}
				// These are all samples of several rows, or some samples of one row.
				download(s.memory, weights[row*samples+sample:][:rows*count], e.logWeights)
				return s.memory.err
			})
		})
	})
	return weights, err
}

func (m *model) LogZ2(ctx context.Context, first, outer, inner int, seed uint64) ([]float64, error) {
	logs := make([]float64, outer)
	p := newPiece(outer, min(inner, samplesAPass))
	err := m.in(seed, func(s *session) error {
		dreams, upward := newPass(s.memory, s.layout, p.rows, 1), newPass(s.memory, s.layout, p.rows, p.samples)
		upward.states[0] = dreams.states[0]
		logWeights := s.memory.doubles(p.rows * p.samples)
		sums := s.memory.doubles(p.rows * weightSumSize)
		numbers := make([]float64, p.rows*weightSumSize)
		return cut(ctx, outer, p.rows, func(from, rows int) error {
			at := moment{datum: first + from}
			err := s.run(task{"dreams of log Z²", piece{rows, 1}}, func(w *writer) {
				v := dreams.resized(rows, 1)
				w.begin(v, 0)
				w.dream(v, len(v.states), place{word: word(philox.Dream), step: w.none, sample: w.none, datum: w.datum()})
				w.score(v, recognition)
				w.weigh(v, weighOf{logWeights: logWeights, sums: sums, factor: 1, outputAt: w.none})
			}, at)
			if err != nil {
				return err
			}
			download(s.memory, numbers[:rows*weightSumSize], sums)
			for d := range rows {
				logs[from+d] = -numbers[d*weightSumSize] / 2
			}
			totals := make([]engine.WeightSum, rows)
			err = cut(ctx, inner, p.samples, func(sample, count int) error {
				at.sample = sample
				err := s.run(task{"samples of log Z²", piece{rows, count}}, func(w *writer) {
					v := upward.resized(rows, count)
					w.begin(v, 0)
					w.recognize(v, place{word: word(philox.Inner), step: w.none, sample: w.sample(), datum: w.datum()}, chained{})
					w.score(v, generative)
					w.weigh(v, weighOf{logWeights: logWeights, sums: sums, factor: 0.5, outputAt: w.none})
				}, at)
				if err != nil {
					return err
				}
				download(s.memory, numbers[:rows*weightSumSize], sums)
				for d := range rows {
					totals[d].Merge(weightSum(numbers[d*weightSumSize:], count))
				}
				return s.memory.err
			})
			for d := range rows {
				logs[from+d] += totals[d].Likelihood().LogP
			}
			return err
		})
	})
	return logs, err
}

func (m *model) Generate(ctx context.Context, n int, seed uint64) (engine.Draws, error) {
	return m.Descend(ctx, n, 0, seed) // there is no layer below x to draw again
}

func (m *model) Descend(ctx context.Context, n, below int, seed uint64) (engine.Draws, error) {
	draws := engine.NewDrawsWithMeans(m.layout.Architecture, n)
	err := m.in(seed, func(s *session) error {
		p := newPiece(n, 1)
		pass := newPass(s.memory, s.layout, p.rows, 1)
		pass.want(s.memory, pass.means[generative], generative)
		return cut(ctx, n, p.rows, func(from, rows int) error {
			v := pass.resized(rows, 1)
			err := s.run(task{"ancestral samples", piece{rows, 1}}, func(w *writer) {
				w.begin(v, 0)
				datum := w.datum()
				w.dream(v, len(v.states), place{word: word(philox.Ancestral), step: w.none, sample: w.none, datum: datum})
				w.begin(v, w.done())
				w.dream(v, below, place{
					word: word(philox.Descend), step: w.input(func(m moment) uint32 { return uint32(m.step) }), sample: w.none, datum: datum,
				})
				w.begin(v, w.done())
				w.score(v, generative)
				w.score(v, recognition)
			}, moment{datum: from, step: below})
			if err != nil {
				return err
			}
			v.read(s.memory, &draws, from, generative, recognition)
			for i := range v.states {
				v.readMeans(s.memory, &draws, from, generative, i)
			}
			return s.memory.err
		})
	})
	return draws, err
}

func (m *model) Infer(ctx context.Context, data engine.Data, samples int, seed uint64) (engine.Draws, error) {
	draws := engine.NewDrawsWithMeans(m.layout.Architecture, data.Rows*samples)
	err := m.in(seed, func(s *session) error {
		p := newPiece(data.Rows, samples)
		at := holdRows(s.memory, data)
		pass := newPass(s.memory, s.layout, p.rows, p.samples)
		pass.want(s.memory, pass.means[recognition], recognition)
		pass.means[generative][0] = s.memory.floats(pass.rows() * padded(s.layout.Visible()))
		return cut(ctx, data.Rows, p.rows, func(row, rows int) error {
			return cut(ctx, samples, p.samples, func(sample, count int) error {
				v := pass.resized(rows, count)
				err := s.run(task{"inference", piece{rows, count}}, func(w *writer) {
					w.begin(v, 0)
					w.observe(v, w.observed(data, at))
					w.recognize(v, place{word: word(philox.Posterior), step: w.none, sample: w.sample(), datum: w.datum()}, chained{})
					w.score(v, generative)
				}, moment{row: row, datum: data.First + row, sample: sample})
				if err != nil {
					return err
				}
				// These are all samples of several rows, or some samples of one row.
				first := row*samples + sample
				v.read(s.memory, &draws, first, generative, recognition)
				v.readMeans(s.memory, &draws, first, generative, 0)
				for i := 1; i < len(v.states); i++ {
					v.readMeans(s.memory, &draws, first, recognition, i)
				}
				return s.memory.err
			})
		})
	})
	return draws, err
}
