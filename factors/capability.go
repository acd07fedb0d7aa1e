package factors

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Estimate returns the mean of log p(x) over rows, or of their observed values, in nats, and for factor analysis the number of Heywood
// cases. Log p of a row is exact, so the standard error of the mean comes only from the choice of rows.
func (m *Model) Estimate(_ context.Context, rows dataset.Split, _ int, _ uint64, _ func(float64)) (runs.Estimates, error) {
	if err := runs.CheckObserved(m.shape.Units(), rows); err != nil {
		return nil, err
	}
	all := runs.Estimates{runs.LogP.Key: runs.EstimateOver(rows, m.logPObserved(rows))}
	if !m.shared {
		all[heywood.Key] = runs.Estimate{Value: float64(len(m.Heywood())), SE: math.NaN()}
	}
	return all, nil
}

// LogPOfRows returns log p(x) of each row, or of its observed values, in nats, and "exact".
func (m *Model) LogPOfRows(_ context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	if err := runs.CheckObserved(m.shape.Units(), o.Rows); err != nil {
		return nil, "", err
	}
	return m.logPObserved(o.Rows), "exact", nil
}

// Drawings lists the images that the model draws: samples of x without and with their noise,
// reconstructions of rows, and the loadings of each factor.
func (m *Model) Drawings() []runs.Drawing {
	return runs.Drawings(append(runs.Samples(m.shape, m.Sample),
		reconstructions(m.shape, m.Reconstruct),
		runs.Drawing{Kind: "filters", Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			return runs.Sheet(filters(m.shape, m.w(), s.N), nil)
		}},
	)...)
}

func reconstructions(shape dataset.Shape, reconstruct func(rows [][]float64) [][]float64) runs.Drawing {
	return runs.Reconstructions(shape, func(rows dataset.Split, _ uint64) (x, means [][]float64, err error) {
		x = rows.Floats()
		return x, reconstruct(x), nil
	})
}

// filters returns the first n columns as images.
func filters(shape dataset.Shape, columns *mat.Dense, n int) dataset.Sheet {
	_, q := columns.Dims()
	filters := lists.N(min(n, q), func(k int) []float64 { return mat.Col(nil, k, columns) })
	return dataset.Filters(shape, filters)
}

// Inpainting fills in missing variables by their exact expected values given the others, or by draws. Known variables
// without noise are left out, as in densities.
func (m *Model) Inpainting() runs.Inpainting {
	return runs.Inpainting{Uses: []string{"draws"}, Fill: func(ctx context.Context, rows dataset.Split, mask dataset.Mask, chains int, c runs.Chain, seed uint64, progress func(float64)) (dataset.Inpainting, error) {
		if err := mask.Check(m.shape); err != nil && !c.Draws {
			return dataset.Inpainting{}, err
		}
		if err := runs.CheckRows(m.shape.Units(), false, rows); err != nil {
			return dataset.Inpainting{}, err
		}
		x, known := rows.Floats(), m.observing(mask)
		means := known.Reconstruct(x)
		return rows.Inpaint(ctx, m.shape, mask, x, chains, func(chain int) [][]float64 {
			if !c.Draws {
				return means
			}
			// A draw of all variables, moved by E[x|known] − E[x|the known variables of the draw], has the mean and the
			// covariance of p(x|known).
			draws, _ := m.Sample(len(x), seed+uint64(chain)*0x9e3779b97f4a7c15)
			for r, own := range known.Reconstruct(draws) {
				floats.Add(draws[r], means[r])
				floats.Sub(draws[r], own)
			}
			return draws
		}, progress)
	}}
}

// CountSamples returns "": estimates draw no samples.
func (m *Model) CountSamples(int) string { return "" }

// encoding returns an encoding of rows by the function encode, which needs no samples.
func encoding(kind, prefix string, n int, shape dataset.Shape, encode func(ctx context.Context, rows [][]float64) (mat.Matrix, error)) runs.Encoding {
	return runs.Encoding{Kind: kind, Columns: names.Numbered(prefix, n), Encode: func(ctx context.Context, rows dataset.Split, _ int, _ uint64) ([][]float64, error) {
		if err := runs.CheckRows(shape.Units(), false, rows); err != nil {
			return nil, err
		}
		features, err := encode(ctx, rows.Floats())
		return lines(features), err
	}}
}

