package hm

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Chain sets how Markov chains on p*(x,h) move (BiHM thesis 2016, Algorithm 2). A sweep draws the
// odd hidden layers, then the even hidden layers, then x. It draws each layer from p* given all other
// layers: it picks one of K candidates with a probability in proportion to its importance weight.
type Chain = runs.Chain

func gibbs(c Chain, chains int) (engine.Gibbs, error) {
	g := engine.Gibbs{Sweeps: c.Sweeps, Candidates: cmp.Or(c.Candidates, 100), Inner: cmp.Or(c.Inner, 10), Retain: c.Retain}
	switch {
	case g.Sweeps < 0 || g.Sweeps > math.MaxUint32:
		return g, fmt.Errorf("%d sweeps: use between 0 and 2³²−1", g.Sweeps)
	case g.Candidates < 0 || g.Inner < 0 || g.Inner > math.MaxUint32:
		return g, fmt.Errorf("%d candidates with %d inner samples: use at least 1 of each, or 0 for the default numbers", g.Candidates, g.Inner)
	case g.Retain && g.Candidates == 1:
		return g, fmt.Errorf("chains that retain their state with 1 candidate never move: use at least 2 candidates")
	case float64(chains)*float64(g.Candidates) > math.MaxUint32:
		return g, fmt.Errorf("%d chains of %d candidates: use fewer chains or candidates; their product must be below 2³²", chains, g.Candidates)
	}
	return g, nil
}

// Gibbs runs n chains on p*(x,h) from dreams x,h ~ p(x,h), and returns the means of p(x|h¹) for the h¹
// of their last states (BiHM thesis 2016, Fig 3.2 B). Without sweeps it returns the same as Means.
// progress, which may be nil, is called with the fraction of the work done.
func (m *Model) Gibbs(ctx context.Context, n int, c Chain, progress func(float64)) (dataset.Sheet, error) {
	if err := checkRoom(float64(n), "chains", 2*drawBytes(m.Architecture())); err != nil {
		return dataset.Sheet{}, err
	}
	g, err := gibbs(c, n)
	if err != nil {
		return dataset.Sheet{}, err
	}
	model, err := m.engine.chains()
	if err != nil {
		return dataset.Sheet{}, err
	}
	draws, err := model.Gibbs(ctx, n, g, m.seed, progress)
	if err != nil {
		return dataset.Sheet{}, err
	}
	return m.sheet(n, func(k int) float64 { return float64(draws.Means[0][k]) }), nil
}

// Inpaint draws the units that a mask hides in each row of a split from p*(x|known), with the given
// number of independent chains per row (BiHM thesis 2016, section 3.4). The chains never change known
// units. They start at h ~ q(h|x̃), where x̃ is the row with its missing units off or 0; a missing group
// that must have a unit on is in its first category. A mask must hide all units of a categorical group
// or none. The images hold the means of the missing units given h¹ in the last states of the chains or, with c.Draws, these
// units themselves. progress, which may be nil, is called with the fraction of the work done.
//
// A machine that learned from rows with gaps draws from p(x|known) instead, by importance resampling of c.Candidates samples
// h ~ q(h|known) a row, 1,000 by default.
func (m *Model) Inpaint(ctx context.Context, split dataset.Split, mask dataset.Mask, chains int, c Chain, progress func(float64)) (dataset.Inpainting, error) {
	data, err := m.completeData(split, 1)
	if err != nil {
		return dataset.Inpainting{}, err
	}
	if err := mask.Check(m.shape); err != nil && !c.Draws {
		return dataset.Inpainting{}, err
	}
	if chains < 1 || chains > math.MaxUint32/data.Rows {
		return dataset.Inpainting{}, fmt.Errorf("%d chains for each of %d rows: use at least 1, and fewer than 2³² together", chains, data.Rows)
	}
	if err := checkRoom(float64(data.Rows)*float64(chains), "chains", 2*drawBytes(m.Architecture())); err != nil {
		return dataset.Inpainting{}, err
	}
	if m.experiment.Fill != nil {
		return m.resample(ctx, split, mask, chains, c, progress)
	}
	g, err := gibbs(c, data.Rows*chains)
	if err != nil {
		return dataset.Inpainting{}, err
	}
	known, units := make([]bool, len(mask)), len(mask)
	for j, missing := range mask {
		known[j] = !missing
	}
	start, err := startOfGroups(m.Architecture(), mask)
	if err != nil {
		return dataset.Inpainting{}, err
	}
	data.Values = data.Fill(mask, start)
	model, err := m.engine.chains()
	if err != nil {
		return dataset.Inpainting{}, err
	}
	draws, err := model.Inpaint(ctx, data, known, chains, g, m.seed, progress)
	if err != nil {
		return dataset.Inpainting{}, err
	}
	p, err := split.Inpaint(ctx, m.shape, mask, split.Floats(), chains, func(chain int) [][]float64 {
		return m.sheet(data.Rows, func(k int) float64 {
			k = (k/units*chains+chain)*units + k%units
			if c.Draws {
				return visible(draws, k)
			}
			return float64(draws.Means[0][k])
		}).Values
	}, nil)
	p.Moved = float64(draws.Moved) / float64(draws.Rows)
	return p, err
}

// Descend draws the same n dreams as Means and returns, for each hidden layer hˡ from h¹ upward,
// the means of p(x|h¹) after all layers below hˡ have been redrawn from p(h¹ … hˡ⁻¹|hˡ)
// (BiHM thesis 2016, Figs 4.1–4.3). The sheet for hˡ shows which aspects of the image hˡ determines.
// The first sheet equals Means.
func (m *Model) Descend(ctx context.Context, n int) ([]dataset.Sheet, error) {
	a := m.Architecture()
	model, err := m.room(float64(n), "dreams", drawBytes(a)+8*float64(a.Depth()*a.Visible()))
	if err != nil {
		return nil, err
	}
	var sheets []dataset.Sheet
	for layer := 1; layer <= m.parameters.Architecture.Depth(); layer++ {
		draws, err := model.Descend(ctx, n, layer, m.seed)
		if err != nil {
			return nil, err
		}
		sheets = append(sheets, m.sheet(n, func(k int) float64 { return float64(draws.Means[0][k]) }))
	}
	return sheets, nil
}
