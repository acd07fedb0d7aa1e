package cpu

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// chained returns a job with chains of two rows, and the parameters of a machine that can be enumerated.
func chained(samples int) (engine.Job, *engine.Parameters) {
	p := oracle.Random(engine.Architecture{Units: []int{3, 2, 2}, Coding: engine.PlusMinusOne}, 1)
	return engine.Job{
		Algorithm: engine.Algorithm{Rule: engine.JointStochastic, BatchSize: 2, Samples: samples, SleepSteps: 1},
		Data:      engine.Data{Values: numbers.Bytes(3, []byte{255, 0, 255, 0, 0, 255})},
		Seed:      1,
		Rows:      func(step int) []int { return [][]int{{0, 1}, {1, 0}}[step%2] },
	}, p
}

// The chain of a row must visit hidden states as often as p(h|x) requires, within 4.5 standard
// errors, which are estimated from batches of steps because successive states are correlated.
func TestChainsVisitThePosterior(t *testing.T) {
	job, p := chained(2)
	trainer, err := cpu{}.NewTrainer(job, engine.NewState(job.Algorithm, p))
	if err != nil {
		t.Fatal(err)
	}
	n := oracle.NewNetworks(p)
	const batches, steps = 40, 250
	frequency := map[string][]float64{}
	for b := range batches {
		for range steps {
			if _, err := trainer.Steps(t.Context(), []float64{0}); err != nil {
				t.Fatal(err)
			}
			state, err := trainer.State()
			if err != nil {
				t.Fatal(err)
			}
			width := engine.ChainWidth(p.Architecture)
			chain := fmt.Sprint(state.Chains[1:width]) // of row 0
			if frequency[chain] == nil {
				frequency[chain] = make([]float64, batches)
			}
			frequency[chain][b] += 1.0 / steps
		}
	}
	visited := 0.0
	for s, posterior := range n.Wake(n.Rows(job.Data.Part(0, 1)), oracle.Ratio) {
		packed := make([]float32, engine.ChainWidth(p.Architecture)-1)
		for i, rest := 1, packed; i < 3; i++ {
			units := make([]float32, len(s[i]))
			for j, on := range s[i] {
				if on == 1 {
					units[j] = 1
				}
			}
			rest = engine.PackUnits(rest, units)
		}
		f := frequency[fmt.Sprint(packed)]
		if f == nil {
			f = make([]float64, batches)
		}
		mean, square := 0.0, 0.0
		for _, x := range f {
			mean += x / batches
			square += x * x / batches
		}
		visited += mean
		se := math.Sqrt((square - mean*mean) / (batches - 1))
		if !(math.Abs(mean-posterior) <= 4.5*se+1e-3) {
			t.Errorf("state %v is visited in %.4f ± %.4f of the steps, its probability is %.4f", s[1:], mean, se, posterior)
		}
	}
	if math.Abs(visited-1) > 1e-9 {
		t.Errorf("the chain was in known states in %v of the steps", visited)
	}
}

// The gradient must weigh the samples by the visits of the chains, for q as for p.
func TestChainsWeighTheirSamples(t *testing.T) {
	job, p := chained(5)
	made, err := cpu{}.NewTrainer(job, engine.NewState(job.Algorithm, p))
	if err != nil {
		t.Fatal(err)
	}
	trainer, networks := made.(*trainer), oracle.NewNetworks(p)
	for step := range 6 {
		stopped := append([]float32{}, trainer.chains.states...)
		g, err := trainer.Gradients(0)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, len(p.Flat))
		for d, row := range job.Rows(step) {
			sum := 0.0
			for k := range 5 {
				r := d*5 + k
				weight := trainer.importance[r]
				if visits := 4 * weight; math.Abs(visits-math.Round(visits)) > 1e-9 {
					t.Errorf("sample %d has the weight %v, which is no number of quarters", r, weight)
				}
				sum += weight
				state := oracle.Values{nil, nil, nil}
				for i, units := range p.Architecture.Units {
					off := float64(p.Architecture.Off(i))
					for j := range units {
						state[i] = append(state[i], off+(1-off)*float64(g.Wake.States[i][r*units+j]))
					}
				}
				packed := append([]float32{1}, make([]float32, trainer.chains.width-1)...)
				rest := packed[1:]
				for i := 1; i < 3; i++ {
					rest = engine.PackUnits(rest, trainer.wake.units(i, r))
				}
				if was := stopped[row*trainer.chains.width:][:trainer.chains.width]; k == 0 && was[0] == 1 && fmt.Sprint(was) != fmt.Sprint(packed) {
					t.Errorf("step %d: the chain of row %d resumes at %v, but had stopped at %v", step, row, packed, was)
				}
				for k, x := range networks.ScoreOf(state) {
					want[k] += weight / 2 * x
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("the weights of datum %d sum to %v", d, sum)
			}
		}
		for k, x := range want {
			if math.Abs(float64(g.Plain.Flat[k])-x) > 1e-5 {
				t.Fatalf("step %d: gradient %d is %v, want %v", step, k, g.Plain.Flat[k], x)
			}
		}
		if _, err := trainer.Steps(t.Context(), []float64{0.1}); err != nil {
			t.Fatal(err)
		}
		state, err := trainer.State()
		if err != nil {
			t.Fatal(err)
		}
		networks = oracle.NewNetworks(state.Parameters)
		p = state.Parameters
	}
}
