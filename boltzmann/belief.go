package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A deep belief network (Hinton, Osindero and Teh 2006; Goodfellow et al. 2016, 20.3) has a restricted machine
// on top of directed layers,
//
//	p(v,h¹,…,h^L) = p(v|h¹) ⋯ p(h^{L−2}|h^{L−1}) p(h^{L−1},h^L).
//
// It is trained greedily, layer by layer: first a restricted machine on the data, then one on hidden units drawn
// from the first, and so on. The layers below stay fixed: downwards, p(h^{l−1}|h^l) generates; upwards,
// p(h^l|h^{l−1}) recognises. Each layer is a separate run, which names the run of the layer below.

// On returns the method that trains a machine on top of the machine of the run in dir. checkpoint is last, best or
// the number of an epoch that the run keeps. Together the machines are a deep belief network. Training copies the
// machines below into the new run.
func (m Method) On(dir, checkpoint string) Method {
	m.below = &runs.Source{Run: dir, Checkpoint: checkpoint}
	return m
}

// TrainBelief trains a deep belief network layer by layer, each for the method's epochs. The run of layer l is in
// dir/layer-l. TrainBelief returns the last run, which holds the whole network. Like Train, it resumes where it
// stopped.
func (m Method) TrainBelief(ctx context.Context, machine Machine, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	jobs, err := m.Experiment(machine, set).Layers(dir)
	if err != nil {
		return nil, err
	}
	return trainJobs(ctx, jobs, set, recorders...)
}

// trainJobs trains the jobs one after the other, and returns the last run.
func trainJobs(ctx context.Context, jobs []runs.Job, set *dataset.Set, recorders ...runs.Recorder) (run *Run, err error) {
	for _, j := range jobs {
		if run, err = j.Experiment.(Experiment).Train(ctx, set, j.Dir, recorders...); err != nil {
			return run, fmt.Errorf("%s: %w", j.Setting, err)
		}
	}
	return run, nil
}

// Layers returns one job for each hidden layer of the machine. Together they train a belief network in the
// directory dir: the experiment of each job but the first stands on the run of the layer below.
func (e Experiment) Layers(dir string) (jobs []runs.Job, err error) {
	if e.Below != nil {
		return nil, errors.New("a belief network that stands on a run: train its layers one by one")
	}
	if e.Start != nil {
		return nil, errors.New("layers that start from a run: the layers of a belief network begin from random weights; omit the start")
	}
	if len(e.Machine.Above) > 0 && !e.Machine.plain() {
		return nil, fmt.Errorf("%v: the layers of belief networks are restricted machines of Bernoulli units without labels; omit other units and labels", e)
	}
	all := e.Machine.layers(0)[1:]
	for l, units := range all {
		layer := e
		layer.Pretrained = nil
		layer.Machine.Hidden, layer.Machine.Above, layer.Machine.Beside = units, nil, nil
		if beside := e.Machine.Beside; l+1 < len(beside) {
			layer.Machine.Beside = beside[l : l+2]
		}
		if l > 0 {
			layer.Below = &runs.Source{Run: LayerDir(dir, l)}
		}
		jobs = append(jobs, runs.Job{Setting: fmt.Sprintf("layer %d of %d", l+1, len(all)), Experiment: layer, Dir: LayerDir(dir, l+1)})
	}
	return jobs, nil
}

// LayerDir returns the directory of a layer within the directory of its belief network.
func LayerDir(dir string, layer int) string {
	return filepath.Join(dir, fmt.Sprintf("layer-%d", layer))
}

// stack holds the machines below the top machine of a belief network, the lowest first.
type stack []*Parameters

