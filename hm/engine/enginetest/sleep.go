package enginetest

import (
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"gonum.org/v1/gonum/mat"
)

// sleepWell tests sleep-well: the first update of a step equals the update with one sleep phase.
// The next phase moves only q, along the natural gradient of E_p[log q] at the updated parameters,
// with the Fisher blocks of the step. Over many seeds its deviations from the exact gradient have
// mean zero, the variance of one mean over dreams, and no correlation with the deviations of the
// first phase.
func sleepWell(t *testing.T, e engine.Engine) {
	const rate = 0.5
	seeds := many(150)
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		if !a.HasSleep() {
			return
		}
		for _, p := range []*engine.Parameters{random(tiny[0]), random(small[2])} {
			a.Sleep *= 2
			first := p.Architecture.GenerativeSize()
			size := len(p.Flat) - first
			deviation, variance := make([]float64, size), make([]float64, size)
			product, productVariance := make([]float64, size), make([]float64, size)
			factor := a.Sleep
			exactFirst := oracle.NewNetworks(p).Dreamed(factor)
			for s := range uint64(seeds) {
				j := job(a, randomRows(3, p.Architecture.Visible()))
				j.Seed = s
				once := newTrainer(t, e, j, engine.NewState(a, p))
				g := gradients(t, once)
				step(t, once, rate)
				j.Algorithm.SleepSteps = 2
				twice := newTrainer(t, e, j, engine.NewState(j.Algorithm, p))
				step(t, twice, rate)
				one, two := state(t, once).Parameters, state(t, twice).Parameters
				if !slices.Equal(two.Flat[:first], one.Flat[:first]) {
					t.Error("the second sleep phase moves the generative network")
				}

				moved := make([]float64, len(p.Flat))
				for k := first; k < len(p.Flat); k++ {
					moved[k] = (float64(two.Flat[k]) - float64(one.Flat[k])) / rate
				}
				measured(a, fisherBlocks(a, oracle.NewNetworks(p), draws(p.Architecture, g, a.Samples)), moved)
				score := oracle.NewNetworks(p).Score(oracle.Equal(values(p.Architecture, g.Dreams))) // of the first phase
				exactSecond := oracle.NewNetworks(one).Dreamed(factor)
				for k := range size {
					d := moved[first+k] - exactSecond.Mean[first+k]
					v := exactSecond.Variance[first+k] / float64(g.Dreams.Rows)
					deviation[k] += d / float64(seeds)
					variance[k] += v / float64(seeds*seeds)
					before := factor*score[first+k] - exactFirst.Mean[first+k]
					product[k] += d * before / float64(seeds)
					productVariance[k] += v * exactFirst.Variance[first+k] / float64(g.Dreams.Rows) / float64(seeds*seeds)
				}
			}
			wantMean(t, "deviations of the second sleep phase", deviation, make([]float64, size), variance)
			wantMean(t, "products with deviations of the first phase", product, make([]float64, size), productVariance)
		}
	})
}

// measured turns a natural gradient back into the plain gradient by multiplying it by (αI +
// F)/(1+α).
func measured(a engine.Algorithm, blocks []oracle.Block, natural []float64) {
	for _, b := range blocks {
		own := mat.NewVecDense(b.Unit.Width, natural[b.Unit.Start:b.Unit.Start+b.Unit.Width])
		var product mat.VecDense
		product.MulVec(b.Matrix, own)
		own.AddScaledVec(&product, a.Damping, own)
		own.ScaleVec(1/(1+a.Damping), own)
	}
}
