package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// A machine must learn and evaluate bits as it does the same values in bytes.
func TestBitsAreReadLikeBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	of := engine.Architecture{Units: []int{13, 5}}
	inBytes := engine.Data{Rows: 12, Units: 13, Values: make([]uint8, 12*13)}
	inBits := engine.Data{Rows: 12, Units: 13, Bits: make([]uint8, 12*2)}
	for i := range inBytes.Values {
		if random.IntN(2) == 1 {
			inBytes.Values[i] = 255
			inBits.Bits[i/13*2+i%13/8] |= 1 << (i % 13 % 8)
		}
	}
	if !slices.Equal(inBits.Unpacked().Values, inBytes.Values) {
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