// readBelow returns the machines that the experiment stands on. It refuses machines for images of another shape,
// machines that cannot be part of a belief network, and parameters whose checksum has changed.
func (e Experiment) readBelow(shape dataset.Shape) (stack, error) {
	fail := func(err error) (stack, error) {
		return nil, fmt.Errorf("the machine below, of %s: %w", e.Below.Run, err)
	}
	run, err := OpenRun(e.Below.Run)
	if err != nil {
		return fail(err)
	}
	m, err := run.Checkpoint(e.Below.Checkpoint)
	switch {
	case err != nil:
		return fail(err)
	case m.shape != shape:
		return fail(fmt.Errorf("it is for images of %v, the data have %v: train both on the same data", m.shape, shape))
	case !m.parameters.Spec.plain() || m.parameters.Layers != nil:
		return fail(fmt.Errorf("%v: a belief network consists of restricted machines of Bernoulli units; give a run of one", run.Experiment()))
	}
	s := append(slices.Clone(m.below), m.parameters)
	if err := e.Below.CheckParameters(s.checksum()); err != nil {
		return fail(err)
	}
	return s, nil
}

func (s stack) checksum() string { return runs.Snapshot{Tensors: s.tensors()}.Checksum() }

func (s stack) tensors() (list []runs.Tensor) {
	for l, p := range s {
		list = append(list, parameterTensors(fmt.Sprintf("below.%d.", l), p)...)
	}
	return list
}

func (s stack) units() (units []int) {
	for _, p := range s {
		units = append(units, p.Hidden())
	}
	return units
}

// doubled returns the doubled side of the lowest machine.
func (s stack) doubled() Doubled {
	if len(s) == 0 {
		return DoubledNeither
	}
	return s[0].Spec.Doubled
}

// beside returns the second pathway of each machine, or nil if no machine has one.
func (s stack) beside() (all [][]int) {
	if !slices.ContainsFunc(s, func(p *Parameters) bool { return len(p.Spec.Beside) > 0 }) {
		return nil
	}
	for _, p := range s {
		all = append(all, p.Spec.Beside)
	}
	return all
}

// newStack returns the machines below that a header describes. Their parameters are all 0.
func newStack(h header) (s stack) {
	visible := h.Shape.Units()
	for l, units := range h.Below {
		spec := MachineSpec{Hidden: units}
		if l < len(h.BesideBelow) {
			spec.Beside = h.BesideBelow[l]
		}
		s = append(s, spec.parameters(visible))
		visible = units
	}
	if len(s) > 0 {
		s[0].Spec.Doubled = h.DoubledBelow
	}
	return s
}

// Adopt returns the experiment, which leaves no settings open.
func (e Experiment) Adopt(runs.Experiment) runs.Experiment { return e }

// Resolve returns the experiment with a checksum of the parameters in each run that it refers to: the machines
// below, the pretrained layers and the start. A start replaces imported parameters. Resolve refuses a run that it
// cannot read or that does not fit.
func (e Experiment) Resolve(set *dataset.Set) (runs.Experiment, error) {
	if e.Pretrained != nil && e.Pretrained.Parameters == "" {
		var err error
		if e.Pretrained, err = e.Pretrained.resolved(e.Machine.layers(set.Shape().Units())); err != nil {
			return nil, err
		}
	}
	if e.Start != nil {
		e.Imported = nil
	}
	start, err := e.Start.Resolved(func() (string, error) {
		s, _, err := e.startState(set.Shape())
		if err != nil {
			return "", err
		}
		return startChecksum(s), nil
	})
	if err != nil {
		return nil, err
	}
	below, err := e.Below.Resolved(func() (string, error) {
		s, err := e.readBelow(set.Shape())
		return s.checksum(), err
	})
	e.Start, e.Below = start, below
	return e, err
}

// checkBelow refuses settings that do not fit a machine that stands on a run.
func (e Experiment) checkBelow() error {
	switch {
	case e.Below == nil:
		return nil
	case strings.TrimSpace(e.Below.Run) == "":
		return errors.New("a machine below without a run: name the directory of its run")
	case e.Machine.Visible != Bernoulli || len(e.Machine.Above) > 0:
		return errors.New("a machine that stands on a run: it must be a restricted machine of Bernoulli units; give one hidden layer")
	}
	return nil
}

