//go:build cuda

package gpu

import (
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// trainer keeps everything that a step needs on the device.
type trainer struct {
	job    engine.Job
	layout layout
	memory *memory
	state  *engine.State
	stale  bool // whether state is older than the device's copy

	parameters, point address // point: where the gradient is evaluated
	moments           []address
	refreshed         address // parameters of the last refresh
	data              address

	wake, dreams                *pass   // with room for a full minibatch; dreams may be nil
	weights, recognitionWeights address // importance weights, also of the Fisher blocks, and weights in the gradient of q
	generativeWeights           address // in the gradient of p: weights, unless there is an estimator
	logWeights, joint, sums     address // joint: log p(x,h), only for an estimator
	plain, natural, direction   address
	// asleepPlain and asleepNatural replace plain and natural in the later sleep phases of a step.
	asleepPlain, asleepNatural address

	baseline baseline // the network of the learned baseline
	chains   chained  // the chains of the training rows
	stays    address  // the samples at which the chains of the minibatch end
	labels   labels   // the labels of the training rows

	inverses    [2][]*inverse
	scratch     address
	scratchSize int     // numbers per thread block
	failed      address // one flag per unit of all layers, set if its Fisher block cannot be inverted
	flags       int     // number of these flags

	blocks   shape // shape of the minibatch from which the Fisher blocks were estimated
	programs map[[2]shape]*stepPrograms
}

func (e *cuda) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	arch := state.Parameters.Architecture
	if err := refuse(append(arch.Features(), job.Algorithm.Features()...)...); err != nil {
		return nil, err
	}
	if a := job.Algorithm; arch.Labels() > 0 && (job.Data.Labels == nil || a.Rule != engine.Bidirectional || a.Metric != engine.Euclidean || a.HasEntropy()) {
		return nil, fmt.Errorf("the backend %s trains machines with labels only on rows with labels, by the method bihm without entropy regularisers: use these, or --backend cpu", name)
	}
	for i := range arch.Units {
		if a := job.Algorithm; arch.Variables(i) != nil && (a.Entropy != 0 || a.Chains && i > 0) {
			return nil, fmt.Errorf("the backend %s has neither entropy regularisers nor chains of the training rows for the categorical units of layer %d: omit them, or the groups", name, i)
		}
	}
	m, err := e.device.newMemory()
	if err != nil {
		return nil, err
	}
	e.device.trainers.Add(1)
	t := newTrainer(m, e.device.blocks, job, arch)
	t.state = state
	upload(m, t.parameters, t.layout.pad(state.Parameters.Flat))
	for k, moments := range state.Moments {
		upload(m, t.moments[k], t.layout.pad(moments.Flat))
	}
	t.baseline.upload(m, state.Baseline)
	upload(m, t.chains.chains, state.Chains)
	if m.err == nil && state.RefreshParameters != nil && job.Algorithm.Metric != engine.Euclidean {
		t.restoreMetric()
	}
	if m.err != nil {
		return nil, errors.Join(m.err, t.Close())
	}
	return t, nil
}

// newTrainer allocates the memory of a trainer on a device that runs threadBlocks thread blocks at
// a time.
func newTrainer(m *memory, threadBlocks int, job engine.Job, arch engine.Architecture) *trainer {
	a, l := job.Algorithm, newLayout(arch)
	rows, size := a.BatchSize*a.MostSamples(), l.size
	t := &trainer{
		job: job, layout: l, memory: m, programs: map[[2]shape]*stepPrograms{},
		parameters: m.floats(size), plain: m.floats(size), direction: m.floats(size),
		wake:    newPass(m, l, a.BatchSize, a.MostSamples()),
		weights: m.floats(rows), recognitionWeights: m.floats(rows), logWeights: m.doubles(rows),
		sums: m.doubles(mostPasses * a.BatchSize * weightSumSize),
	}
	t.data, t.labels = holdRows(m, job.Data), newLabels(m, t.wake, job.Data.Labels)
	t.point, t.natural, t.generativeWeights = t.parameters, t.plain, t.weights
	if a.Estimator != nil {
		t.generativeWeights, t.joint = m.floats(rows), m.doubles(rows)
	}
	if a.Optimizer == engine.Nesterov {
		t.point = m.floats(size)
	}
	for range a.Slots() {
		t.moments = append(t.moments, m.floats(size))
	}
	t.wake.want(m, t.wake.residuals[generative], generative)
	t.wake.want(m, t.wake.residuals[recognition], recognition)
	if a.Entropy != 0 {
		t.wake.want(m, t.wake.slopes[recognition], recognition)
	}
	if a.HasLearnedBaseline() {
		t.baseline = newBaseline(m, t.wake)
	}
	if a.Chains {
		width := engine.ChainWidth(arch)
		t.chains, t.stays = chained{chains: m.floats(job.Data.Rows * width), width: uint32(width), first: 1}, m.allocate(4*a.BatchSize)
	}
	if a.HasDreams() {
		t.dreams = newPass(m, l, rows, 1)
		if a.HasSleep() {
			t.dreams.want(m, t.dreams.residuals[recognition], recognition)
		}
		if a.HasEntropy() || a.HasDreamtBlocks() {
			t.dreams.want(m, t.dreams.residuals[generative], generative)
		}
		if a.Entropy != 0 {
			t.dreams.want(m, t.dreams.slopes[generative], generative)
		}
	}
	if a.Metric != engine.Euclidean {
		t.natural, t.refreshed = m.floats(size), m.floats(size)
		t.makeInverses(threadBlocks)
	}
	if a.SleepSteps > 1 {
		t.asleepPlain, t.asleepNatural = m.floats(size), m.floats(size)
		if a.Metric == engine.Euclidean {
			t.asleepNatural = t.asleepPlain
		}
	}
	return t
}

