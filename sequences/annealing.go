package sequences

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// usualSchedule is the schedule of annealed importance sampling unless Along sets another.
var usualSchedule = boltzmann.Even(200)

// Along returns the same model, whose annealing follows a schedule: published, or even:N with N steps.
func (m *RNNRBM) Along(schedule string) (runs.Estimator, error) {
	c := *m
	if err := c.schedule.UnmarshalText([]byte(schedule)); err != nil {
		return nil, err
	}
	_, err := c.schedule.Temperatures(func(int, []float64, func(int, int, float64)) error {
		return fmt.Errorf("schedule %s: pilot chains find it for a single machine, and each step of a sequence has its own; use published or even:N", schedule)
	})
	return &c, err
}

const (
	// With up to enumerated hidden units, Z is an exact sum over their states instead.
	enumerated = 10
	// chainsAtOnce is the number of chains that are annealed together, so that their states stay in the cache.
	chainsAtOnce = 1000
)

// normalizer is an estimate of log Z.
type normalizer struct {
	log, variance float64 // variance of the estimate
	ess           float64 // effective sample size of the chains, as a share of their number
	moved         float64 // log less the same of half of the chains
}

// anneal estimates log Z of the machine of each frame by annealed importance sampling (Neal 2001;
// Salakhutdinov and Murray 2008). Chains begin at the frame's machine with W = 0. If chains is 0, anneal sums
// over all states of the hidden units.
func (m *RNNRBM) anneal(ctx context.Context, s biases, chains int, d draws) ([]normalizer, error) {
	all := make([]normalizer, 0, s.b.Rows)
	if chains == 0 {
		return m.enumerate(s), nil
	}
	frames := max(1, chainsAtOnce/chains)
	for first := 0; first < s.b.Rows; first += frames {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		last := min(first+frames, s.b.Rows)
		d.first = first * chains
		b, c := repeated(kernels.Rows(s.b, first, last), chains), repeated(kernels.Rows(s.c, first, last), chains)
		logs := m.chains(b, c, d)
		for i := range last - first {
			all = append(all, normalize(logs[i*chains:(i+1)*chains]))
		}
	}
	return all, nil
}

// repeated repeats each row of m.
func repeated(m kernels.Matrix, times int) kernels.Matrix {
	r := kernels.NewMatrix(m.Rows*times, m.Cols)
	for i := range r.Rows {
		copy(kernels.Row(r, i), kernels.Row(m, i/times))
	}
	return r
}

// chains anneals one chain per row of biases, and returns the logarithms of their importance weights.
func (m *RNNRBM) chains(b, c kernels.Matrix, d draws) []float64 {
	logs := make([]float64, b.Rows)
	v, h := kernels.Clone(b), kernels.NewMatrix(b.Rows, c.Cols)
	x, logits, off := kernels.NewMatrix(b.Rows, c.Cols), make([]float32, c.Cols), make([]float32, max(b.Cols, c.Cols))
	partition := func(i int, β float32) float64 { // Σ softplus(c + βx)
		copy(logits, kernels.Row(c, i))
		kernels.AddMultiple(logits, β, kernels.Row(x, i))
		return -kernels.Score(logits, off)
	}
	for i := range logs {
		logs[i] = -kernels.Score(kernels.Row(b, i), off) - kernels.Score(kernels.Row(c, i), off)
	}
	d.draw(v, 1, 0)
	betas, _ := m.schedule.Temperatures(nil) // Along has refused adaptive schedules
	for k := 1; k < len(betas); k++ {
		β, before := float32(betas[k]), float32(betas[k-1])
		clear(x.Data)
		kernels.AddMulNN(x, v, m.w)
		for i := range logs {
			logs[i] -= partition(i, before)
			logs[i] += partition(i, β)
			copy(kernels.Row(h, i), logits)
		}
		d.draw(h, 0, k)
		kernels.MulNT(v, h, m.w)
		for i := range logs {
			kernels.Scale(kernels.Row(v, i), float64(β))
		}
		add(v, b)
		d.draw(v, 1, k)
	}
	return logs
}

