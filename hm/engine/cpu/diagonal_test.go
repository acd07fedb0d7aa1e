package cpu

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"pgregory.net/rapid"
)

// diagonalOf returns the diagonal of the Fisher blocks of a layer by its definition, Σ w I(a) u² in
// double precision, where I is the Fisher information of an output: σ'(a), or 1/σ² and 2ρ² for a
// Gaussian unit. If weights are shared, the sum includes all positions.
func diagonalOf(t *trainer, of layerSamples) [][]float64 {
	connection, binary := of.network.Connection(t.weights.architecture, of.layer), t.weights.architecture.Binary(of.layer)
	outputs := kernels.NewMatrix(of.residuals.Rows, of.residuals.Cols)
	t.weights.logits(of.network, of.layer, outputs, of.parents)
	inputs := t.weights.inputs(of.network, of.layer, of.parents)
	f := make([][]float64, connection.Outputs)
	for o := range f {
		f[o] = make([]float64, connection.Inputs)
	}
	for row := range inputs.Rows {
		weight := of.weight(row / connection.Positions)
		here := kernels.Row(ofPositions(kernels.Row(outputs, row/connection.Positions), connection.Outputs), row%connection.Positions)
		for o, a := range here {
			information := 1 / (2 + math.Exp(float64(a)) + math.Exp(-float64(a))) // σ'
			if together := connection.Outputs / 2; !binary {
				e := math.Exp(float64(here[o%together+together]))
				σ := e + engine.SigmaFloor
				information = 1 / (σ * σ)
				if o >= together {
					information *= 2 * e * e
				}
			}
			for k, u := range kernels.Row(inputs, row) {
				f[o][k] += weight * information * float64(u) * float64(u)
			}
		}
	}
	return f
}

// architectures generates machines with two or three hidden layers of units of any kind in either
// coding; a convolution may connect the first to x.
func architectures() *rapid.Generator[engine.Architecture] {
	return rapid.Custom(func(t *rapid.T) engine.Architecture {
		a := engine.Architecture{
			Units:  rapid.SliceOfN(rapid.IntRange(1, 40), 3, 4).Draw(t, "units"),
			Coding: rapid.SampledFrom([]engine.Coding{engine.ZeroOne, engine.PlusMinusOne}).Draw(t, "coding"),
		}
		a.Kinds = rapid.SliceOfN(rapid.SampledFrom([]engine.Kind{engine.Bernoulli, engine.Gaussian}), len(a.Units), len(a.Units)).Draw(t, "kinds")
		if rapid.Bool().Draw(t, "convolution") {
			side, channels := rapid.IntRange(1, 3), rapid.IntRange(1, 3)
			c := engine.Convolution{
				Height: side.Draw(t, "height"), Width: side.Draw(t, "width"), Stride: rapid.IntRange(1, 2).Draw(t, "stride"),
				Channels: channels.Draw(t, "channels"), Recognition: rapid.Bool().Draw(t, "recognition"),
			}
			c.Generative = !c.Recognition || rapid.Bool().Draw(t, "generative")
			c.Fine = engine.Grid{
				Height:   c.Height + c.Stride*rapid.IntRange(0, 3).Draw(t, "steps down"),
				Width:    c.Width + c.Stride*rapid.IntRange(0, 3).Draw(t, "steps right"),
				Channels: channels.Draw(t, "channels below"),
			}
			coarse := c.Coarse()
			a.Convolutions = []engine.Convolution{c}
			a.Units[0] = c.Fine.Height * c.Fine.Width * c.Fine.Channels
			a.Units[1] = coarse.Height * coarse.Width * coarse.Channels
		}
		return a
	})
}

