package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// dataOf returns rows of zeros.
func dataOf(rows, units int) engine.Data {
	return engine.Data{Values: numbers.Bytes(units, make([]uint8, rows*units))}
}

// A machine must learn and evaluate bits as it does the same values in bytes.
func TestBitsAreReadLikeBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	of := engine.Architecture{Units: []int{13, 5}}
	inBytes := engine.Data{Values: numbers.Bytes(13, make([]uint8, 12*13))}
	bits := make([]uint8, 12*2)
	inBits := engine.Data{Values: numbers.Bits(13, bits)}
	for i := range inBytes.Bytes() {
		if random.IntN(2) == 1 {
			inBytes.Bytes()[i] = 255
			bits[i/13*2+i%13/8] |= 1 << (i % 13 % 8)
		}
	}
	if !slices.Equal(inBits.Bytes(), inBytes.Bytes()) {
		t.Fatal("the bits are other values")
	}
	train := func(data engine.Data) []float64 {
		a := engine.Algorithm{Samples: 4, BatchSize: 6}
		rows := func(step int) []int { return []int{0, 3, 5, 7, 10, 11} }
		trainer, err := cpu{}.NewTrainer(engine.Job{Algorithm: a, Data: data, Seed: 3, Rows: rows}, engine.NewState(a, engine.NewParameters(of)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trainer.Steps(t.Context(), []float64{0.1, 0.1}); err != nil {
			t.Fatal(err)
		}
		state, err := trainer.State()
		if err != nil {
			t.Fatal(err)
		}
		model, err := cpu{}.NewModel(state.Parameters, a.Arithmetic)
		if err != nil {
			t.Fatal(err)
		}
		logs, err := model.LogWeights(t.Context(), data.Part(7, 5), 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		return logs
	}
	if got, want := train(inBits), train(inBytes); !slices.Equal(got, want) {
		t.Errorf("log weights %v, not %v", got, want)
	}
}
