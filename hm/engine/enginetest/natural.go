package enginetest

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// naturalGradientOfSamples tests that the natural gradient is (1+α)(αI + F)⁻¹ applied to the plain
// gradient, with blocks estimated from the same samples, for each form of the inverse.
func naturalGradientOfSamples(t *testing.T, e engine.Engine) {
	forms := map[fisher.Form]bool{}
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		everyCoding(t, func(t *testing.T, p *engine.Parameters) {
			a, data := sized(a, p)
			for _, a.Samples = range []int{1, 2, 5, 40} {
				a.Baseline = a.Baseline && a.Samples > 1
				noteForms(forms, a, p.Architecture)
				trainer := newTrainer(t, e, job(a, data), engine.NewState(a, p))
				for range 2 {
					g := gradients(t, trainer)
					parameters := state(t, trainer).Parameters
					wantGradient(t, "natural gradient", g.Natural, natural(t, a, g.Plain, fisherBlocks(a, parameters, g)), 1e-5)
					step(t, trainer, 0.1)
				}
			}
		}, shapes...)
	})
	if !forms[fisher.Direct] || !forms[fisher.Woodbury] {
		t.Errorf("the machines of this test need only the forms %v", forms)
	}
}

// noteForms records the forms chosen for the generative blocks of a machine.
func noteForms(forms map[fisher.Form]bool, a engine.Algorithm, architecture engine.Architecture) {
	for i, units := range architecture.Units[:architecture.Depth()] {
		forms[fisher.Settings{Steps: a.RefreshEvery, Damping: a.Damping}.Choose(a.BatchSize*a.Samples, 1+architecture.Units[i+1], units)] = true
	}
}

// fisherBlocks returns the oracle's blocks of both networks on the samples of a step: the blocks of
// q from the wake samples, the blocks of p from the source that the algorithm selects.
func fisherBlocks(a engine.Algorithm, p *engine.Parameters, g engine.Gradients) []oracle.Block {
	if a.Metric == engine.Euclidean {
		return nil
	}
	n := oracle.NewNetworks(p)
	samples := oracleSamples(g, a.Samples)
	return metricBlocks(a, n, sourceOf(a, n, samples), n.WakeMeasure(samples, oracle.Uniform))
}

func sourceOf(a engine.Algorithm, n *oracle.Networks, samples oracle.Samples) oracle.Measure {
	switch a.FisherSource {
	case engine.FromSleep:
		return oracle.DreamMeasure(samples)
	case engine.FromLegacy:
		return n.LegacyMeasure(samples, rule(a).Weighting)
	}
	return n.WakeMeasure(samples, rule(a).Weighting)
}

func metricBlocks(a engine.Algorithm, n *oracle.Networks, p, q oracle.Measure) []oracle.Block {
	if a.Metric == engine.Kronecker {
		return append(n.Kronecker(n.Generative, p), n.Kronecker(n.Recognition, q)...)
	}
	blocks := append(n.Fisher(n.Generative, p), n.Fisher(n.Recognition, q)...)
	if a.Metric == engine.Diagonal {
		return oracle.Diagonal(blocks)
	}
	return blocks
}

func natural(t *testing.T, a engine.Algorithm, plain *engine.Parameters, blocks []oracle.Block) []float64 {
	t.Helper()
	return must(oracle.NaturalGradient(blocks, doubles(plain.Flat), a.Damping))(t)
}
