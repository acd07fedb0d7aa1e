package boltzmann

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// At the maximum of log p, the mean energy ⟨E(v,h)⟩ given the data equals the mean energy under the model. This
// follows because E is linear in the parameters θ. With the parameters αθ, at α = 1,
//
//	d log p/d log α = ⟨E⟩ under the model − ⟨E⟩ given the data.
//
// Long Gibbs chains that begin at the data measure the right side. The few sweeps of CD may not: a machine may
// have learned to produce data after a few sweeps, but other rows after many (Decelle, Furtlehner and Seoane
// 2021). The machine is then out of equilibrium.

// Drift measures how far the energy of long chains moves from its value at the rows where they begin.
type Drift struct {
	// Change is the mean change of E(v,h), computed with the means of the hidden units. If Change is negative,
	// shrinking all parameters would raise log p; if it is positive, growing them would.
	Change   runs.Float `json:"change"` // nats
	ChangeSE runs.Float `json:"change_se"`
	Chains   int        `json:"chains"`
	Sweeps   int        `json:"sweeps"`
	// Away reports whether the change exceeds three standard errors in either direction.
	Away bool         `json:"away"`
	Path []DriftPoint `json:"-"`
}

// DriftPoint is the mean change after a number of sweeps, with its standard error.
type DriftPoint struct {
	Sweeps     int
	Change, SE float64 // nats
}

const (
	driftChains = 100
	driftSweeps = 1 << 10
)

// String returns the change with its standard error, and its meaning.
func (d Drift) String() string {
	text := fmt.Sprintf("drift of the energy %s nats%s", runs.Spread{Mean: float64(d.Change), SD: float64(d.ChangeSE)}.Text(3), d.chains())
	if d.Away {
		text += "; " + d.verdict()
	}
	return text
}

func (d Drift) chains() string {
	return fmt.Sprintf(" after %d sweeps of %s from training rows", d.Sweeps, names.Count(d.Chains, "chain"))
}

func (d Drift) verdict() string {
	if d.Change < 0 {
		return "samples drift away to energies below the energies of the training rows: the machine is out of equilibrium, and log p would rise if its weights were smaller; train with pcd, pt or ptt"
	}
	return "samples drift away to energies above the energies of the training rows: the machine has learned too little, or is out of equilibrium; train for longer, with pcd, pt or ptt"
}

// Drift runs 100 chains for 1,024 Gibbs sweeps. The chains begin at training rows, which the model's seed selects from
// rows. If there are fewer than 100 rows, Drift runs one chain per row. In a deep machine, chains begin with the means
// of the hidden units by mean field. In a labelled machine, Drift draws a label for each row given its other units.
// The standard error comes from the spread over the chains, and is NaN for fewer than 10.
func (m *Model) Drift(ctx context.Context, rows dataset.Split) (Drift, error) {
	if err := m.checkDistribution(); err != nil {
		return Drift{}, err
	}
	visible, err := m.states(ctx, rows.Subset(driftChains, m.seed))
	if err != nil {
		return Drift{}, err
	}
	w, all := newProducts(m.parameters), newChains(visible.Rows, m.parameters)
	at := place{key: philox.Key(m.seed), purpose: philox.Drift}
	for r := range visible.Rows {
		m.parameters.drawLabel(kernels.Row(visible, r), at.key, at.counter(r))
	}
	var path []int
	for sweeps := 1; sweeps <= driftSweeps; sweeps *= 2 {
		path = append(path, sweeps)
	}
	begin, energies := make([]float64, visible.Rows), make([][]float64, len(path))
	for k := range path {
		energies[k] = make([]float64, visible.Rows)
	}
	inParts(visible.Rows, func(first, last int) {
		c, at := all.part(first, last, at)
		rows := kernels.Rows(visible, first, last)
		w.up(c.hiddenInputs, rows)
		w.expectedEnergies(begin[first:last], rows, c.hiddenInputs)
		at.layer = 1
		at.draw(w.latent, c.hidden, c.hiddenInputs)
		next := 0
		for sweep := 1; sweep <= driftSweeps && ctx.Err() == nil; sweep++ {
			at.step = uint32(sweep)
			c.sweep(w, at)
			if sweep == path[next] {
				w.expectedEnergies(energies[next][first:last], c.visible, c.hiddenInputs)
				next++
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return Drift{}, err
	}
	d, few := Drift{Chains: visible.Rows, Sweeps: driftSweeps}, runs.SampleSize{Count: visible.Rows, Effective: runs.Float(visible.Rows)}.Few()
	for k, sweeps := range path {
		for r, from := range begin {
			energies[k][r] -= from
		}
		e := runs.EstimateOf(energies[k])
		d.Change, d.ChangeSE = runs.Float(e.Value), runs.Float(e.SE)
		if few {
			d.ChangeSE = runs.Float(math.NaN())
		}
		d.Path = append(d.Path, DriftPoint{sweeps, float64(d.Change), float64(d.ChangeSE)})
	}
	d.Away = math.Abs(float64(d.Change)) > 3*float64(d.ChangeSE)
	return d, nil
}

// expectedEnergies writes E(v,h) of each row of visible states to to. h holds the means of the hidden units, which
// follow from their inputs. For Gaussian hidden units, it leaves out all terms but cᵀh and vᵀWh, since no parameter
// scales the others.
func (w *products) expectedEnergies(to []float64, visible, inputs kernels.Matrix) {
	means, off := make([]float32, w.Hidden()), make([]float32, w.Hidden())
	for r := range to {
		a := kernels.Row(inputs, r)
		copy(means, a)
		w.latent.sumOut(means, off) // negated
		to[r] = w.seen.energy(kernels.Row(visible, r), w.VisibleBiases) + blas32.DDot(vector(a), vector(means))
	}
}