// climber multiplies by the weights of a stack, in both directions.
type climber []*products

func (s stack) climber() (c climber) {
	for _, p := range s {
		c = append(c, newProducts(p))
	}
	return c
}

// rise begins at rows of v. Going up, it draws the hidden units of each machine given the units below them. It
// returns the hidden units of the last machine, or v if there are no machines. Unless each is nil, rise calls it
// for each machine with the units below and above the machine and the inputs from which it drew the units above.
func (c climber) rise(v kernels.Matrix, at place, each func(w *products, below, above, inputs kernels.Matrix)) kernels.Matrix {
	for l, w := range c {
		inputs, above := kernels.NewMatrix(v.Rows, w.Hidden()), kernels.NewMatrix(v.Rows, w.Hidden())
		w.up(inputs, v)
		at.layer = uint8(l + 1)
		at.draw(w.latent, above, inputs)
		if each != nil {
			each(w, v, above, inputs)
		}
		v = above
	}
	return v
}

// riseTo draws the hidden units of the last machine given rows of v, and writes them to to.
func (c climber) riseTo(to, v kernels.Matrix, at place) {
	drawn := c.rise(v, at, nil)
	for r := range to.Rows {
		copy(kernels.Row(to, r), kernels.Row(drawn, r))
	}
}

// drawn returns the hidden units of the last machine, drawn given rows of v. It returns v if there are no machines.
func (s stack) drawn(v kernels.Matrix, at place) kernels.Matrix {
	if len(s) == 0 {
		return v
	}
	c, to := s.climber(), kernels.NewMatrix(v.Rows, s[len(s)-1].Hidden())
	inParts(v.Rows, func(first, last int) {
		of := at
		of.datum += uint32(first)
		c.riseTo(kernels.Rows(to, first, last), kernels.Rows(v, first, last), of)
	})
	return to
}

// descend begins at inputs of the last machine's hidden units. Going down, it draws the hidden units of each
// machine and computes the inputs of the units below them. It returns the inputs of v.
func (c climber) descend(inputs kernels.Matrix, at place) kernels.Matrix {
	for l, w := range slices.Backward(c) {
		above := kernels.NewMatrix(inputs.Rows, w.Hidden())
		at.layer = uint8(l + 2)
		at.draw(w.latent, above, inputs)
		inputs = kernels.NewMatrix(inputs.Rows, w.Visible())
		w.down(inputs, above)
	}
	return inputs
}

