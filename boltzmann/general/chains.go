package general

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// sweep draws each unit in free in turn, given all other units. All connections are multiplied by β. This
// leaves p_β(x) ∝ e^(bᵀx + β Σ W_ij x_i x_j) invariant.
func (m *Model) sweep(x []float64, free []int, β float64, key philox.Key, c philox.Counter) {
	var words [4]uint32
	at := -1
	for _, i := range free {
		if i/4 != at {
			at = i / 4
			c.Unit = uint16(at)
			words = key.Block(c)
		}
		on := statistics.Sigmoid(m.biases()[i] + β*floats.Dot(m.row(i), x))
		x[i] = 0
		if float64(philox.Uniform(words[i%4])) < on {
			x[i] = 1
		}
	}
}

// start sets each unit in free to 0 or 1 with equal probability.
func start(x []float64, free []int, key philox.Key, c philox.Counter) {
	for _, i := range free {
		c.Unit = uint16(i / 4)
		x[i] = float64(key.Block(c)[i%4] >> 31)
	}
}

// means returns, for each visible unit, the probability that it is on given all other units.
func (m *Model) means(x []float64) []float64 {
	return lists.N(m.shape.Units(), func(i int) float64 { return statistics.Sigmoid(m.Input(i, x)) })
}

// Means runs n chains for a number of sweeps. Each sweep draws all units in turn. For each chain, Means
// returns the mean of each visible unit given the last states of all other units. Chains start with each unit
// at 0 or 1 with equal probability.
func (m *Model) Means(ctx context.Context, n, sweeps int) (dataset.Sheet, error) {
	if n < 1 || sweeps < 0 || sweeps > math.MaxUint32 {
		return dataset.Sheet{}, fmt.Errorf("%s of %s: give at least 1 chain, and 0 to 2³²−1 sweeps", names.Count(n, "chain"), names.Count(sweeps, "sweep"))
	}
	if err := m.checkChains(float64(n)); err != nil {
		return dataset.Sheet{}, err
	}
	sheet := dataset.Sheet{Shape: m.shape, Values: make([][]float64, n)}
	work.Parallel(n, func(chain int) {
		x, c := make([]float64, m.units()), philox.Counter{Word: philox.Word{Purpose: philox.Start}, Datum: uint32(chain)}
		start(x, m.all(), philox.Key(m.seed), c)
		m.run(ctx, x, m.all(), sweeps, philox.Counter{Word: philox.Word{Purpose: philox.Chain}, Datum: uint32(chain)})
		sheet.Values[chain] = m.means(x)
	})
	return sheet, ctx.Err()
}

func (m *Model) run(ctx context.Context, x []float64, free []int, sweeps int, c philox.Counter) {
	for sweep := 0; sweep < sweeps && ctx.Err() == nil; sweep++ {
		c.Step = uint32(sweep)
		m.sweep(x, free, 1, philox.Key(m.seed), c)
	}
}

func (m *Model) checkChains(n float64) error {
	return memory.Check(fmt.Sprintf("%.0f chains", n), 8*n*float64(m.units()), "use fewer")
}

// inpaint fills in the pixels of each row of split that mask hides, with a number of independent chains per
// row on p(v,h|known). Each chain gives an image with the means of the missing units given all other units, or with draws.
// Missing and hidden units start at 0 or 1 with equal probability; known units never change. progress, which
// may be nil, is called with the fraction of the work done.
func (m *Model) inpaint(ctx context.Context, split dataset.Split, mask dataset.Mask, chains int, c runs.Chain, progress func(float64)) (dataset.Inpainting, error) {
	known, err := m.states(split)
	if err != nil {
		return dataset.Inpainting{}, err
	}
	if err := mask.Check(m.shape); err != nil && !c.Draws {
		return dataset.Inpainting{}, err
	}
	if chains < 1 || c.Sweeps < 1 || chains > math.MaxUint32 || c.Sweeps >= math.MaxUint32 {
		return dataset.Inpainting{}, fmt.Errorf("%s of %s for each row: give at least 1 of each, at most 2³²−1 chains, and at most 2³²−2 sweeps", names.Count(chains, "chain"), names.Count(c.Sweeps, "sweep"))
	}
	if err := m.checkChains(float64(chains) * float64(split.Rows)); err != nil {
		return dataset.Inpainting{}, err
	}
	free := slices.DeleteFunc(m.all(), func(i int) bool { return i < len(mask) && !mask[i] })
	var moved atomic.Int64
	p, err := split.Inpaint(ctx, m.shape, mask, known, chains, func(chain int) [][]float64 {
		means := make([][]float64, split.Rows)
		work.Parallel(split.Rows, func(r int) {
			x, at := slices.Clone(known[r]), philox.Counter{Word: philox.Word{Purpose: philox.Clamp, Layer: 1}, Datum: uint32(r), Sample: uint32(chain)}
			start(x, free, philox.Key(m.seed), at)
			at.Layer = 0
			m.run(ctx, x, free, c.Sweeps-1, at)
			before := slices.Clone(x[:len(mask)])
			at.Step = uint32(c.Sweeps - 1)
			m.sweep(x, free, 1, philox.Key(m.seed), at)
			if !slices.Equal(before, x[:len(mask)]) {
				moved.Add(1)
			}
			if means[r] = x; !c.Draws {
				means[r] = m.means(x)
			}
		})
		return means
	}, progress)
	p.Moved = float64(moved.Load()) / float64(chains*split.Rows)
	return p, err
}
