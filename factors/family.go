package factors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// PPCASettings are the settings of experiments with probabilistic PCA.
type PPCASettings struct {
	Components int `toml:"components" json:"components"`
	// EM selects steps of EM instead of the closed form, 100 an epoch.
	EM bool `toml:"em" json:"em"`
	// BatchSize is 0. A run of an earlier version has a positive number, one step of EM for every BatchSize training
	// rows, and measures of the parameters before each step.
	BatchSize int `toml:"batch_size" json:"batch_size"`
}

// PPCAExperiment is a training run of probabilistic PCA.
type PPCAExperiment = runs.Fit[PPCASettings, *Model]

// PPCA trains probabilistic PCA. In closed form the first epoch finds the maximum, whatever the seed, and later epochs
// change nothing.
var PPCA = estimated(runs.Family[PPCASettings, *Model]{
	Name: "ppca", Noun: "a probabilistic PCA", Data: "--dataset miniglyphs --binarization grey", Epochs: 1, Usual: PPCASettings{Components: 10},
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
		}}
	},
	Gaps:  true,
	Batch: func(s *PPCASettings) *int { return &s.BatchSize },
	Check: func(e PPCAExperiment, set *dataset.Set) error {
		if set.Train().Lacking() > 0 && !e.Settings.EM {
			return errors.New("em = false, but the closed form needs complete rows, and values are missing: use em = true (--em)")
		}
		return check(e.Data, e.Settings.BatchSize, set, e.Settings.Components, true, false)
	},
	Baseline: func(_ PPCAExperiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		return factorized.Gaussian(set.Train(), rows, baselineFloor, true)
	},
	Measures: []runs.Measure{runs.LogP, runs.Rise},
	Size:     func(e PPCAExperiment, shape dataset.Shape) float64 { return sizeOf(e.Settings.Components, shape) },
	New: func(e PPCAExperiment, shape dataset.Shape) (*Model, error) {
		return newModel(e.Settings.Components, true, shape), nil
	},
	Begin: func(e PPCAExperiment, m *Model, set *dataset.Set) error {
		return m.beginOn(set.Train(), e.Seed)
	},
	Tensors: tensors, Model: (*Model).bare,
	Step: func(ctx context.Context, e PPCAExperiment, m *Model, b runs.Minibatch, _ float64) (runs.Measures, error) {
		m.see(b.Rows)
		measured := runs.Measures{runs.LogP.Key: m.logP()}
		switch whole := e.Settings.BatchSize == 0; {
		case e.Settings.EM && whole:
			trial := m.clone()
			measured, err := halves(ctx, trial.logP, func(int) (bool, error) { return true, trial.em(0) })
			return measured, m.take(trial, err)
		case e.Settings.EM:
			return measured, m.em(0)
		case b.Step > 0:
			return measured, nil
		}
		err := m.closedForm()
		if e.Settings.BatchSize == 0 && err == nil {
			measured[runs.LogP.Key] = m.logP()
		}
		return measured, err
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
	// EMSteps is the number of initial steps of EM, all in the first epoch. Then each epoch runs L-BFGS until it
	// converges, for at most 100 iterations.
	EMSteps int `toml:"em_steps" json:"em_steps"`
	// Floor is the smallest noise variance, as a fraction of each variable's variance.
	Floor float64 `toml:"floor" json:"floor"`
	// DropConstant leaves variables that are constant in the training rows out of densities, instead of
	// refusing them.
	DropConstant bool `toml:"drop_constant" json:"drop_constant"`
	// BatchSize is 0. A run of an earlier version has a positive number, one step for every BatchSize training rows, of
	// EM or of 100 iterations of L-BFGS, and measures of the parameters before each step.
	BatchSize int `toml:"batch_size" json:"batch_size"`
}

// FactorAnalysisExperiment is a training run of factor analysis.
type FactorAnalysisExperiment = runs.Fit[FactorAnalysisSettings, *Model]

var heywood = runs.Measure{Key: "heywood", Name: "Heywood cases", Label: "variables with their noise on the floor"}

// FactorAnalysis trains factor analysis.
var FactorAnalysis = estimated(runs.Family[FactorAnalysisSettings, *Model]{
	Name: "factor-analysis", Noun: "a factor analysis", Data: "--dataset miniglyphs --binarization grey --drop-constant", Usual: FactorAnalysisSettings{Factors: 10, EMSteps: usualEM, Floor: usualFloor},
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
		}}
	},
	Gaps:  true,
	Batch: func(s *FactorAnalysisSettings) *int { return &s.BatchSize },
	Check: func(e FactorAnalysisExperiment, set *dataset.Set) error {
		return check(e.Data, e.Settings.BatchSize, set, e.Settings.Factors, false, e.Settings.DropConstant)
	},
	Baseline: func(_ FactorAnalysisExperiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		return factorized.Gaussian(set.Train(), rows, baselineFloor, false)
	},
	Measures: []runs.Measure{runs.LogP, runs.Rise, heywood},
	Size: func(e FactorAnalysisExperiment, shape dataset.Shape) float64 {
		return sizeOf(e.Settings.Factors, shape)
	},
	New: func(e FactorAnalysisExperiment, shape dataset.Shape) (*Model, error) {
		return newModel(e.Settings.Factors, false, shape), nil
	},
	Begin: func(e FactorAnalysisExperiment, m *Model, set *dataset.Set) error {
		return m.beginOn(set.Train(), e.Seed)
	},
	Tensors: tensors, Model: (*Model).bare,
	Step: func(ctx context.Context, e FactorAnalysisExperiment, m *Model, b runs.Minibatch, _ float64) (runs.Measures, error) {
		m.see(b.Rows)
		s := e.Settings
		if s.BatchSize > 0 {
			before := runs.Measures{runs.LogP.Key: m.logP()}
			if b.Step < s.EMSteps {
				return before, m.em(s.Floor)
			}
			_, err := m.climb(ctx, s.Floor, 100)
			return before, err
		}
		trial := m.clone()
		for range s.EMSteps {
			if b.Step > 0 || ctx.Err() != nil {
				break
			}
			if err := trial.em(s.Floor); err != nil {
				return nil, err
			}
		}
		measured, err := halves(ctx, trial.logP, func(half int) (bool, error) {
			_, err := trial.climb(ctx, s.Floor, half)
			return false, err
		})
		if measured != nil {
			measured[heywood.Key] = float64(len(trial.Heywood()))
		}
		return measured, m.take(trial, err)
	},
})

