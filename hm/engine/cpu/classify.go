package cpu

import (
	"context"
	"errors"

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
	logs := make([]float64, data.Rows*c.count)
	p := newPiece(samples)
	type workspace struct {
		pass   *pass
		logits kernels.Matrix
	}
	err := each(ctx, p.tasks(data.Rows), progress, func() *workspace {
		return &workspace{newPass(m.weights, p.rows, p.samples), kernels.NewMatrix(p.rows*p.samples, c.count)}
	}, func(w *workspace, task int) {
		from := task * p.rows
		n, v := min(p.rows, data.Rows-from), w.pass
		v.resize(n, p.samples)
		at := v.observe(data, seed, from)
		sums := make([]engine.WeightSum, n*c.count)
		scores, logQ := make([]float64, c.count), make([]float64, c.count)
		for first := 0; first < samples && ctx.Err() == nil; first += p.samples {
			count := min(p.samples, samples-first)
			v.resize(n, count)
			v.recognize(at.to(philox.Importance).from(first), nil)
			v.scoreGeneration()
			logits := kernels.Rows(w.logits, 0, n*count)
			v.classLogits(logits)
			for r := range n * count {
				v.scoreClasses(scores, logQ, r, kernels.Row(logits, r))
				for y, l := range scores {
					sums[r/count*c.count+y].Add(l)
				}
			}
		}
		for d := range n {
			row := logs[(from+d)*c.count:][:c.count]
			for y := range row {
				row[y] = sums[d*c.count+y].Likelihood().LogP
			}
			logSoftmax(row)
		}
	})
	return logs, err
}
