package sequences

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// filtered holds the particles of a filter: S rows per frame, in the order of frames.
type filtered struct {
	observed kernels.Matrix // N×(2+mD+D)
	state    kernels.Matrix // hₜ and hₜ₋₁ of each particle
	// residuals are the derivatives of log p or log q with respect to the logits of each network, NS × its units.
	residuals [networks]kernels.Matrix
	ancestors []int32     // of each particle: an index among the particles of its sequence one step earlier
	weights   []float64   // of each particle given v₁ … vₜ; they sum to 1 over a frame
	logP      [][]float64 // increments log p̂(vₜ|v₁ … vₜ₋₁) of each sequence of the frames
	sizes     []float64   // effective sample sizes of the frames, as shares of S
}

// ess returns the sum of the effective sample sizes of frames. Each sequence counts by its share, or once if there are no shares.
func (r filtered) ess(f frames, shares []float64) (sum float64) {
	for t := range f.steps() {
		for i := range f.active(t) {
			share := 1.0
			if shares != nil {
				share = shares[f.rows[i]]
			}
			sum += share * r.sizes[f.start[t]+i]
		}
	}
	return sum
}

// resampleBelow is the default threshold of filters.
const resampleBelow = 0.5

// filter runs a particle filter with q as its proposal (Gordon, Salmond and Smith 1993; Gu, Ghahramani and
// Turner 2015): exp Σ logP is an unbiased estimate of p(v₁ … v_T) of a sequence. It resamples systematically
// when the effective sample size, as a share of the particles, falls below the threshold. With threshold 0 it
// never resamples: this is importance sampling.
func (m *Belief) filter(f frames, particles int, threshold float64, d draws) filtered {
	n := f.v.Rows
	r := filtered{
		observed: kernels.NewMatrix(n, m.pastWidth()+m.shape.Width), state: kernels.NewMatrix(n*particles, m.stateWidth()),
		ancestors: make([]int32, n*particles), weights: make([]float64, n*particles), logP: make([][]float64, len(f.rows)), sizes: make([]float64, n),
	}
	for t := range f.steps() {
		m.observe(r.observed, f, t)
	}
	var fixed [networks]kernels.Matrix // contributions of the observed parents to the logits
	for k, net := range m.nets {
		fixed[k] = kernels.NewMatrix(n, net.Rows)
		mulNT(fixed[k], kernels.Cols(r.observed, 0, net.inputs), kernels.Cols(net.Matrix, 0, net.inputs))
		r.residuals[k] = kernels.NewMatrix(n*particles, net.Rows)
	}
	work.Parts(f.active(0), sequencesAPart, func(first, last int) {
		m.filterSome(f, first, last, particles, threshold, d, &r, fixed)
	})
	return r
}

// filterSome runs the filters of the sequences from first to last−1 of frames.
func (m *Belief) filterSome(f frames, first, last, particles int, threshold float64, d draws, r *filtered, fixed [networks]kernels.Matrix) {
	carried := make([]float64, (last-first)*particles) // log weights before the step, normalised
	for i := range carried {
		carried[i] = -math.Log(float64(particles))
	}
	at := func(m kernels.Matrix, t int) kernels.Matrix { return f.of(m, t, particles, first, last) }
	for t := 0; t < f.steps() && f.active(t) > first; t++ {
		start := f.start[t] + first // the first frame of these sequences
		now := at(r.state, t)
		if t > 0 {
			before := at(r.state, t-1)
			for i := range now.Rows {
				m.remember(kernels.Row(now, i), kernels.Row(before, i-i%particles+int(r.ancestors[start*particles+i])))
			}
		}
		logits := func(k int) kernels.Matrix {
			a, net := at(r.residuals[k], t), m.nets[k]
			kernels.MulNT(a, net.parents(now), kernels.Cols(net.Matrix, net.inputs, net.Cols))
			for i := range a.Rows {
				kernels.AddMultiple(kernels.Row(a, i), 1, kernels.Row(fixed[k], start+i/particles))
			}
			return a
		}
		for layer, k := range []int{ofRecognition, ofDeepRecognition} {
			a, h := logits(k), m.nets[k].units(now)
			for i := range a.Rows {
				carried[i] -= kernels.Units(kernels.Draws|kernels.Residuals, kernels.Row(h, i), kernels.Row(a, i), 0, d.key, philox.Counter{Word: philox.Word{Purpose: d.purpose, Layer: uint8(layer)}, Sample: uint32(i % particles), Datum: uint32(start + i/particles), Step: d.step})
			}
		}
		for _, k := range []int{ofHidden, ofDeep} {
			a, h := logits(k), m.nets[k].units(now)
			for i := range a.Rows {
				carried[i] += kernels.Residual(kernels.Row(a, i), kernels.Row(h, i))
			}
		}
		a, deviations := logits(ofVisible), logits(ofDeviations)
		for i := range a.Rows {
			carried[i] += m.score(kernels.Row(a, i), kernels.Row(deviations, i), kernels.Row(f.v, start+i/particles))
		}
		for i := range min(last, f.active(t)) - first {
			frame := start + i
			logs, weights := carried[i*particles:(i+1)*particles], r.weights[frame*particles:(frame+1)*particles]
			sum := floats.LogSumExp(logs)
			r.logP[first+i] = append(r.logP[first+i], sum)
			squares := 0.0
			for s := range logs {
				logs[s] -= sum
				weights[s] = math.Exp(logs[s])
				squares += weights[s] * weights[s]
			}
			r.sizes[frame] = 1 / squares / float64(particles)
			if t+1 == f.steps() || f.active(t+1) <= first+i {
				continue
			}
			ancestors := r.ancestors[(f.start[t+1]+first+i)*particles:][:particles]
			if r.sizes[frame] >= threshold {
				for s := range ancestors {
					ancestors[s] = int32(s)
				}
				continue
			}
			u := d.key.Block(philox.Counter{Word: philox.Word{Purpose: philox.Pick}, Datum: uint32(frame), Step: d.step, Sample: uint32(d.purpose)})
			resample(ancestors, weights, float64(philox.Uniform(u[0])))
			for s := range logs {
				logs[s] = -math.Log(float64(particles))
			}
		}
	}
}

