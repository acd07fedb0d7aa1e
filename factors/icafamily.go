package factors

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// ICASettings are the settings of experiments with independent component analysis.
type ICASettings struct {
	Sources int     `toml:"sources" json:"sources"`
	Density Density `toml:"density" json:"density"`
	// Natural trains along the natural gradient of minibatches at LearningRate, instead of by
	// quasi-Newton steps on all training rows, 100 an epoch.
	Natural      bool    `toml:"natural" json:"natural"`
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"`
	// BatchSize is the number of rows per minibatch with Natural; 0 means 100. Without Natural it is 0. A run of an
	// earlier version has a positive number, one quasi-Newton step for every BatchSize training rows, and measures of
	// the parameters before each step.
	BatchSize int `toml:"batch_size" json:"batch_size"`
}

// ICAExperiment is a training run of independent component analysis.
type ICAExperiment = runs.Fit[ICASettings, *Independent]

var wrongSide = runs.Measure{Key: "wrong_side", Name: "on the wrong side", Label: "sources whose density has the wrong side"}

// ICA trains independent components by maximum likelihood.
var ICA = estimated(runs.Family[ICASettings, *Independent]{
	Name: "ica", Noun: "an analysis of independent components", Data: "--dataset miniglyphs --subset 1000 --binarization grey", Epochs: 5, Usual: ICASettings{Sources: 10, LearningRate: 0.1},
	Rows: func(s *ICASettings) []runs.Hyperparameter {
		rate := runs.RateRow(&s.LearningRate, "learning `rate` η of the natural gradient")
		rate.Idle, rate.Always = runs.Unless(s.Natural, "--natural"), false
		rate.Valid = rate.Valid || rate.Idle != ""
		batch := runs.BatchRow(&s.BatchSize)
		batch.Usage, batch.Idle = "`B` rows per minibatch of the natural gradient; 0 means 100", rate.Idle
		batch.Valid, batch.Remedy = s.BatchSize >= 0, "give at least 1, or 0 for 100"
		return []runs.Hyperparameter{{
			Value: &s.Sources, Flag: "sources", Usage: "`number` of sources", Legend: fmt.Sprintf("ICA %d", s.Sources), Always: true,
			Valid: s.Sources >= 1, Remedy: "give at least 1",
		}, {
			Value: &s.Density, Flag: "density", Legend: s.Density.String(),
			Usage: "`density` of sources: extended (logistic or two-gaussians, chosen for each source), logistic, sech, laplace, student-t, two-gaussians or quartic",
		}, {
			Value: &s.Natural, Flag: "natural", Legend: "natural gradient",
			Usage: "train along the natural gradient of minibatches, instead of by quasi-Newton steps on all rows",
		}, rate, batch}
	},
	Batch: func(s *ICASettings) *int {
		if s.Natural {
			s.BatchSize = cmp.Or(s.BatchSize, 100)
		}
		return &s.BatchSize
	},
	Rate: func(s ICASettings) (float64, runs.Decay) {
		if !s.Natural && s.BatchSize == 0 {
			return 0, runs.Decay{}
		}
		return s.LearningRate, runs.Decay{}
	},
	Check: func(e ICAExperiment, set *dataset.Set) error {
		s, rows, batch := e.Settings, set.Train(), e.Settings.BatchSize
		if s.Natural {
			batch = 0
		}
		if err := checkSteps(e.Data, batch); err != nil {
			return err
		}
		those, _ := counted(rows.Floats(), rows.MeanWeights())
		if most := min(len(those)-2, rows.Shape.Units()); s.Sources > most {
			return fmt.Errorf("sources = %d of %d training rows with %d variables: give at most %d, or more rows", s.Sources, len(those), rows.Shape.Units(), max(0, most))
		}
		return checkMemory(rows, s.Sources)
	},
	Baseline: func(_ ICAExperiment, set *dataset.Set, rows dataset.Split) runs.Baseline {
		return factorized.Gaussian(set.Train(), rows, baselineFloor, true)
	},
	Measures: []runs.Measure{runs.LogP, runs.Rise, wrongSide},
	Size: func(e ICAExperiment, shape dataset.Shape) float64 {
		return sizeOf(e.Settings.Sources, shape) + float64(e.Settings.Sources)*float64(e.Settings.Sources)
	},
	New: func(e ICAExperiment, shape dataset.Shape) (*Independent, error) {
		return newIndependent(e.Settings.Sources, shape), nil
	},
	Begin: func(e ICAExperiment, m *Independent, set *dataset.Set) error {
		return m.begin(set.Train().Floats(), set.Train().MeanWeights(), e.Settings.Density, e.Seed)
	},
	Tensors: func(m *Independent) []runs.Tensor {
		d, q := len(m.mean), m.sources
		return []runs.Tensor{
			runs.Wide("mean", m.mean), runs.Wide("plane", m.plane, d, q), runs.Wide("spread", m.spread), runs.Wide("noise", m.noise),
			runs.Wide("turn", m.turn, q, q), runs.Wide("densities", m.densities), runs.Wide("settled", m.settled),
		}
	},
	Model: func(m *Independent) *Independent {
		bare := *m
		bare.white = nil
		return &bare
	},
	Step: func(ctx context.Context, e ICAExperiment, m *Independent, b runs.Minibatch, rate float64) (runs.Measures, error) {
		if m.white == nil {
			m.white, _ = m.whiten(b.Rows.Floats())
			m.parts = partsOf(b.Rows.Rows, b.Rows.MeanWeights())
		}
		if !e.Settings.Natural && e.Settings.BatchSize == 0 {
			trial := *m
			trial.turn, trial.densities, trial.settled = slices.Clone(m.turn), slices.Clone(m.densities), slices.Clone(m.settled)
			logP := func() float64 { return runs.EstimateOver(b.Rows, trial.LogP(b.Rows.Floats())).Value }
			measured, err := halves(ctx, logP, func(int) (bool, error) {
				if e.Settings.Density == Extended {
					trial.extend()
				}
				gradient, risen := trial.newton()
				trial.order()
				return gradient >= flat && risen || e.Settings.Density == Extended && trial.settled[0] < settledSteps, nil
			})
			if err == nil {
				*m = trial
			}
			return measured, err
		}
		switch {
		case e.Settings.Density != Extended:
		case !e.Settings.Natural:
			m.extend()
		case b.Step%e.Header().StepsPerEpoch(b.Rows.Rows) == 0: // first of an epoch
			m.choose() // in small steps, sides may change long after the first epochs
		}
		before := runs.Measures{runs.LogP.Key: runs.EstimateOf(m.LogP(b.Floats())).Value}
		if e.Settings.Natural {
			z, _ := m.whiten(b.Floats())
			m.natural(z, partsOf(len(b.Index), nil), rate)
		} else {
			m.newton()
		}
		m.order()
		return before, nil
	},
})

