package boltzmann

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Features returns the means of the hidden units given each row of data, as inputs for classifiers.
// layers[l][r] holds the means in hidden layer l given row r; the lowest layer comes first. In a restricted
// machine the means are exact, and in a deep machine they come from mean field. In a belief network, the
// means of a layer are conditional on the means of the layer below. In a machine with labels, all units of
// the label are off. Rows are binarised as in training; stochastic binarisation draws them from the model's
// seed.
func (m *Model) Features(ctx context.Context, rows dataset.Split) (layers [][][]float32, err error) {
	rows.Labels = nil
	v, err := m.observe(rows)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(m.below, stack{m.parameters}) {
		w, hidden := newProducts(p), kernels.NewMatrix(v.Rows, p.Hidden())
		inParts(v.Rows, func(first, last int) {
			if ctx.Err() != nil {
				return
			}
			states, means := kernels.Rows(v, first, last), kernels.Rows(hidden, first, last)
			if p.Layers != nil {
				w.meanField(states, means, toTheEnd)
			} else {
				w.up(means, states)
			}
			off := make([]float32, p.Hidden())
			for r := range means.Rows {
				w.latent.sumOut(kernels.Row(means, r), off)
				scaled(kernels.Row(means, r), -1, kernels.Row(means, r))
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for l := range p.Spec.layers(0)[1:] {
			side, first, last := hidden, 0, p.Hidden()
			if p.Layers != nil {
				side = []kernels.Matrix{v, hidden}[(l+1)%2]
				first, last = p.units(l + 1)
			}
			var layer [][]float32
			for r := range side.Rows {
				layer = append(layer, kernels.Row(side, r)[first:last:last])
			}
			layers = append(layers, layer)
		}
		v = hidden
	}
	return layers, nil
}

// Machines returns a copy of the parameters of each machine. A belief network has one machine per hidden
// layer, the lowest first; any other model has a single machine.
func (m *Model) Machines() (machines []*Parameters) {
	for _, p := range slices.Concat(m.below, stack{m.parameters}) {
		machines = append(machines, p.clone())
	}
	return machines
}

// Encodings returns Features as the kind means, with the units of the lowest layer first.
func (m *Model) Encodings() []runs.Encoding {
	var columns []string
	layer := 0
	for _, p := range slices.Concat(m.below, stack{m.parameters}) {
		for _, units := range p.Spec.layers(0)[1:] {
			layer++
			columns = append(columns, runs.Numbered(fmt.Sprintf("h%d_", layer), units)...)
		}
	}
	return []runs.Encoding{{Kind: "means", Columns: columns, Encode: func(ctx context.Context, rows dataset.Split, _ int, seed uint64) ([][]float64, error) {
		layers, err := m.WithSeed(seed).Features(ctx, rows)
		features := make([][]float64, rows.Rows)
		for _, layer := range layers {
			for r, means := range layer {
				features[r] = append(features[r], kernels.Doubles(means)...)
			}
		}
		return features, err
	}}}
}
