package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"gonum.org/v1/gonum/floats"
)

// shapes lists tiny machines, the shallowest possible one, and a larger one, which sized trains on
// 10 rows in minibatches of 6 and 4.
var shapes = []shape{tiny, small, shallow, large}

func sized(a engine.Algorithm, p *engine.Parameters) (engine.Algorithm, engine.Data) {
	if p.Architecture.Visible() == 20 {
		a.BatchSize, a.Samples = 6, 5
		return a, randomRows(10, 20)
	}
	return a, randomRows(5, p.Architecture.Visible())
}

// gradientOfSamples compares the plain and the natural gradient with the oracle's on the samples that the engine
// has drawn: of binary machines with each preset, each form of the inverse and each estimator, and of machines
// of other kinds with each preset.
func gradientOfSamples(t *testing.T, e engine.Engine) {
	forms := map[fisher.Form]bool{}
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		everyCoding(t, func(t *testing.T, p *engine.Parameters) {
			a, data := sized(a, p)
			for _, a.Samples = range []int{1, 5, 20} {
				if a.Samples == 20 && a.Metric != engine.Block {
					continue // it is for the forms of the inverse
				}
				a.Baseline = a.Baseline && a.Samples > 1
				noteForms(forms, a, p.Architecture)
				wantGradients(t, e, a, p, data, 0.1, 1e-5)
			}
		}, shapes...)
	})
	if !forms[fisher.Direct] || !forms[fisher.Woodbury] {
		t.Errorf("the machines of this test need only the forms %v", forms)
	}
	for _, of := range estimators {
		t.Run(of.name, func(t *testing.T) {
			everyCoding(t, func(t *testing.T, p *engine.Parameters) {
				a, data := sized(preset{rule: of.rule}.algorithm(), p)
				wantGradients(t, e, a, p, data, 0.1, 1e-5)
			}, shapes...)
		})
	}
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		if a.Metric != engine.Euclidean && a.Exponent == 0 {
			a.FisherSource = engine.FromSleep
		}
		if a.Reinforce {
			a.ReinforceBaseline = engine.ConstantBaseline // others are undefined for tanh layers
		}
		for _, of := range []engine.Architecture{tinyTanh, wideTanh, tinyCategorical, wideCategorical} {
			if a.Metric == engine.Kronecker && of.Groups != nil {
				continue // undefined for categorical variables
			}
			t.Run(fmt.Sprint(of.Units, of.Tanh), func(t *testing.T) {
				wantGradients(t, e, a, oracle.Random(of, seed), rowsOf(of, 5), 0.1, 2e-5)
			})
		}
		everyMixture(t, func(t *testing.T, p *engine.Parameters) {
			if a.Metric == engine.Kronecker {
				return // undefined for Gaussian units
			}
			for _, a.FisherSource = range []engine.FisherSource{engine.FromWake, engine.FromSleep} {
				if a.FisherSource == engine.FromWake || a.HasSleep() && a.Metric == engine.Block {
					a.BatchSize = 4
					wantGradients(t, e, a, p, rowsOf(p.Architecture, 6), 1e-3, 3e-5)
				}
			}
		})
	})
	t.Run("in parts with regularisers", func(t *testing.T) {
		a := preset{rule: engine.ReweightedWakeSleep, metric: engine.Euclidean}.algorithm()
		a.Entropy, a.L2, a.Samples = 0.7, 0.2, 120
		trainer := newTrainer(t, e, job(a, randomRows(3, 40)), engine.NewState(a, oracle.Random(wideTanh, seed)))
		g, n := gradients(t, trainer), oracle.NewNetworks(state(t, trainer).Parameters)
		wantGradient(t, "plain gradient", g.Plain, plainGradient(a, n, draws(wideTanh, g, a.Samples), 0), 1e-5)
	})
}