// Estimate returns the exact mean of log p(x) over rows in nats, with its standard error, and the number of sources
// whose density has the wrong side. It draws no samples. It refuses rows whose number of units differs from the
// model's.
func (m *Independent) Estimate(_ context.Context, rows dataset.Split, _ int, _ uint64, _ func(float64)) (runs.Estimates, error) {
	if err := runs.CheckRows(m.shape.Units(), false, rows); err != nil {
		return nil, err
	}
	x := rows.Floats()
	return runs.Estimates{
		runs.LogP.Key: runs.EstimateOver(rows, m.LogP(x)),
		wrongSide.Key: {Value: float64(len(m.WrongSide(x, rows.MeanWeights()...))), SE: math.NaN()},
	}, nil
}

// LogPOfRows returns the exact log p(x) of each row in nats, and the word "exact". It refuses rows whose number of
// units differs from the model's.
func (m *Independent) LogPOfRows(_ context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	if err := runs.CheckRows(m.shape.Units(), false, o.Rows); err != nil {
		return nil, "", err
	}
	return m.LogP(o.Rows.Floats()), "exact", nil
}

// Sample draws n rows x ~ p(x) from the seed, and returns them with their means b + As in the plane. n must not be
// negative.
func (m *Independent) Sample(n int, seed uint64) (rows, means [][]float64) {
	random, mixing, plane := rand.New(rand.NewPCG(seed, 1)), m.Mixing(), mat.NewDense(len(m.mean), m.sources, m.plane)
	for range n {
		s := mat.NewVecDense(m.sources, nil)
		for i, d := range m.densities {
			s.SetVec(i, Density(d).draw(random))
		}
		var mean, along, inside mat.VecDense
		mean.MulVec(mixing, s)
		mean.AddVec(&mean, mat.NewVecDense(len(m.mean), m.mean))
		noise := mat.NewVecDense(len(m.mean), nil)
		if len(m.mean) > m.sources {
			for i := range m.mean {
				noise.SetVec(i, math.Sqrt(m.noise[0])*random.NormFloat64())
			}
			along.MulVec(plane.T(), noise)
			inside.MulVec(plane, &along)
			noise.SubVec(noise, &inside)
		}
		row := make([]float64, len(m.mean))
		floats.AddTo(row, mean.RawVector().Data, noise.RawVector().Data)
		rows, means = append(rows, row), append(means, mean.RawVector().Data)
	}
	return rows, means
}

// Drawings returns three drawings: points in the plane of the sources, points with noise orthogonal to it, and the
// column of the mixing matrix for each source.
func (m *Independent) Drawings() []runs.Drawing {
	return runs.Drawings(append(runs.Samples(m.shape, m.Sample), runs.Drawing{Kind: "filters", Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return runs.Sheet(filters(m.shape, m.Mixing(), s.N), nil)
	}})...)
}

// CountSamples returns "": estimates draw no samples.
func (m *Independent) CountSamples(int) string { return "" }