// normalize returns the estimate of log Z from the log weights of chains.
func normalize(logs []float64) normalizer {
	n := float64(len(logs))
	sum := floats.LogSumExp(logs)
	squares := 0.0
	for _, l := range logs {
		squares += math.Exp(2 * (l - sum))
	}
	mean, _, moved := statistics.LogMean(logs)
	return normalizer{log: mean, variance: max(0, squares-1/n) * n / max(1, n-1), ess: 1 / squares / n, moved: moved}
}

// enumerate sums over the states of the hidden units.
func (m *RNNRBM) enumerate(s biases) (all []normalizer) {
	h := kernels.States(m.w.Cols)
	x := kernels.NewMatrix(h.Rows, m.w.Rows)
	kernels.MulNT(x, h, m.w)
	logits, off, logs := make([]float32, m.w.Rows), make([]float32, m.w.Rows), make([]float64, h.Rows)
	for f := range s.b.Rows {
		for i := range logs {
			copy(logits, kernels.Row(s.b, f))
			kernels.AddMultiple(logits, 1, kernels.Row(x, i))
			logs[i] = dot(kernels.Row(h, i), kernels.Row(s.c, f)) - kernels.Score(logits, off)
		}
		all = append(all, normalizer{log: floats.LogSumExp(logs), ess: 1})
	}
	return all
}

// LogP estimates log p of each sequence of rows, in nats, with the given number of chains per step, drawn from the
// seed. With up to 10 hidden units it is exact, and uses no chains; with more, chains is at least 2, because one
// chain gives no error of simulation. It refuses rows that are not sequences of the model's units.
func (m *RNNRBM) LogP(ctx context.Context, rows dataset.Split, chains int, seed uint64, progress func(float64)) (Evaluation, error) {
	if err := checkRows(m.shape.Width, false, rows); err != nil {
		return Evaluation{}, err
	}
	if m.w.Cols <= enumerated {
		chains = 0
	} else if chains < 2 {
		return Evaluation{}, fmt.Errorf("%s per step: give at least 2", names.Count(chains, "chain"))
	}
	// The annealed chains of a step have two visible and three hidden vectors.
	if err := memory.Check(names.Count(chains, "chain")+" per step", 4*float64(chains)*float64(2*m.shape.Width+3*m.w.Cols), "use fewer"); err != nil {
		return Evaluation{}, err
	}
	e, inverse, moved, shares, steps := newEvaluation(rows), 0.0, 0.0, rows.Shares(), stepsOf(rows)
	err := blocks(rows, progress, func(f frames, first int) error {
		s := m.forward(f)
		z, err := m.anneal(ctx, s, chains, draws{key: philox.Key(seed), purpose: philox.Anneal, step: uint32(first)})
		if err != nil {
			return err
		}
		free := m.free(f.v, kernels.NewMatrix(f.v.Rows, m.w.Cols), s)
		for t := range f.steps() {
			for i := range f.active(t) {
				frame := f.start[t] + i
				e.LogP[f.rows[i]] += free[frame] - z[frame].log
				e.Variance[f.rows[i]] += z[frame].variance
				share := shares[f.rows[i]]
				e.ESS += share * z[frame].ess / steps
				inverse += share / z[frame].ess / steps
				moved += share * z[frame].moved / steps
			}
		}
		return nil
	})
	e.ESS = min(1, e.ESS) // rounding may exceed 1
	if chains > 0 {
		e.SampleSize = runs.SampleSize{Errs: runs.ErrsHigh, Of: "chains a step", Count: chains, Effective: runs.Float(float64(chains) / max(1, inverse)), Moved: runs.Float(-moved)}
	}
	return e, err
}

