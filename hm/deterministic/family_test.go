package deterministic

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFamily(t *testing.T) {
	set := patterns(t)
	e := short(set, NoisyOr)
	runstest.Family(t, runstest.Case[Experiment, *Machine]{
		Experiment: e, Set: set, Kind: Family.Kind(),
		Aside: []string{"log_p_every"},
		Refused: []runstest.Refusal[Experiment]{
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Layers = nil }, "layers = []", "such as [6]"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Layers = []int{3, 0} }, "layers = [3 0]", "between 1 and 262144"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Layers = []int{1 << 40} }, "layers = [1099511627776]"),
			runstest.Refuse(func(e *Experiment) { e.Dataset.Binarization = dataset.Stochastic }, "binarization = stochastic", "use fixed"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Training.LearningRate = 0 }, "learning_rate = 0", "positive"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Training.LearningRate = -0.1 }, "learning_rate = -0.1", "positive"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Training.LearningRate = math.NaN() }, "learning_rate = NaN", "finite"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Training.LearningRate = math.Inf(1) }, "learning_rate = +Inf", "finite"),
			runstest.Refuse(func(e *Experiment) { e.Settings.LogPEvery = -1 }, "log_p_every = -1", "0 for never"),
			runstest.Refuse(func(e *Experiment) { e.Settings.LogPEvery, e.Settings.Machine.Layers = 1, []int{4, 11, 10} },
				"log_p_every = 1", "layer 2 and the one above it have 21 units", "omit log_p_every"),
		},
	})
}

// TestResumeIsExact resumes runs of each activation, with log p measured during training and with
// rows from the caller.
func TestResumeIsExact(t *testing.T) {
	for _, activation := range []Activation{Logistic, NoisyOr, PrintedProduct} {
		for _, set := range []*dataset.Set{patterns(t), distribution(t)} {
			t.Run(activation.String()+", "+set.Name(), func(t *testing.T) {
				t.Parallel()
				e := short(set, activation)
				e.Settings.LogPEvery, e.Settings.Training.BatchSize = 2, 5
				runstest.Resume(t, e, set)
			})
		}
	}
}