func (t *trainer) makeInverses(threadBlocks int) {
	a := t.job.Algorithm
	for n := range t.inverses {
		t.inverses[n] = make([]*inverse, len(t.layout.Units))
	}
	t.layout.each(func(n network, i int, of layer) {
		samples := blockSamples(n, i, a.BatchSize, a.MostSamples())
		v := newInverse(t.memory, a, of, samples)
		if side := v.side; a.Metric == engine.Block && side > mostPacked {
			remedy := "lower the batch size or the number of samples"
			if of.blocks != nil {
				remedy = "use smaller groups or layers"
			}
			t.memory.fail(fmt.Errorf("layer %d: the backend %s can multiply Fisher blocks of at most %d × %d numbers, and these would have %d × %d: %s, or choose the diagonal metric",
				i, name, mostPacked, mostPacked, side, side, remedy))
		}
		t.inverses[n][i], v.flags = v, t.flags
		t.flags += of.units
		t.scratchSize = max(t.scratchSize, 2*packed(v.side)+tileSize*tiles(samples, tileSize))
	})
	if a.Metric == engine.Block {
		t.scratch = t.memory.floats(threadBlocks * t.scratchSize)
		t.failed = t.memory.allocate(4 * t.flags)
	}
}

func (t *trainer) Close() error {
	t.memory.device.trainers.Add(-1)
	var errs []error
	for _, p := range t.programs {
		errs = append(errs, p.memory.close())
	}
	return errors.Join(append(errs, t.memory.close())...)
}

func (t *trainer) MetricBytes() int64 {
	bytes, a := int64(0), t.job.Algorithm
	t.layout.each(func(n network, i int, of layer) {
		bytes += describeBlocks(a, of, blockSamples(n, i, a.BatchSize, a.MostSamples())).Bytes
	})
	return bytes
}

// State copies what has changed on the device into the state, and returns it.
func (t *trainer) State() (*engine.State, error) {
	if !t.stale {
		return t.state, nil
	}
	t.layout.read(t.memory, t.state.Parameters.Flat, t.parameters)
	for k, a := range t.moments {
		t.layout.read(t.memory, t.state.Moments[k].Flat, a)
	}
	if t.state.RefreshParameters != nil {
		t.layout.read(t.memory, t.state.RefreshParameters.Flat, t.refreshed)
	}
	if a := t.job.Algorithm; a.HasLearnedBaseline() {
		t.state.Baseline = t.baseline.read(t.memory)
	} else if a.Chains {
		t.state.Chains = make([]float32, t.job.Data.Rows*int(t.chains.width))
		download(t.memory, t.state.Chains, t.chains.chains)
	}
	t.stale = t.memory.err != nil
	return t.state, t.memory.err
}

// Gradients computes the gradients and the draws of the next step, and returns them. It does not
// move the parameters.
func (t *trainer) Gradients(learningRate float64) (engine.Gradients, error) {
	m := t.moment(0, learningRate)
	var g engine.Gradients
	t.stale = t.stale || t.refreshDue(0)
	p, _, err := t.prepare(m)
	if err != nil {
		return g, err
	}
	if err := p.get(t, &p.explore).run(fmt.Sprintf("gradients of step %d", t.state.Step), m); err != nil {
		return g, err
	}
	for _, of := range []struct {
		to   **engine.Parameters
		from address
	}{{&g.Plain, t.plain}, {&g.Natural, t.natural}, {&g.Direction, t.direction}} {
		*of.to = engine.NewParameters(t.layout.Architecture)
		t.layout.read(t.memory, (*of.to).Flat, of.from)
	}
	g.Wake = p.wake.draws(t.memory, generative, recognition)
	if p.dreams != nil {
		scored := []network{generative}
		if t.job.Algorithm.HasSleep() {
			scored = append(scored, recognition)
		}
		g.Dreams = p.dreams.draws(t.memory, scored...)
	}
	return g, t.memory.err
}

// Norms returns the norms of the parameters, and of the gradients and directions of the last step's
// first update.
func (t *trainer) Norms() (engine.Norms, error) {
	n, p := engine.NewNorms(t.layout.Depth()), engine.NewParameters(t.layout.Architecture)
	for _, of := range []struct {
		from  address
		which func(*engine.LayerNorms) *float64
	}{
		{t.parameters, func(l *engine.LayerNorms) *float64 { return &l.Weights }},
		{t.plain, func(l *engine.LayerNorms) *float64 { return &l.Gradient }},
		{t.direction, func(l *engine.LayerNorms) *float64 { return &l.Direction }},
	} {
		t.layout.read(t.memory, p.Flat, of.from)
		n.Note(p, of.which)
	}
	return n, t.memory.err
}
