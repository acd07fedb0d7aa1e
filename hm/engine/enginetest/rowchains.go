package enginetest

import (
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// chainedSamples tests the training on Metropolis chains of the training rows. The gradient must weigh the samples by the
// visits of their chains, which follow from the weights and the draws of the samples. The chains must stop at the last
// samples that they visit, and continue there, also from a copy of the state. The Fisher blocks must come from as many
// draws of q as there are samples, none of them of a chain, and the report from the proposals.
func chainedSamples(t *testing.T, e engine.Engine) {
	for _, metric := range []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal} {
		t.Run(metric.String(), func(t *testing.T) {
			every(t, func(t *testing.T, p *engine.Parameters) {
				a := preset{rule: engine.JointStochastic, metric: metric}.algorithm()
				a.Baseline, a.RefreshEvery = false, 2
				wantChains(t, e, a, p, randomRows(5, p.Architecture.Visible()))
			}, tiny, coded(20, 30, 7))
		})
	}
}

func wantChains(t *testing.T, e engine.Engine, a engine.Algorithm, p *engine.Parameters, data engine.Data) {
	const steps, rate = 6, 0.1
	j := job(a, data)
	trainer := newTrainer(t, e, j, engine.NewState(a, p))
	width := engine.ChainWidth(p.Architecture)
	chains := make([]float32, data.Rows*width)
	var blocks []oracle.Block
	var middle *engine.State
	for s := range steps {
		before := state(t, trainer)
		if s == steps/2 {
			middle = before
		}
		n := oracle.NewNetworks(before.Parameters)
		if s%a.RefreshEvery == 0 {
			free := j
			free.Algorithm.Chains = false
			same := newTrainer(t, e, free, &engine.State{Step: s, Parameters: before.Parameters.Clone()})
			blocks = fisherBlocks(a, n, draws(p.Architecture, gradients(t, same), a.Samples))
		}
		g := gradients(t, trainer)
		all, want := values(p.Architecture, g.Wake), make([]float64, len(p.Flat))
		var likelihood engine.Likelihood
		for d, row := range j.Rows(s) {
			chain := chains[row*width:][:width]
			if first := d * a.Samples; chain[0] == 1 && !slices.Equal(chain, chainAt(p.Architecture, all[first])) {
				t.Errorf("step %d: the chain of row %d continues at %v, but had stopped at %v", s, row, all[first][1:], chain)
			}
			visits, last := visited(g.Wake, d, a.Samples, philox.Counter{Word: philox.Word{Purpose: philox.Accept}, Datum: uint32(row), Step: uint32(s)})
			var sum engine.WeightSum
			for k, share := range visits {
				r := d*a.Samples + k
				for i, score := range n.ScoreOf(all[r]) {
					want[i] += share / float64(len(j.Rows(s))) * score
				}
				if k > 0 {
					sum.Add(g.Wake.LogP[r] - g.Wake.LogQ[r])
				}
			}
			copy(chain, chainAt(p.Architecture, all[d*a.Samples+last]))
			l, share := sum.Likelihood(), 1/float64(len(j.Rows(s)))
			likelihood.LogP, likelihood.Bound, likelihood.ESS = likelihood.LogP+share*l.LogP, likelihood.Bound+share*l.Bound, likelihood.ESS+share*l.ESS
		}
		wantGradient(t, "plain gradient", g.Plain, want, 1e-5)
		wantGradient(t, "natural gradient", g.Natural, must(oracle.NaturalGradient(blocks, kernels.Doubles(g.Plain.Flat), a.Damping))(t), 1e-5)
		report := step(t, trainer, rate)
		wantLikelihood(t, engine.Likelihood{LogP: report.LogP, Bound: report.Bound, ESS: report.ESS}, likelihood)
		if after := state(t, trainer); !slices.Equal(after.Chains, chains) {
			t.Errorf("after step %d the chains are at %v, want %v", s, after.Chains, chains)
		}
	}
	resumed := newTrainer(t, e, j, middle)
	for left := steps - steps/2; left > 0; {
		left -= len(must(resumed.Steps(t.Context(), slices.Repeat([]float64{rate}, left)))(t))
	}
	wantSameState(t, state(t, resumed), state(t, trainer))
}

// visited returns the shares of the proposals after which the chain of a datum was at each of its samples, and the sample
// at which it stops.
func visited(d engine.Draws, datum, samples int, at philox.Counter) (shares []float64, last int) {
	shares = make([]float64, samples)
	weight := func(k int) float64 { return d.LogP[datum*samples+k] - d.LogQ[datum*samples+k] }
	for k := 1; k < samples; k++ {
		at.Sample = uint32(k)
		if float64(philox.Uniform(philox.Key(seed).Block(at)[0])) < math.Exp(weight(k)-weight(last)) {
			last = k
		}
		shares[last] += 1 / float64(samples-1)
	}
	return shares, last
}

// chainAt returns the numbers of a chain that is at a state.
func chainAt(a engine.Architecture, v oracle.Values) []float32 {
	chain := make([]float32, engine.ChainWidth(a))
	chain[0] = 1
	rest := chain[1:]
	for _, units := range v[1:] {
		states := make([]float32, len(units))
		for j, x := range units {
			states[j] = float32(x)
		}
		rest = engine.PackUnits(rest, states)
	}
	return chain
}
