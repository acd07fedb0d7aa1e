package hm

import (
	"fmt"
	"math"
)

// Schedule is how the learning rate changes over the steps of training.
type Schedule int

const (
	Constant Schedule = iota // the learning rate stays
	Step                     // it is multiplied by a factor every so many epochs
	Cosine                   // it falls along half a cosine, to 0 after the last step
)

var scheduleNames = []string{"constant", "step", "cosine"}

func (s Schedule) String() string {
	if s < 0 || int(s) >= len(scheduleNames) {
		return fmt.Sprintf("Schedule(%d)", int(s))
	}
	return scheduleNames[s]
}

// MarshalText writes "constant", "step" or "cosine".
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Schedule) UnmarshalText(text []byte) error {
	for i, name := range scheduleNames {
		if name == string(text) {
			*s = Schedule(i)
			return nil
		}
	}
	return fmt.Errorf("unknown schedule %q: use constant, step or cosine", text)
}

// rate returns the learning rate of a step, 0 being the first.
func (m MethodSpec) rate(step, stepsPerEpoch, epochs int) float64 {
	switch m.Schedule {
	case Step:
		return m.LearningRate * math.Pow(m.StepFactor, float64(step/stepsPerEpoch/m.StepEpochs))
	case Cosine:
		return m.LearningRate / 2 * (1 + math.Cos(math.Pi*float64(step)/float64(stepsPerEpoch*epochs)))
	}
	return m.LearningRate
}
