package oracle

import (
	"fmt"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// twoByTwo connects 2×2 pixels and two overlapping windows of two pixels by a convolution and a
// deconvolution.
var twoByTwo = engine.Convolution{
	Fine: engine.Grid{Height: 2, Width: 2, Channels: 1}, Channels: 1, Height: 2, Width: 1, Stride: 1,
	Recognition: true, Generative: true,
}

// categories is a machine of categorical variables: with a category without a unit and without, and a
// Bernoulli unit as a variable of its own.
var categories = engine.Architecture{
	Units: []int{4, 3, 2}, Kinds: []engine.Kind{engine.Categorical, engine.Categorical, engine.Categorical},
	Groups: [][]engine.Group{{{Units: 2, Rest: true}, {Units: 2}}, {{Units: 3}}, {{Units: 1, Rest: true}, {Units: 1, Rest: true}}},
}

// everyMachine runs a test on random machines of one and two hidden layers, the last with a
// convolution, in both codings, with five rows of data of which two are equal.
func everyMachine(t *testing.T, test func(t *testing.T, m *Networks, data [][]float64)) {
	for _, a := range []engine.Architecture{
		{Units: []int{3, 2}}, {Units: []int{3, 2, 2}}, {Units: []int{4, 3, 2}},
		{Units: []int{4, 2, 2}, Convolutions: []engine.Convolution{twoByTwo}}, categories,
	} {
		for _, a.Coding = range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
			if a.Groups != nil && a.Coding == engine.PlusMinusOne {
				continue // categorical units have one coding
			}
			t.Run(fmt.Sprintf("%v,%d/%v", a.Units, len(a.Convolutions), a.Coding), func(t *testing.T) {
				m := randomMachine(a, 1)
				rng := newRand(2)
				var data [][]float64
				for range 4 {
					data = append(data, m.Dream(rng)[0])
				}
				test(t, m, append(data, data[0]))
			})
		}
	}
}

func randomMachine(a engine.Architecture, seed uint64) *Networks { return NewNetworks(Random(a, seed)) }

// row returns one or more rows of pixels, 0 or 255, as values.
func (n *Networks) row(pixels ...uint8) [][]float64 {
	units := n.Architecture.Visible()
	return n.Rows(engine.Data{Values: numbers.Bytes(units, pixels)})
}

func newRand(seed uint64) *rand.Rand {
	return rand.New(philox.NewStream(seed, philox.Synthesis, 0))
}

func wantClose(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

func wantAllClose(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d entries, want %d", what, len(got), len(want))
	}
	for k := range got {
		wantClose(t, fmt.Sprintf("%s[%d]", what, k), got[k], want[k], tolerance)
	}
}

// The layers of engine.Parameters define the networks; this test writes their probabilities as
// plain products, and compares.
func TestProbabilitiesAreProductsOverTheLayersOfTheParameters(t *testing.T) {
	a := engine.Architecture{Units: []int{4, 3, 2}}
	for _, a.Coding = range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		p := Random(a, 7)
		layer := func(l engine.Layer, units, parents []float64) float64 {
			product := 1.0
			for j, unit := range units {
				row := l.Row(j)
				logit := float64(row[0])
				for k, parent := range parents {
					logit += float64(row[1+k]) * parent
				}
				probability := 1 / (1 + math.Exp(-logit))
				if unit != 1 {
					probability = 1 - probability
				}
				product *= probability
			}
			return product
		}
		n := NewNetworks(p)
		for v := range n.states(0, 2) {
			joint := layer(p.Generative[0], v[0], v[1]) * layer(p.Generative[1], v[1], v[2]) * layer(p.Generative[2], v[2], nil)
			recognition := layer(p.Recognition[1], v[1], v[0]) * layer(p.Recognition[2], v[2], v[1])
			wantClose(t, "log p(x,h)", n.LogJointOf(v), math.Log(joint), 1e-12)
			wantClose(t, "log q(h|x)", n.LogRecognitionOf(v), math.Log(recognition), 1e-12)
		}
	}
}

