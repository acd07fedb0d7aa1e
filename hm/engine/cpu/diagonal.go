package cpu

import (
	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// diagonal computes the metric that keeps only the diagonals of the Fisher blocks (Várady 2025,
// 5.13–5.14). With weights w and inputs x of the samples r,
//
//	F_kk = Σ_r w_r σ'(a_r) x_rk²
//
// has the form of a gradient with the residuals w σ' and the inputs x². It is computed in the same
// way and at the same cost as a step's gradient, with or without shared weights.
type diagonal struct {
	blocks *engine.Parameters // first F_kk, then the inverses
	terms  terms              // per layer, w σ' as residuals and x² as inputs
}

// newDiagonal allocates the metric for full minibatches.
func newDiagonal(a engine.Architecture, layers []layerSamples) *diagonal {
	d := &diagonal{blocks: engine.NewParameters(a), terms: make(terms, len(a.Networks()))}
	for n := range d.terms {
		d.terms[n] = make([][]term, len(a.Units))
	}
	for _, of := range layers {
		d.terms[of.network][of.layer] = []term{{
			residuals: kernels.NewMatrix(of.residuals.Rows, of.residuals.Cols),
			parents:   kernels.NewMatrix(of.parents.Rows, of.parents.Cols),
		}}
	}
	return d
}

// computeDiagonal computes the inverse blocks for computeMetric if only their diagonals are kept.
func (t *trainer) computeDiagonal(layers []layerSamples) error {
	d := t.diagonal
	pieces := (t.wake.data*t.wake.samples + samplesAPiece - 1) / samplesAPiece
	for _, of := range layers {
		term := &d.terms[of.network][of.layer][0]
		term.residuals.Rows, term.parents.Rows = of.residuals.Rows, of.residuals.Rows
	}
	parallel(len(layers)*pieces, func(task int) {
		of, first := layers[task/pieces], task%pieces*samplesAPiece
		last := min(first+samplesAPiece, of.residuals.Rows)
		if first >= last {
			return // the first layer of q has fewer rows, one per datum
		}
		term := d.terms[of.network][of.layer][0]
		t.writeInformation(term.residuals, of, first, last)
		square(kernels.Rows(term.parents, first, last), kernels.Rows(of.parents, first, last))
	})
	t.eachTile(d.blocks, func(tile tile, rows kernels.Matrix) {
		t.addTerms(tile, rows, d.terms[tile.network][tile.layer])
	}, func(tile, kernels.Matrix) {})

	inverses, errs := make([]*fisher.Inverse, len(layers)), make([]error, len(layers))
	parallel(len(layers), func(k int) {
		of := layers[k]
		inverses[k], errs[k] = fisher.NewDiagonal(matrix(of.network.Layer(d.blocks, of.layer)), t.job.Algorithm.Damping)
	})
	for k, of := range layers {
		if err := t.freeze(of, inverses[k], errs[k]); err != nil {
			return err
		}
	}
	return nil
}

func square(squares, of kernels.Matrix) {
	for r := range of.Rows {
		row := kernels.Row(squares, r)
		for k, x := range kernels.Row(of, r) {
			row[k] = x * x
		}
	}
}
