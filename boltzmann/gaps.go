package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A row with missing units has the free energy of its observed units, F(v_o) = −log Σ e^(−F(v)) over the states of the
// missing ones. Its gradient is the mean of the gradient of F(v) over p(v_missing|v_o), so a step of training draws the
// missing units and then learns from the completed row.

// Missing units are drawn exactly if either side has at most 2^mostDrawn states, and otherwise by gapSweeps sweeps of a
// chain, whose gradient is biased as long as the chain has not settled.
const (
	mostDrawn = 10
	gapSweeps = 20
)

// mostGapTerms is the largest cost of exact free energies of rows with gaps, in factors multiplied. It takes minutes.
const mostGapTerms = 1 << 36

// checkGaps refuses machines and methods that need complete rows, if values are missing.
func (e Experiment) checkGaps(set *dataset.Set) error {
	what, remedy := "", ""
	switch m := e.Machine; {
	case !set.HasGaps():
		return nil
	case len(m.Above) > 0 || e.Below != nil || m.Doubled != DoubledNeither:
		what, remedy = "a deep machine", "use one hidden layer"
	case m.labelled():
		what, remedy = "a machine with labels", "leave classes out"
	case m.Visible == Gaussian:
		what, remedy = "a machine of Gaussian visible units", "train factor-analysis, or ppca with em = true"
	case e.Method.flips():
		what, remedy = fmt.Sprint("algorithm = ", e.Method.Algorithm), "use pcd"
	default:
		return nil
	}
	return runs.RefuseGaps(what, set, remedy)
}

// ignoring returns the rows without their mask.
func ignoring(rows dataset.Split) dataset.Split {
	rows.Missing = nil
	return rows
}

// restOf returns the machine of the missing units and the hidden units given the observed units of v, and the energy of
// the observed units alone.
func (p *Parameters) restOf(v []float32, mask dataset.Mask) (rest *Parameters, energy float64) {
	known, missing := slices.Clone(v), 0
	for i, is := range mask {
		if is {
			known[i] = 0
			missing++
		}
	}
	rest = p.Spec.parameters(missing)
	rest.given = make([]float64, p.Hidden())
	energy = p.ownEnergy(known, rest.given)
	k := 0
	for i, is := range mask {
		if is {
			copy(kernels.Row(rest.Weights, k), kernels.Row(p.Weights, i))
			rest.VisibleBiases[k] = p.VisibleBiases[i]
			k++
		}
	}
	return rest, energy
}

// fillIn draws the missing units of rows of states given the others, by the masks of each row.
func (w *products) fillIn(states kernels.Matrix, each []likelihood, seed uint64, first int) {
	for r := range states.Rows {
		mask, v := each[r].mask, kernels.Row(states, r)
		if mask == nil {
			continue
		}
		rest, _ := w.restOf(v, mask)
		if rest.summed() > mostDrawn {
			c, at := newChains(1, w.Parameters), place{key: philox.Key(seed), purpose: philox.Clamp, datum: uint32(first + r)}
			c.clamp(context.Background(), w, kernels.Rows(states, r, r+1), func(int) dataset.Mask { return mask }, at, gapSweeps)
			copy(v, c.visible.Data)
			continue
		}
		drawn, err := rest.exactStates(context.Background(), 1, seed, uint32(first+r))
		if err != nil {
			panic(err) // only a context can end it
		}
		k := 0
		for i, missing := range mask {
			if missing {
				v[i] = drawn.Data[k]
				k++
			}
		}
	}
}

// settle gives blank rows, which have no observed units, their free energy −log Z. Their log p is then exactly 0, even if
// log Z is an estimate.
func settle(energies []float64, of dataset.Split, logZ float64) {
	for r := range energies {
		if of.Mask(r).HidesAll() {
			energies[r] = -logZ
		}
	}
}

// blankShare returns the share of blank rows in a mean over rows.
func blankShare(rows dataset.Split) runs.Float {
	if rows.Missing == nil {
		return 0
	}
	blank, all := 0.0, 0.0
	for r, share := range rows.Shares() {
		all += share
		if rows.Mask(r).HidesAll() {
			blank += share
		}
	}
	return runs.Float(blank / all)
}

// settleExactly is like settle, with the exact log Z, which it computes if a row is blank.
func (m *Model) settleExactly(ctx context.Context, energies []float64, of dataset.Split) error {
	for r := range energies {
		if of.Mask(r).HidesAll() {
			logZ, err := m.ExactLogZ(ctx)
			settle(energies, of, logZ)
			return err
		}
	}
	return nil
}

// gapTerms returns the cost of observedFreeEnergies, in factors multiplied.
func (m *Model) gapTerms(rows dataset.Split) (terms float64) {
	for r := range rows.Rows {
		if mask := rows.Mask(r); mask != nil && !mask.HidesAll() {
			rest, _ := m.parameters.restOf(make([]float32, len(mask)), mask)
			terms += rest.terms()
		}
	}
	return terms
}

// observedFreeEnergies returns the exact free energy of the observed units of each row, in nats, and 0 for blank rows, which settle
// sets.
func (m *Model) observedFreeEnergies(ctx context.Context, rows dataset.Split) ([]float64, error) {
	spec := m.parameters.Spec
	if m.parameters.Layers != nil || spec.labelled() || spec.Visible == Gaussian {
		return nil, runs.CheckRows(m.parameters.observed(), false, rows)
	}
	if terms := m.gapTerms(rows); terms > mostGapTerms {
		return nil, fmt.Errorf("log p of the observed values of %d %s rows takes sums over some 2^%.0f states: evaluate fewer rows (--rows), or fill them in with helmholtz impute", rows.Rows, rows.Name, math.Log2(terms))
	}
	states, err := m.observe(ignoring(rows))
	if err != nil {
		return nil, err
	}
	energies, failures := make([]float64, rows.Rows), make([]error, rows.Rows)
	work.Parallel(rows.Rows, func(r int) {
		mask, v := rows.Mask(r), kernels.Row(states, r)
		switch {
		case mask.HidesAll():
			return
		case mask == nil:
			energies[r] = m.parameters.freeEnergy(v, make([]float64, m.parameters.Hidden()))
			return
		}
		rest, energy := m.parameters.restOf(v, mask)
		logZ, err := rest.logZ(ctx)
		energies[r], failures[r] = energy-logZ, err
	})
	return energies, errors.Join(append(failures, ctx.Err())...)
}
