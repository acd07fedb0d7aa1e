package energies

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// annealingSteps is the number of equal steps of AIS.
const annealingSteps = 1000

// chainsTogether is the number of chains that evaluation and sampling move with one call of Sweeps.
const chainsTogether = 16

// chainBytes returns the memory of a chain of some units in bytes: its state, its random numbers and its weight.
func chainBytes(units int) float64 { return float64(8*units + 100) }

// anneal estimates log Z by annealed importance sampling (Neal 2001). Chains start at the base model and reach e in
// 1000 equal steps. anneal takes at least 2 chains, because one chain has no standard error. x holds a row of e; anneal
// uses only the values of its given units. The estimate is too low in expectation, so log p is too high. The counter c
// separates the draws of several estimates. progress, which may be nil, is called with the fraction of the work done.
func anneal(ctx context.Context, e energy, x []float64, chains int, seed uint64, c philox.Counter, progress func(float64)) (boltzmann.LogZ, error) {
	if chains < 2 || chains > math.MaxUint32 {
		return boltzmann.LogZ{}, fmt.Errorf("%s of annealing: give at least 2, and fewer than 2³²", names.Count(chains, "chain"))
	}
	if err := memory.Check(names.Count(chains, "chain"), float64(chains)*chainBytes(len(x)), "use fewer"); err != nil {
		return boltzmann.LogZ{}, err
	}
	c.Purpose = philox.Anneal
	states, streams, logs := make([][]float64, chains), make([]*rand.Rand, chains), make([]float64, chains)
	for chain := range chains {
		c.Datum = uint32(chain)
		states[chain], streams[chain] = slices.Clone(x), rand.New(philox.Key(seed).Stream(c))
		logs[chain] = e.Base(states[chain], streams[chain])
	}
	at := e.At(0)
	for k := 1; k <= annealingSteps && ctx.Err() == nil; k++ {
		next := e.At(float64(k) / annealingSteps)
		work.Parts(chains, chainsTogether, func(first, last int) {
			for chain := first; chain < last; chain++ {
				logs[chain] += at.FreeEnergy(states[chain]) - next.FreeEnergy(states[chain])
			}
			next.Sweeps(states[first:last], streams[first:last], false)
		})
		at = next
		if progress != nil {
			progress(float64(k) / annealingSteps)
		}
	}
	return boltzmann.NewLogZ(logs, annealingSteps), ctx.Err()
}
