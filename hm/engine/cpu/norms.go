package cpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

// Norms recomputes the plain gradient of the last step's first update from its weighted residuals,
// so that steps need not store it. It overwrites the direction, so it must be called directly after
// Steps, and only once.
func (t *trainer) Norms() (engine.Norms, error) {
	n := engine.NewNorms(t.state.Parameters.Architecture.Depth())
	n.Note(t.state.Parameters, func(l *engine.LayerNorms) *float64 { return &l.Weights })
	n.Note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Direction })
	if t.first != nil { // later sleep phases have packed other weights, from which the tanh layers follow
		t.weights.pack(t.first)
	}
	t.sum(false)
	n.Note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Gradient })
	return n, nil
}
