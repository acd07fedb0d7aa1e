package sequences

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Belief is a temporal sigmoid belief network of D visible and H hidden units (Gan, Li, Henao, Carlson and Carin 2015), with its
// recognition network. All units are Bernoulli units given their parents:
//
//	p(hₜ|hₜ₋₁, past), p(vₜ|hₜ, past), q(hₜ|hₜ₋₁, past, vₜ)
//
// The past is vₜ₋₁ … vₜ₋ₘ, beside two units: one is always on, the other at the first step alone, where hₜ₋₁
// and the past are 0. Each unit's parameters are a row: weights of the past, of vₜ in q, and of hidden units.
type Belief struct {
	shape dataset.Shape
	order int // m
	// lateral adds, to the parents of each visible unit, the visible units before it at the same step.
	lateral bool
	parameters
	hidden, visible, recognition kernels.Matrix // H×(2+mD+H), D×(2+mD+H), H×(2+mD+D+H)
	adam                         *adam          // of the plain gradient
	blocks                       *blocksOf      // of the natural gradient
}

// blocksOf holds the parameters at the last refresh of the Fisher blocks, from which they are computed again
// when training resumes, and their inverses.
type blocksOf struct {
	parameters []float32
	inverses   [3]inverses
}

// inverses has one inverse for all units of a network, or one per unit.
type inverses []*fisher.Inverse

func (v inverses) apply(gradient kernels.Matrix) {
	if len(v) == 1 {
		v[0].Apply(gradient, 0)
		return
	}
	for j, of := range v {
		of.Apply(kernels.Rows(gradient, j, j+1), 0)
	}
}

func newBelief(shape dataset.Shape, hidden, order int, lateral bool) *Belief {
	m := &Belief{shape: shape, order: order, lateral: lateral}
	d, past := shape.Width, 2+order*shape.Width
	m.add("hidden", hidden, past+hidden)
	if lateral {
		m.add("visible", d, past+d+hidden)
	} else {
		m.add("visible", d, past+hidden)
	}
	m.add("recognition", hidden, past+d+hidden)
	m.allocate()
	m.bind()
	return m
}

func (m *Belief) bind() {
	m.hidden, m.visible, m.recognition = m.all[0].Matrix, m.all[1].Matrix, m.all[2].Matrix
}

// with returns the model with other parameters.
func (m *Belief) with(flat []float32) *Belief {
	other := &Belief{shape: m.shape, order: m.order, lateral: m.lateral, parameters: parameters{flat: flat, all: slices.Clone(m.all)}}
	other.over(flat)
	other.bind()
	return other
}

// shrink takes a share off all weights, but not off the biases, as an L2 penalty does after the step.
func (m *Belief) shrink(share float64) {
	for _, p := range m.all {
		for j := range p.Rows {
			kernels.Scale(kernels.Row(p.Matrix, j)[2:], 1-share)
		}
	}
}

// begin draws the weights of hidden units by seed, and gives the visible biases the log odds of the training
// steps.
func (m *Belief) begin(rows dataset.Split, seed uint64) {
	normal(m.flat, 0.05, seed, 0)
	for j, a := range logOdds(rows) {
		row := kernels.Row(m.visible, j)
		clear(row[:len(row)-m.hidden.Rows])
		row[0] = a
	}
}

// pastWidth returns the number of parents of the past: 2+mD.
func (m *Belief) pastWidth() int { return 2 + m.order*m.shape.Width }

// observed returns the parents of q that are no hidden units, of each frame: the past and vₜ. The first
// columns are parents in p, too.
func (m *Belief) observed(f frames) kernels.Matrix {
	d := m.shape.Width
	u := kernels.NewMatrix(f.v.Rows, m.pastWidth()+d)
	for t := range f.steps() {
		for i := range f.active(t) {
			row := kernels.Row(u, f.start[t]+i)
			row[0] = 1
			if t == 0 {
				row[1] = 1
			}
			for lag := 1; lag <= min(m.order, t); lag++ {
				copy(row[2+(lag-1)*d:], kernels.Row(f.v, f.start[t-lag]+i))
			}
			copy(row[m.pastWidth():], kernels.Row(f.v, f.start[t]+i))
		}
	}
	return u
}

