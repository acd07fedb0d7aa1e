package enginetest

import (
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/floats"
)

// learningRate is the rate of tests that do not depend on it.
const learningRate = 0.05

// wantTraining trains for some steps, and compares them with the oracle: the gradients and the direction on the
// samples that the engine has drawn, with Fisher blocks from the last refresh (Várady 2025, 5.3.4), and what a
// step reports. The optimiser must move by its formula. Training must continue bit for bit from a copy of the
// state in the middle, between two refreshes if every second step has one, without reading gradients and norms.
func wantTraining(t *testing.T, e engine.Engine, a engine.Algorithm, p *engine.Parameters, data engine.Data, steps int, rate, tolerance float64) {
	t.Helper()
	j := job(a, data)
	trainer := newTrainer(t, e, j, engine.NewState(a, p))
	var blocks []oracle.Block
	var middle *engine.State
	for s := range steps {
		before := state(t, trainer)
		if s == steps/2 {
			middle = before
		}
		g, n, now := must(trainer.Gradients(rate))(t), evaluationPoint(a, before, rate), a
		now.Samples = a.SamplesAt(s)
		if want := len(j.Rows(s)) * now.Samples; g.Wake.Rows != want || (g.Dreams.Rows > 0) != (a.HasSleep() || a.HasEntropy()) {
			t.Fatalf("step %d has %d wake samples and %d dreams, want %d wake samples", s, g.Wake.Rows, g.Dreams.Rows, want)
		}
		wantData(t, n, g.Wake, data, j.Rows(s), now.Samples)
		if a.LabelProposal != engine.MixedLabels { // it puts labels of data in the place of drawn ones
			wantScores(t, "wake samples", n, g.Wake)
		}
		if a.HasSleep() {
			wantScores(t, "dreams", n, g.Dreams)
		}
		samples := draws(n.Architecture, g, now.Samples)
		if s%a.RefreshEvery == 0 {
			blocks = fisherBlocks(a, n, samples)
		}
		var labels []int
		for _, row := range j.Rows(s) {
			if data.Labels != nil {
				labels = append(labels, int(data.Labels[row]))
			}
		}
		wantGradient(t, "plain gradient", g.Plain, plainGradient(now, n, samples, labels, s), tolerance)
		natural := must(oracle.NaturalGradient(blocks, kernels.Doubles(g.Plain.Flat), a.Damping))(t)
		wantGradient(t, "natural gradient", g.Natural, natural, tolerance)
		wantGradient(t, "direction", g.Direction, penalised(now, g.Natural, n.Flat, s), 1e-5)
		wantReport(t, step(t, trainer, rate), g.Wake, now.Samples)
		norms, after := must(trainer.Norms())(t), state(t, trainer)
		wantNorms(t, norms.Generative, after.Parameters.Generative[:p.Architecture.Depth()], g.Plain.Generative, g.Direction.Generative)
		wantNorms(t, norms.Recognition, after.Parameters.Recognition[1:], g.Plain.Recognition[1:], g.Direction.Recognition[1:])
		wantUpdate(t, a, rate, before, g.Direction, after)
		if want := s / a.RefreshEvery * a.RefreshEvery; a.Metric != engine.Euclidean && after.RefreshStep != want {
			t.Errorf("after step %d the blocks are of step %d, want %d", s, after.RefreshStep, want)
		}
	}
	resumed := newTrainer(t, e, j, middle)
	for s := steps / 2; s < steps; s++ {
		report := must(resumed.Steps(t.Context(), []float64{rate}))(t)[0]
		if due := a.Metric != engine.Euclidean && s%a.RefreshEvery == 0; (report.Refresh > 0) != due && a.RefreshEvery > 1 { // else a refresh may be a part of each step
			t.Errorf("step %d reports that a refresh took %v", s, report.Refresh)
		}
	}
	wantSameState(t, state(t, resumed), state(t, trainer))
}

// wantData checks that the visible layer of each wake sample is the row of its datum, unless it is drawn.
func wantData(t *testing.T, n *oracle.Networks, d engine.Draws, data engine.Data, rows []int, samples int) {
	t.Helper()
	if data.Stochastic {
		return
	}
	x := n.Rows(data)
	for r, v := range values(n.Architecture, d) {
		if want := x[rows[r/samples]]; !floats.EqualApprox(v[0], want, 1e-6) {
			t.Fatalf("wake sample %d has the visible units %v, its datum %v", r, v[0], want)
		}
	}
}

