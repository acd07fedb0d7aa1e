package cpu

import (
	"runtime/debug"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// metric holds the inverse Fisher blocks of the layers of both networks while they are frozen.
// Without blocks, and for tanh layers, it is the Euclidean metric.
type metric struct {
	inverses [2][]*fisher.Inverse
}

func (m metric) apply(t tile, gradients kernels.Matrix) {
	if n := t.network; n == n.Base() && m.inverses[n] != nil {
		m.inverses[n][t.layer].Apply(gradients, t.first)
	}
}

// refresh recomputes the blocks from the samples of the step if they are due, and reports whether
// it did. If it fails, it leaves the state unchanged.
func (t *trainer) refresh() (bool, error) {
	s := t.state
	if !s.RefreshDue(t.job.Algorithm, s.Step) {
		return false, nil
	}
	if t.chains != nil {
		t.sample(s.Step, nil)
	}
	err := t.computeMetric()
	if t.chains != nil {
		t.sample(s.Step, t.chains)
	}
	if err != nil {
		return false, err
	}
	s.Refresh()
	copy(s.RefreshParameters.Flat, t.point.Flat)
	return true, nil
}

// restoreMetric recomputes the blocks of the last refresh from the same data, draws and parameters.
func (t *trainer) restoreMetric() error {
	t.weights.pack(t.state.RefreshParameters)
	t.sample(t.state.RefreshStep, nil)
	return t.computeMetric()
}

// layerSamples holds the samples from which the Fisher blocks of a layer of a network are
// estimated, one row per sample.
type layerSamples struct {
	network   network
	layer     int
	parents   kernels.Matrix // inputs of the layer, [1; states]; for the prior only the 1
	outputs   kernels.Matrix
	residuals kernels.Matrix
	weight    func(r int) float64
}

// largeBlocks is the size in bytes from which dropped blocks are collected at once.
const largeBlocks = 64 << 20

// computeMetric computes the inverse Fisher blocks from the samples of the step.
func (t *trainer) computeMetric() error {
	if t.job.Algorithm.HasDreamtBlocks() {
		parallel(t.dreams.data, func(r int) { t.dreams.part(r, r+1).scoreDreams() })
	}
	old, depth := t.MetricBytes(), t.weights.architecture.Depth()
	t.metric.inverses = [2][]*fisher.Inverse{make([]*fisher.Inverse, depth+1), make([]*fisher.Inverse, depth+1)}
	layers := t.fisherSamples()
	if t.diagonal != nil {
		return t.computeDiagonal(layers)
	}
	if old >= largeBlocks {
		debug.FreeOSMemory() // otherwise the old blocks stay in memory beside the new ones until the next collection
	}
	for _, of := range layers {
		inverse, err := t.invert(of)
		if err := t.freeze(of, inverse, err); err != nil {
			return err
		}
	}
	return nil
}

// invert returns the inverses of the blocks of a layer.
func (t *trainer) invert(of layerSamples) (*fisher.Inverse, error) {
	s := settings(t.job.Algorithm, t.weights.architecture.Blocks(of.layer))
	if s.Groups == nil {
		return fisher.NewInverse(t.estimate(of), s, parallel)
	}
	return fisher.NewCategorical(t.categories(of), s, parallel)
}

// freeze stores the inverses of the blocks of a layer, or returns an engine.Singular with the error
// of their inversion.
func (t *trainer) freeze(of layerSamples, inverse *fisher.Inverse, err error) error {
	if err != nil {
		return &engine.Singular{Step: t.state.Step, Layer: of.layer, Network: of.network, Err: err}
	}
	t.metric.inverses[of.network][of.layer] = inverse
	return nil
}

// fisherSamples returns the samples for all layers of both networks.
func (t *trainer) fisherSamples() (layers []layerSamples) {
	algorithm := t.job.Algorithm
	samples := t.wake.data * t.wake.samples
	uniform := func(r int) float64 { return 1 / float64(samples) }
	source, weight := t.wake, func(r int) float64 { return t.importance[r] / float64(t.wake.data) }
	switch algorithm.FisherSource {
	case engine.FromSleep:
		source, weight = t.dreams, uniform
	case engine.FromLegacy:
		source, weight = t.dreams, t.legacyWeight
	}
	top := len(t.wake.states) - 1
	for i := range top + 1 {
		parents := kernels.Cols(source.states[top], 0, 1)
		if i < top {
			parents = source.states[i+1]
		}
		layers = append(layers, layerSamples{generative, i, parents, source.outputs[generative][i], source.residuals[generative][i], weight})
		if i == 0 {
			continue
		}
		of := layerSamples{recognition, i, t.wake.inputs(recognition, i), t.wake.outputs[recognition][i], t.wake.residuals[recognition][i], uniform}
		if i == 1 {
			// The samples of a datum have the same parents and the same slope, so one of them
			// represents all.
			for _, m := range []*kernels.Matrix{&of.outputs, &of.residuals} {
				m.Rows, m.Stride = t.wake.data, m.Stride*t.wake.samples
			}
			of.weight = func(int) float64 { return 1 / float64(t.wake.data) }
		}
		layers = append(layers, of)
	}
	if len(t.weights.architecture.Tanh) > 0 {
		parallel(len(layers), func(k int) {
			if of := &layers[k]; t.weights.connections[of.network][of.layer] != nil {
				of.parents = t.weights.hidden(of.network, of.layer, of.parents)[0]
			}
		})
	}
	return layers
}

// writeInformation writes the Fisher information of the outputs of a layer in samples first to
// last−1, times the samples' weights.
func (t *trainer) writeInformation(information kernels.Matrix, of layerSamples, first, last int) {
	units := t.weights.units[of.network][of.layer]
	for r := first; r < last; r++ {
		units.information(kernels.Row(information, r), kernels.Row(of.outputs, r), kernels.Row(of.residuals, r), of.weight(r))
		if g := t.wake.gap(of.network, of.layer, r); g != nil {
			g.clear(kernels.Row(information, r))
		}
	}
}

// categories returns the estimate of the joint blocks of a layer of categorical variables.
func (t *trainer) categories(of layerSamples) fisher.Categories {
	c := fisher.Categories{Parents: of.parents, Probabilities: kernels.NewMatrix(of.residuals.Rows, of.residuals.Cols)}
	c.Parents.Rows = of.residuals.Rows
	if !t.weights.architecture.Binary(of.layer) {
		c.Information = kernels.NewMatrix(of.residuals.Rows, of.residuals.Cols)
		unweighted := of
		unweighted.weight = func(int) float64 { return 1 }
		t.writeInformation(c.Information, unweighted, 0, of.residuals.Rows)
	}
	for r := range of.residuals.Rows {
		probabilities(kernels.Row(c.Probabilities, r), kernels.Row(of.residuals, r))
		c.SampleWeights = append(c.SampleWeights, float32(of.weight(r)))
	}
	return c
}

// estimate returns the estimate of the Fisher blocks of a layer. If weights are shared, each
// position of a sample counts like a sample, so the blocks sum over the positions (Várady 2025,
// 7.31).
func (t *trainer) estimate(of layerSamples) fisher.Estimate {
	connection := of.network.Connection(t.weights.architecture, of.layer)
	information := kernels.NewMatrix(of.residuals.Rows, of.residuals.Cols)
	t.writeInformation(information, of, 0, information.Rows)
	samples := make([]float32, 0, information.Rows*connection.Positions)
	for r := range information.Rows {
		w := float32(of.weight(r))
		for range connection.Positions {
			samples = append(samples, w)
		}
	}
	return fisher.Estimate{
		Parents:       t.weights.inputs(of.network, of.layer, of.parents),
		Weights:       ofPositions(information.Data, connection.Outputs),
		SampleWeights: samples,
	}
}
