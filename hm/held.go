package hm

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// certain is a logit of which the probability, in float32, is 1, and of its negative less than
// any uniform number that is drawn.
const certain = 100

// Held returns the model whose given unit, 0 the first, of hidden layer hˡ, 1 the lowest, is on
// or off in all its dreams: p(x | do(hˡⱼ)), in which what is above the unit, and beside it, stays
// as it was. Its draws are those of the model wherever the unit has no part in them, so that the
// two can be compared image by image. Estimates of its likelihoods are of that distribution:
// q infers the unit as it is held, but for one that shares the weights of q in a convolution,
// whose estimates take many more samples. It computes in float32.
func (m *Model) Held(layer, unit int, on bool) (*Model, error) {
	a := m.Architecture()
	switch {
	case layer < 1 || layer > a.Depth():
		return nil, fmt.Errorf("hidden layer %d: the machine has the layers 1 to %d", layer, a.Depth())
	case unit < 0 || unit >= a.Units[layer]:
		return nil, fmt.Errorf("unit %d of hidden layer %d: it has the units 0 to %d", unit, layer, a.Units[layer]-1)
	case a.Kind(layer) != engine.Bernoulli:
		return nil, fmt.Errorf("the units of hidden layer %d are %v: those that can be held on or off are Bernoulli", layer, a.Kind(layer))
	case a.GenerativeConnection(layer).Shared():
		return nil, fmt.Errorf("the units of hidden layer %d share weights, of a deconvolution: hold a unit that has its own", layer)
	}
	held := *m
	held.parameters = m.parameters.Clone()
	rows := [][]float32{held.parameters.Generative[layer].Row(unit)}
	if !a.RecognitionConnection(layer).Shared() {
		rows = append(rows, held.parameters.Recognition[layer].Row(unit))
	}
	for _, row := range rows {
		clear(row)
		row[0] = -certain
		if on {
			row[0] = certain
		}
	}
	held.engine = &evaluator{parameters: held.parameters}
	return &held, nil
}
