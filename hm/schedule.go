package hm

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Schedule is how the learning rate changes over the steps of training.
type Schedule int

const (
	Constant Schedule = iota // the learning rate stays
	Step                     // it is multiplied by a factor every so many epochs
	Cosine                   // it falls along half a cosine, to 0 after the last step
)

var scheduleNames = names.New("schedule", "constant", "step", "cosine")

func (s Schedule) String() string { return scheduleNames.Name(int(s)) }

// MarshalText writes "constant", "step" or "cosine".
func (s Schedule) MarshalText() ([]byte, error) { return scheduleNames.Marshal(int(s)) }

// UnmarshalText reads what MarshalText writes.
func (s *Schedule) UnmarshalText(text []byte) error { return scheduleNames.Parse((*int)(s), text) }

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
