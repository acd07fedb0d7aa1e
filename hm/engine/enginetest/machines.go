package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

const seed = 20

// These are binary machines in both codings. small has four pixels, and large has 4×5. The last machine of each connects x
// and h¹ by a convolution of q and p. In large, the convolution has a stride and several channels.
var (
	tiny    = coded(3, 2, 2)
	shallow = coded(5, 4)
	small   = append(coded(4, 3, 2), ofFour(true, true))
	large   = append(coded(20, 12, 7, 5, 3), convolved(engine.Convolution{
		Fine: engine.Grid{Height: 4, Width: 5, Channels: 1}, Channels: 3, Height: 2, Width: 3, Stride: 2,
		Recognition: true, Generative: true,
	}, 20, 12, 7, 5, 3))
)

func coded(units ...int) []engine.Architecture {
	return []engine.Architecture{{Units: units}, {Units: units, Coding: engine.PlusMinusOne}}
}

func convolved(c engine.Convolution, units ...int) engine.Architecture {
	return engine.Architecture{Units: units, Coding: engine.PlusMinusOne, Convolutions: []engine.Convolution{c}}
}

// ofFour returns a machine of four pixels with a convolution of q, of p or of both.
func ofFour(q, p bool) engine.Architecture {
	return convolved(engine.Convolution{
		Fine: engine.Grid{Height: 4, Width: 1, Channels: 1}, Channels: 1, Height: 2, Width: 1, Stride: 1,
		Recognition: q, Generative: p,
	}, 4, 3, 2)
}

// tinyTanh has one tanh layer in each conditional, wideTanh two. Some variables of tinyCategorical have a
// category without a unit, and one of these is a Bernoulli unit. Some variables of wideCategorical span the
// pieces into which engines cut a layer. mixedGroups has layers of mixed kinds, and tanh layers. categorical has
// variables, without and with a tanh layer, gaussian a Gaussian visible and a Gaussian hidden unit.
var (
	tinyTanh        = engine.Architecture{Units: []int{3, 2, 2}, Tanh: []int{2}}
	wideTanh        = engine.Architecture{Units: []int{40, 6, 7}, Tanh: []int{35, 4}, Coding: engine.PlusMinusOne}
	tinyCategorical = engine.Architecture{
		Units: []int{3, 2, 2}, Kinds: []engine.Kind{engine.Categorical, engine.Categorical}, Coding: engine.PlusMinusOne,
		Groups: [][]engine.Group{{{Units: 1, Rest: true}, {Units: 2}}, {{Units: 2, Rest: true}}},
	}
	wideCategorical = engine.Architecture{
		Units: []int{103, 6, 7}, Kinds: []engine.Kind{engine.Categorical, engine.Bernoulli, engine.Categorical}, Coding: engine.PlusMinusOne,
		Groups: [][]engine.Group{append(slices.Repeat([]engine.Group{{Units: 9}}, 7), engine.Group{Units: 20}, engine.Group{Units: 10}, engine.Group{Units: 5, Rest: true}, engine.Group{Units: 4}, engine.Group{Units: 1, Rest: true}), nil, {{Units: 4, Rest: true}, {Units: 3}}},
	}
	mixedGroups = engine.Architecture{
		Units: []int{7, 3, 2}, Kinds: []engine.Kind{engine.Categorical, engine.Categorical}, Tanh: []int{3}, Coding: engine.PlusMinusOne,
		Groups: [][]engine.Group{{{Units: 2, Real: true}, {Units: 3}, {Units: 1, Rest: true}, {Units: 1, Real: true}}, {{Units: 2}, {Units: 1, Real: true}}},
	}
	categorical = []engine.Architecture{tinyCategorical, {
		Units: tinyCategorical.Units, Kinds: tinyCategorical.Kinds, Coding: engine.PlusMinusOne, Groups: tinyCategorical.Groups, Tanh: []int{3},
	}}
	gaussian = []engine.Architecture{{Units: []int{1, 1}, Kinds: []engine.Kind{engine.Gaussian, engine.Gaussian}}}
)

// mixtures lists machines with some Gaussian layers, connected densely and by a convolution, and one with layers of
// mixed kinds.
func mixtures() []engine.Architecture {
	all := []engine.Architecture{mixedGroups}
	const b, g = engine.Bernoulli, engine.Gaussian
	for _, list := range [][]engine.Architecture{small, large} {
		for _, kinds := range [][]engine.Kind{{g}, {b, g}, {g, g}, {b, b, g}, {g, g, g}} {
			for _, a := range list[1:] {
				a.Kinds = kinds
				all = append(all, a)
			}
		}
	}
	return all
}

func machine(coding engine.Coding, units ...int) *engine.Parameters {
	return random(engine.Architecture{Units: units, Coding: coding})
}

// must returns a value, or ends the test if there is an error.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// every runs a test on random machines.
func every(t *testing.T, test func(t *testing.T, p *engine.Parameters), lists ...[]engine.Architecture) {
	for _, a := range slices.Concat(lists...) {
		t.Run(fmt.Sprintf("%v,%v,%v,%v", a.Units, a.Kinds, a.Coding, a.Convolutions), func(t *testing.T) { test(t, random(a)) })
	}
}