func wantScores(t *testing.T, what string, n *oracle.Networks, d engine.Draws) {
	t.Helper()
	tolerance := 1e-6 // for single precision, times the number of nats
	if len(n.Architecture.Kinds) > 0 {
		tolerance = 1e-5 // for values many σ from their means
	}
	for r, v := range values(n.Architecture, d) {
		if want := n.LogJointOf(v); !(math.Abs(d.LogP[r]-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%s %d: log p(x,h) is %v, want %v", what, r, d.LogP[r], want)
		}
		if want := n.LogRecognitionOf(v); !(math.Abs(d.LogQ[r]-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%s %d: log q(h|x) is %v, want %v", what, r, d.LogQ[r], want)
		}
	}
}

// wantReport compares a report with the means over the minibatch of the estimates from each datum's
// wake samples.
func wantReport(t *testing.T, got engine.Report, d engine.Draws, samples int) {
	t.Helper()
	var want engine.Likelihood
	for first := 0; first < d.Rows; first += samples {
		var sum engine.WeightSum
		for r := first; r < first+samples; r++ {
			sum.Add(d.LogP[r] - d.LogQ[r])
		}
		l, share := sum.Likelihood(), float64(samples)/float64(d.Rows)
		want.LogP, want.Bound, want.ESS = want.LogP+share*l.LogP, want.Bound+share*l.Bound, want.ESS+share*l.ESS
	}
	wantLikelihood(t, engine.Likelihood{LogP: got.LogP, Bound: got.Bound, ESS: got.ESS}, want)
}

// wantNorms compares the norms of layers, without biases.
func wantNorms(t *testing.T, got []engine.LayerNorms, weights, gradient, direction []engine.Layer) {
	t.Helper()
	norm := func(l engine.Layer) float64 {
		squares := 0.0
		for k, w := range l.Data {
			if k%l.Width > 0 {
				squares += float64(w) * float64(w)
			}
		}
		return math.Sqrt(squares)
	}
	if len(got) != len(weights) {
		t.Fatalf("norms of %d layers, want %d", len(got), len(weights))
	}
	for i, own := range got {
		want := []float64{norm(weights[i]), norm(gradient[i]), norm(direction[i])}
		if got := []float64{own.Weights, own.Gradient, own.Direction}; !floats.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*b }) {
			t.Errorf("the norms of the weights, the gradient and the direction of layer %d are %v, want %v", i, got, want)
		}
	}
}

// plainGradient returns the oracle's gradient of a step, given its samples, and the labels of its rows if the machine
// has labels.
func plainGradient(a engine.Algorithm, n *oracle.Networks, samples oracle.Draws, labels []int, step int) []float64 {
	if labels != nil {
		return n.LabelGradientOn(samples.Wake, labels, a)
	}
	for _, e := range estimators {
		if a.Estimator == e.rule.Estimator {
			a.Estimator = e.oracle
		}
	}
	gradient := n.GradientOn(samples, a)
	if !a.HasEntropy() {
		return gradient
	}
	p, q := oracle.Equal(samples.Dreams), n.WakeMeasure(samples, oracle.Uniform)
	size := n.Architecture.GenerativeSize()
	exactP, exactQ := n.LocalEntropyGradient(n.Generative, p), n.LocalEntropyGradient(n.Recognition, q)
	scoreP, scoreQ := n.Score(p), n.Score(q)
	for k := range gradient {
		score := scoreP[k]
		if k >= size {
			score = scoreQ[k]
		}
		gradient[k] += a.WarmedUp(step) * (a.Entropy*(exactP[k]+exactQ[k]) - a.EntropyEstimator*score)
	}
	return gradient
}

// penalised returns the direction of a step: the natural gradient minus the gradients of the L1 and L2 norms at a point.
func penalised(a engine.Algorithm, natural *engine.Parameters, point []float64, step int) []float64 {
	at := engine.NewParameters(natural.Architecture)
	for k, w := range point {
		at.Flat[k] = float32(w)
	}
	direction := natural.Clone()
	layers := func(p *engine.Parameters) []engine.Layer {
		all := slices.Concat(p.Generative, p.Recognition, []engine.Layer{p.Classifier})
		for _, networks := range p.Tanh {
			all = slices.Concat(all, networks[0], networks[1])
		}
		return all
	}
	weights := layers(at)
	for i, layer := range layers(direction) {
		for j := range layer.Units {
			row := layer.Row(j)
			for k, w := range weights[i].Row(j)[1:] {
				row[1+k] -= float32(a.WarmedUp(step) * (a.L2*float64(w) + math.Copysign(a.L1, float64(w))))
			}
		}
	}
	return kernels.Doubles(direction.Flat)
}

