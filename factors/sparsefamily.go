package factors

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// SparseSettings are the settings of experiments with sparse coding.
type SparseSettings struct {
	Atoms     int     `toml:"atoms" json:"atoms"`
	Prior     Prior   `toml:"prior,omitzero" json:"prior,omitempty"`
	Alpha     float64 `toml:"alpha" json:"alpha"`                        // α of all priors
	Freedom   float64 `toml:"freedom,omitzero" json:"freedom,omitempty"` // ν of StudentTPrior; 0 means 3
	Slab      float64 `toml:"slab,omitzero" json:"slab,omitempty"`       // v of SpikeAndSlabPrior; 0 means 1
	BatchSize int     `toml:"batch_size" json:"batch_size"`
}

// SparseExperiment is a training run of sparse coding.
type SparseExperiment = runs.Fit[SparseSettings, *Dictionary]

// Measures of sparse coding.
var (
	objective = runs.Measure{Key: "objective", Name: "objective", Label: "½|x − b − Wh|² + Σ c(h)"}
	square    = runs.Measure{Key: "squared_error", Name: "squared error", Label: "squared error a row"}
	used      = runs.Measure{Key: "used", Name: "atoms used", Label: "atoms used a row"}
)

// SparseCoding trains dictionaries for sparse coding. It has an objective instead of a likelihood.
var SparseCoding = estimated(runs.Family[SparseSettings, *Dictionary]{
	Name: "sparse-coding", Noun: "a dictionary for sparse coding", Data: "--dataset miniglyphs --subset 1000 --binarization grey", Usual: SparseSettings{Atoms: 64, Alpha: 0.1, BatchSize: 100},
	Rows: func(s *SparseSettings) []runs.Hyperparameter {
		return []runs.Hyperparameter{{
			Value: &s.Atoms, Flag: "atoms", Usage: "`number` of atoms", Legend: names.Count(s.Atoms, "atom"), Always: true,
			Valid: s.Atoms >= 1, Remedy: "give at least 1",
		}, {
			Value: &s.Prior, Flag: "prior", Legend: s.Prior.String(), Usage: "`prior` of the values of codes: laplace, student-t (slow with more atoms than variables) or spike-and-slab",
		}, {
			Value: &s.Alpha, Flag: "alpha", Usage: "`α` in the cost of codes; a larger α makes codes sparser", Legend: fmt.Sprintf("α = %g", s.Alpha), Always: true,
			Valid: s.Alpha > 0 && s.Alpha < 1e6, Remedy: "give a positive number, such as 0.1",
		}, {
			Value: &s.Freedom, Flag: "freedom", Usage: "degrees of freedom `ν` of the Student-t prior; 0 means 3", Legend: fmt.Sprintf("ν = %g", s.Freedom), Idle: runs.Unless(s.Prior == StudentTPrior, "--prior student-t"),
			Valid: s.Freedom >= 0 && s.Freedom < 1e6, Remedy: "give a positive number, such as 3",
		}, {
			Value: &s.Slab, Flag: "slab", Usage: "variance `v` of the slab, as a multiple of the noise variance; 0 means 1", Legend: fmt.Sprintf("v = %g", s.Slab), Idle: runs.Unless(s.Prior == SpikeAndSlabPrior, "--prior spike-and-slab"),
			Valid: s.Slab >= 0 && s.Slab < 1e6, Remedy: "give a positive number, such as 1",
		}, runs.BatchRow(&s.BatchSize)}
	},
	Batch: func(s *SparseSettings) *int { return &s.BatchSize },
	Check: func(e SparseExperiment, set *dataset.Set) error {
		if set.Train().Weights != nil {
			return fmt.Errorf("weight_file = %q with sparse coding, whose first atoms are rows drawn without weights: omit it", e.Dataset.WeightFile)
		}
		if b := e.Dataset.Binarization; b != dataset.Gray && b != dataset.Real {
			return fmt.Errorf("binarization = %v: sparse coding needs grey values; use grey, or real for real numbers (--binarization)", b)
		}
		return checkMemory(set.Train(), e.Settings.Atoms)
	},
	Measures: []runs.Measure{objective, square, used},
	Size: func(e SparseExperiment, shape dataset.Shape) float64 {
		return sizeOf(e.Settings.Atoms, shape) + float64(e.Settings.Atoms)*float64(e.Settings.Atoms)
	},
	New: func(e SparseExperiment, shape dataset.Shape) (*Dictionary, error) {
		s := e.Settings
		return newDictionary(s.Atoms, cost{s.Prior, s.Alpha, cmp.Or(s.Freedom, 3), cmp.Or(s.Slab, 1)}, shape), nil
	},
	Begin: func(e SparseExperiment, m *Dictionary, set *dataset.Set) error {
		m.begin(set.Train().Floats(), e.Seed)
		return nil
	},
	Tensors: func(m *Dictionary) []runs.Tensor {
		d, q := len(m.mean), m.atoms
		return []runs.Tensor{
			runs.Wide("mean", m.mean), runs.Wide("atoms", m.words, q, d), runs.Wide("codes", m.codes, q, q),
			runs.Wide("cross", m.cross, q, d), runs.Wide("idle", m.idle),
		}
	},
	Step: func(ctx context.Context, e SparseExperiment, m *Dictionary, b runs.Minibatch, _ float64) (runs.Measures, error) {
		// At first the moving means cover all rows seen so far, and later about one epoch of rows.
		perEpoch := (b.Rows.Rows + e.Settings.BatchSize - 1) / e.Settings.BatchSize
		c, err := m.learn(ctx, b.Floats(), 1/float64(min(b.Step+1, perEpoch)), perEpoch)
		return c.estimates(dataset.Split{}).Values(), err
	},
})

func (c Code) counts() []float64 {
	return lists.N(len(c.Objective), func(r int) float64 {
		return float64(floats.Count(func(v float64) bool { return v != 0 }, c.H.RawRowView(r)))
	})
}

func (c Code) estimates(rows dataset.Split) runs.Estimates {
	return runs.Estimates{objective.Key: runs.EstimateOver(rows, c.Objective), square.Key: runs.EstimateOver(rows, c.Square), used.Key: runs.EstimateOver(rows, c.counts())}
}

// Estimate returns means over rows, with standard errors, of the objective at the codes that minimise it, the
// squared reconstruction error, and the number of atoms used. It draws no samples. It refuses rows whose number of
// units differs from the model's.
func (m *Dictionary) Estimate(ctx context.Context, rows dataset.Split, _ int, _ uint64, _ func(float64)) (runs.Estimates, error) {
	if err := runs.CheckRows(m.shape.Units(), false, rows); err != nil {
		return nil, err
	}
	c, err := m.encode(ctx, rows.Floats(), encodingGap)
	return c.estimates(rows), err
}

// Drawings returns two drawings: the atoms, and rows, each followed by its reconstruction.
func (m *Dictionary) Drawings() []runs.Drawing {
	return runs.Drawings(
		runs.Drawing{Kind: "filters", Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			return runs.Sheet(filters(m.shape, mat.DenseCopyOf(m.w().T()), s.N), nil)
		}},
		reconstructions(m.shape, m.Reconstruct),
	)
}

// CountSamples returns "": estimates draw no samples.
func (m *Dictionary) CountSamples(int) string { return "" }
