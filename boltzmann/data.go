package boltzmann

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// checkBinarization refuses data whose values the visible units cannot take.
func (e Experiment) checkBinarization() error {
	if of := e.Machine.Visible.aspects(); !slices.Contains(of.reads, e.Dataset.Binarization) {
		return fmt.Errorf("binarization = %v: %s", e.Dataset.Binarization, of.remedy)
	}
	return nil
}

// encoding describes how rows of data become states of visible units.
type encoding struct {
	binarization dataset.Binarization
	standard     *standard // for Gaussian units
	standardized bool      // whether the data set is standardised
}

func (e encoding) check(set *dataset.Set) error {
	return set.CheckValues(dataset.Spec{Binarization: e.binarization, Standardize: e.standardized})
}

// load writes row r of rows into states of visible units. Gaussian units get standardised values. For other
// units, stochastic binarisation draws each value with its grey value as the probability, and other
// binarisations round grey values. d is the number of the row in the counters of the draws.
func (e encoding) load(states []float32, rows dataset.Split, r int, at place, d int) {
	if e.standard != nil {
		rows.Read(states, r)
		for i, mean := range e.standard.means {
			states[i] = (states[i] - mean) / e.standard.deviations[i]
		}
		return
	}
	kernels.Binarize(states, rows.Row(r), e.binarization == dataset.Stochastic, 0, at.key, at.counter(d))
}

// checkRows refuses rows whose length is not the number of visible units, and real numbers for other units than
// Gaussian ones.
func (m *Model) checkRows(rows dataset.Split) error {
	return runs.CheckRows(m.bottom().observed(), m.encoding.standard == nil, rows)
}

// states returns rows as states of the visible side of the top machine. In a deep machine, they include the
// means of the even hidden layers, by mean field. In a belief network, they are the hidden units of the machine
// below the top. The model's seed draws these hidden units, and also the values of stochastic rows.
func (m *Model) states(ctx context.Context, rows dataset.Split) (kernels.Matrix, error) {
	v, err := m.observe(rows)
	if err != nil {
		return v, err
	}
	if err := m.bottom().settle(ctx, v); err != nil {
		return v, err
	}
	return m.below.drawn(v, place{key: philox.Key(m.seed), purpose: philox.Observe}), nil
}

// checkCategories refuses states in which a categorical variable is not in exactly one category. It skips the
// variables that mask hides; mask may be nil.
func (m *Model) checkCategories(states kernels.Matrix, rows string, mask dataset.Mask) error {
	u := categorical{each: m.bottom().Spec.Categories}
	for r := 0; u.each > 0 && r < states.Rows; r++ {
		for i := 0; i < m.bottom().observed(); i += u.each {
			if mask != nil && mask[i] {
				continue
			}
			if err := u.check(kernels.Row(states, r)[i : i+u.each]); err != nil {
				return fmt.Errorf("row %d of %s has %w; use rows of variables of %d categories", r+1, rows, err, u.each)
			}
		}
	}
	return nil
}

// observe does the same as load, and refuses rows that are not states of categorical units.
func (m *Model) observe(rows dataset.Split) (kernels.Matrix, error) {
	states, err := m.load(rows)
	if err != nil {
		return states, err
	}
	return states, m.checkCategories(states, rows.Name, nil)
}

// load returns rows as states of the bottom machine. In a deep machine, the units of the even hidden layers
// follow the units of v and are 0. If a row has no label, the units of the label are 0, too.
func (m *Model) load(rows dataset.Split) (kernels.Matrix, error) {
	if err := m.checkRows(rows); err != nil {
		return kernels.Matrix{}, err
	}
	states := kernels.NewMatrix(rows.Rows, m.bottom().Visible())
	at := place{key: philox.Key(m.seed), purpose: philox.Observe}
	for d := range rows.Rows {
		m.encoding.load(kernels.Row(states, d), rows, d, at, d)
		m.parameters.loadLabel(kernels.Row(states, d), rows, d)
	}
	return states, nil
}