// filtered holds the particles of a filter: S rows per frame, in the order of frames.
type filtered struct {
	observed  kernels.Matrix // N×(2+mD+D)
	before, h kernels.Matrix // hₜ₋₁ and hₜ of each particle, NS×H
	// residuals are the derivatives of log p(hₜ|…), log p(vₜ|…) and log q(hₜ|…) by the logits: NS×H, NS×D, NS×H.
	residuals [3]kernels.Matrix
	ancestors []int32     // of each particle, among the particles of its sequence one step earlier
	weights   []float64   // of each particle given v₁ … vₜ; they sum to 1 over a frame
	logP      [][]float64 // increments log p̂(vₜ|v₁ … vₜ₋₁) of each sequence of the frames
	ess       float64     // sum over frames of the effective sample size, as a share of S
}

// resampleBelow is the effective sample size, as a share of the particles, below which they are resampled.
const resampleBelow = 0.5

// filter runs a particle filter with q as its proposal (Gordon, Salmond and Smith 1993; Gu, Ghahramani and Turner
// 2015): exp Σ logP is an unbiased estimate of p(v₁ … v_T). It resamples systematically.
func (m *Belief) filter(f frames, particles int, d draws) filtered {
	n, h := f.v.Rows, m.hidden.Rows
	r := filtered{
		observed: m.observed(f), before: kernels.NewMatrix(n*particles, h), h: kernels.NewMatrix(n*particles, h),
		ancestors: make([]int32, n*particles), weights: make([]float64, n*particles), logP: make([][]float64, len(f.rows)),
	}
	nets := [3]kernels.Matrix{m.hidden, m.visible, m.recognition}
	var fixed [3]kernels.Matrix // logits that the observed parents give
	for k, net := range nets {
		fixed[k] = kernels.NewMatrix(n, net.Rows)
		inputs := net.Cols - h
		kernels.MulNT(fixed[k], kernels.Cols(r.observed, 0, inputs), kernels.Cols(net, 0, inputs))
		r.residuals[k] = kernels.NewMatrix(n*particles, net.Rows)
	}
	carried := make([]float64, len(f.rows)*particles) // log weights before the step, normalised
	for i := range carried {
		carried[i] = -math.Log(float64(particles))
	}
	for t := range f.steps() {
		before, now := f.at(r.before, t, particles), f.at(r.h, t, particles)
		if t > 0 {
			last := f.at(r.h, t-1, particles)
			for i := range before.Rows {
				copy(kernels.Row(before, i), kernels.Row(last, i-i%particles+int(r.ancestors[f.start[t]*particles+i])))
			}
		}
		var logits [3]kernels.Matrix
		for k := range nets {
			logits[k] = f.at(r.residuals[k], t, particles)
		}
		hiddenOf := func(k int, parents kernels.Matrix) {
			kernels.MulNT(logits[k], parents, kernels.Cols(nets[k], nets[k].Cols-h, nets[k].Cols))
			for i := range parents.Rows {
				kernels.AddMultiple(kernels.Row(logits[k], i), 1, kernels.Row(fixed[k], f.start[t]+i/particles))
			}
		}
		hiddenOf(0, before)
		hiddenOf(2, before)
		for i := range now.Rows {
			frame := f.start[t] + i/particles
			carried[i] -= kernels.DrawResidual(kernels.Row(now, i), kernels.Row(logits[2], i), 0, d.key,
				philox.Counter{Purpose: d.purpose, Sample: uint32(i % particles), Datum: uint32(frame), Step: d.step})
			carried[i] += kernels.Residual(kernels.Row(logits[0], i), kernels.Row(now, i))
		}
		hiddenOf(1, now)
		for i := range now.Rows {
			carried[i] += kernels.Residual(kernels.Row(logits[1], i), kernels.Row(f.v, f.start[t]+i/particles))
		}
		for i := range f.active(t) {
			frame := f.start[t] + i
			logs, weights := carried[i*particles:(i+1)*particles], r.weights[frame*particles:(frame+1)*particles]
			sum := floats.LogSumExp(logs)
			r.logP[i] = append(r.logP[i], sum)
			squares := 0.0
			for s := range logs {
				logs[s] -= sum
				weights[s] = math.Exp(logs[s])
				squares += weights[s] * weights[s]
			}
			ess := 1 / squares / float64(particles)
			r.ess += ess
			if t+1 == f.steps() || f.active(t+1) <= i {
				continue
			}
			ancestors := r.ancestors[(f.start[t+1]+i)*particles:][:particles]
			if ess >= resampleBelow {
				for s := range ancestors {
					ancestors[s] = int32(s)
				}
				continue
			}
			u := d.key.Block(philox.Counter{Purpose: philox.Pick, Datum: uint32(frame), Step: d.step, Sample: uint32(d.purpose)})
			resample(ancestors, weights, float64(philox.Uniform(u[0])))
			for s := range logs {
				logs[s] = -math.Log(float64(particles))
			}
		}
	}
	return r
}

