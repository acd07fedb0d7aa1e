package factors

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// R 4.2.2 prints these loadings of two factors of the tests of ability, by varimax(loadings, eps = 1e-14) of factanal(factors = 2, covmat
// = ability.cov, rotation = "none") and by promax of them, with the correlation of the oblique factors.
func TestRotationsAsByR(t *testing.T) {
	m, err := FactorAnalysisOf(t.Context(), ability, 2, FactorAnalysisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]float64{{1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 1}}
	for how, want := range map[string][]float64{
		"varimax": {0.501135879, 0.541883606, 0.158014156, 0.621046592, 0.208476758, 0.859277752, 0.109993884, 0.467419126, 0.956807583, 0.179103271, 0.785467828, 0.222365435},
		"promax":  {0.3645353474, 0.47007325068, -0.0574968461, 0.67108221642, -0.0911409013, 0.93173349959, -0.0534713399, 0.50791682631, 1.0236923756, -0.09611611186, 0.8115188454, 0.00859297313},
	} {
		rotated, err := m.Rotated(how)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]*mat.Dense{}
		for _, e := range rotated {
			numbers, err := e.Encode(t.Context(), splitOf(rows), 0, 1)
			if err != nil || len(numbers[0]) != len(e.Columns) {
				t.Fatal(how, e.Kind, numbers, err)
			}
			a := mat.NewDense(len(numbers), 2, nil)
			for r, line := range numbers {
				a.SetRow(r, line[:2])
			}
			of[e.Kind] = a
		}
		for i, v := range want {
			wantNear(t, how, of["loadings"].At(i/2, i%2)/math.Sqrt(ability.At(i/2, i/2)), v, 1e-5)
		}
		correlation := map[string]float64{"varimax": 0, "promax": 0.557078687}[how]
		wantNear(t, "the correlation of the factors by "+how, of["correlations"].At(0, 1), correlation, 1e-5)
		// The rotation changes neither the expected rows nor the covariance that the factors explain.
		var explained, common, rotatedMeans, means, both mat.Dense
		common.Mul(m.w(), m.w().T())
		both.Mul(of["loadings"], of["correlations"])
		explained.Mul(&both, of["loadings"].T())
		h, _ := m.Posterior(rows)
		means.Mul(h, m.w().T())
		rotatedMeans.Mul(of["regression"], of["loadings"].T())
		if !mat.EqualApprox(&explained, &common, 1e-9) || !mat.EqualApprox(&rotatedMeans, &means, 1e-9) {
			t.Errorf("%s explains\n%v, want\n%v; means\n%v, want\n%v", how, mat.Formatted(&explained), mat.Formatted(&common), mat.Formatted(&rotatedMeans), mat.Formatted(&means))
		}
	}
}

// psych 2.2.9 prints these eigenvalues and their means in 2,000 random tables by fa.parallel(…, n.obs = 112, fa = "pc"), and suggests one
// component.
func TestParallelAnalysisAsByPsych(t *testing.T) {
	c, err := ParallelAnalysis(t.Context(), ability, 112, 2000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range []float64{3.076823572, 1.139687519, 0.817186905, 0.411312696, 0.355074398, 0.199914910} {
		wantNear(t, "an eigenvalue", c.Values[k], v, 1e-8)
		wantNear(t, "a mean", c.Means[k], []float64{1.323309041, 1.164156977, 1.042091478, 0.937269617, 0.828762978, 0.704409910}[k], 0.01)
	}
	if n := c.Suggested(); n != 1 {
		t.Errorf("%d components, want 1", n)
	}
	_, err = ParallelAnalysis(t.Context(), ability, 6, 10, 1)
	wantError(t, err, "more rows than variables")
}

// The fit to rows has the χ² of Test. psych 2.2.9 prints χ² 6.106616499 and BIC −12.767378986 of fa(cov2cor(ability.cov$cov), nfactors =
// 2, n.obs = 112, fm = "ml").
func TestFitAsByPsych(t *testing.T) {
	chol := mat.Cholesky{}
	chol.Factorize(ability)
	lower := mat.NewTriDense(6, mat.Lower, nil)
	chol.LTo(lower)
	// 112 rows with the mean 0 and this covariance: orthogonal columns of a discrete cosine transform, coloured.
	rows := make([][]float64, 112)
	for r := range rows {
		rows[r] = make([]float64, 6)
		for i := range 6 {
			for j := range i + 1 {
				rows[r][i] += lower.At(i, j) * math.Sqrt2 * math.Cos(math.Pi*(float64(r)+0.5)*float64(j+1)/112)
			}
		}
	}
	m, err := FitFactorAnalysis(t.Context(), rows, 2, FactorAnalysisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fit := encoded(t, m, "fit", rows)[0]
	for k, want := range []float64{112, 6.106616499, 4, 0.191326316, -12.767378986} {
		wantNear(t, "a number of the fit", fit[k], want, 1e-4)
	}
}
