package cpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

// Norms sums the weighted residuals of the first update of the last step again without the metric,
// so that steps need not keep the plain gradient.
func (t *trainer) Norms() (engine.Norms, error) {
	n := engine.NewNorms(t.state.Parameters.Architecture.Depth())
	n.Note(t.state.Parameters, func(l *engine.LayerNorms) *float64 { return &l.Weights })
	n.Note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Direction })
	t.sum(false)
	n.Note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Gradient })
	return n, nil
}