// diagonalJobs generates jobs that train machines of an architecture in the diagonal metric, on
// minibatches of which the second is smaller.
func diagonalJobs(a engine.Architecture) *rapid.Generator[engine.Job] {
	return rapid.Custom(func(t *rapid.T) engine.Job {
		algorithm := engine.Algorithm{
			Rule: engine.ReweightedWakeSleep, Metric: engine.Diagonal, Damping: 0.1, RefreshEvery: 1, SleepSteps: 1,
			FisherSource: rapid.SampledFrom([]engine.FisherSource{engine.FromWake, engine.FromSleep, engine.FromLegacy}).Draw(t, "source"),
			BatchSize:    rapid.IntRange(2, 12).Draw(t, "B"), Samples: rapid.IntRange(1, 12).Draw(t, "S"),
		}
		data := engine.Data{Values: numbers.Bytes(a.Units[0], make([]uint8, algorithm.BatchSize*a.Units[0]))}
		rows := make([]int, data.Rows)
		for r := range rows {
			rows[r] = r
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed of data"), 0))
		for k := range data.Bytes() {
			data.Bytes()[k] = uint8(rng.Uint32())
		}
		return engine.Job{Algorithm: algorithm, Data: data, Rows: func(step int) []int { return rows[:len(rows)-step] }}
	})
}

// The diagonal metric computed by matrix products must agree with the definition, on a full
// minibatch and on a smaller one after it. Recomputing it from the state of training must give the
// same bits for any number of processors.
func TestDiagonal(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(processors)
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		a := architectures().Draw(t, "architecture")
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
		job := diagonalJobs(a).Draw(t, "job")
		train := func(processors int, state *engine.State) *trainer {
			runtime.GOMAXPROCS(processors)
			trained, err := cpu{}.NewTrainer(job, state)
			if err != nil {
				t.Fatal(err)
			}
			return trained.(*trainer)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed of parameters"), 0))
		p := engine.NewParameters(a)
		for k := range p.Flat {
			p.Flat[k] = float32(0.05 * rng.NormFloat64()) // deviations grow exponentially with their parents
		}
		trained := train(1, engine.NewState(job.Algorithm, p))
		for range 2 {
			if _, err := trained.Gradients(0); err != nil {
				t.Fatal(err)
			}
			worst = max(worst, wantDiagonal(t, trained))
			s := trained.state
			again := train(3, &engine.State{
				Step: s.Step, Parameters: s.Parameters.Clone(), RefreshStep: s.RefreshStep, RefreshParameters: s.RefreshParameters.Clone(),
			})
			if !slices.Equal(again.diagonal.blocks.Flat, trained.diagonal.blocks.Flat) {
				t.Fatalf("step %d: the metric that is computed again is another", s.Step)
			}
			s.Step++
		}
	})
	t.Logf("worst error: %g", worst)
}

// wantDiagonal checks that the inverses of the last refresh are (1+α)/(α + F_kk), and returns the
// largest relative error.
func wantDiagonal(t *rapid.T, trained *trainer) (worst float64) {
	α := trained.job.Algorithm.Damping
	for _, of := range trained.fisherSamples() {
		inverses := matrix(of.network.Layer(trained.diagonal.blocks, of.layer))
		for j, diagonal := range diagonalOf(trained, of) {
			for k, f := range diagonal {
				got, want := float64(kernels.Row(inverses, j)[k]), (1+α)/(α+f)
				worst = max(worst, math.Abs(got-want)/want)
				if !(worst <= 1e-5) {
					t.Fatalf("step %d, layer %d of the %v network, unit %d, input %d: %v, want %v", trained.state.Step, of.layer, of.network, j, k, got, want)
				}
			}
		}
	}
	return worst
}

// A refresh of the diagonal metric, which may occur in each step, must not allocate memory of the
// size of its result.
func TestRefreshOfTheDiagonalAllocatesLittle(t *testing.T) {
	const rows, refreshes = 16, 20
	architecture := engine.Architecture{Units: []int{200, 150, 100}}
	algorithm := engine.Algorithm{
		Rule: engine.ReweightedWakeSleep, Metric: engine.Diagonal, Damping: 0.1, RefreshEvery: 1,
		BatchSize: rows, Samples: 50, SleepSteps: 1,
	}
	data := engine.Data{Values: numbers.Bytes(200, make([]uint8, rows*200))}
	trained, err := cpu{}.NewTrainer(
		engine.Job{Algorithm: algorithm, Data: data, Rows: func(int) []int { return make([]int, rows) }},
		engine.NewState(algorithm, engine.NewParameters(architecture)))
	if err != nil {
		t.Fatal(err)
	}
	taken := trained.(*trainer)
	taken.weights.pack(taken.point)
	taken.sample(0, nil)
	var before, after runtime.MemStats
	for n := range refreshes + 1 {
		if n == 1 { // count only those after the first
			runtime.ReadMemStats(&before)
		}
		taken.state.Step = n
		if refreshed, err := taken.refresh(); err != nil || !refreshed {
			t.Fatal(refreshed, err)
		}
	}
	runtime.ReadMemStats(&after)
	each, layer := (after.TotalAlloc-before.TotalAlloc)/refreshes, uint64(4*100*151)
	if each > layer/4 {
		t.Errorf("a refresh allocates %d bytes, where the inverses of one layer take %d", each, layer)
	}
}