// ofUnits returns an encoding with the rows of a matrix, one for each unit.
func ofUnits(kind string, columns []string, of func() mat.Matrix) runs.Encoding {
	return runs.Encoding{Kind: kind, Columns: columns, Units: true, Encode: func(context.Context, dataset.Split, int, uint64) ([][]float64, error) {
		return lines(of()), nil
	}}
}

// lines returns the rows of a matrix, which may be nil.
func lines(a mat.Matrix) [][]float64 {
	if a == nil {
		return nil
	}
	n, _ := a.Dims()
	return lists.N(n, func(r int) []float64 { return mat.Row(nil, r, a) })
}

// Encodings lists two kinds of factor scores of rows, and the loadings W of each variable with its uniqueness Ψ. Scores by
// regression are E[h|x] given the observed values of a row, which may have gaps; the prior shrinks them towards 0. Scores by
// weighted least squares (Bartlett 1937), (WᵀΨ⁻¹W)⁻¹WᵀΨ⁻¹(x−b), have the mean h given h, and need complete rows. Probabilistic PCA also has components, the directions of the columns of W. Both
// have a test of the fit to the training rows, with BIC = χ² − df·ln n, and parallel analysis.
func (m *Model) Encodings() []runs.Encoding {
	all := []runs.Encoding{
		{Kind: "regression", Columns: names.Numbered("factor_", m.factors), Encode: func(_ context.Context, rows dataset.Split, _ int, _ uint64) ([][]float64, error) {
			if err := runs.CheckObserved(m.shape.Units(), rows); err != nil {
				return nil, err
			}
			scores := make([][]float64, rows.Rows)
			for _, gap := range rows.Gaps() {
				h, _ := m.observing(gap.Mask).Posterior(rows.Floats(gap.Rows...))
				for k, r := range gap.Rows {
					scores[r] = mat.Row(nil, k, h)
				}
			}
			return scores, nil
		}},
		encoding("bartlett", "factor_", m.factors, m.shape, func(_ context.Context, rows [][]float64) (mat.Matrix, error) {
			p := m.posterior()
			var products, h mat.Dense
			products.Mul(m.w().T(), p.weighted)
			inverse, err := statistics.Inverse("WᵀΨ⁻¹W of the loadings W and the uniquenesses Ψ", &products)
			if err != nil {
				return nil, fmt.Errorf("%w: use fewer factors, or --kind regression", err)
			}
			h.Mul(centred(rows, m.mean), p.weighted)
			h.Mul(&h, inverse)
			return &h, nil
		}),
		ofUnits("loadings", append(names.Numbered("factor_", m.factors), "uniqueness"), func() mat.Matrix {
			var all mat.Dense
			all.Augment(m.w(), mat.NewDense(len(m.noise), 1, m.Noise()))
			return &all
		}),
	}
	if m.shared {
		all = append(all, ofUnits("components", names.Numbered("component_", m.factors), func() mat.Matrix {
			w := m.Loadings()
			for k := range m.factors {
				column := mat.Col(nil, k, w)
				floats.Scale(inverse(floats.Norm(column, 2)), column)
				w.SetCol(k, column)
			}
			return w
		}))
	}
	return append(all, m.judgements()...)
}

// Encodings lists the sources of rows, and the mixing matrix.
func (m *Independent) Encodings() []runs.Encoding {
	return []runs.Encoding{
		encoding("sources", "source_", m.sources, m.shape, func(_ context.Context, rows [][]float64) (mat.Matrix, error) {
			return m.Sources(rows), nil
		}),
		ofUnits("mixing", names.Numbered("source_", m.sources), func() mat.Matrix { return m.Mixing() }),
	}
}

// Encodings lists the codes of rows, and the atoms.
func (m *Dictionary) Encodings() []runs.Encoding {
	return []runs.Encoding{
		encoding("codes", "atom_", m.atoms, m.shape, func(ctx context.Context, rows [][]float64) (mat.Matrix, error) {
			c, err := m.encode(ctx, rows, encodingGap)
			return c.H, err
		}),
		ofUnits("atoms", names.Numbered("atom_", m.atoms), func() mat.Matrix { return m.Atoms().T() }),
	}
}
