package energies

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// usualSchedule is the schedule of AIS unless Along sets another.
var usualSchedule = boltzmann.Even(1000)

// Along returns the same model, whose AIS follows a schedule: published, even:N or adaptive:N with N steps.
func (m *Model) Along(schedule string) (runs.Estimator, error) {
	c := *m
	return &c, c.schedule.UnmarshalText([]byte(schedule))
}

// chainsTogether is the number of chains that evaluation and sampling move with one call of Sweeps.
const chainsTogether = 16

// chainBytes returns the memory of a chain of some units in bytes: its state, its random numbers and its weight.
func chainBytes(units int) float64 { return float64(8*units + 400) }

// anneal estimates log Z by annealed importance sampling (Neal 2001). Chains start at the base model and reach e along
// a schedule. anneal takes at least 2 chains, because one chain has no standard error. x holds a row of e; anneal
// uses only the values of its given units. The estimate is too low in expectation, so log p is too high. The counter c
// separates the draws of several estimates. progress, which may be nil, is called with the fraction of the work done.
func anneal(ctx context.Context, e energy, x []float64, chains int, s boltzmann.AnnealingSchedule, seed uint64, c philox.Counter, progress func(float64)) (boltzmann.LogZ, error) {
	if chains < 2 || chains > math.MaxUint32 {
		return boltzmann.LogZ{}, fmt.Errorf("%s of annealing: give at least 2, and fewer than 2³²", names.Count(chains, "chain"))
	}
	if err := memory.Check(names.Count(chains, "chain"), float64(chains)*chainBytes(len(x)), "use fewer"); err != nil {
		return boltzmann.LogZ{}, err
	}
	// walk moves chains along betas. It calls add with the change of each chain's log weight in each step, and as step 0
	// with log Z of the base model.
	walk := func(chains int, betas []float64, purpose philox.Purpose, add func(chain, step int, ratio float64)) error {
		c.Purpose = purpose
		states, streams := make([][]float64, chains), make([]*rand.Rand, chains)
		for chain := range chains {
			c.Datum = uint32(chain)
			states[chain], streams[chain] = slices.Clone(x), rand.New(kernels.NewStream(philox.Key(seed), c))
			add(chain, 0, e.Base(states[chain], streams[chain]))
		}
		at := e.At(0)
		for k := 1; k < len(betas) && ctx.Err() == nil; k++ {
			next := e.At(betas[k])
			p := next.Products()
			work.Parts(chains, chainsTogether, func(first, last int) {
				for chain := first; chain < last; chain++ {
					add(chain, k, at.FreeEnergy(states[chain])-next.FreeEnergy(states[chain]))
				}
				p.Sweeps(states[first:last], streams[first:last], false)
			})
			if at = next; progress != nil && purpose == philox.Anneal {
				progress(float64(k) / float64(len(betas)-1))
			}
		}
		return ctx.Err()
	}
	betas, err := s.Temperatures(func(chains int, betas []float64, add func(chain, step int, ratio float64)) error {
		return walk(chains, betas, philox.Pilot, add)
	})
	if err != nil {
		return boltzmann.LogZ{}, err
	}
	logs := make([]float64, chains)
	err = walk(chains, betas, philox.Anneal, func(chain, _ int, ratio float64) { logs[chain] += ratio })
	return boltzmann.NewLogZ(logs, runs.ErrsLow, s, len(betas)-1), err
}