// resample draws ancestors in proportion to weights, systematically, by one uniform number.
func resample(ancestors []int32, weights []float64, u float64) {
	k, sum := 0, weights[0]
	for s := range ancestors {
		for at := (float64(s) + u) / float64(len(ancestors)); at > sum && k+1 < len(weights); sum += weights[k] {
			k++
		}
		ancestors[s] = int32(k)
	}
}

// smoothed returns the weight of each particle given v₁ … vₜ₊ₗ, for a lag l: the weight that its descendants
// have l steps later, or at the end of the sequence (Kitagawa 1996).
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
			for at := end; at > t; at-- {
				earlier := make([]float64, particles)
				for s, of := range r.ancestors[(f.start[at]+i)*particles:][:particles] {
					earlier[of] += weights[s]
				}
				weights = earlier
			}
			copy(all[(f.start[t]+i)*particles:], weights)
		}
	}
	return all
}

// gradient returns the mean over frames of the derivatives of log p and of log q by all parameters. Fisher's
// identity makes the derivative of log p(v₁ … v_T) an expectation under p(hₜ₋₁, hₜ|v₁ … v_T), which the
// smoothed particles stand for; q learns from the filter (q-wake phase).
func (m *Belief) gradient(f frames, r filtered, particles, lag int) *Belief {
	g := m.with(make([]float32, len(m.flat)))
	weights := [3][]float64{r.smoothed(f, particles, lag), nil, r.weights}
	weights[1] = weights[0]
	parents := [3]kernels.Matrix{r.before, r.h, r.before}
	scale := 1 / float64(f.v.Rows)
	for k, net := range []kernels.Matrix{g.hidden, g.visible, g.recognition} {
		perFrame := kernels.NewMatrix(f.v.Rows, net.Rows)
		for i := range r.residuals[k].Rows {
			row := kernels.Row(r.residuals[k], i)
			kernels.Scale(row, scale*weights[k][i])
			kernels.AddMultiple(kernels.Row(perFrame, i/particles), 1, row)
		}
		inputs := net.Cols - m.hidden.Rows
		kernels.MulTN(kernels.Cols(net, 0, inputs), 0, perFrame, kernels.Cols(r.observed, 0, inputs))
		kernels.MulTN(kernels.Cols(net, inputs, net.Cols), 0, r.residuals[k], parents[k])
	}
	m.mask(g.visible)
	return g
}

// mask sets the weights that lateral visible units have for themselves and for later units to 0.
func (m *Belief) mask(visible kernels.Matrix) {
	if m.lateral {
		for j := range visible.Rows {
			clear(kernels.Row(visible, j)[m.pastWidth()+j : m.pastWidth()+m.shape.Width])
		}
	}
}