// wantUpdate checks that a step has updated the moments and moved the parameters along a direction
// by the optimiser's formula. A second update of q follows a gradient that only the first moment tells; more
// updates are not checked.
func wantUpdate(t *testing.T, a engine.Algorithm, rate float64, before *engine.State, direction *engine.Parameters, after *engine.State) {
	t.Helper()
	// update returns how far, per learning rate, the nth update moves a parameter, and the moments after it.
	update := func(d float64, moments []float64, n int) (float64, []float64) {
		switch a.Optimizer {
		case engine.Momentum, engine.Nesterov:
			d += a.Momentum * moments[0]
			return d, []float64{d}
		case engine.Adam:
			m := a.AdamBeta1*moments[0] + (1-a.AdamBeta1)*d
			v := a.AdamBeta2*moments[1] + (1-a.AdamBeta2)*d*d
			corrected := v / (1 - math.Pow(a.AdamBeta2, float64(n)))
			return m / (1 - math.Pow(a.AdamBeta1, float64(n))) / (math.Sqrt(corrected) + a.AdamEpsilon), []float64{m, v}
		}
		return d, nil
	}
	kept, share := a.Momentum, 1.0 // of the first moment, and of a direction in it
	if a.Optimizer == engine.Adam {
		kept, share = a.AdamBeta1, 1-a.AdamBeta1
	}
	for k, d := range kernels.Doubles(direction.Flat) {
		updates := 1
		if k >= direction.Architecture.GenerativeSize() {
			updates = a.SleepSteps
		}
		if updates > 2 || updates == 2 && a.Optimizer == engine.GradientDescent {
			continue
		}
		var moments []float64
		for _, m := range before.Moments {
			moments = append(moments, float64(m.Flat[k]))
		}
		rounding := 0.0 // of the terms of the first moment, which may cancel
		if moments != nil {
			rounding = 3e-7 * (math.Abs(share*d) + math.Abs(kept*moments[0]))
		}
		moved, moments := update(d, moments, before.Step*updates+1)
		if updates == 2 {
			second := (float64(after.Moments[0].Flat[k]) - kept*moments[0]) / share
			further, last := update(second, moments, before.Step*updates+2)
			moved, moments = moved+further, last
		}
		check := func(what string, got float32, want, rounding float64) {
			if !(math.Abs(float64(got)-want) <= 1e-5*(math.Abs(want)+learningRate)+rounding) {
				t.Fatalf("%s %d is %v after step %d, want %v", what, k, got, after.Step, want)
			}
		}
		check("parameter", after.Parameters.Flat[k], float64(before.Parameters.Flat[k])+rate*moved, 0)
		for i, want := range moments {
			if i > 0 {
				rounding = 0
			}
			check("moment", after.Moments[i].Flat[k], want, rounding)
		}
	}
}

// evaluationPoint returns the parameters at which a step evaluates its gradient.
func evaluationPoint(a engine.Algorithm, s *engine.State, rate float64) *oracle.Networks {
	n := oracle.NewNetworks(s.Parameters)
	if a.Optimizer == engine.Nesterov {
		for k, v := range s.Moments[0].Flat {
			n.Flat[k] += rate * a.Momentum * float64(v)
		}
	}
	return n
}

// fisherBlocks returns the oracle's blocks of both networks on the samples of a step: the blocks of
// q from the wake samples, the blocks of p from the source that the algorithm selects.
func fisherBlocks(a engine.Algorithm, n *oracle.Networks, samples oracle.Draws) []oracle.Block {
	p, q := n.WakeMeasure(samples, oracle.Weighting(a.Exponent)), n.WakeMeasure(samples, oracle.Uniform)
	switch a.FisherSource {
	case engine.FromSleep:
		p = oracle.Equal(samples.Dreams)
	case engine.FromLegacy:
		p = n.LegacyMeasure(samples, oracle.Weighting(a.Exponent))
	}
	switch a.Metric {
	case engine.Euclidean:
		return nil
	case engine.Kronecker:
		return append(n.Kronecker(n.Generative, p), n.Kronecker(n.Recognition, q)...)
	}
	blocks := append(n.Fisher(n.Generative, p), n.Fisher(n.Recognition, q)...)
	if a.Metric == engine.Diagonal {
		return oracle.Diagonal(blocks)
	}
	return blocks
}
