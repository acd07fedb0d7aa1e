package updown

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// take takes a step along the gradients of some rows of split, and returns the mean of the pseudo-bound over
// these rows. If the context is cancelled, the state does not change.
func (m *Model) take(ctx context.Context, split dataset.Split, rows []int, rate float64) (float64, error) {
	at := place{key: philox.Key(m.seed), step: uint32(m.step)}
	wake, logs := m.newPass(len(rows)), make([]float64, len(rows))
	work.Parts(len(rows), rowsAPart, func(first, last int) {
		part, at := wake.rows(first, last), at
		at.purpose, at.datum = philox.Binarize, uint32(first)
		for r := range last - first {
			part.load(split, m.binarization, r, rows[first+r], at)
		}
		at.purpose = philox.Wake
		part.rise(at, logs[first:last], -1)
		part.generate(logs[first:last])
	})
	ends, pseudoLikelihood, err := m.learner.Step(ctx, wake.tops(), rate)
	if err != nil {
		return 0, err
	}
	dreams := m.newPass(ends.Rows)
	work.Parts(ends.Rows, rowsAPart, func(first, last int) {
		part, at := dreams.rows(first, last), at
		at.purpose, at.datum = philox.Sleep, uint32(first)
		for r := range last - first {
			copy(kernels.Row(part.top(), r), kernels.Row(ends, first+r))
		}
		part.descend(at)
		part.recognize()
	})
	for l := range m.generative {
		m.generative[l].ascend(rate, wake.states[l+1], wake.generative[l])
		m.recognition[l].ascend(rate, dreams.states[l], dreams.recognition[l])
	}
	m.step++
	return floats.Sum(logs)/float64(len(logs)) + pseudoLikelihood, nil
}
