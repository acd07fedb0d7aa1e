package mixture

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Settings are the settings of experiments with mixtures. Files and sweeps use the names in the
// tags.
type Settings struct {
	Components   int     `toml:"components" json:"components"`
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"`
	BatchSize    int     `toml:"batch_size" json:"batch_size"`
}

// Experiment is a training run of a mixture.
type Experiment = runs.Fit[Settings, *Model]

// Family trains mixtures. To train one, call Family.Experiment(set).Train(ctx, set, dir).
var Family = runs.NewFamily(runs.Family[Settings, *Model]{
	Name: "mixture", Noun: "a mixture of Gaussians", Usual: Settings{Components: 10, LearningRate: 0.5, BatchSize: 100},
	Rows: func(s *Settings) []runs.Hyperparameter {
		rate := runs.RateRow(&s.LearningRate, "learning `rate` η of the statistics, at most 1")
		rate.Valid, rate.Remedy = rate.Valid && s.LearningRate <= 1, "give a number above 0 and at most 1"
		return []runs.Hyperparameter{{
			Value: &s.Components, Flag: "components", Usage: "`K` Gaussians", Legend: fmt.Sprintf("mixture of %d", s.Components), Always: true,
			Valid: s.Components >= 1, Remedy: "give at least 1",
		}, rate, runs.BatchRow(&s.BatchSize)}
	},
	Measures: []runs.Measure{runs.LogP}, Batch: func(s *Settings) *int { return &s.BatchSize },
	Rate: func(s Settings) (float64, runs.Decay) { return s.LearningRate, runs.Decay{} },
	Check: func(e Experiment, set *dataset.Set) error {
		if rows := set.Train().Rows; e.Settings.Components > rows {
			return fmt.Errorf("components = %d of %d rows: give at most one per row", e.Settings.Components, rows)
		}
		return nil
	},
	Size: func(e Experiment, shape dataset.Shape) float64 {
		return float64(e.Settings.Components) * float64(shape.Units())
	},
	New: func(e Experiment, shape dataset.Shape) (*Model, error) {
		return newModel(e.Settings.Components, shape), nil
	},
	Begin: func(e Experiment, m *Model, set *dataset.Set) error {
		m.begin(set.Train().Floats(), e.Seed)
		return nil
	},
	Tensors: func(m *Model) []runs.Tensor {
		return []runs.Tensor{runs.Wide("weights", m.weights), runs.Wide("means", m.means), runs.Wide("variance", m.variance)}
	},
	Step: func(_ context.Context, _ Experiment, m *Model, b runs.Minibatch, rate float64) (runs.Measures, error) {
		return runs.Measures{runs.LogP.Key: m.step(b.Floats(), rate)}, nil
	},
	Validate: func(ctx context.Context, _ Experiment, m *Model, rows dataset.Split) (runs.Measures, error) {
		of, err := m.Estimate(ctx, rows, 0, 0, nil)
		return of.Values(), err
	},
})