// resample draws ancestors in proportion to weights, systematically, from one uniform number.
func resample(ancestors []int32, weights []float64, u float64) {
	k, sum := 0, weights[0]
	for s := range ancestors {
		for point := (float64(s) + u) / float64(len(ancestors)); point > sum && k+1 < len(weights); sum += weights[k] {
			k++
		}
		ancestors[s] = int32(k)
	}
}

// pick draws a particle in proportion to weights, from one uniform number.
func pick(weights []float64, u float64) int {
	var one [1]int32
	resample(one[:], weights, u)
	return int(one[0])
}

// smoothed returns the weight of each particle given v₁ … vₜ₊ₗ, for a lag l: the total weight of its descendants
// l steps later, or at the end of the sequence (Kitagawa 1996).
func (r *filtered) smoothed(f frames, particles, lag int) []float64 {
	all := make([]float64, len(r.weights))
	for i := range f.rows {
		last := 0
		for last+1 < f.steps() && f.active(last+1) > i {
			last++
		}
		for t := 0; t <= last; t++ {
			end := min(t+lag, last)
			weights := slices.Clone(r.weights[(f.start[end]+i)*particles:][:particles])
			for step := end; step > t; step-- {
				earlier := make([]float64, particles)
				for s, ancestor := range r.ancestors[(f.start[step]+i)*particles:][:particles] {
					earlier[ancestor] += weights[s]
				}
				weights = earlier
			}
			copy(all[(f.start[t]+i)*particles:], weights)
		}
	}
	return all
}

// checkParticles refuses filters of frames of width units whose particles do not fit into memory.
func (a architecture) checkParticles(width int, frames float64, particles int) error {
	numbers := float64(width + 4*(a.hidden+a.deep)) // of each particle's residuals and state
	if a.gaussian {
		numbers += float64(width) // residuals of the deviations
	}
	return memory.Check(names.Count(particles, "particle")+" per sequence", frames*float64(particles)*(4*numbers+12), "use fewer")
}

// LogP estimates log p of each sequence of rows by 5 particle filters, drawn from the seed, with the given
// number of particles, which is at least 1. The mean of the filters' estimates of p is unbiased. Without hidden units
// LogP is exact, and particles has no effect. It refuses rows that are not sequences of the model's units.
func (m *Belief) LogP(ctx context.Context, rows dataset.Split, particles int, seed uint64, progress func(float64)) (Evaluation, error) {
	if err := checkRows(m.shape.Width, m.gaussian, rows); err != nil {
		return Evaluation{}, err
	}
	filters := 5
	if m.hidden == 0 {
		particles, filters = 1, 1
	}
	if particles < 1 {
		return Evaluation{}, fmt.Errorf("%d particles per sequence: give at least 1", particles)
	}
	return m.evaluate(ctx, rows, particles, filters, seed, progress)
}