// random returns a machine with random parameters. If the machine has Gaussian units, its parameters are smaller, and the
// parameters of deviations are small, because deviations grow exponentially with their parents.
func random(a engine.Architecture) *engine.Parameters {
	p := oracle.Random(a, seed)
	n := oracle.NewNetworks(p)
	units := slices.DeleteFunc(append(n.Generative, n.Recognition...), func(u oracle.Unit) bool { return u.Kind != engine.Gaussian })
	for k := range p.Flat {
		if len(units) > 0 {
			p.Flat[k] *= 0.3
		}
	}
	for _, u := range units {
		for k, w := range n.Flat[u.Deviation+1 : u.Deviation+u.Width] {
			p.Flat[u.Deviation+1+k] = float32(0.03 * w)
		}
	}
	return p
}

// randomRows returns rows of fair coins.
func randomRows(rows, units int) engine.Data {
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 0))
	data := engine.Data{Values: numbers.Bytes(units, make([]uint8, rows*units))}
	for i := range data.Bytes() {
		data.Bytes()[i] = uint8(rng.IntN(2)) * 255
	}
	return data
}

func constantRows(rows, units int, value uint8) engine.Data {
	return engine.Data{Values: numbers.Bytes(units, slices.Repeat([]uint8{value}, rows*units))}
}

// rowsOf returns random rows of a machine: fair coins, a category of each categorical variable, grey levels for
// Gaussian units, and numbers from 0 to 1 for real variables.
func rowsOf(a engine.Architecture, rows int) engine.Data {
	data := randomRows(rows, a.Visible())
	if a.Kind(0) == engine.Bernoulli {
		return data
	}
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 2))
	if a.Kind(0) == engine.Gaussian {
		for i := range data.Bytes() {
			data.Bytes()[i] = uint8(rng.IntN(256))
		}
		return data
	}
	clear(data.Bytes())
	reals := make([]float32, len(data.Bytes()))
	for first := 0; first < len(reals); {
		for _, g := range a.Variables(0) {
			if k := rng.IntN(g.Categories()); !g.Real && k < g.Units {
				data.Bytes()[first+k], reals[first+k] = 255, 1
			}
			for k := range g.Units {
				if g.Real {
					reals[first+k] = rng.Float32()
				}
			}
			first += g.Units
		}
	}
	if !a.Binary(0) {
		data.Values = numbers.Reals(data.Units, reals)
	}
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

// draws returns the draws of a step, given the number of samples per datum.
func draws(a engine.Architecture, g engine.Gradients, samples int) oracle.Draws {
	return oracle.Draws{Wake: slices.Collect(slices.Chunk(values(a, g.Wake), samples)), Dreams: values(a, g.Dreams)}
}

// job returns a job that trains on minibatches in the order of the data. The last minibatch of an
// epoch is smaller if their size does not divide the number of rows.
func job(a engine.Algorithm, data engine.Data) engine.Job {
	batches := (data.Rows + a.BatchSize - 1) / a.BatchSize
	return engine.Job{
		Algorithm: a, Data: data, Seed: seed,
		Rows: func(step int) []int {
			first := step % batches * a.BatchSize
			var rows []int
			for r := first; r < min(first+a.BatchSize, data.Rows); r++ {
				rows = append(rows, r)
			}
			return rows
		},
	}
}

// repeating returns a job whose minibatches repeat the first row.
func repeating(a engine.Algorithm, data engine.Data) engine.Job {
	j := job(a, data)
	j.Rows, j.Repeats = func(int) []int { return make([]int, a.BatchSize) }, true
	return j
}

// newTrainer returns a trainer that is closed at the end of the test.
func newTrainer(t *testing.T, e engine.Engine, j engine.Job, s *engine.State) engine.Trainer {
	t.Helper()
	asked := append(s.Parameters.Architecture.Features(), j.Algorithm.Features()...)
	if j.Data.Missing != nil {
		asked = append(asked, engine.MissingUnits)
	}
	trainer, err := e.NewTrainer(j, s)
	mayLack(t, e, asked, err)
	t.Cleanup(func() {
		if err := trainer.Close(); err != nil {
			t.Error(err)
		}
	})
	return trainer
}

func newModel(t *testing.T, e engine.Engine, p *engine.Parameters) engine.Model {
	t.Helper()
	m, err := e.NewModel(p, engine.FloatingPoint)
	mayLack(t, e, p.Architecture.Features(), err)
	return m
}

func newChains(t *testing.T, e engine.Engine, p *engine.Parameters) engine.Chains {
	t.Helper()
	chains, ok := newModel(t, e, p).(engine.Chains)
	if !ok {
		t.Fatalf("the engine has no %s, but does not report that it lacks them", engine.GibbsChains)
	}
	return chains
}

// step performs a step that must succeed. It removes the time of the refresh from the report, so
// that reports can be compared.
func step(t *testing.T, trainer engine.Trainer, learningRate float64) engine.Report {
	t.Helper()
	reports := must(trainer.Steps(t.Context(), []float64{learningRate}))(t)
	reports[0].Refresh = 0
	return reports[0]
}

func gradients(t *testing.T, trainer engine.Trainer) engine.Gradients {
	t.Helper()
	return must(trainer.Gradients(learningRate))(t)
}

func state(t *testing.T, trainer engine.Trainer) *engine.State {
	t.Helper()
	return must(trainer.State())(t).Clone()
}