// estimates returns the samples from which the Fisher blocks of the three networks are estimated. Scores of
// different units, and of different steps, have covariance 0 under the model, because each score has mean 0
// given everything earlier. So the Fisher matrix of a sequence consists of one block per unit, the sum over
// steps of
//
//	E[σ'(a) u uᵀ], u the parents of the unit at the step
//
// One particle per frame, drawn by its weight, gives the parents.
func (m *Belief) estimates(f frames, r filtered, particles, lag int, d draws) (all [3]fisher.Estimate) {
	n, h := f.v.Rows, m.hidden.Rows
	weights := r.smoothed(f, particles, lag)
	chosen := make([]int, n)
	for frame := range chosen {
		var one [1]int32
		u := d.key.Block(philox.Counter{Purpose: philox.Pick, Datum: uint32(frame), Step: d.step, Unit: 1, Sample: uint32(d.purpose)})
		resample(one[:], weights[frame*particles:(frame+1)*particles], float64(philox.Uniform(u[0])))
		chosen[frame] = frame*particles + int(one[0])
	}
	hiddens := [3]kernels.Matrix{r.before, r.h, r.before}
	for k, net := range []kernels.Matrix{m.hidden, m.visible, m.recognition} {
		e := fisher.Estimate{Parents: kernels.NewMatrix(n, net.Cols), Weights: kernels.NewMatrix(n, net.Rows)}
		inputs := net.Cols - h
		for frame, particle := range chosen {
			copy(kernels.Row(e.Parents, frame), kernels.Row(r.observed, frame)[:inputs])
			copy(kernels.Row(e.Parents, frame)[inputs:], kernels.Row(hiddens[k], particle))
		}
		kernels.MulNT(e.Weights, e.Parents, net)
		for i, a := range e.Weights.Data {
			p := kernels.Sigmoid(a)
			e.Weights.Data[i] = p * (1 - p) / float32(n)
		}
		all[k] = e
	}
	return all
}

// ofVisible returns the part of an estimate that is a lateral visible unit's: units that are no parents of it are 0.
func (m *Belief) ofVisible(e fisher.Estimate, unit int) fisher.Estimate {
	parents := kernels.Clone(e.Parents)
	for i := range parents.Rows {
		clear(kernels.Row(parents, i)[m.pastWidth()+unit : m.pastWidth()+m.shape.Width])
	}
	return fisher.Estimate{Parents: parents, Weights: kernels.Cols(e.Weights, unit, unit+1)}
}

// refresh inverts the Fisher blocks, estimated with the model's parameters.
func (m *Belief) refresh(f frames, particles, lag, steps int, damping float64, d draws) (all [3]inverses, err error) {
	for k, e := range m.estimates(f, m.filter(f, particles, d), particles, lag, d) {
		settings := fisher.Settings{Damping: damping, Steps: steps}
		if k == 1 && m.lateral {
			for j := range e.Weights.Cols {
				v, err := fisher.NewInverse(m.ofVisible(e, j), settings, nil)
				if err != nil {
					return all, err
				}
				all[k] = append(all[k], v)
			}
		} else if e.Weights.Cols > 0 {
			v, err := fisher.NewInverse(e, settings, nil)
			if err != nil {
				return all, err
			}
			all[k] = inverses{v}
		}
	}
	return all, nil
}

// LogP estimates log p of each sequence of rows, by 5 particle filters, whose draws are by seed. The mean of
// their estimates of p is unbiased. Without hidden units it is exact.
func (m *Belief) LogP(ctx context.Context, rows dataset.Split, particles int, seed uint64, progress func(float64)) (Evaluation, error) {
	return m.evaluate(ctx, rows, particles, 5, seed, progress)
}

