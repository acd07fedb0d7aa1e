package runs

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Schedule selects how the learning rate changes during training.
type Schedule int

const (
	ConstantRate Schedule = iota // the learning rate stays constant
	StepDecay                    // the learning rate is multiplied by StepFactor every StepEpochs epochs
	CosineDecay                  // the learning rate falls along half a cosine and reaches 0 after the last step
)

var scheduleNames = names.New("schedule", "constant", "step", "cosine")

func (s Schedule) String() string                { return scheduleNames.Name(int(s)) }
func (s Schedule) MarshalText() ([]byte, error)  { return scheduleNames.Marshal(int(s)) }
func (s *Schedule) UnmarshalText(t []byte) error { return scheduleNames.Parse((*int)(s), t) }

// Decay is a schedule with its settings.
type Decay struct {
	Schedule   Schedule `toml:"schedule" json:"schedule"`       // constant, step or cosine
	StepEpochs int      `toml:"step_epochs" json:"step_epochs"` // for StepDecay: epochs between changes, at least 1
	StepFactor float64  `toml:"step_factor" json:"step_factor"` // for StepDecay: the factor of the rate at each change
}

// Factor returns the factor that multiplies the initial learning rate at a step, counted from 0.
// stepsPerEpoch and epochs must be at least 1. A smaller StepEpochs, which checks of experiments refuse, counts as 1.
func (d Decay) Factor(step, stepsPerEpoch, epochs int) float64 {
	switch d.Schedule {
	case StepDecay:
		return math.Pow(d.StepFactor, float64(step/stepsPerEpoch/max(1, d.StepEpochs)))
	case CosineDecay:
		return (1 + math.Cos(math.Pi*float64(step)/float64(stepsPerEpoch*epochs))) / 2
	}
	return 1
}

// Minibatches returns a function that returns the indices of the rows of a step's minibatch, with steps counted from 0. Each
// epoch visits the training rows once, in an order determined by the seed and the epoch. If the N rows have weights, it visits
// row i N·wᵢ/Σw times instead, rounded up or down at random. There must be at least 1 row, and batch, the number of rows in a
// minibatch, must be at least 1. The rows of the next minibatch are read from disk meanwhile, if they are there. The slice stays valid until the function is called for a step of another epoch.
func Minibatches(seed uint64, rows dataset.Split, batch int) func(step int) []int {
	n, stepsPerEpoch, current := rows.Rows, (rows.Rows+batch-1)/batch, -1
	var order []int // of the current epoch
	return func(step int) []int {
		epoch, first := step/stepsPerEpoch, step%stepsPerEpoch*batch
		if epoch != current {
			current = epoch
			stream := philox.NewStream(seed, philox.Order, uint32(epoch))
			order = stream.Perm(n)
			if rows.Weights != nil {
				resample(order, rows.Weights, stream)
			}
			rows.Expect(order[first:min(first+batch, n)])
		}
		next := min(first+batch, n)
		rows.Expect(order[next:min(next+batch, n)])
		return order[first:next]
	}
}

// resample replaces the rows of a permutation by rows drawn by systematic resampling: the weights lie end to
// end on a line, and each point of an even grid with a random start selects the row in whose weight it lies.
func resample(permutation []int, weights []float64, stream *philox.Stream) {
	step := floats.Sum(weights) / float64(len(weights))
	drawn := make([]int, len(weights))
	row, end, at := 0, weights[0], step*(float64(stream.Uint32())+0.5)/(1<<32)
	for k := range drawn {
		for at >= end && row+1 < len(weights) {
			row++
			end += weights[row]
		}
		drawn[k] = row
		at += step
	}
	for k, n := range permutation {
		permutation[k] = drawn[n]
	}
}
