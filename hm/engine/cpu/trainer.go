package cpu

import (
	"context"
	"runtime"
	"time"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Work is cut into pieces of fixed size, so that the order of every summation, and therefore the
// result, does not depend on the number of processors.
const (
	dataAPiece    = 8   // data whose samples pass through the networks together
	dreamsAPiece  = 64  // dreams that pass through the networks together in a later sleep phase
	samplesAPiece = 64  // samples whose Fisher information is computed together
	unitsAPiece   = 32  // units whose gradients are computed together
	samplesABack  = 128 // samples whose residuals pass through tanh layers together
	samplesAPart  = 32  // samples whose part of the gradient of shared weights is computed together
)

// trainer performs training steps. Its buffers are allocated once, for a full minibatch with the
// largest number of samples per datum.
type trainer struct {
	job   engine.Job
	state *engine.State

	point   *engine.Parameters // where the gradient of a step is evaluated
	samples                    // samples.weights packs the parameters at point

	objective objective
	chains    *rowChains // nil unless the rule has Chains
	gradient  *engine.Parameters
	// These are the dreams and the gradient of the sleep phases after the first update, or nil if
	// there are none. They are separate because Norms still needs the dreams and the gradient of
	// the first update.
	laterDreams   *lesson
	laterGradient *engine.Parameters
	first         *engine.Parameters // where the first update's gradient was evaluated, if Norms needs it; otherwise nil

	tiles       []tile // parts whose gradients are computed together
	metric      metric
	diagonal    *diagonal           // nil unless the metric is the diagonal
	likelihoods []engine.Likelihood // per datum
}

func (cpu) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	a := job.Algorithm
	w := newWeights(state.Parameters.Architecture, a.Arithmetic)
	t := &trainer{
		job:   job,
		state: state,
		point: state.Parameters,
		samples: samples{
			algorithm: a, labels: job.Data.Labels, weights: w, wake: newWake(w, a),
			importance: make([]float64, a.BatchSize*a.MostSamples()),
		},
		gradient:    engine.NewParameters(state.Parameters.Architecture),
		tiles:       tiles(state.Parameters.Architecture, unitsAPiece, true),
		likelihoods: make([]engine.Likelihood, a.BatchSize),
	}
	if a.Optimizer == engine.Nesterov {
		t.point = engine.NewParameters(state.Parameters.Architecture)
	}
	open := func(l *lesson) *lesson {
		if job.Data.Missing != nil {
			l.open()
		}
		return l
	}
	open(t.wake)
	if a.HasDreams() {
		t.dreams = open(newDreams(w, a))
	}
	if a.SleepSteps > 1 {
		if len(state.Parameters.Architecture.Tanh) > 0 {
			t.first = engine.NewParameters(state.Parameters.Architecture)
		}
		t.laterDreams = open(newDreams(w, engine.Algorithm{Rule: engine.WakeSleep, BatchSize: a.BatchSize, Samples: a.MostSamples()})) // only q learns
		t.laterGradient = engine.NewParameters(state.Parameters.Architecture)
	}
	t.objective = newObjective(&t.samples)
	if a.HasLearnedBaseline() {
		inputs, outputs := engine.BaselineShape(state.Parameters.Architecture)
		if state.Baseline == nil {
			state.Baseline = make([]float32, outputs*inputs)
		}
		t.baseline = kernels.Matrix{Rows: inputs, Cols: outputs, Stride: outputs, Data: state.Baseline}
	}
	if a.Chains {
		t.chains = newRowChains(job, state)
	}
	if a.Metric == engine.Diagonal {
		t.diagonal = newDiagonal(state.Parameters.Architecture, t.fisherSamples())
	}
	if state.RefreshParameters != nil && a.Metric != engine.Euclidean {
		if err := t.restoreMetric(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *trainer) State() (*engine.State, error) { return t.state, nil }

func (t *trainer) Close() error { return nil }

// Steps performs one step.
func (t *trainer) Steps(ctx context.Context, learningRates []float64) ([]engine.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report, err := t.step(learningRates[0])
	if err != nil && statistics.Finite(report.LogP+report.Bound) {
		return nil, err
	}
	return []engine.Report{report}, err
}

func (t *trainer) step(learningRate float64) (engine.Report, error) {
	t.lookAhead(learningRate)
	t.weights.pack(t.point)
	if t.first != nil {
		copy(t.first.Flat, t.point.Flat)
	}
	report := t.sample(t.state.Step, t.chains)
	start := time.Now()
	refreshed, err := t.refresh()
	if err != nil {
		return report, err
	}
	if refreshed {
		report.Refresh = time.Since(start)
	}
	t.ascend(true)
	t.update(t.gradient, learningRate, 0, t.state.Parameters.Architecture.GenerativeSize(), t.state.Step+1)
	t.updateRecognition(t.gradient, learningRate, 0)
	t.sleepOn(learningRate)
	if t.baseline.Rows > 0 {
		reinforce{likelihood{&t.samples}}.learnBaseline()
	}
	if t.chains != nil {
		t.chains.advance(t.job.Rows(t.state.Step))
	}
	t.state.Step++
	return report, nil
}

func (t *trainer) Gradients(learningRate float64) (engine.Gradients, error) {
	t.lookAhead(learningRate)
	t.weights.pack(t.point)
	t.sample(t.state.Step, t.chains)
	g := engine.Gradients{Wake: t.wake.draws()}
	if t.dreams != nil {
		t.dreams.scoreDreams()
		g.Dreams = t.dreams.draws()
	}
	if _, err := t.refresh(); err != nil {
		return g, err
	}
	t.ascend(false)
	g.Plain = t.gradient.Clone()
	for _, tile := range t.tiles {
		t.metric.apply(tile, tile.of(t.gradient))
	}
	g.Natural = t.gradient.Clone()
	for _, tile := range t.tiles {
		t.penalise(tile.network.Layer(t.point, tile.layer), tile.of(t.gradient), tile.first)
	}
	t.penalise(t.point.Classifier, matrix(t.gradient.Classifier), 0)
	g.Direction = t.gradient.Clone()
	return g, nil
}

// sample draws the wake samples and the dreams of a step and scores them. Chains, if not nil,
// choose among the wake samples.
func (t *trainer) sample(step int, chains *rowChains) engine.Report {
	rows := t.job.Rows(step)
	samples := t.job.Algorithm.SamplesAt(step)
	t.wake.resize(len(rows), samples)
	t.warmth = t.job.Algorithm.WarmedUp(step) / float64(t.wake.rows())
	key := philox.Key(t.job.Seed)
	ofDatum := t.likelihoods[:len(rows)]
	// No sum here runs over several data, so larger parts do not change the result. They read the
	// weights less often.
	each := max(dataAPiece, (len(rows)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	pieces := (len(rows) + each - 1) / each
	tasks := pieces
	if t.dreams != nil {
		t.dreams.resize(len(rows)*samples, 1)
		tasks *= 2
	}
	parallel(tasks, func(task int) {
		first := task % pieces * each
		last := min(first+each, len(rows))
		if task >= pieces {
			t.dream(t.dreams, step, 0, first*samples, last*samples, rows)
			return
		}
		part := t.wake.part(first, last)
		at := place{key: key, step: uint32(step), datum: func(d int) uint32 {
			if t.job.Repeats {
				return uint32(first + d)
			}
			return uint32(rows[first+d])
		}}
		part.load(t.job.Data, at.to(philox.Binarize), func(d int) int { return rows[first+d] })
		part.recognize(at.to(philox.Wake), chains.given(part, rows[first:last]))
		part.scoreStates(generative)
		for d := range part.data {
			from, sum := d*part.samples, engine.WeightSum{}
			if chains != nil {
				from++ // sample 0 may be a state of the chain, not a draw from q
			}
			for r := from; r < (d+1)*part.samples; r++ {
				sum.Add(part.logP[r] - part.logQ[r])
			}
			ofDatum[first+d] = sum.Likelihood()
		}
		if chains != nil {
			chains.choose(part, first, t.importance, at.to(philox.Accept))
			return
		}
		t.objective.weighImportance(part, first, rows, at.to(philox.Wake))
	})
	return engine.MeanReport(ofDatum)
}

// dream draws dreams first to last−1 of a sleep phase and scores them with the networks that learn
// from them. In the counters of the draws, the phase takes the place of the sample number. rows lists the data rows of the
// minibatch, whose missing units the dreams hide from q: it has to infer h from observed units alone.
func (t *trainer) dream(dreams *lesson, step, phase, first, last int, rows []int) {
	part := dreams.part(first, last)
	part.dream(place{key: philox.Key(t.job.Seed), purpose: philox.Sleep, step: uint32(step), sample: uint32(phase),
		datum: func(d int) uint32 { return uint32(first + d) }})
	for d := range part.gaps {
		part.hide(d, t.job.Data.Mask(rows[(first+d)/t.wake.samples]), t.job.Data.Means)
	}
	if dreams.teaches[generative] {
		part.scoreDreams()
	}
	if dreams.teaches[recognition] {
		part.scoreStates(recognition)
	}
}