// beliefFreeEnergies returns estimates of F(v) = −log Σ_h p(v|h¹) ⋯ e^(−F(h^{L−1})) for rows of v, in nats. It
// estimates the sum with K importance samples from q(h|v), drawn layer by layer upwards; K is samples. For K = 1,
// −F(v) − log Z is the variational bound in expectation; for larger K, its expectation is nearer to log p(v). The
// estimated sum is unbiased, so F(v) is too high in expectation. weights are the MeanWeights of the rows.
func (m *Model) beliefFreeEnergies(ctx context.Context, v kernels.Matrix, weights []float64, samples int) ([]float64, runs.SampleSize, error) {
	widest := v.Cols + 2*m.parameters.Hidden()
	for _, p := range m.below {
		widest += 4 * p.Hidden()
	}
	if limit, whose := memory.Limit(); samples < 1 || 4*float64(samples)*float64(widest) > float64(limit)/8 {
		return nil, runs.SampleSize{}, fmt.Errorf("%d importance samples per row: give at least 1, and no more than fit in the memory of %s, %.3g bytes", samples, whose, float64(limit))
	}
	c, top := m.below.climber(), newProducts(m.parameters)
	energies, ess, moved := make([]float64, v.Rows), make([]float64, v.Rows), make([]float64, v.Rows)
	work.Parts(v.Rows, 1, func(d, _ int) {
		if ctx.Err() != nil {
			return
		}
		copies, logs := kernels.NewMatrix(samples, v.Cols), make([]float64, samples)
		for r := range samples {
			copy(kernels.Row(copies, r), kernels.Row(v, d))
		}
		// place numbers the samples by datum, so step numbers the rows of data.
		at := place{key: philox.Key(m.seed), purpose: philox.Posterior, step: uint32(d)}
		states := c.rise(copies, at, func(w *products, below, above, inputs kernels.Matrix) {
			generated := kernels.NewMatrix(samples, w.Visible())
			w.down(generated, above)
			for r := range logs {
				logs[r] += kernels.Residual(kernels.Row(generated, r), kernels.Row(below, r)) - kernels.Residual(kernels.Row(inputs, r), kernels.Row(above, r))
			}
		})
		inputs := kernels.NewMatrix(samples, m.parameters.Hidden())
		top.up(inputs, states)
		off := make([]float32, inputs.Cols)
		for r := range logs {
			logs[r] += turnOff(kernels.Row(inputs, r), off) + float64(blas32.Dot(vector(kernels.Row(states, r)), vector(top.VisibleBiases)))
		}
		energies[d], ess[d], moved[d] = statistics.LogMean(logs)
	})
	floats.Scale(-1, energies)
	return energies, runs.MeanSampleSize(weights, runs.ErrsLow, "samples a row", samples, ess, moved).Negative(), ctx.Err()
}

// enumerableBelow is the largest number of hidden units below the top machine whose states are summed over.
// Summing over 20 units takes seconds for a few hundred small images.
const enumerableBelow = 20

func (m *Model) exactBeliefLogP(ctx context.Context, rows dataset.Split) ([]float64, error) {
	between := 0
	for _, units := range m.below.units() {
		between += units
	}
	if between > enumerableBelow {
		return nil, fmt.Errorf("log p of a belief network with %d hidden units below the machine on top: too many to sum over their states; use at most %d, or estimate log p by Evaluate", between, enumerableBelow)
	}
	v, err := m.observe(rows)
	if err != nil {
		return nil, err
	}
	return m.logPOn(ctx, m.below, v)
}

// logPOn returns log p of each row of v. A row holds a state of the visible units of machines[0]. Each machine
// stands below the next, and the last stands below the model's top machine. logPOn sums p(v|h) p(h) over all states
// h of the hidden units of machines[0]; the machines above give p(h).
func (m *Model) logPOn(ctx context.Context, machines stack, v kernels.Matrix) ([]float64, error) {
	if len(machines) == 0 {
		return m.exactLogP(ctx, dataset.Split{}, v)
	}
	h := kernels.States(machines[0].Hidden())
	above, err := m.logPOn(ctx, machines[1:], h)
	if err != nil {
		return nil, err
	}
	w, logs := newProducts(machines[0]), make([]float64, v.Rows)
	for d := range logs {
		logs[d] = math.Inf(-1)
	}
	for first := 0; first < h.Rows && ctx.Err() == nil; first += statesAPart {
		part := kernels.Rows(h, first, min(first+statesAPart, h.Rows))
		inputs, joint := kernels.NewMatrix(part.Rows, v.Cols), above[first:first+part.Rows]
		w.down(inputs, part)
		for s := range joint {
			for _, a := range kernels.Row(inputs, s) {
				joint[s] -= statistics.Softplus(float64(a))
			}
		}
		work.Parallel(v.Rows, func(d int) {
			terms := make([]float64, part.Rows+1)
			for s, log := range joint {
				terms[s] = log + float64(blas32.Dot(vector(kernels.Row(v, d)), vector(kernels.Row(inputs, s))))
			}
			terms[part.Rows] = logs[d]
			logs[d] = floats.LogSumExp(terms)
		})
	}
	return logs, ctx.Err()
}
