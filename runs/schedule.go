package runs

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Schedule is how the learning rate changes over the steps of training.
type Schedule int

const (
	ConstantRate Schedule = iota // the learning rate stays
	StepDecay                    // it is multiplied by a factor every so many epochs
	CosineDecay                  // it falls along half a cosine, to 0 after the last step
)

var scheduleNames = names.New("schedule", "constant", "step", "cosine")

func (s Schedule) String() string                { return scheduleNames.Name(int(s)) }
func (s Schedule) MarshalText() ([]byte, error)  { return scheduleNames.Marshal(int(s)) }
func (s *Schedule) UnmarshalText(t []byte) error { return scheduleNames.Parse((*int)(s), t) }

// Decay is a schedule with its settings.
type Decay struct {
	Schedule   Schedule `toml:"schedule" json:"schedule"`       // constant, step or cosine
	StepEpochs int      `toml:"step_epochs" json:"step_epochs"` // of StepDecay: epochs between changes, at least 1
	StepFactor float64  `toml:"step_factor" json:"step_factor"` // of StepDecay: the factor of a change
}

// Factor is that of the learning rate at a step, 0 being the first, of so many
// epochs of at least 1 step.
func (d Decay) Factor(step, stepsPerEpoch, epochs int) float64 {
	switch d.Schedule {
	case StepDecay:
		return math.Pow(d.StepFactor, float64(step/stepsPerEpoch/d.StepEpochs))
	case CosineDecay:
		return (1 + math.Cos(math.Pi*float64(step)/float64(stepsPerEpoch*epochs))) / 2
	}
	return 1
}
