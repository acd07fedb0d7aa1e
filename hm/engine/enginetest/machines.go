package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

const seed = 20

func machine(coding engine.Coding, units ...int) *engine.Parameters {
	return oracle.Random(engine.Architecture{Units: units, Coding: coding}, seed)
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

func exact(t *testing.T, p *engine.Parameters) *oracle.Machine {
	t.Helper()
	return must(oracle.New(p))(t)
}

// everyCoding runs a test on machines of given layers in both codings and, if convolutions lists
// any for these layers, with the last convolution between x and h¹.
func everyCoding(t *testing.T, test func(t *testing.T, p *engine.Parameters), architectures ...[]int) {
	for _, units := range architectures {
		for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
			t.Run(fmt.Sprintf("%v,%v", units, coding), func(t *testing.T) {
				test(t, machine(coding, units...))
			})
		}
		if c := convolutions(units); len(c) > 0 {
			convolution := c[len(c)-1]
			t.Run(fmt.Sprintf("%v,%v", units, convolution), func(t *testing.T) { test(t, convolutional(units, convolution)) })
		}
	}
}

func convolutional(units []int, c engine.Convolution) *engine.Parameters {
	return oracle.Random(engine.Architecture{Units: units, Coding: engine.PlusMinusOne, Convolutions: []engine.Convolution{c}}, seed)
}

// convolutions returns the convolutions that connect x and h¹ in machines with the given layers:
// for four pixels, with a convolution in either network or in both, and for 4×5 pixels, with a
// stride and several channels.
func convolutions(units []int) []engine.Convolution {
	switch fmt.Sprint(units) {
	case "[4 3 2]":
		c := engine.Convolution{Fine: engine.Grid{Height: 4, Width: 1, Channels: 1}, Channels: 1, Height: 2, Width: 1, Stride: 1}
		q, p, both := c, c, c
		q.Recognition, p.Generative, both.Recognition, both.Generative = true, true, true, true
		return []engine.Convolution{q, p, both}
	case "[20 12 7 5 3]":
		return []engine.Convolution{{
			Fine: engine.Grid{Height: 4, Width: 5, Channels: 1}, Channels: 3, Height: 2, Width: 3, Stride: 2,
			Recognition: true, Generative: true,
		}}
	}
	return nil
}

// randomRows returns rows of fair coins.
func randomRows(rows, units int) engine.Data {
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 0))
	data := engine.Data{Rows: rows, Units: units, Values: make([]uint8, rows*units)}
	for i := range data.Values {
		data.Values[i] = uint8(rng.IntN(2)) * 255
	}
	return data
}

func constantRows(rows, units int, value uint8) engine.Data {
	return engine.Data{Rows: rows, Units: units, Values: slices.Repeat([]uint8{value}, rows*units)}
}

func bits(data engine.Data) [][]bool {
	rows := make([][]bool, data.Rows)
	for r := range rows {
		for _, v := range data.Values[r*data.Units : (r+1)*data.Units] {
			rows[r] = append(rows[r], v >= 128)
		}
	}
	return rows
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
