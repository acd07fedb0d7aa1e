package factors

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// encoded returns an encoding of rows.
func encoded(t *testing.T, of runs.Encoder, kind string, rows [][]float64) [][]float64 {
	t.Helper()
	for _, e := range of.Encodings() {
		if e.Kind == kind {
			lines, err := e.Encode(context.Background(), splitOf(rows), 0, 1)
			if err != nil || len(lines[0]) != len(e.Columns) {
				t.Fatal(kind, lines, e.Columns, err)
			}
			return lines
		}
	}
	t.Fatalf("%T has no %s", of, kind)
	return nil
}

func splitOf(rows [][]float64) dataset.Split {
	var values []float32
	for _, row := range rows {
		for _, v := range row {
			values = append(values, float32(v))
		}
	}
	return dataset.Split{Shape: dataset.Shape{Height: 1, Width: len(rows[0])}, Values: dataset.Reals(len(rows[0]), values)}
}

// Bartlett's scores of a row without noise are its factors. The scores by regression are G WᵀΨ⁻¹W times Bartlett's scores, with the
// covariance G of the posterior. The loadings and the uniquenesses give the covariance of the rows.
func TestFactorScores(t *testing.T) {
	m, _ := drawn(t, 6, 2, 1)
	h := mat.NewDense(3, 2, []float64{1, 0, 0, -2, 0.5, 3})
	rows := m.decode(h)
	bartlett, regression := encoded(t, m, "bartlett", rows), encoded(t, m, "regression", rows)
	_, covariance := m.Posterior(rows)
	var precision, shrink mat.Dense
	if err := precision.Inverse(covariance); err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		precision.Set(k, k, precision.At(k, k)-1) // WᵀΨ⁻¹W
	}
	shrink.Mul(covariance, &precision)
	for r := range rows {
		var want mat.VecDense
		want.MulVec(&shrink, h.RowView(r))
		for k := range 2 {
			wantNear(t, "a factor", bartlett[r][k], h.At(r, k), 1e-5)
			wantNear(t, "a score by regression", regression[r][k], want.AtVec(k), 1e-5)
		}
	}
	loadings := encoded(t, m, "loadings", rows)
	for i, a := range loadings {
		for j, b := range loadings {
			covariance := a[0]*b[0] + a[1]*b[1]
			if i == j {
				covariance += a[2]
			}
			wantNear(t, "a covariance", covariance, m.Covariance().At(i, j), 1e-12)
		}
	}
}

// The components of probabilistic PCA are orthonormal eigenvectors of its covariance, and the sources of ICA give the rows in
// their plane.
func TestComponents(t *testing.T) {
	_, rows := drawn(t, 4, 2, 300)
	p, err := FitPPCA(rows, 2)
	if err != nil {
		t.Fatal(err)
	}
	components := encoded(t, p, "components", rows)
	c := mat.NewDense(4, 2, nil)
	for i, row := range components {
		c.SetRow(i, row)
	}
	var products, square mat.Dense
	square.Mul(c.T(), c)
	products.Mul(p.Covariance(), c)
	for k := range 2 {
		value := mat.Dot(c.ColView(k), products.ColView(k))
		for j := range 2 {
			wantNear(t, "a product of components", square.At(j, k), map[bool]float64{true: 1}[j == k], 1e-9)
		}
		for i := range 4 {
			wantNear(t, "a value of an eigenvector", products.At(i, k), value*c.At(i, k), 1e-9)
		}
	}
	ica, err := FitIndependent(t.Context(), rows, 4, Extended, 1)
	if err != nil {
		t.Fatal(err)
	}
	sources, mixing := encoded(t, ica, "sources", rows), encoded(t, ica, "mixing", rows)
	for i := range 4 {
		for k := range 4 { // x − x′ = A(s − s′)
			var difference float64
			for j := range 4 {
				difference += mixing[i][j] * (sources[k+1][j] - sources[0][j])
			}
			wantNear(t, "a difference of rows", difference, rows[k+1][i]-rows[0][i], 1e-5)
		}
	}
}
