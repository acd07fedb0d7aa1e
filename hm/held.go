package hm

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// certain is a logit whose probability is 1 in float32. The probability at logit −certain is below
// every uniform number that can be drawn.
const certain = 100

// Held returns the model with one hidden unit held on or off in all its dreams: p(x | do(hˡⱼ)).
// Layers are numbered from 1, the lowest, and units from 0. With the same seed, both models draw the
// same layers above, the same other units of the layer, and the same numbers wherever the unit has no
// influence, so their images can be compared one by one. Likelihoods are estimated under the changed
// distribution: q infers the unit as held. In a convolutional layer of q, whose units share weights, q
// is unchanged, and estimates need many more samples. The returned model computes in float32.
func (m *Model) Held(layer, unit int, on bool) (*Model, error) {
	a := m.Architecture()
	switch {
	case layer < 1 || layer > a.Depth():
		return nil, fmt.Errorf("hidden layer %d: the machine has the layers 1 to %d", layer, a.Depth())
	case unit < 0 || unit >= a.Units[layer]:
		return nil, fmt.Errorf("unit %d of hidden layer %d: it has the units 0 to %d", unit, layer, a.Units[layer]-1)
	case a.Kind(layer) != engine.Bernoulli:
		return nil, fmt.Errorf("the units of hidden layer %d are %v: only Bernoulli units can be held on or off", layer, a.Kind(layer))
	case engine.Generative.Connection(a, layer).Shared():
		return nil, fmt.Errorf("the units of hidden layer %d share the weights of a deconvolution: hold a unit of a dense layer", layer)
	}
	held := *m
	held.parameters = m.parameters.Clone()
	rows := [][]float32{held.parameters.Generative[layer].Row(unit)}
	if !engine.Recognition.Connection(a, layer).Shared() {
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
