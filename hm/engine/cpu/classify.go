package cpu

import (
	"context"
	"errors"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

var _ engine.Classifier = (*model)(nil)

// Classify sums the terms of B̃(x,y) as the samples arrive. It needs no estimate of log Z², on
// which p*(y|x) does not depend, and it sums over the labels exactly, so Ã(x) = Σ_y B̃(x,y).
func (m *model) Classify(ctx context.Context, data engine.Data, samples int, seed uint64, progress func(float64)) ([]float64, error) {
	c := m.weights.classes
	if c == nil {
		return nil, errors.New("the machine has no labels: give it a label layer")
	}
	sums := make([]engine.WeightSum, data.Rows*c.count)
	err := m.importance(ctx, data, samples, philox.Importance, seed, progress, func(v *pass, from, _ int) {
		logits := kernels.NewMatrix(v.rows(), c.count)
		v.classLogits(logits)
		scores, logQ := make([]float64, c.count), make([]float64, c.count)
		for r := range v.rows() {
			v.scoreClasses(scores, logQ, r, kernels.Row(logits, r))
			for y, l := range scores {
				sums[(from+r/v.samples)*c.count+y].Add(l)
			}
		}
	})
	logs := make([]float64, len(sums))
	for k := range sums {
		logs[k] = sums[k].Likelihood().LogP
	}
	for row := range slices.Chunk(logs, c.count) {
		logSoftmax(row)
	}
	return logs, err
}
