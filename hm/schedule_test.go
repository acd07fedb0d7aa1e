package hm

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSchedules(t *testing.T) {
	const stepsPerEpoch, epochs = 5, 20 // 100 steps
	constant := RWS().LearningRate(0.4)
	for _, test := range []struct {
		name   string
		method Method
		rates  map[int]float64 // by step
	}{
		{"constant", constant, map[int]float64{0: 0.4, 50: 0.4, 99: 0.4}},
		{"step", constant.StepDecay(3, 0.1), map[int]float64{
			0: 0.4, 14: 0.4, // the last step of epoch 3
			15: 0.04, 29: 0.04, 30: 0.004, 99: 0.4e-6,
		}},
		{"step by 1", constant.StepDecay(1, 1), map[int]float64{0: 0.4, 99: 0.4}},
		{"cosine", constant.Schedule(Cosine), map[int]float64{
			0: 0.4, 25: 0.2 * (1 + math.Sqrt2/2), 50: 0.2, 75: 0.2 * (1 - math.Sqrt2/2),
			99: 0.2 * (1 - math.Cos(math.Pi/100)), 100: 0,
		}},
	} {
		for step, want := range test.rates {
			if got := test.method.spec.rate(step, stepsPerEpoch, epochs); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%s: learning rate %v in step %d, want %v", test.name, got, step, want)
			}
		}
	}
}

// TestRateIsMonotone holds for all schedules: no learning rate rises, or
// exceeds the first.
func TestRateIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := RWS().LearningRate(rapid.Float64Range(1e-6, 10).Draw(t, "rate")).
			StepDecay(rapid.IntRange(1, 9).Draw(t, "epochs of a step"), rapid.Float64Range(0.01, 1).Draw(t, "factor")).
			Schedule(rapid.SampledFrom([]Schedule{Constant, Step, Cosine}).Draw(t, "schedule"))
		stepsPerEpoch, epochs := rapid.IntRange(1, 9).Draw(t, "steps"), rapid.IntRange(1, 30).Draw(t, "epochs")
		last := m.spec.LearningRate
		for step := range stepsPerEpoch * epochs {
			rate := m.spec.rate(step, stepsPerEpoch, epochs)
			if !(rate > 0) || rate > last {
				t.Fatalf("learning rate %v in step %d, %v in the step before", rate, step, last)
			}
			last = rate
		}
	})
}

func TestScheduleNames(t *testing.T) {
	for _, name := range []string{"constant", "step", "cosine"} {
		var s Schedule
		if err := s.UnmarshalText([]byte(name)); err != nil {
			t.Error(err)
		}
		if s.String() != name {
			t.Errorf("%q is read as %q", name, s)
		}
	}
}

// epochRows are the minibatches of one epoch.
func epochRows(o *order, epoch int) (minibatches [][]int) {
	for step := range o.stepsPerEpoch {
		minibatches = append(minibatches, slices.Clone(o.minibatch(epoch*o.stepsPerEpoch+step)))
	}
	return minibatches
}

func TestEachEpochVisitsEachRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 60).Draw(t, "rows")
		batch := rapid.IntRange(1, rows).Draw(t, "batch")
		o := newOrder(rapid.Uint64().Draw(t, "seed"), rows, batch)
		for range 3 {
			epoch := rapid.IntRange(0, 1000).Draw(t, "epoch") // in any order
			minibatches := epochRows(o, epoch)
			for i, m := range minibatches {
				want := batch
				if i == len(minibatches)-1 {
					want = rows - batch*(len(minibatches)-1)
				}
				if len(m) != want || want < 1 {
					t.Fatalf("minibatch %d of %d rows has %d, want %d", i, rows, len(m), want)
				}
			}
			all := slices.Concat(minibatches...)
			slices.Sort(all)
			for i, row := range all {
				if row != i {
					t.Fatalf("an epoch of %d rows visits %v", rows, all)
				}
			}
		}
	})
}

func TestOrderDependsOnSeedAndEpoch(t *testing.T) {
	const rows = 100
	order := func(seed uint64, epoch int) []int {
		return slices.Concat(epochRows(newOrder(seed, rows, 16), epoch)...)
	}
	if !slices.Equal(order(1, 2), order(1, 2)) {
		t.Error("the same epoch of the same seed has two orders")
	}
	for what, other := range map[string][]int{"next epoch": order(1, 3), "next seed": order(2, 2)} {
		same := 0
		for i, row := range order(1, 2) {
			if other[i] == row {
				same++
			}
		}
		if same > 8 { // of 100; the number of fixed points is Poisson of mean 1
			t.Errorf("the %s has %d of %d rows in the same places", what, same, rows)
		}
	}
}

// TestMinibatchIsAFunctionOfTheStep asks for the steps in another order than
// training does, as the refresh of a resumed run does.
func TestMinibatchIsAFunctionOfTheStep(t *testing.T) {
	forward := newOrder(1, 50, 8)
	var want [][]int
	for step := range 21 {
		want = append(want, slices.Clone(forward.minibatch(step)))
	}
	backward := newOrder(1, 50, 8)
	for step := 20; step >= 0; step-- {
		if !slices.Equal(backward.minibatch(step), want[step]) {
			t.Errorf("step %d has another minibatch when it is asked for first", step)
		}
	}
}