// Categorical variables, too, have the probabilities of the layers: e^a of the chosen unit, or 1 if none is on, over
// the sum of all choices.
func TestProbabilitiesOfCategoricalVariables(t *testing.T) {
	p := Random(categories, 7)
	layer := func(i int, l engine.Layer, units, parents []float64) float64 {
		product, first := 1.0, 0
		for _, g := range categories.Groups[i] {
			total, chosen := 0.0, 1.0
			if g.Rest {
				total = 1
			}
			for j := first; j < first+g.Units; j++ {
				a := float64(l.Row(j)[0])
				for k, parent := range parents {
					a += float64(l.Row(j)[1+k]) * parent
				}
				total += math.Exp(a)
				if units[j] == 1 {
					chosen = math.Exp(a)
				}
			}
			product *= chosen / total
			first += g.Units
		}
		return product
	}
	n := NewNetworks(p)
	for v := range n.states(0, 2) {
		joint := layer(0, p.Generative[0], v[0], v[1]) * layer(1, p.Generative[1], v[1], v[2]) * layer(2, p.Generative[2], v[2], nil)
		recognition := layer(1, p.Recognition[1], v[1], v[0]) * layer(2, p.Recognition[2], v[2], v[1])
		wantClose(t, "log p(x,h)", n.LogJointOf(v), math.Log(joint), 1e-12)
		wantClose(t, "log q(h|x)", n.LogRecognitionOf(v), math.Log(recognition), 1e-12)
	}
}

func TestEveryMeasureSumsToOne(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		measures := map[string]Distribution{
			"p(x,h)":          m.Model(),
			"p_D(x) q(h|x)":   m.Wake(data, Uniform),
			"p_D(x) π(h|x)":   m.Wake(data, SquareRoot),
			"p_D(x) p(h|x)":   m.Wake(data, Ratio),
			"weighted wake":   m.WakeMeasure(draw(m, data, 3, 4, 5), Ratio),
			"equal dreams":    Equal(draw(m, data, 3, 4, 5).Dreams),
			"q(h|x) of one x": recognitionOf(m, data[0]),
		}
		for name, measure := range measures {
			sum := 0.0
			for _, weight := range measure {
				sum += weight
			}
			wantClose(t, "the sum of "+name, sum, 1, 1e-12)
		}
	})
}

// recognitionOf returns q(h|x) without normalisation.
func recognitionOf(m *Networks, x []float64) Distribution {
	return func(yield func(Values, float64) bool) {
		for _, s := range m.Explain(x).states {
			if !yield(s, math.Exp(m.LogRecognitionOf(s))) {
				return
			}
		}
	}
}

// Point returns the distribution that is concentrated on a state.
func Point(v Values) Distribution {
	return func(yield func(Values, float64) bool) { yield(v, 1) }
}

// draw draws the samples of a training step.
func draw(n *Networks, data [][]float64, samples, dreams int, seed uint64) (drawn Draws) {
	rng := newRand(seed)
	for _, x := range data {
		var datum []Values
		for range samples {
			datum = append(datum, n.Recognize(x, rng))
		}
		drawn.Wake = append(drawn.Wake, datum)
	}
	for range dreams {
		drawn.Dreams = append(drawn.Dreams, n.Dream(rng))
	}
	return drawn
}

// Frequencies of 40,000 draws must lie within five standard errors of the probabilities.
func TestDrawsHaveTheirProbabilities(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		const n = 40000
		drawn := draw(m, data[:1], n, n, 3)
		compare := func(what string, states []Values, exact Distribution) {
			count := make(map[string]float64)
			for _, s := range states {
				count[s.Key()]++
			}
			for s, p := range exact {
				if !(math.Abs(count[s.Key()]/n-p) <= 5*math.Sqrt(p*(1-p)/n)) {
					t.Errorf("%s: %v has frequency %g, probability %g", what, s, count[s.Key()]/n, p)
				}
			}
		}
		compare("dreams", drawn.Dreams, m.Model())
		compare("recognition", drawn.Wake[0], m.Wake(data[:1], Uniform))
	})
}

func TestMachinesTooLargeToEnumeratePanic(t *testing.T) {
	sum := func(units ...int) (said any) {
		defer func() { said = recover() }()
		randomMachine(engine.Architecture{Units: units}, 1).states(0, 2)
		return nil
	}
	if said := sum(12, 9, 2); said == nil || !strings.Contains(fmt.Sprint(said), "states") {
		t.Errorf("2²³ states are enumerated; panic: %v", said)
	}
	if said := sum(12, 8, 2); said != nil {
		t.Errorf("2²² states are refused: %v", said)
	}
}
