package cpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

// Norms sums the weighted residuals of the first update of the last step once
// more, without the metric: steps need not keep the plain gradient for it.
func (t *trainer) Norms() (engine.Norms, error) {
	depth := t.state.Parameters.Architecture.Depth()
	n := engine.Norms{Generative: make([]engine.LayerNorms, depth), Recognition: make([]engine.LayerNorms, depth)}
	note := func(p *engine.Parameters, norm func(*engine.LayerNorms) *float64) {
		for i := range depth {
			*norm(&n.Generative[i]) = p.Generative[i].WeightNorm()
			*norm(&n.Recognition[i]) = p.Recognition[i+1].WeightNorm()
		}
	}
	note(t.state.Parameters, func(l *engine.LayerNorms) *float64 { return &l.Weights })
	note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Direction })
	t.sum(false)
	note(t.gradient, func(l *engine.LayerNorms) *float64 { return &l.Gradient })
	return n, nil
}
