package cpu

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// network is one of the two networks of a machine.
type network int

const (
	generative network = iota
	recognition
)

func (n network) layer(p *engine.Parameters, i int) engine.Layer {
	if n == generative {
		return p.Generative[i]
	}
	return p.Recognition[i]
}

func (n network) connection(a engine.Architecture, i int) engine.Connection {
	if n == generative {
		return a.GenerativeConnection(i)
	}
	return a.RecognitionConnection(i)
}

func (n network) String() string {
	if n == generative {
		return "generative"
	}
	return "recognition"
}

// metric holds the inverse Fisher blocks of the layers of both networks, for as
// long as they are frozen. Without blocks it is the Euclidean metric.
type metric struct {
	inverses [2][]*fisher.Inverse
}

func (m metric) apply(n network, i int, gradients kernels.Matrix, first int) {
	if m.inverses[n] != nil {
		m.inverses[n][i].Apply(gradients, first)
	}
}

// refresh computes the blocks anew if they are due, from the samples of the
// step before their residuals are weighted, and says whether they were.
func (t *trainer) refresh() (bool, error) {
	a, s := t.job.Algorithm, t.state
	if a.Metric == engine.Euclidean ||
		s.RefreshParameters != nil && s.Step-s.RefreshStep < a.RefreshEvery {
		return false, nil
	}
	if s.RefreshParameters == nil {
		s.RefreshParameters = engine.NewParameters(t.point.Architecture)
	}
	s.RefreshStep = s.Step
	copy(s.RefreshParameters.Flat, t.point.Flat)
	return true, t.computeMetric()
}

// restoreMetric computes the blocks of the last refresh again, from the same
// data, draws and parameters.
func (t *trainer) restoreMetric() error {
	t.weights.pack(t.state.RefreshParameters)
	t.sample(t.state.RefreshStep)
	return t.computeMetric()
}

func (t *trainer) computeMetric() error {
	algorithm := t.job.Algorithm
	samples := t.wake.data * t.wake.samples
	uniform := func(r int) float64 { return 1 / float64(samples) }
	reweighted := func(r int) float64 { return t.importance[r] / float64(t.wake.data) }

	source, weight := t.wake, reweighted
	if algorithm.FisherSource != engine.FromWake {
		source, weight = t.dreams, uniform
		if algorithm.FisherSource == engine.FromLegacy {
			weight = func(r int) float64 { return t.importance[r] / float64(samples) }
		}
		parallel(samples, func(r int) { source.rows(r, r+1).scoreGeneration() })
	}
	top := len(t.wake.states) - 1
	t.metric.inverses = [2][]*fisher.Inverse{make([]*fisher.Inverse, top+1), make([]*fisher.Inverse, top+1)}
	for i := range top + 1 {
		parents := kernels.Cols(source.states[top], 0, 1) // the prior's: the leading 1 alone
		if i < top {
			parents = source.states[i+1]
		}
		if err := t.invert(generative, i, t.estimate(generative, i, parents, source.generative[i], weight)); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		residuals, weight := t.wake.recognition[i], uniform
		if i == 1 {
			// The samples of a datum have the same parents and the same slope:
			// one of them stands for all.
			residuals.Rows, residuals.Stride = t.wake.data, residuals.Stride*t.wake.samples
			weight = func(int) float64 { return 1 / float64(t.wake.data) }
		}
		if err := t.invert(recognition, i, t.estimate(recognition, i, t.wake.states[i-1], residuals, weight)); err != nil {
			return err
		}
	}
	return nil
}

func (t *trainer) invert(n network, i int, e fisher.Estimate) error {
	inverse, err := fisher.NewInverse(e, settings(t.job.Algorithm), parallel)
	if err != nil {
		return fmt.Errorf("step %d, layer %d of the %v network: %w", t.state.Step, i, n, err)
	}
	t.metric.inverses[n][i] = inverse
	return nil
}

// estimate is that of the Fisher blocks of layer i of a network, from samples of
// weight(r) each: their parents, and the residuals of the layer before these are
// weighted. Where weights are shared, the positions of a sample are summed (004,
// 7.31).
func (t *trainer) estimate(n network, i int, parents, residuals kernels.Matrix, weight func(r int) float64) fisher.Estimate {
	connection, units := n.connection(t.weights.architecture, i), t.weights.units[n][i]
	from := residuals
	if units.kind == engine.Gaussian {
		// Residuals do not tell σ.
		from = kernels.NewMatrix(residuals.Rows, residuals.Cols)
		t.weights.logits(n, i, from, parents)
	}
	information := kernels.NewMatrix(from.Rows, from.Cols)
	samples := make([]float32, 0, from.Rows*connection.Positions)
	for r := range from.Rows {
		w := weight(r)
		units.information(kernels.Row(information, r), kernels.Row(from, r), w)
		for range connection.Positions {
			samples = append(samples, float32(w))
		}
	}
	return fisher.Estimate{Parents: t.weights.inputs(n, i, parents), Weights: ofPositions(information.Data, connection.Outputs), Samples: samples}
}
