package autoencoder

import (
	"context"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
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
		rows, means = append(rows, kernels.Doubles(x)), append(means, m.expected(outputs))
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
		x, means = append(x, kernels.Doubles(kernels.Row(encoder.input(), r))), append(means, m.expected(kernels.Row(decoder.outputs(), r)))
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
		return kernels.Doubles(outputs)
	}
	p := make([]float64, len(outputs))
	for i, a := range outputs {
		p[i] = float64(kernels.Sigmoid(a))
	}
	return p
}

// Drawings returns three drawings: the expected values of x given latent variables from the prior, draws of x
// given the same variables, and rows, each followed by its reconstruction.
func (m *Model) Drawings() []runs.Drawing {
	return runs.Drawings(append(runs.Samples(m.shape, m.Sample), runs.Reconstructions(m.shape, func(rows dataset.Split, seed uint64) (x, means [][]float64, err error) {
		if err := m.checkRows(rows); err != nil {
			return nil, nil, err
		}
		x, means = m.Reconstruct(rows, seed)
		return x, means, nil
	}))...)
}

// Encodings lists the codes of rows, the expected values of the latent variables given a row.
func (m *Model) Encodings() []runs.Encoding {
	return []runs.Encoding{{Kind: "codes", Columns: runs.Numbered("code_", m.settings.Code), Encode: func(_ context.Context, rows dataset.Split, _ int, seed uint64) (features [][]float64, err error) {
		if err := m.checkRows(rows); err != nil {
			return nil, err
		}
		codes := kernels.NewMatrix(rows.Rows, m.settings.Code)
		m.encode(rows, 0, rows.Rows, seed, codes)
		for r := range rows.Rows {
			features = append(features, kernels.Doubles(kernels.Row(codes, r)))
		}
		return features, nil
	}}}
}
