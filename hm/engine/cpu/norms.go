package cpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

// Norms recomputes the plain gradient of the last step's first update from its weighted residuals,
// so that steps need not store it.
func (t *trainer) Norms() (engine.Norms, error) {
	n := engine.NewNorms(t.state.Parameters.Architecture.Depth())
	n.Note(t.state.Parameters, func(l *engine.LayerNorms) *float64 { return &l.Weights })
	n.Note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Direction })
	t.sum(false)
	n.Note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Gradient })
	return n, nil
}