// Estimate returns LogP, MonteCarlo and ESS of rows. samples is the number of annealed chains per step.
func (m *RNNRBM) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	e, err := m.LogP(ctx, rows, samples, seed, progress)
	if err != nil {
		return nil, err
	}
	return e.Estimates(rows), nil
}

// CountSamples describes n chains, or returns "" if log p is exact.
func (m *RNNRBM) CountSamples(n int) string {
	if m.w.Cols <= enumerated {
		return ""
	}
	return names.Count(n, "chain") + " a step"
}

// LogPOfRows returns log p of each sequence in nats, and a description in words. It uses o.Samples chains per step, or
// 1,000 if o.Samples is 0. It fails like LogP.
func (m *RNNRBM) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	if o.Schedule != "" {
		along, err := m.Along(o.Schedule)
		if err != nil {
			return nil, "", err
		}
		m = along.(*RNNRBM)
	}
	return logPOfRows(ctx, m, o, m.w.Cols <= enumerated, "by annealed importance sampling (AIS) of log Z with %s, and too high in expectation")
}

// sample draws n sequences of the length of the model's rows. Each step begins at the draw of the previous
// step, runs the given number of sweeps of Gibbs sampling, and feeds its draw back into the recurrent units.
func (m *RNNRBM) sample(ctx context.Context, n, sweeps int, seed uint64, progress func(float64)) (dataset.Sheet, error) {
	if err := checkDraws(n, m.shape); err != nil {
		return dataset.Sheet{}, err
	}
	sheet := newSheet(m.shape, n)
	v, past := kernels.NewMatrix(n, m.shape.Width), kernels.NewMatrix(n, m.d.Cols)
	kernels.AddToRows(past, m.initial.Data)
	for t := range m.shape.Height {
		if err := ctx.Err(); err != nil {
			return sheet, err
		}
		b, c := m.given(past)
		d := draws{key: philox.Key(seed), purpose: philox.Chain, step: uint32(t)}
		h := kernels.NewMatrix(n, m.w.Cols)
		for sweep := range sweeps {
			m.up(h, v, c)
			d.draw(h, 0, sweep)
			m.down(v, h, b)
			d.draw(v, 1, sweep)
		}
		write(sheet, v, t)
		now := kernels.NewMatrix(n, m.d.Cols)
		kernels.AddToRows(now, m.d.Data)
		kernels.AddMulNN(now, v, m.v)
		kernels.AddMulNN(now, past, m.u)
		m.activate(now)
		past = now
		if progress != nil {
			progress(float64(t+1) / float64(m.shape.Height))
		}
	}
	return sheet, nil
}

// checkDraws refuses n sequences of a shape that do not fit into memory.
func checkDraws(n int, shape dataset.Shape) error {
	return memory.Check(names.Count(n, "sequence"), 8*float64(n)*float64(shape.Units()), "use fewer")
}

func newSheet(shape dataset.Shape, n int) dataset.Sheet {
	sheet := dataset.Sheet{Shape: shape, Values: make([][]float64, n)}
	for i := range sheet.Values {
		sheet.Values[i] = make([]float64, shape.Units())
	}
	return sheet
}

// write writes the values of step t of all sequences into a sheet.
func write(sheet dataset.Sheet, v kernels.Matrix, t int) {
	for i, values := range sheet.Values {
		for j, x := range kernels.Row(v, i) {
			values[t*sheet.Shape.Width+j] = float64(x)
		}
	}
}

// Drawings returns one drawing: sequences drawn from the model, as images whose rows are steps.
func (m *RNNRBM) Drawings() []runs.Drawing {
	return runs.Drawings(runs.Drawing{Kind: "draws", Steps: true, Uses: []string{"gibbs", "seed"}, Sweeps: 30, Draw: func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return runs.Sheet(m.sample(ctx, s.N, max(1, s.Chain.Sweeps), s.Seed, s.Progress))
	}})
}
