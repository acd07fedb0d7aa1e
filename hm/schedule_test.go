package hm

import (
	"math"
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
		{"cosine", constant.Schedule(CosineDecay), map[int]float64{
			0: 0.4, 25: 0.2 * (1 + math.Sqrt2/2), 50: 0.2, 75: 0.2 * (1 - math.Sqrt2/2),
			99: 0.2 * (1 - math.Cos(math.Pi/100)), 100: 0,
		}},
	} {
		for step, want := range test.rates {
			if got := test.method.Epochs(epochs).Experiment(Machine{}, nil).LearningRate(step, stepsPerEpoch); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%s: learning rate %v in step %d, want %v", test.name, got, step, want)
			}
		}
	}
}

// TestRateIsMonotone checks that no schedule raises the learning rate or exceeds the first rate.
func TestRateIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := RWS().LearningRate(rapid.Float64Range(1e-6, 10).Draw(t, "rate")).
			StepDecay(rapid.IntRange(1, 9).Draw(t, "epochs of a step"), rapid.Float64Range(0.01, 1).Draw(t, "factor")).
			Schedule(rapid.SampledFrom([]Schedule{ConstantRate, StepDecay, CosineDecay}).Draw(t, "schedule"))
		stepsPerEpoch, epochs := rapid.IntRange(1, 9).Draw(t, "steps"), rapid.IntRange(1, 30).Draw(t, "epochs")
		last, e := m.spec.LearningRate, m.Epochs(epochs).Experiment(Machine{}, nil)
		for step := range stepsPerEpoch * epochs {
			rate := e.LearningRate(step, stepsPerEpoch)
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
