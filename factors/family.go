package factors

import (
	"context"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/factorized"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// PPCASettings are the settings of experiments with probabilistic PCA.
type PPCASettings struct {
	Components int `toml:"components" json:"components"`
	// EM selects steps of EM instead of the closed form.
	EM bool `toml:"em" json:"em"`
	// BatchSize sets the number of steps per epoch: one for every BatchSize training rows. Each step uses all of
	// the training rows.
	BatchSize int `toml:"batch_size" json:"batch_size"`
}

// PPCAExperiment is a training run of probabilistic PCA.
type PPCAExperiment = runs.Fit[PPCASettings, *Model]

// PPCA trains probabilistic PCA. In closed form the first step finds the maximum, and later steps change
// nothing.
var PPCA = unweighted(runs.Family[PPCASettings, *Model]{
	Name: "ppca", Noun: "a probabilistic PCA", Data: "--dataset miniglyphs --binarization grey", Epochs: 1, Usual: PPCASettings{Components: 10, BatchSize: 100},
	Rows: func(s *PPCASettings) []runs.Hyperparameter {
		em := "in closed form"
		if s.EM {
			em = "by EM"
		}
		return []runs.Hyperparameter{{
			Value: &s.Components, Flag: "components", Usage: "`number` of principal components", Legend: fmt.Sprintf("PPCA %d", s.Components), Always: true,
			Valid: s.Components >= 1, Remedy: "give at least 1",
		}, {
			Value: &s.EM, Flag: "em", Usage: "fit by steps of EM instead of in closed form", Legend: em,
		}, stepsRow(&s.BatchSize)}
	},
	Batch: func(s *PPCASettings) *int { return &s.BatchSize },
	Check: func(e PPCAExperiment, set *dataset.Set) error {
		return check(e.Dataset.Binarization, set, e.Settings.Components, true, false)
	},
	Baseline: func(_ PPCAExperiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		return baseline(set, rows, true)
	},
	Measures: []runs.Measure{runs.LogP},
	Size:     func(e PPCAExperiment, shape dataset.Shape) float64 { return sizeOf(e.Settings.Components, shape) },
	New: func(e PPCAExperiment, shape dataset.Shape) (*Model, error) {
		return newModel(e.Settings.Components, true, shape), nil
	},
	Begin: func(e PPCAExperiment, m *Model, set *dataset.Set) error {
		return m.beginOn(set.Train().Floats(), e.Seed)
	},
	Tensors: tensors, Model: (*Model).bare,
	Step: func(_ context.Context, e PPCAExperiment, m *Model, b runs.Minibatch, _ float64) (runs.Measures, error) {
		m.see(b.Rows)
		before := runs.Measures{runs.LogP.Key: m.logP()}
		switch {
		case e.Settings.EM:
			return before, m.em(0)
		case b.Step == 0:
			return before, m.closedForm()
		}
		return before, nil
	},
})

// Usual settings of factor analysis.
const (
	usualFloor = 1e-3
	usualEM    = 50
)

// FactorAnalysisSettings are the settings of experiments with factor analysis.
type FactorAnalysisSettings struct {
	Factors int `toml:"factors" json:"factors"`
	// EMSteps is the number of initial steps of EM. Each later step runs L-BFGS until it converges, for at
	// most 100 iterations.
	EMSteps int `toml:"em_steps" json:"em_steps"`
	// Floor is the smallest noise variance, as a fraction of each variable's variance.
	Floor float64 `toml:"floor" json:"floor"`
	// DropConstant leaves variables that are constant in the training rows out of densities, instead of
	// refusing them.
	DropConstant bool `toml:"drop_constant" json:"drop_constant"`
	// BatchSize sets the number of steps per epoch: one for every BatchSize training rows. Each step uses all of
	// the training rows.
	BatchSize int `toml:"batch_size" json:"batch_size"`
}

// FactorAnalysisExperiment is a training run of factor analysis.
type FactorAnalysisExperiment = runs.Fit[FactorAnalysisSettings, *Model]

var heywood = runs.Measure{Key: "heywood", Name: "Heywood cases", Label: "variables with their noise on the floor"}

// FactorAnalysis trains factor analysis.
var FactorAnalysis = unweighted(runs.Family[FactorAnalysisSettings, *Model]{
	Name: "factor-analysis", Noun: "a factor analysis", Data: "--dataset miniglyphs --binarization grey --drop-constant", Usual: FactorAnalysisSettings{Factors: 10, EMSteps: usualEM, Floor: usualFloor, BatchSize: 100},
	Rows: func(s *FactorAnalysisSettings) []runs.Hyperparameter {
		return []runs.Hyperparameter{{
			Value: &s.Factors, Flag: "factors", Usage: "`number` of factors", Legend: fmt.Sprintf("FA %d", s.Factors), Always: true,
			Valid: s.Factors >= 1, Remedy: "give at least 1",
		}, {
			Value: &s.EMSteps, Flag: "em-steps", Usage: "number of initial `steps` by EM; later steps use L-BFGS", Legend: names.Count(s.EMSteps, "step") + " of EM",
			Valid: s.EMSteps >= 0, Remedy: "give 0 or more; 50 are usual",
		}, {
			Value: &s.Floor, Flag: "floor", Usage: "smallest noise variance, as a `fraction` of each variable's variance", Legend: fmt.Sprintf("floor %g", s.Floor),
			Valid: s.Floor > 0 && s.Floor < 1, Remedy: "give a fraction between 0 and 1, such as 0.001",
		}, {
			Value: &s.DropConstant, Flag: "drop-constant", Usage: "leave constant variables out of densities", Legend: "without constant variables",
		}, stepsRow(&s.BatchSize)}
	},
	Batch: func(s *FactorAnalysisSettings) *int { return &s.BatchSize },
	Check: func(e FactorAnalysisExperiment, set *dataset.Set) error {
		return check(e.Dataset.Binarization, set, e.Settings.Factors, false, e.Settings.DropConstant)
	},
	Baseline: func(_ FactorAnalysisExperiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		return baseline(set, rows, false)
	},
	Measures: []runs.Measure{runs.LogP, heywood},
	Size: func(e FactorAnalysisExperiment, shape dataset.Shape) float64 {
		return sizeOf(e.Settings.Factors, shape)
	},
	New: func(e FactorAnalysisExperiment, shape dataset.Shape) (*Model, error) {
		return newModel(e.Settings.Factors, false, shape), nil
	},
	Begin: func(e FactorAnalysisExperiment, m *Model, set *dataset.Set) error {
		return m.beginOn(set.Train().Floats(), e.Seed)
	},
	Tensors: tensors, Model: (*Model).bare,
	Step: func(ctx context.Context, e FactorAnalysisExperiment, m *Model, b runs.Minibatch, _ float64) (runs.Measures, error) {
		m.see(b.Rows)
		before := runs.Measures{runs.LogP.Key: m.logP()}
		if b.Step < e.Settings.EMSteps {
			return before, m.em(e.Settings.Floor)
		}
		_, err := m.climb(ctx, e.Settings.Floor, 100)
		return before, err
	},
})

// sizeOf returns a lower bound on the number of values in the tensors of a model.
func sizeOf(factors int, shape dataset.Shape) float64 {
	return float64(factors) * float64(shape.Units())
}

// unweighted registers a family that refuses weights of rows, because it computes at least the mean of the training
// rows without weights. The validation measures of the family are the values of its model's Estimate.
func unweighted[S any, M runs.Estimator](f runs.Family[S, M]) *runs.Family[S, M] {
	check := f.Check
	f.Check = func(e runs.Fit[S, M], set *dataset.Set) error {
		if set.Train().Weights != nil {
			return fmt.Errorf("weight_file = %q with %s, which fits all training rows alike: omit it", e.Dataset.WeightFile, f.Noun)
		}
		return check(e, set)
	}
	f.Validate = func(ctx context.Context, _ runs.Fit[S, M], m M, rows dataset.Split) (runs.Measures, error) {
		estimates, err := m.Estimate(ctx, rows, 0, 0, nil)
		return values(estimates), err
	}
	return runs.NewFamily(f)
}

func values(estimates runs.Estimates) runs.Measures {
	measured := runs.Measures{}
	for key, of := range estimates {
		measured[key] = of.Value
	}
	return measured
}

// stepsRow describes the batch size of a family whose steps use all training rows.
func stepsRow(rows *int) runs.Hyperparameter {
	row := runs.BatchRow(rows)
	row.Usage = "an epoch has one step for every `B` training rows; each step uses all rows"
	return row
}

func check(b dataset.Binarization, set *dataset.Set, factors int, shared, dropConstant bool) error {
	if err := checkDensity(b); err != nil {
		return err
	}
	rows := set.Train()
	_, variance := meanOf(rows.Floats())
	if err := checkData(rows.Rows, factors, variance, shared, dropConstant); err != nil {
		return err
	}
	return checkMemory(rows, factors)
}

// checkDensity refuses rows that are neither grey values nor real numbers.
func checkDensity(b dataset.Binarization) error {
	if b == dataset.Gray || b == dataset.Real {
		return nil
	}
	return fmt.Errorf("binarization = %v: a linear factor model needs grey values; use grey, or real for real numbers (--binarization)", b)
}

func checkMemory(rows dataset.Split, factors int) error {
	d, n, q := float64(rows.Shape.Units()), float64(rows.Rows), float64(factors)
	bytes := 8 * (2*n*d + 3*d*math.Min(n, d) + 20*d*q + 4*n*q)
	things := fmt.Sprintf("%s of %s with %s", names.Count(rows.Rows, "row"), names.Count(rows.Shape.Units(), "variable"), names.Count(factors, "factor"))
	return memory.Check(things, bytes, "use fewer rows, smaller images, or fewer factors")
}

// baseline returns log p of the same model without factors: independent Gaussian variables, with one common
// variance if shared is true. Its Limit, below which training has diverged, lies far below the log p of
// untrained Gaussians.
func baseline(set *dataset.Set, rows dataset.Split, shared bool) runs.Baseline {
	mean, variance := meanOf(set.Train().Floats())
	m := newModel(1, shared, set.Shape())
	copy(m.mean, mean)
	copy(m.noise, variance)
	if shared {
		m.share()
	}
	return runs.Baseline{Rows: rows.Name, Factorized: runs.EstimateOf(m.LogP(rows.Floats())), Limit: factorized.Gaussian(set.Train(), rows, 1e-3).Limit}
}

func (m *Model) beginOn(rows [][]float64, seed uint64) error {
	mean, variance := meanOf(rows)
	m.begin(mean, variance, seed)
	return nil
}

// see computes the moments of the training rows, unless they are known.
func (m *Model) see(rows dataset.Split) {
	if m.data == nil {
		m.data = momentsOf(rows.Floats(), m.mean)
	}
}

func (m *Model) bare() *Model {
	bare := *m
	bare.data = nil
	return &bare
}

func tensors(m *Model) []runs.Tensor {
	return []runs.Tensor{
		runs.Wide("mean", m.mean), runs.Wide("loadings", m.loadings, len(m.mean), m.factors), runs.Wide("noise", m.noise),
		runs.Wide("variance", m.variance), runs.Wide("on_floor", m.onFloor),
	}
}
