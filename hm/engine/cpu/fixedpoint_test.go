package cpu

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// In fixed point, steps in the Euclidean metric must produce the same bytes on every instruction
// set and with any number of processors, and evaluations the same numbers.
func TestFixedPointIsTheSameEverywhere(t *testing.T) {
	// The digests are the same on amd64 and arm64.
	digests := []string{
		"cb112325b5bc4286", "aa883e3ebe76aa83", "57bf1c157d88022e", "bfdef9180b08c233", "5ea373744b4c529d", "301951dc4760eb29",
		"e1217e47979bf75b", "8e5bd6d25518bda0", "483c9cc7a4a59212", "6e81ed25663a4c3f", "58e76a92d609af51", "97604706d85a712f",
	}
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		for _, a := range []engine.Algorithm{
			{Rule: engine.WakeSleep, SleepSteps: 2},
			{Rule: engine.ReweightedWakeSleep, Baseline: true},
			{Rule: engine.ReweightedWakeSleep, Optimizer: engine.Adam, AdamBeta1: 0.9, AdamBeta2: 0.999, AdamEpsilon: 1e-8, L1: 1e-4, L2: 1e-3},
			{Rule: engine.Bidirectional, Baseline: true, Optimizer: engine.Momentum, Momentum: 0.9, Entropy: 0.01},
			{Rule: engine.Reinforce, ReinforceBaseline: engine.ConstantBaseline},
			{Rule: engine.Reinforce, ReinforceBaseline: engine.LearnedBaseline},
		} {
			t.Run(fmt.Sprint(coding, " ", a.Rule, " ", a.Optimizer), func(t *testing.T) {
				a.BatchSize, a.Samples, a.Arithmetic = 20, 8, engine.FixedPoint
				a.SleepSteps = max(a.SleepSteps, 1)
				var first []float64
				everywhere(t, func() {
					numbers := trainInFixedPoint(t, a, engine.Architecture{Units: []int{150, 70, 33, 5}, Coding: coding})
					if first == nil {
						first = numbers
					}
					if !slices.Equal(numbers, first) {
						t.Errorf("%s with %d processors ends in other numbers than %s with one",
							kernels.InstructionSet(), runtime.GOMAXPROCS(0), kernels.InstructionSets()[0])
					}
				})
				// math.Exp has other bits on processors of amd64 without FMA.
				if got := digest(first); got != digests[0] && (runtime.GOARCH != "amd64" || len(kernels.InstructionSets()) > 1) {
					t.Errorf("the digest is %s, not %s", got, digests[0])
				}
				digests = digests[1:]
			})
		}
	}
}

// digest returns a digest of the bits of numbers.
func digest(numbers []float64) string {
	h := sha256.New()
	for _, x := range numbers {
		binary.Write(h, binary.LittleEndian, math.Float64bits(x))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// everywhere calls f with each instruction set and with one and three processors.
func everywhere(t *testing.T, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	set := kernels.InstructionSet()
	defer kernels.SetInstructionSet(set)
	for _, name := range kernels.InstructionSets() {
		if err := kernels.SetInstructionSet(name); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 3} {
			runtime.GOMAXPROCS(n)
			f()
		}
	}
}

// trainInFixedPoint returns the parameters after some steps from random ones, and their evaluation.
func trainInFixedPoint(t *testing.T, a engine.Algorithm, of engine.Architecture) (numbers []float64) {
	random := rand.New(rand.NewPCG(1, 2))
	p := engine.NewParameters(of)
	for k := range p.Flat {
		p.Flat[k] = float32(random.NormFloat64() / 4)
	}
	data := dataOf(40, of.Units[0])
	for k := range data.Bytes() {
		data.Bytes()[k] = uint8(random.IntN(256))
	}
	rows := func(step int) []int {
		all := make([]int, a.BatchSize)
		for i := range all {
			all[i] = (step*a.BatchSize + i) % data.Rows
		}
		return all
	}
	trainer, err := cpu{}.NewTrainer(engine.Job{Algorithm: a, Data: data, Seed: 3, Rows: rows}, engine.NewState(a, p))
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		report, err := trainer.Steps(context.Background(), []float64{0.05})
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, report[0].LogP, report[0].Bound, report[0].ESS)
	}
	state, err := trainer.State()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range state.Parameters.Flat {
		numbers = append(numbers, float64(x))
	}
	model, err := cpu{}.NewModel(state.Parameters, engine.FixedPoint)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := model.LogWeights(t.Context(), data, 20, 7)
	if err != nil {
		t.Fatal(err)
	}
	return append(numbers, weights...)
}