// sizeOf returns a lower bound on the number of values in the tensors of a model.
func sizeOf(factors int, shape dataset.Shape) float64 {
	return float64(factors) * float64(shape.Units())
}

// baselineFloor is the smallest standard deviation of grey values in baselines.
const baselineFloor = 1e-3

// halves takes 100 iterations, and returns log p after them with its rise in the second half of them. iterate takes one
// iteration if it returns true, and otherwise all of a half.
func halves(ctx context.Context, logP func() float64, iterate func(half int) (one bool, err error)) (runs.Measures, error) {
	const half = 50
	was, is := 0.0, 0.0
	for range 2 {
		one := true
		for k := 0; k < half && one; k++ {
			err := ctx.Err()
			if err == nil {
				one, err = iterate(half)
			}
			if err != nil {
				return nil, err
			}
		}
		was, is = is, logP()
	}
	return runs.Measures{runs.LogP.Key: is, runs.Rise.Key: max(0, is-was)}, nil
}

// estimated registers a family of densities whose validation measures are the values of its model's Estimate.
func estimated[S any, M runs.Estimator](f runs.Family[S, M]) *runs.Family[S, M] {
	f.Densities = true
	f.Validate = func(ctx context.Context, _ runs.Fit[S, M], m M, rows dataset.Split) (runs.Measures, error) {
		estimates, err := m.Estimate(ctx, rows, 0, 0, nil)
		return estimates.Values(), err
	}
	return runs.NewFamily(f)
}

func check(of runs.Data, batch int, set *dataset.Set, factors int, shared, dropConstant bool) error {
	if err := checkSteps(of, batch); err != nil {
		return err
	}
	rows := set.Train()
	_, variance, without := observedMeans(rows)
	if without >= 0 {
		return fmt.Errorf("no training row has a value of variable %d: leave it out", without+1)
	}
	those, _ := counted(rows.Floats(), rows.MeanWeights())
	if err := checkData(len(those), factors, variance, shared, dropConstant); err != nil {
		return err
	}
	return checkMemory(rows, factors)
}

// checkSteps refuses rows that are neither grey values nor real numbers, and a new experiment with a batch size, which
// steps on all rows do not have.
func checkSteps(of runs.Data, batch int) error {
	switch b := of.Dataset.Binarization; {
	case b != dataset.Gray && b != dataset.Real:
		return fmt.Errorf("binarization = %v: a linear factor model needs grey values; use grey, or real for real numbers (--binarization)", b)
	case batch > 0 && of.Fingerprint == "":
		return fmt.Errorf("batch_size = %d, but each step uses all training rows: omit batch_size", batch)
	}
	return nil
}

func checkMemory(rows dataset.Split, factors int) error {
	d, n, q := float64(rows.Shape.Units()), float64(rows.Rows), float64(factors)
	bytes := 8 * (2*n*d + 3*d*math.Min(n, d) + 20*d*q + 4*n*q)
	things := fmt.Sprintf("%s of %s with %s", names.Count(rows.Rows, "row"), names.Count(rows.Shape.Units(), "variable"), names.Count(factors, "factor"))
	return memory.Check(things, bytes, "use fewer rows, smaller images, or fewer factors")
}

func (m *Model) beginOn(rows dataset.Split, seed uint64) error {
	mean, variance, _ := observedMeans(rows)
	m.begin(mean, variance, seed)
	return nil
}

// see computes the moments of the training rows, unless they are known. If values are missing, it keeps the rows.
func (m *Model) see(rows dataset.Split) {
	switch {
	case m.data != nil || m.open != nil:
	case rows.Lacking() > 0:
		m.open = openRowsOf(rows)
	default:
		m.data = momentsOf(rows.Floats(), m.mean, rows.MeanWeights()...)
	}
}

// clone returns a copy of the model for steps that take may keep.
func (m *Model) clone() *Model {
	c := *m
	c.mean = slices.Clone(m.mean)
	c.loadings, c.noise, c.onFloor = slices.Clone(m.loadings), slices.Clone(m.noise), slices.Clone(m.onFloor)
	return &c
}

// take replaces m by trial unless its steps failed.
func (m *Model) take(trial *Model, err error) error {
	if err == nil {
		*m = *trial
	}
	return err
}

func (m *Model) bare() *Model {
	bare := *m
	bare.data, bare.open = nil, nil
	return &bare
}

func tensors(m *Model) []runs.Tensor {
	return []runs.Tensor{
		runs.Wide("mean", m.mean), runs.Wide("loadings", m.loadings, len(m.mean), m.factors), runs.Wide("noise", m.noise),
		runs.Wide("variance", m.variance), runs.Wide("on_floor", m.onFloor),
	}
}