// wantGradients trains for two steps at a rate.
func wantGradients(t *testing.T, e engine.Engine, a engine.Algorithm, p *engine.Parameters, data engine.Data, rate, tolerance float64) {
	t.Helper()
	j := job(a, data)
	trainer := newTrainer(t, e, j, engine.NewState(a, p))
	for s := range 2 {
		g := gradients(t, trainer)
		n := oracle.NewNetworks(state(t, trainer).Parameters)
		if want := len(j.Rows(s)) * a.Samples; g.Wake.Rows != want {
			t.Fatalf("step %d has %d wake samples, want %d", s, g.Wake.Rows, want)
		}
		if (g.Dreams.Rows > 0) != a.HasSleep() {
			t.Fatalf("%d dreams", g.Dreams.Rows)
		}
		wantData(t, n, g.Wake, data, j.Rows(s), a.Samples)
		wantScores(t, "wake samples", n, g.Wake)
		wantScores(t, "dreams", n, g.Dreams)
		wantGradient(t, "plain gradient", g.Plain, n.GradientOn(draws(n.Architecture, g, a.Samples), rule(a)), tolerance)
		wantGradient(t, "natural gradient", g.Natural, natural(t, a, g.Plain, fisherBlocks(a, n, g)), tolerance)
		step(t, trainer, rate)
	}
}

// wantData checks that the visible layer of each wake sample is the row of its datum.
func wantData(t *testing.T, n *oracle.Networks, d engine.Draws, data engine.Data, rows []int, samples int) {
	t.Helper()
	x := n.Rows(data)
	for r, v := range values(n.Architecture, d) {
		if want := x[rows[r/samples]]; !floats.EqualApprox(v[0], want, 1e-6) {
			t.Fatalf("wake sample %d has the visible units %v, its datum %v", r, v[0], want)
		}
	}
}

func wantScores(t *testing.T, what string, n *oracle.Networks, d engine.Draws) {
	t.Helper()
	tolerance := 1e-6 // for single precision, times the number of nats
	if len(n.Architecture.Kinds) > 0 {
		tolerance = 1e-5 // for values many σ from their means
	}
	for r, v := range values(n.Architecture, d) {
		if want := n.LogJointOf(v); !(math.Abs(d.LogP[r]-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%s %d: log p(x,h) is %v, want %v", what, r, d.LogP[r], want)
		}
		if want := n.LogRecognitionOf(v); !(math.Abs(d.LogQ[r]-want) <= tolerance*(1+math.Abs(want))) {
			t.Errorf("%s %d: log q(h|x) is %v, want %v", what, r, d.LogQ[r], want)
		}
	}
}

// wantReport compares a report with the means over the minibatch of the estimates from each datum's
// wake samples.
func wantReport(t *testing.T, got engine.Report, d engine.Draws, samples int) {
	t.Helper()
	var want engine.Likelihood
	for first := 0; first < d.Rows; first += samples {
		var sum engine.WeightSum
		for r := first; r < first+samples; r++ {
			sum.Add(d.LogP[r] - d.LogQ[r])
		}
		l, share := sum.Likelihood(), float64(samples)/float64(d.Rows)
		want.LogP, want.Bound, want.ESS = want.LogP+share*l.LogP, want.Bound+share*l.Bound, want.ESS+share*l.ESS
	}
	wantLikelihood(t, engine.Likelihood{LogP: got.LogP, Bound: got.Bound, ESS: got.ESS}, want)
}

// noteForms records the forms chosen for the generative blocks of a machine.
func noteForms(forms map[fisher.Form]bool, a engine.Algorithm, architecture engine.Architecture) {
	for i, units := range architecture.Units[:architecture.Depth()] {
		forms[fisher.Settings{Steps: a.RefreshEvery, Damping: a.Damping}.Choose(a.BatchSize*a.Samples, 1+architecture.Units[i+1], units)] = true
	}
}

// fisherBlocks returns the oracle's blocks of both networks on the samples of a step: the blocks of
// q from the wake samples, the blocks of p from the source that the algorithm selects.
func fisherBlocks(a engine.Algorithm, n *oracle.Networks, g engine.Gradients) []oracle.Block {
	if a.Metric == engine.Euclidean {
		return nil
	}
	samples := draws(n.Architecture, g, a.Samples)
	return metricBlocks(a, n, sourceOf(a, n, samples), n.WakeMeasure(samples, oracle.Uniform))
}

func sourceOf(a engine.Algorithm, n *oracle.Networks, samples oracle.Draws) oracle.Distribution {
	switch a.FisherSource {
	case engine.FromSleep:
		return oracle.Equal(samples.Dreams)
	case engine.FromLegacy:
		return n.LegacyMeasure(samples, rule(a).Weighting)
	}
	return n.WakeMeasure(samples, rule(a).Weighting)
}

func metricBlocks(a engine.Algorithm, n *oracle.Networks, p, q oracle.Distribution) []oracle.Block {
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
