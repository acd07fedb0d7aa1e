package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// mixedGroups has layers of mixed kinds, and tanh layers.
var mixedGroups = engine.Architecture{
	Units: []int{7, 3, 2}, Kinds: []engine.Kind{engine.Categorical, engine.Categorical}, Tanh: []int{3}, Coding: engine.PlusMinusOne,
	Groups: [][]engine.Group{{{Units: 2, Real: true}, {Units: 3}, {Units: 1, Rest: true}, {Units: 1, Real: true}}, {{Units: 2}, {Units: 1, Real: true}}},
}

// everyMixture tests machines with some Gaussian layers, connected densely and by a convolution, and
// with layers of mixed kinds.
func everyMixture(t *testing.T, test func(t *testing.T, p *engine.Parameters)) {
	t.Run("groups", func(t *testing.T) { test(t, mixture(mixedGroups)) })
	const b, g = engine.Bernoulli, engine.Gaussian
	for _, units := range [][]int{{4, 3, 2}, {20, 12, 7, 5, 3}} {
		for _, kinds := range [][]engine.Kind{{g}, {b, g}, {g, g}, {b, b, g}, {g, g, g}} {
			for _, convolution := range append(convolutions(units), engine.Convolution{}) {
				if convolution.Recognition != convolution.Generative {
					continue
				}
				t.Run(fmt.Sprintf("%v,%v,%v", units, kinds, convolution), func(t *testing.T) {
					test(t, mixture(engine.Architecture{
						Units: units, Coding: engine.PlusMinusOne, Kinds: kinds, Convolutions: []engine.Convolution{convolution},
					}))
				})
			}
		}
	}
}

// mixture returns a machine with random parameters. The parameters of deviations are small, because
// deviations grow exponentially with their parents.
func mixture(a engine.Architecture) *engine.Parameters {
	p := oracle.Random(a, seed)
	n := oracle.NewNetworks(p)
	for k := range p.Flat {
		p.Flat[k] *= 0.3
	}
	for _, u := range append(n.Generative, n.Recognition...) {
		if u.Kind == engine.Gaussian {
			for k, w := range n.Flat[u.Deviation+1 : u.Deviation+u.Width] {
				p.Flat[u.Deviation+1+k] = float32(0.03 * w)
			}
		}
	}
	return p
}

func grayLevels(rows, units int) engine.Data {
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 1))
	data := engine.Data{Rows: rows, Units: units, Values: make([]uint8, rows*units)}
	for i := range data.Values {
		data.Values[i] = uint8(rng.IntN(256))
	}
	return data
}

// levelsOf returns random rows of a machine: grey levels or, for groups, categories and real numbers.
func levelsOf(a engine.Architecture, rows int) engine.Data {
	data := grayLevels(rows, a.Visible())
	if a.Groups == nil {
		return data
	}
	states := rowsOf(a, rows)
	data.Reals = make([]float32, len(data.Values))
	for k := 0; k < len(data.Reals); {
		for _, g := range a.Variables(0) {
			from := states.Values
			if g.Real {
				from = data.Values
			}
			for range g.Units {
				data.Reals[k] = float32(from[k]) / 255
				k++
			}
		}
	}
	data.Values = nil
	return data
}

func values(a engine.Architecture, d engine.Draws) []oracle.Values {
	list := make([]oracle.Values, d.Rows)
	for r := range list {
		list[r] = make(oracle.Values, len(a.Units))
		for i, units := range a.Units {
			for j := range units {
				value := float64(a.Off(i))
				if d.Values[i] != nil {
					value = float64(d.Values[i][r*units+j])
				} else if d.States[i][r*units+j] == 1 {
					value = 1
				}
				list[r][i] = append(list[r][i], value)
			}
		}
	}
	return list
}