// evaluate estimates log p like LogP, with the given number of filters.
func (m *Belief) evaluate(ctx context.Context, rows dataset.Split, particles, filters int, seed uint64, progress func(float64)) (Evaluation, error) {
	e, moved, shares, steps := newEvaluation(rows), 0.0, rows.Shares(), stepsOf(rows)
	err := blocks(rows, progress, func(f frames, first int) error {
		logs := make([][]float64, len(f.rows))
		if err := m.checkParticles(m.shape.Width, float64(f.v.Rows), particles); err != nil {
			return err
		}
		for k := range filters {
			r := m.filter(f, particles, resampleBelow, draws{key: philox.Key(seed), purpose: philox.Importance, step: uint32(first*filters + k)})
			e.ESS += r.ess(f, shares) / (float64(filters) * steps)
			for i, increments := range r.logP {
				logs[i] = append(logs[i], floats.Sum(increments))
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for i, estimates := range logs {
			z := normalize(estimates)
			e.LogP[f.rows[i]], e.Variance[f.rows[i]] = z.log, z.variance
			moved += shares[f.rows[i]] * z.moved
		}
		return nil
	})
	e.ESS = min(1, e.ESS) // rounding may exceed 1
	if filters > 1 {
		// The variance of a filter's estimate of p, relative to p², is 5 times the variance of the mean of 5. Weights of n
		// effective samples have the variance 1/n.
		n := float64(filters * particles)
		effective := min(e.ESS*n, 1/(stat.Mean(e.Variance, rows.MeanWeights())+1/n))
		e.SampleSize = runs.SampleSize{Errs: runs.ErrsLow, Of: "particles a sequence", Count: filters * particles, Effective: runs.Float(effective), Moved: runs.Float(moved / steps)}
	}
	return e, err
}

// The number of particles, and the lag of their weights, for completions and posteriors.
const (
	posteriorParticles = 200
	posteriorLag       = 2
)

// complete draws a second half for each sequence, beginning at a particle of the filter at the end of the
// first half. It returns each sequence followed by its completion.
func (m *Belief) complete(ctx context.Context, rows dataset.Split, seed uint64) (dataset.Sheet, error) {
	sheet := newSheet(m.shape, 2*rows.Rows)
	for i := range rows.Rows {
		f, source := gather(rows, []int{i}), draws{key: philox.Key(seed), purpose: philox.Posterior, step: uint32(i)}
		half := (f.steps() + 1) / 2
		given := frames{v: kernels.Rows(f.v, 0, half), start: f.start[:half+1], rows: f.rows}
		r := m.filter(given, posteriorParticles, resampleBelow, source)
		u := source.key.Block(philox.Counter{Word: philox.Word{Purpose: philox.Pick, Unit: 1}, Datum: uint32(half), Step: source.step})
		last := (half - 1) * posteriorParticles
		particle := last + pick(r.weights[last:], float64(philox.Uniform(u[0])))
		copy(sheet.Values[2*i], rows.Floats(i)[0])
		source.purpose = philox.Ancestral
		m.dream(f, half, kernels.Rows(r.state, particle, particle+1), source)
		for t := range f.steps() {
			write(dataset.Sheet{Shape: m.shape, Values: sheet.Values[2*i+1 : 2*i+2]}, f.at(f.v, t, 1), t)
		}
		if err := ctx.Err(); err != nil {
			return sheet, err
		}
	}
	return sheet, nil
}

// posterior returns the expected values of the hidden units at each step of the sequences, given the steps up
// to posteriorLag steps later.
func (m *Belief) posterior(ctx context.Context, rows dataset.Split, seed uint64) (dataset.Sheet, error) {
	sheet := newSheet(dataset.Shape{Height: m.shape.Height, Width: m.hidden + m.deep}, rows.Rows)
	for i := range rows.Rows {
		f := gather(rows, []int{i})
		r := m.filter(f, posteriorParticles, resampleBelow, draws{key: philox.Key(seed), purpose: philox.Posterior, step: uint32(i)})
		means, next := kernels.NewMatrix(f.v.Rows, m.hidden+m.deep), make([]float32, m.stateWidth())
		for particle, weight := range r.smoothed(f, posteriorParticles, posteriorLag) {
			m.remember(next, kernels.Row(r.state, particle))
			kernels.AddMultiple(kernels.Row(means, particle/posteriorParticles), float32(weight), next[m.hidden:2*m.hidden+m.deep])
		}
		for t := range f.steps() {
			write(dataset.Sheet{Shape: sheet.Shape, Values: sheet.Values[i : i+1]}, f.at(means, t, 1), t)
		}
		if err := ctx.Err(); err != nil {
			return sheet, err
		}
	}
	return sheet, nil
}

// Drawings returns drawings whose images have one row per step: draws of sequences, and their means;
// sequences of a split, each followed by a completion of its first half; and, if there are hidden units,
// their expected values along sequences of a split.
func (m *Belief) Drawings() []runs.Drawing {
	drawn := func(means bool) func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			return runs.Sheet(m.sample(ctx, s.N, means, s.Seed))
		}
	}
	ofRows := func(draw func(ctx context.Context, rows dataset.Split, seed uint64) (dataset.Sheet, error)) func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			if err := runs.First(
				func() error { return runs.CheckRows(m.shape.Units(), false, s.Rows) },
				func() error { return checkRows(m.shape.Width, m.gaussian, s.Rows) },
			); err != nil {
				return nil, err
			}
			return runs.Sheet(draw(ctx, s.Rows.Subset(s.N, s.Seed), s.Seed))
		}
	}
	all := []runs.Drawing{
		{Kind: "draws", Steps: true, Uses: []string{"seed"}, Draw: drawn(false)},
		{Kind: "means", Steps: true, Uses: []string{"seed"}, Draw: drawn(true)},
		{Kind: "completions", Steps: true, Uses: []string{"split", "seed"}, Draw: ofRows(m.complete)},
	}
	if m.hidden > 0 {
		all = append(all, runs.Drawing{Kind: "posterior", Steps: true, Uses: []string{"split", "seed"}, Draw: ofRows(m.posterior)})
	}
	return runs.Drawings(all...)
}
