package cpu

import (
	"math"
	"runtime"
	"time"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Work is cut into pieces of fixed size, so that the order of every summation,
// and with it the result, does not depend on the number of processors.
const (
	dataAPiece    = 8  // data whose samples go through the networks together
	dreamsAPiece  = 64 // dreams that do, in a sleep phase of their own
	samplesAPiece = 64 // samples whose Fisher information is computed together
	unitsAPiece   = 32 // units whose gradients are computed together
	samplesAPart  = 32 // samples whose part of the gradient of shared weights is
)

// trainer performs training steps. Its buffers are made once, for a full
// minibatch of the largest number of weighting.
type trainer struct {
	job   engine.Job
	state *engine.State

	point   *engine.Parameters // where the gradient of a step is evaluated
	weights *weights           // the parameters there, packed
	wake    *pass
	dreams  *pass // nil where the algorithm draws no dreams

	gradient *engine.Parameters
	// Those of the sleep phases that follow the first update, since Norms asks
	// for those of the first; nil where none follows.
	laterDreams   *pass
	laterGradient *engine.Parameters

	tiles      []tile // whose gradients are computed together
	metric     metric
	diagonal   *diagonal       // nil where the metric keeps more, or there is none
	reports    []engine.Report // of each datum
	importance []float64       // normalised importance weights ω̃, S a datum
	// Those that count in the gradients of p and of q, and dreams in that of q.
	ofGeneration, ofRecognition, ofDreams weighting
	// datum sums the recognition residuals of the first layer over the samples
	// of each datum, weighted: B × units.
	datum  kernels.Matrix
	labels *labels // nil where there are none
}

func (cpu) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	a := job.Algorithm
	w := newWeights(state.Parameters.Architecture, a.Arithmetic)
	t := &trainer{
		job:        job,
		state:      state,
		point:      state.Parameters,
		weights:    w,
		wake:       newPass(w, a.BatchSize, a.MostSamples()),
		gradient:   engine.NewParameters(state.Parameters.Architecture),
		tiles:      tiles(state.Parameters.Architecture, unitsAPiece),
		reports:    make([]engine.Report, a.BatchSize),
		importance: make([]float64, a.BatchSize*a.MostSamples()),
		datum:      kernels.NewMatrix(a.BatchSize, w.outputs(recognition, 1)),
	}
	for _, of := range []*weighting{&t.ofGeneration, &t.ofRecognition, &t.ofDreams} {
		*of = newWeighting(len(t.importance))
	}
	t.labels = newLabels(job, w)
	if a.Optimizer == engine.Nesterov {
		t.point = engine.NewParameters(state.Parameters.Architecture)
	}
	if a.HasDreams() {
		t.dreams = newPass(w, a.BatchSize*a.MostSamples(), 1)
	}
	if a.SleepSteps > 1 {
		t.laterDreams = newPass(w, a.BatchSize*a.MostSamples(), 1)
		t.laterGradient = engine.NewParameters(state.Parameters.Architecture)
	}
	if a.Entropy != 0 {
		t.wake.makeSlopes(t.wake.recognition)
		t.dreams.makeSlopes(t.dreams.generative)
	}
	for _, v := range []*pass{t.wake, t.dreams, t.laterDreams} {
		if v != nil {
			v.residuals = true
			v.makeParents()
		}
	}
	t.wake.makeCompact(a)
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

func (t *trainer) Step(learningRate float64) (engine.Report, error) {
	t.lookAhead(learningRate)
	t.weights.pack(t.point)
	report := t.sample(t.state.Step)
	start := time.Now()
	refreshed, err := t.refresh()
	if err != nil {
		return report, err
	}
	if refreshed {
		report.Refresh = time.Since(start)
	}
	t.ascend(true)
	t.update(learningRate, 0, t.state.Parameters.Architecture.GenerativeSize(), t.state.Step+1)
	t.updateRecognition(learningRate, 0)
	t.sleepOn(learningRate)
	t.state.Step++
	return report, nil
}

func (t *trainer) Gradients(learningRate float64) (engine.Gradients, error) {
	t.lookAhead(learningRate)
	t.weights.pack(t.point)
	t.sample(t.state.Step)
	// The draws are read before ascend scales the residuals by the weights.
	g := engine.Gradients{Wake: t.wake.draws()}
	if t.dreams != nil {
		t.dreams.scoreGeneration()
		g.Dreams = t.dreams.draws()
	}
	if _, err := t.refresh(); err != nil {
		return g, err
	}
	t.ascend(false)
	g.Plain = t.gradient.Clone()
	t.precondition()
	g.Natural = t.gradient.Clone()
	t.penalise()
	g.Direction = t.gradient.Clone()
	return g, nil
}

// sample draws the wake samples and the dreams of a step and scores them.
func (t *trainer) sample(step int) engine.Report {
	rows := t.job.Rows(step)
	samples := t.job.Algorithm.SamplesAt(step)
	t.wake.resize(len(rows), samples)
	key := philox.Key(t.job.Seed)
	ofDatum := t.reports[:len(rows)]
	// No sum here goes over several data. The more of them go together, the less
	// often are weights read.
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
			t.dream(step, 0, first*samples, last*samples)
			return
		}
		part := t.wake.rows(first, last)
		at := place{key: key, step: uint32(step), datum: func(d int) uint32 { return uint32(rows[first+d]) }}
		part.load(t.job.Data, at.to(philox.Binarize), func(d int) int { return rows[first+d] })
		part.recognize(at.to(philox.Wake))
		part.scoreGeneration()
		for d := range part.data {
			r := &ofDatum[first+d]
			r.LogP, r.Bound, r.ESS = t.weigh(part, d, first)
		}
		if t.labels != nil {
			t.weighLabels(part, first, at.to(philox.Wake), func(d int) uint8 { return t.job.Data.Labels[rows[d]] })
		}
	})
	var report engine.Report
	n := float64(len(rows))
	for _, r := range ofDatum {
		report.LogP += r.LogP / n
		report.Bound += r.Bound / n
		report.ESS += r.ESS / n
	}
	return report
}

// weigh writes the normalised importance weights of datum d of a part of the
// wake pass, and returns the estimate of log p(x), the bound and the effective
// sample size that its samples give.
func (t *trainer) weigh(part *pass, d, first int) (logP, bound, ess float64) {
	s := part.samples
	logP, bound, ess = engine.Summarize(part.logP[d*s:(d+1)*s], part.logQ[d*s:(d+1)*s])
	weights := t.importance[(first+d)*s : (first+d+1)*s]
	largest := math.Inf(-1)
	for k := range weights {
		weights[k] = t.job.Algorithm.Exponent * (part.logP[d*s+k] - part.logQ[d*s+k])
		largest = max(largest, weights[k])
	}
	sum := 0.0
	for k := range weights {
		weights[k] = math.Exp(weights[k] - largest)
		sum += weights[k]
	}
	for k := range weights {
		weights[k] /= sum
	}
	return logP, bound, ess
}