// gradientOfMixtures compares the plain and natural gradients of machines with Gaussian units with
// the oracle's gradients on the samples that the engine has drawn. The data are grey levels.
func gradientOfMixtures(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		if a.Reinforce || a.Metric == engine.Kronecker {
			return // the oracle has legacy blocks only for binary states
		}
		everyMixture(t, func(t *testing.T, p *engine.Parameters) {
			for _, a.FisherSource = range []engine.FisherSource{engine.FromWake, engine.FromSleep} {
				if a.FisherSource == engine.FromSleep && !(a.HasSleep() && a.Metric == engine.Block) {
					continue
				}
				a.BatchSize = 4
				data := levelsOf(p.Architecture, 6)
				j := job(a, data)
				trainer := newTrainer(t, e, j, engine.NewState(a, p))
				for s := range 3 {
					g := gradients(t, trainer)
					parameters := state(t, trainer).Parameters
					n := oracle.NewNetworks(parameters)
					wantScores(t, "wake samples", n, g.Wake)
					wantScores(t, "dreams", n, g.Dreams)
					wake, dreams := values(n.Architecture, g.Wake), values(n.Architecture, g.Dreams)
					wantGray(t, n.Architecture, wake, data, j.Rows(s), a.Samples)
					w := weights(n, wake, a.Samples, rule(a).Weighting)
					want := gradientOfValues(n, wake, dreams, w, rule(a), a.Samples)
					wantGradient(t, "plain gradient", g.Plain, want, 3e-5)
					if a.Metric != engine.Euclidean {
						source, weight := wake, w
						if a.FisherSource == engine.FromSleep {
							source, weight = dreams, equal(len(dreams))
						}
						blocks := append(n.FisherOf(n.Generative, source, weight), n.FisherOf(n.Recognition, wake, equal(len(wake)))...)
						if a.Metric == engine.Diagonal {
							blocks = oracle.Diagonal(blocks)
						}
						wantGradient(t, "natural gradient", g.Natural, natural(t, a, g.Plain, blocks), 3e-5)
					}
					step(t, trainer, 1e-3)
				}
			}
		})
	})
}

// wantGray checks that Gaussian visible units have the grey levels of their datum.
func wantGray(t *testing.T, a engine.Architecture, wake []oracle.Values, data engine.Data, rows []int, samples int) {
	t.Helper()
	if a.Kind(0) != engine.Gaussian {
		return
	}
	for r, v := range wake {
		for j, x := range v[0] {
			if want := float64(data.Values[rows[r/samples]*data.Units+j]) / 255; !(math.Abs(x-want) <= 1e-6) {
				t.Fatalf("unit %d of wake sample %d is %v, its datum %v", j, r, x, want)
			}
		}
	}
}