// evaluate estimates log p like LogP, by another number of filters.
func (m *Belief) evaluate(ctx context.Context, rows dataset.Split, particles, filters int, seed uint64, progress func(float64)) (Evaluation, error) {
	e := newEvaluation(rows)
	err := blocks(rows.Rows, sequencesAtOnce, func(index []int) error {
		f := gather(rows, index)
		logs := make([][]float64, len(index))
		for k := range filters {
			r := m.filter(f, particles, draws{key: philox.Key(seed), purpose: philox.Importance, step: uint32(index[0]*filters + k)})
			e.ESS += r.ess / float64(filters*rows.Steps())
			for i, increments := range r.logP {
				logs[i] = append(logs[i], floats.Sum(increments))
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for i, of := range logs {
			z := normalize(of)
			e.LogP[f.rows[i]], e.Variance[f.rows[i]] = z.log, z.variance
		}
		if progress != nil {
			progress(float64(index[len(index)-1]+1) / float64(rows.Rows))
		}
		return nil
	})
	return e, err
}

// sample draws n sequences of the length of the model's rows. If means is true, it writes the expected values
// of vₜ given its parents instead of the draws that become the past.
func (m *Belief) sample(ctx context.Context, n int, means bool, seed uint64) (dataset.Sheet, error) {
	sheet := newSheet(m.shape, n)
	d, h, past := m.shape.Width, m.hidden.Rows, m.pastWidth()
	observed, hidden := kernels.NewMatrix(n, past+d), kernels.NewMatrix(n, h)
	last, v := kernels.Cols(observed, 2, past), kernels.Cols(observed, past, past+d)
	for t := range m.shape.Height {
		if err := ctx.Err(); err != nil {
			return sheet, err
		}
		for i := range n {
			row := kernels.Row(observed, i)
			row[0], row[1] = 1, 0
			if t == 0 {
				row[1] = 1
			}
		}
		by := draws{key: philox.Key(seed), purpose: philox.Ancestral, step: uint32(t)}
		hidden = m.logits(m.hidden, observed, hidden)
		by.draw(hidden, 0, 0)
		mean := m.drawVisible(observed, hidden, by)
		if means {
			sigmoid(mean)
			write(sheet, mean, t)
		} else {
			write(sheet, v, t)
		}
		for i := range n {
			if row := kernels.Row(last, i); m.order > 0 {
				copy(row[d:], row)
				copy(row, kernels.Row(v, i))
			}
		}
	}
	return sheet, nil
}

// logits returns the logits of a network's units given their observed and hidden parents.
func (m *Belief) logits(net, observed, hidden kernels.Matrix) kernels.Matrix {
	a, b := kernels.NewMatrix(observed.Rows, net.Rows), kernels.NewMatrix(observed.Rows, net.Rows)
	inputs := net.Cols - m.hidden.Rows
	kernels.MulNT(a, kernels.Cols(observed, 0, inputs), kernels.Cols(net, 0, inputs))
	kernels.MulNT(b, hidden, kernels.Cols(net, inputs, net.Cols))
	add(a, b)
	return a
}

// drawVisible draws the visible units, the last columns of observed, and returns their logits. Units with lateral
// weights are drawn one after another.
func (m *Belief) drawVisible(observed, hidden kernels.Matrix, by draws) (logits kernels.Matrix) {
	d, atOnce := m.shape.Width, m.shape.Width
	if m.lateral {
		atOnce = 1
	}
	v := kernels.Cols(observed, m.pastWidth(), observed.Cols)
	logits = kernels.NewMatrix(v.Rows, d)
	for first := 0; first < d; first += atOnce {
		a := m.logits(kernels.Rows(m.visible, first, first+atOnce), observed, hidden)
		for i := range v.Rows {
			copy(kernels.Row(logits, i)[first:], kernels.Row(a, i))
		}
		by.draw(a, 1, first)
		for i := range v.Rows {
			copy(kernels.Row(v, i)[first:], kernels.Row(a, i))
		}
	}
	return logits
}
