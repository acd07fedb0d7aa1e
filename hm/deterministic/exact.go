package deterministic

import (
	"context"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// mostStateBits bounds the sums of LogP: two neighbouring hidden layers together, or a single
// hidden layer, have at most 2 to this power states.
const mostStateBits = 20

// LogP returns log p(x), in nats, of each datum of zeros and ones under the generative network with
// stochastic binary units. It is exact: it sums over all states of the hidden layers, two
// neighbouring layers at a time. LogP returns an error if a hidden layer and the one above it have
// more than 20 units together, or if a datum has the wrong length or a value other than 0 and 1. If
// the context is cancelled, it returns the context's error.
func (m *Machine) LogP(ctx context.Context, data [][]float64) ([]float64, error) {
	if err := checkStates(m.Units[1:]); err != nil {
		return nil, err
	}
	for i, x := range data {
		if len(x) != m.Units[0] {
			return nil, fmt.Errorf("datum %d has %d values, but the machine has %d visible units", i, len(x), m.Units[0])
		}
		for _, v := range x {
			if v != 0 && v != 1 {
				return nil, fmt.Errorf("datum %d has the value %v: use only zeros and ones (Binary converts a row)", i, v)
			}
		}
	}
	states, logP := [][]float64{nil}, []float64{0} // all states of the layer above, and their log-probabilities
	for l := m.depth(); l > 0; l-- {
		here := binaryStates(m.Units[l])
		var err error
		if logP, err = m.marginal(ctx, l, here, states, logP); err != nil {
			return nil, err
		}
		states = here
	}
	return m.marginal(ctx, 0, data, states, logP)
}

func checkStates(hidden []int) error {
	for l, together := range hidden {
		if l+1 < len(hidden) {
			together += hidden[l+1]
		}
		if together > mostStateBits {
			return fmt.Errorf("hidden layers of %v units: layer %d and the one above it have %d units together, too many to sum over their states; use at most %d",
				hidden, l+1, together, mostStateBits)
		}
	}
	return nil
}

// marginal returns the log-probabilities of the given states of layer l. above holds all states of
// the layer above, and logPAbove their log-probabilities.
func (m *Machine) marginal(ctx context.Context, l int, states, above [][]float64, logPAbove []float64) ([]float64, error) {
	layer, rule := m.Generative[l], rules[m.Activation]
	logP := make([]float64, len(states))
	for i := range logP {
		logP[i] = math.Inf(-1)
	}
	on, off := make([]float64, layer.Units), make([]float64, layer.Units)
	for k, parents := range above {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range layer.Units {
			on[j], off[j] = rule.logProbabilities(parents, layer.Row(j), layer.Biases[j])
		}
		for i, state := range states {
			joint := logPAbove[k]
			for j, s := range state {
				if s == 1 {
					joint += on[j]
				} else {
					joint += off[j]
				}
			}
			logP[i] = statistics.LogAdd(logP[i], joint)
		}
	}
	return logP, nil
}

// binaryStates lists all states of n units.
func binaryStates(n int) [][]float64 {
	states := make([][]float64, 1<<n)
	for s := range states {
		states[s] = make([]float64, n)
		for j := range n {
			states[s][j] = float64(s >> j & 1)
		}
	}
	return states
}