func equal(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// weights returns the self-normalised importance weights divided by the number of data.
func weights(n *oracle.Networks, wake []oracle.Values, samples int, by oracle.Weighting) []float64 {
	w := make([]float64, len(wake))
	for first := 0; first < len(wake); first += samples {
		sum := 0.0
		for r := first; r < first+samples; r++ {
			w[r] = math.Exp(float64(by) * (n.LogJointOf(wake[r]) - n.LogRecognitionOf(wake[r])))
			sum += w[r]
		}
		for r := first; r < first+samples; r++ {
			w[r] *= float64(samples) / sum / float64(len(wake))
		}
	}
	return w
}

func gradientOfValues(n *oracle.Networks, wake, dreams []oracle.Values, w []float64, r oracle.Rule, samples int) []float64 {
	size := n.Architecture.GenerativeSize()
	gradient := make([]float64, len(n.Flat))
	for k, v := range wake {
		baseline := 0.0
		if r.Baseline {
			baseline = 1 / float64(len(wake))
		}
		for i, s := range n.ScoreOf(v) {
			if i < size {
				gradient[i] += w[k] * s
			} else {
				gradient[i] += r.QWake * (w[k] - baseline) * s
			}
		}
	}
	for _, v := range dreams {
		for i, s := range n.ScoreOf(v)[size:] {
			gradient[size+i] += r.Sleep * s / float64(len(dreams))
		}
	}
	return gradient
}

// distributionOfMixtures tests that drawn Gaussian units, standardised by their own means and
// deviations, have mean 0 and variance 1 and are uncorrelated, in p and in q.
func distributionOfMixtures(t *testing.T, e engine.Engine) {
	const draws = 10_000
	a := engine.Architecture{Units: []int{4, 3, 2}, Kinds: []engine.Kind{engine.Gaussian, engine.Gaussian, engine.Gaussian}, Convolutions: convolutions([]int{4, 3, 2})[2:]}
	p := mixture(a)
	n, model := oracle.NewNetworks(p), newModel(t, e, p)
	generated := must(model.Generate(t.Context(), draws, seed))(t)
	inferred := must(model.Infer(t.Context(), grayLevels(10, 4), draws/10, seed))(t)
	for _, c := range []struct {
		what  string
		draws engine.Draws
		units []oracle.Unit
	}{{"p", generated, n.Generative}, {"q", inferred, n.Recognition}} {
		count := len(c.units)
		got, want, variance := make([]float64, count*(count+1)), make([]float64, count*(count+1)), make([]float64, count*(count+1))
		for k := range variance {
			variance[k] = 1.0 / draws
		}
		for k := range count {
			want[count+k*count+k], variance[count+k*count+k] = 1, 2.0/draws
		}
		for _, v := range values(a, c.draws) {
			z := make([]float64, count)
			for k, u := range c.units {
				mu, sigma, _ := n.Outputs(u, v)
				z[k] = (v[u.Layer][u.Index] - mu) / sigma
				got[k] += z[k] / draws
			}
			for k := range z {
				for l := range z {
					got[count+k*count+l] += z[k] * z[l] / draws
				}
			}
		}
		wantMean(t, "means and covariances of "+c.what, got, want, variance)
	}
}

// mixedLayer tests a machine with a visible layer of mixed kinds. It compares log p(x) with a sum
// over the hidden states, and the means of drawn units and of their products with the exact means:
// visible variables are independent given the hidden units.
func mixedLayer(t *testing.T, e engine.Engine) {
	const samples = 4000
	draws := many(40_000)
	p := mixture(engine.Architecture{
		Units: []int{6, 2}, Kinds: []engine.Kind{engine.Categorical},
		Groups: [][]engine.Group{{{Units: 1, Real: true}, {Units: 2}, {Units: 1, Real: true}, {Units: 1, Rest: true}, {Units: 1, Real: true}}},
	})
	n, model := oracle.NewNetworks(p), newModel(t, e, p)
	hidden := [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	ofOneVariable := func(j, k int) bool { return min(j, k) == 2 && max(j, k) == 3 } // counted from 1; never both on
	data := levelsOf(p.Architecture, 3)
	estimates := must(model.Evaluate(t.Context(), data, samples, seed, nil))(t)
	for r, l := range estimates {
		x, exact := make([]float64, data.Units), 0.0
		for j := range x {
			x[j] = data.At(r*data.Units + j)
		}
		for _, h := range hidden {
			exact += math.Exp(n.LogJointOf(oracle.Values{x, h}))
		}
		want := math.Log(exact)
		if se := math.Sqrt((1/l.ESS - 1) / samples); !(math.Abs(l.LogP-want) <= maxDeviation*se) {
			t.Errorf("log p of row %d is %v ± %v, want %v", r, l.LogP, se, want)
		}
	}

	generated := must(model.Generate(t.Context(), draws, seed))(t)
	units := data.Units
	got, want, squares := make([]float64, units*(units+1)), make([]float64, units*(units+1)), make([]float64, units*(units+1))
	for r := range draws {
		x := append([]float32{1}, generated.Values[0][r*units:][:units]...)
		for j, a := range x {
			for k, b := range x[1:] {
				if j == k+1 {
					continue // a unit with itself
				}
				got[j*units+k] += float64(a*b) / float64(draws)
				squares[j*units+k] += float64(a*b) * float64(a*b) / float64(draws)
			}
		}
	}
	for _, h := range hidden {
		v := oracle.Values{make([]float64, units), h}
		probability, means := 1.0, []float64{1}
		for _, u := range n.Generative[units:] {
			if on := n.On(u, v); h[u.Index] == 1 {
				probability *= on
			} else {
				probability *= 1 - on
			}
		}
		for _, u := range n.Generative[:units] {
			mean, _, _ := n.Outputs(u, v)
			if u.Kind != engine.Gaussian {
				mean = n.On(u, v)
			}
			means = append(means, mean)
		}
		for j, a := range means {
			for k, b := range means[1:] {
				if j != k+1 && !ofOneVariable(j, k+1) {
					want[j*units+k] += probability * a * b
				}
			}
		}
	}
	variance := make([]float64, len(got))
	for i := range variance {
		variance[i] = (squares[i] - got[i]*got[i]) / float64(draws)
	}
	wantMean(t, "moments of draws", got, want, variance)
}

// likelihoodOfMixtures compares log p(x), log p̃*(x), the bound and Z² of a machine with a Gaussian
// visible and a Gaussian hidden unit with numerical quadrature.
func likelihoodOfMixtures(t *testing.T, e engine.Engine) {
	const samples, seeds, outer, h = 2000, 40, 200_000, 0.05
	p := mixture(engine.Architecture{Units: []int{1, 1}, Kinds: []engine.Kind{engine.Gaussian, engine.Gaussian}})
	n, model := oracle.NewNetworks(p), newModel(t, e, p)
	// over sums f over a grid of the values of a unit.
	over := func(f func(float64) float64) (sum float64) {
		for x := -15.0; x <= 15; x += h {
			sum += h * f(x)
		}
		return sum
	}
	data := grayLevels(3, 1)
	ratio, root, bound := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	ratioSquare, rootSquare, boundSquare := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	var wantRatio, wantRoot, wantBound []float64
	for r := range data.Rows {
		x := float64(data.Values[r]) / 255
		at := func(y float64) (logP, logQ float64) {
			v := oracle.Values{{x}, {y}}
			return n.LogJointOf(v), n.LogRecognitionOf(v)
		}
		wantRatio = append(wantRatio, over(func(y float64) float64 { p, _ := at(y); return math.Exp(p) }))
		wantRoot = append(wantRoot, over(func(y float64) float64 { p, q := at(y); return math.Exp((p + q) / 2) }))
		wantBound = append(wantBound, over(func(y float64) float64 { p, q := at(y); return math.Exp(q) * (p - q) }))
	}
	for s := range seeds {
		estimates := must(model.Evaluate(t.Context(), data, samples, uint64(s), nil))(t)
		for r, l := range estimates {
			note := func(mean, square []float64, value float64) {
				mean[r] += value / seeds
				square[r] += value * value / seeds
			}
			note(ratio, ratioSquare, math.Exp(l.LogP))
			note(root, rootSquare, math.Exp(l.LogPTildeStar/2))
			note(bound, boundSquare, l.Bound)
		}
	}
	for _, c := range []struct {
		what               string
		mean, square, want []float64
	}{{"p(x)", ratio, ratioSquare, wantRatio}, {"√p̃*(x)", root, rootSquare, wantRoot}, {"bound", bound, boundSquare, wantBound}} {
		variance := make([]float64, len(c.want))
		for r := range variance {
			variance[r] = (c.square[r] - c.mean[r]*c.mean[r]) / (seeds - 1)
		}
		wantMean(t, c.what, c.mean, c.want, variance)
	}

	z2 := over(func(x float64) float64 {
		root := over(func(y float64) float64 {
			v := oracle.Values{{x}, {y}}
			return math.Exp((n.LogJointOf(v) + n.LogRecognitionOf(v)) / 2)
		})
		return root * root
	})
	logs := must(model.LogZ2(t.Context(), 0, outer, 1, seed))(t)
	mean, square := 0.0, 0.0
	for _, l := range logs {
		mean += math.Exp(l) / outer
		square += math.Exp(2*l) / outer
	}
	wantMean(t, "Z²", []float64{mean}, []float64{z2}, []float64{(square - mean*mean) / outer})
}

// learningOfMixtures tests, with each preset, that a Gaussian visible unit that does not depend on
// its parent at first learns the mean and the standard deviation of the data.
func learningOfMixtures(t *testing.T, e engine.Engine) {
	data := engine.Data{Rows: 4, Units: 1, Values: []uint8{51, 102, 153, 204}} // mean 0.5, deviation 0.2236
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.BatchSize, a.RefreshEvery, a.Damping = 4, 10, 0.2
		p := engine.NewParameters(engine.Architecture{Units: []int{1, 1}, Kinds: []engine.Kind{engine.Gaussian}})
		trainer := newTrainer(t, e, job(a, data), engine.NewState(a, p))
		for range 4000 {
			step(t, trainer, 0.01)
		}
		n := oracle.NewNetworks(state(t, trainer).Parameters)
		for _, h := range []float64{0, 1} {
			mu, sigma, _ := n.Outputs(n.Generative[0], oracle.Values{{0}, {h}})
			t.Logf("h = %v: %.3f ± %.3f", h, mu, sigma)
			if !(math.Abs(mu-0.5) <= 0.1) || !(math.Abs(sigma-0.2236) <= 0.05) {
				t.Errorf("p(x|h = %v) has mean %.3f and deviation %.3f, the data 0.5 and 0.224", h, mu, sigma)
			}
		}
	})
}

// resumptionOfMixtures tests that training of machines of every kind continues bit for bit from a
// copy of the state, and does not depend on how often the state is read.
func resumptionOfMixtures(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.RefreshEvery = 7
		a.Optimizer = engine.Nesterov
		everyMixture(t, func(t *testing.T, p *engine.Parameters) {
			wantResumption(t, e, job(a, levelsOf(p.Architecture, 8)), engine.NewState(a, p), 1e-4, 9, 16)
		})
	})
}
