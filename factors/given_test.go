package factors

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Given a number of one column and an interval of another, the third has the mean of the conditional Gaussian, by quadrature
// over the interval.
func TestGivenNumbers(t *testing.T) {
	m, _ := drawn(t, 3, 1, 1)
	text, n := "x,y,z\n", 3000
	for r := range 50 {
		v := float64(r-25)/5 + 1e-6
		text += fmt.Sprintf("%.6f,%.6f,%.6f\n", v, -v, v*v)
	}
	path := filepath.Join(t.TempDir(), "numbers.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, Binarization: dataset.Real}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	given, err := set.ParseGiven("x=0.5,y=0:1.5")
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := new(runs.Run).Given(t.Context(), m, set, given, runs.Sampling{N: n, Seed: 1}, dataset.Writing{})
	if err != nil || len(rows.Values) != n {
		t.Fatalf("%d rows, %v", len(rows.Values), err)
	}
	all, _ := distmv.NewNormal(m.mean, m.Covariance(), nil)
	others, ok := all.ConditionNormal([]int{0}, []float64{0.5}, nil)
	if !ok {
		t.Fatal("no conditional")
	}
	covariance := mat.NewSymDense(2, nil)
	others.CovarianceMatrix(covariance)
	y := distuv.Normal{Mu: others.Mean(nil)[0], Sigma: math.Sqrt(covariance.At(0, 0))}
	mass, mean := 0.0, 0.0
	for v := 0.0005; v < 1.5; v += 0.001 {
		z, _ := others.ConditionNormal([]int{0}, []float64{v}, nil)
		mass, mean = mass+y.Prob(v), mean+y.Prob(v)*z.Mean(nil)[0]
	}
	var z []float64
	for _, row := range rows.Values {
		if math.Abs(row[0]-0.5) > 1e-6 || row[1] < -1e-6 || row[1] > 1.5+1e-6 {
			t.Fatalf("the row %v does not meet the conditions", row)
		}
		z = append(z, row[2])
	}
	got, sd := stat.MeanStdDev(z, nil)
	wantNear(t, "the mean given both", got, mean/mass, 4*sd/math.Sqrt(float64(n)))
}
