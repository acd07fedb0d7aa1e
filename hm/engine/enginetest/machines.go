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

// shape is the layers of binary machines, and the convolutions that can connect x and h¹.
type shape struct {
	units        []int
	convolutions []engine.Convolution
}

// small has four pixels, with a convolution of q, of p, and of both. large has 4×5 pixels, with a stride and
// several channels.
var (
	tiny    = shape{units: []int{3, 2, 2}}
	shallow = shape{units: []int{5, 4}}
	small   = shape{[]int{4, 3, 2}, []engine.Convolution{ofFour(true, false), ofFour(false, true), ofFour(true, true)}}
	large   = shape{[]int{20, 12, 7, 5, 3}, []engine.Convolution{{
		Fine: engine.Grid{Height: 4, Width: 5, Channels: 1}, Channels: 3, Height: 2, Width: 3, Stride: 2,
		Recognition: true, Generative: true,
	}}}
)

func ofFour(q, p bool) engine.Convolution {
	return engine.Convolution{
		Fine: engine.Grid{Height: 4, Width: 1, Channels: 1}, Channels: 1, Height: 2, Width: 1, Stride: 1,
		Recognition: q, Generative: p,
	}
}

// tinyTanh has one tanh layer in each conditional, wideTanh two. Some variables of tinyCategorical have a
// category without a unit, and one of these is a Bernoulli unit. Some variables of wideCategorical span the
// pieces into which engines cut a layer. mixedGroups has layers of mixed kinds, and tanh layers.
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
)

func machine(coding engine.Coding, units ...int) *engine.Parameters {
	return oracle.Random(engine.Architecture{Units: units, Coding: coding}, seed)
}

func (s shape) convolved(k int) *engine.Parameters {
	return oracle.Random(engine.Architecture{Units: s.units, Coding: engine.PlusMinusOne, Convolutions: s.convolutions[k : k+1]}, seed)
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

// everyCoding runs a test on machines of given shapes in both codings and, if a shape has convolutions, with its
// last one.
func everyCoding(t *testing.T, test func(t *testing.T, p *engine.Parameters), shapes ...shape) {
	for _, s := range shapes {
		for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
			t.Run(fmt.Sprintf("%v,%v", s.units, coding), func(t *testing.T) { test(t, machine(coding, s.units...)) })
		}
		if last := len(s.convolutions) - 1; last >= 0 {
			t.Run(fmt.Sprintf("%v,%v", s.units, s.convolutions[last]), func(t *testing.T) { test(t, s.convolved(last)) })
		}
	}
}

// categorical runs a test on the tiny machine of categorical variables, with a tanh layer.
func categorical(t *testing.T, test func(t *testing.T, p *engine.Parameters)) {
	a := tinyCategorical
	a.Tanh = []int{3}
	t.Run("categorical", func(t *testing.T) { test(t, oracle.Random(a, seed)) })
}

// gaussian runs a test on a machine with a Gaussian visible and a Gaussian hidden unit.
func gaussian(t *testing.T, test func(t *testing.T, p *engine.Parameters)) {
	a := engine.Architecture{Units: []int{1, 1}, Kinds: []engine.Kind{engine.Gaussian, engine.Gaussian}}
	t.Run("Gaussian", func(t *testing.T) { test(t, mixture(a)) })
}

// everyMixture tests machines with some Gaussian layers, connected densely and by a convolution, and
// with layers of mixed kinds.
func everyMixture(t *testing.T, test func(t *testing.T, p *engine.Parameters)) {
	t.Run("groups", func(t *testing.T) { test(t, mixture(mixedGroups)) })
	const b, g = engine.Bernoulli, engine.Gaussian
	for _, s := range []shape{small, large} {
		for _, kinds := range [][]engine.Kind{{g}, {b, g}, {g, g}, {b, b, g}, {g, g, g}} {
			for _, convolution := range []engine.Convolution{s.convolutions[len(s.convolutions)-1], {}} {
				t.Run(fmt.Sprintf("%v,%v,%v", s.units, kinds, convolution), func(t *testing.T) {
					test(t, mixture(engine.Architecture{
						Units: s.units, Coding: engine.PlusMinusOne, Kinds: kinds, Convolutions: []engine.Convolution{convolution},
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
	asked := trainerFeatures(j, s)
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
