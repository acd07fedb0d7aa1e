package factors

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Log p of a number given the others, its typical value and its quantiles are those of the conditional Gaussian, also far from
// the other rows.
func TestColumnsGivenTheOthers(t *testing.T) {
	m, _ := drawn(t, 3, 1, 1)
	text := "x,y,z\n"
	for r := range 50 {
		text += fmt.Sprintf("%.6f,%.6f,%.6f\n", float64(r-25)/50+1e-6, float64(r*7%50)/50, float64(r*11%50)/50)
	}
	path := filepath.Join(t.TempDir(), "numbers.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, Binarization: dataset.Real}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]float64{{0.25, 0.5, -0.125}, {2, -3, 16}}
	_, all, what, err := new(runs.Run).Why(t.Context(), m, runs.EvaluationOptions{Set: set, Rows: set.Rows(dataset.Sheet{Shape: set.Shape(), Values: rows})})
	if err != nil || what != "exact" {
		t.Fatal(what, err)
	}
	joint, _ := distmv.NewNormal(m.mean, m.Covariance(), nil)
	for r, row := range rows {
		for i, x := range row {
			others, values := []int{0, 1, 2}, append([]float64{}, row...)
			others, values = append(others[:i:i], others[i+1:]...), append(values[:i:i], values[i+1:]...)
			of, _ := joint.ConditionNormal(others, values, nil)
			variance := mat.NewSymDense(1, nil)
			of.CovarianceMatrix(variance)
			want, c := distuv.Normal{Mu: of.Mean(nil)[0], Sigma: math.Sqrt(variance.At(0, 0))}, all[r][i]
			if math.Abs(c.LogP-want.LogProb(x)) > 1e-10*max(1, math.Abs(c.LogP)) || c.SE != 0 {
				t.Errorf("row %d, column %d: log p is %v ± %v, want %v", r, i, c.LogP, c.SE, want.LogProb(x))
			}
			for _, q := range []float64{0.05, 0.5, 0.95} {
				if got := c.Quantile(q); math.Abs(got-want.Quantile(q)) > 0.05*want.Sigma {
					t.Errorf("row %d, column %d: the quantile %v is %v, want %v", r, i, q, got, want.Quantile(q))
				}
			}
			if d := math.Abs(c.Typical()[0] - want.Mu); d > want.Sigma/2 || math.Abs(c.Below()-(x-want.Mu)*(x-want.Mu)/2/want.Sigma/want.Sigma) > 0.1 {
				t.Errorf("row %d, column %d: a typical value is %v, %v nats above, want %v", r, i, c.Typical(), c.Below(), want.Mu)
			}
		}
	}
}

// A missing value has no log p, and a stand-in for it would change log p of the other columns.
func TestColumnsOfRowsWithGaps(t *testing.T) {
	set := openSet(t, 40, 0.4)
	_, _, _, err := new(runs.Run).Why(t.Context(), openModel(t, set, false), runs.EvaluationOptions{Set: set, Rows: set.Test()})
	if err == nil || !strings.Contains(err.Error(), "complete rows are needed") {
		t.Errorf("log p by column of rows with gaps: %v", err)
	}
}
