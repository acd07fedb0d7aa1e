package autoencoder

import (
	"context"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Sample draws n rows x ~ p(x) from the seed, and returns them with their expected values given the
// latent variables. n must not be negative.
func (m *Model) Sample(n int, seed uint64) (rows, means [][]float64) {
	at := place{key: philox.Key(seed), purpose: philox.Ancestral}
	decoder, x := newStack(m.decoder, m.settings.Activation, n, false), make([]float32, m.shape.Units())
	for r := range n {
		m.latent.dream(kernels.Row(decoder.input(), r), m.prior, at.sampled(r, 1))
	}
	decoder.forward()
	for r := range n {
		outputs := kernels.Row(decoder.outputs(), r)
		m.observe(x, outputs, at.sampled(r, 1))
		rows, means = append(rows, wide(x)), append(means, m.expected(outputs))
	}
	return rows, means
}

// Reconstruct binarises rows as in training, and draws z ~ q(z|x) from the seed. It returns x as the
// encoder reads it, and the expected value of x given z. It panics on rows that Estimate refuses, but accepts
// a split without rows.
func (m *Model) Reconstruct(rows dataset.Split, seed uint64) (x, means [][]float64) {
	if err := m.checkRows(rows); rows.Rows > 0 && err != nil {
		panic("autoencoder: " + err.Error())
	}
	at := place{key: philox.Key(seed), purpose: philox.Posterior}
	encoder := m.encode(rows, 0, rows.Rows, seed, kernels.NewMatrix(rows.Rows, m.settings.Code))
	decoder := newStack(m.decoder, m.settings.Activation, rows.Rows, false)
	for r := range rows.Rows {
		m.latent.draw(kernels.Row(decoder.input(), r), kernels.Row(encoder.outputs(), r), m.prior, at.sampled(r, 1))
	}
	decoder.forward()
	for r := range rows.Rows {
		x, means = append(x, wide(kernels.Row(encoder.input(), r))), append(means, m.expected(kernels.Row(decoder.outputs(), r)))
	}
	return x, means
}

func (m *Model) observe(x, outputs []float32, at place) {
	if m.noise == nil {
		kernels.Draw(x, outputs, 0, at.key, at.counter(0))
		return
	}
	outputs = append(make([]float32, 0, 2*len(x)), outputs...)
	for range x {
		outputs = append(outputs, m.noise[0])
	}
	kernels.DrawGaussian(x, outputs, len(x), floor, at.key, at.counter(0))
}

func (m *Model) expected(outputs []float32) []float64 {
	if m.noise != nil {
		return wide(outputs)
	}
	p := make([]float64, len(outputs))
	for i, a := range outputs {
		p[i] = float64(kernels.Sigmoid(a))
	}
	return p
}

func wide(row []float32) []float64 {
	values := make([]float64, len(row))
	for i, v := range row {
		values[i] = float64(v)
	}
	return values
}

// Drawings returns three drawings: the expected values of x given latent variables from the prior, draws of x
// given the same variables, and rows, each followed by its reconstruction.
func (m *Model) Drawings() []runs.Drawing {
	sheet := func(values [][]float64, err error) ([]dataset.Sheet, error) {
		return runs.Sheet(dataset.Sheet{Shape: m.shape, Values: values}, err)
	}
	sample := func(n int, seed uint64) (rows, means [][]float64, err error) {
		if err := memory.Check(names.Count(n, "sample"), 16*float64(n)*float64(m.shape.Units()), "use fewer"); err != nil {
			return nil, nil, err
		}
		rows, means = m.Sample(n, seed)
		return rows, means, nil
	}
	return runs.Drawings(runs.Drawing{
		Kind: "means", Uses: []string{"seed"}, Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			_, means, err := sample(s.N, s.Seed)
			return sheet(means, err)
		},
	}, runs.Drawing{
		Kind: "draws", Uses: []string{"seed"}, Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			rows, _, err := sample(s.N, s.Seed)
			return sheet(rows, err)
		},
	}, runs.Drawing{
		Kind: "reconstructions", Uses: []string{"split", "seed"}, Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			if err := m.checkRows(s.Rows); err != nil {
				return nil, err
			}
			var both [][]float64
			x, means := m.Reconstruct(s.Rows.Subset(s.N, s.Seed), s.Seed)
			for r := range x {
				both = append(both, x[r], means[r])
			}
			return sheet(both, nil)
		},
	})
}
