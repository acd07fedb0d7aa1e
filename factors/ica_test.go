package factors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

var densities = []Density{Logistic, Sech, Laplace, StudentT, TwoGaussians, Quartic}

// Each density integrates to 1, φ is the derivative of −log p, E[φ(s)s] = 1 of its draws, and φ' the
// derivative of φ.
func TestDensitiesAreDensities(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, d := range densities {
		t.Run(d.String(), func(t *testing.T) {
			half := func(sign float64) float64 {
				// s = u/(1−u) takes (0, 1) to the half-line.
				return quad.Fixed(func(u float64) float64 {
					return math.Exp(d.logP(sign*u/(1-u))) / ((1 - u) * (1 - u))
				}, 0, 1, 200, nil, 0)
			}
			wantNear(t, "the integral", half(1)+half(-1), 1, 1e-6)
			for _, s := range []float64{-30, -1.5, -0.1, 0.4, 3, 12} {
				φ, slope := d.score(s)
				wantNear(t, "φ", φ, -fd.Derivative(d.logP, s, &fd.Settings{Formula: fd.Central}), 1e-6*(1+math.Abs(φ)))
				if d != Laplace {
					numeric := fd.Derivative(func(s float64) float64 { φ, _ := d.score(s); return φ }, s, &fd.Settings{Formula: fd.Central})
					wantNear(t, "φ'", slope, numeric, 1e-6*(1+slope))
				}
			}
			products := make([]float64, 50_000)
			for i := range products {
				s := d.draw(random)
				φ, _ := d.score(s)
				products[i] = φ * s
			}
			of := runs.EstimateOf(products)
			wantNear(t, "E[φ(s)s]", of.Value, 1, 5*of.SE)
		})
	}
}

// mixed draws rows of mixed sources of a density, and the mixing.
func mixed(density Density, d, rows int, seed uint64) (x [][]float64, mixing *mat.Dense) {
	random := rand.New(rand.NewPCG(seed, 7))
	mixing = mat.NewDense(d, d, nil)
	for i := range mixing.RawMatrix().Data {
		mixing.RawMatrix().Data[i] = random.NormFloat64()
	}
	for range rows {
		s := mat.NewVecDense(d, nil)
		for i := range d {
			s.SetVec(i, density.draw(random))
		}
		var row mat.VecDense
		row.MulVec(mixing, s)
		x = append(x, row.RawVector().Data)
	}
	return x, mixing
}

func fitICA(t *testing.T, rows [][]float64, sources int, density Density) *Independent {
	t.Helper()
	m, err := FitIndependent(t.Context(), rows, sources, density, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func amari(unmixing, mixing mat.Matrix) float64 {
	var p mat.Dense
	p.Mul(unmixing, mixing)
	return Amari(&p)
}

// Sources of 10,000 rows are found by densities of their side.
func TestSourcesAreFound(t *testing.T) {
	for _, source := range densities {
		rows, mixing := mixed(source, 4, 10_000, 3)
		m := fitICA(t, rows, 4, Extended)
		if distance := amari(m.Unmixing(), mixing); distance > 0.05 {
			t.Errorf("the Amari distance of %v sources is %v, want at most 0.05", source, distance)
		}
		for i, of := range m.densities {
			if density := Density(of); density.peaked() != source.peaked() {
				t.Errorf("source %d, %v, has the density %v", i, source, density)
			}
		}
		if wrong := m.WrongSide(rows); len(wrong) > 0 {
			t.Errorf("the sources %v, %v, are said to be on the wrong side", wrong, source)
		}
	}
}

// Flat sources under a peaked density are mixed, and it is said that the density is wrong.
func TestTheWrongSideIsNoticed(t *testing.T) {
	rows, mixing := mixed(Quartic, 4, 2_000, 3)
	m := fitICA(t, rows, 4, Logistic)
	if amari(m.Unmixing(), mixing) < 0.2 {
		t.Fatal("a logistic density finds flat sources: the test needs others")
	}
	if len(m.WrongSide(rows)) == 0 {
		t.Error("no source is said to be on the wrong side")
	}
}

// Each density ends at a stationary point: E[φ(s)sᵀ] = I.
func TestTheGradientVanishes(t *testing.T) {
	for _, d := range densities {
		rows, _ := mixed(d, 3, 2_000, 5)
		m := fitICA(t, rows, 3, d)
		m.white, _ = m.whiten(rows)
		tolerance := 1e-6
		if d == Laplace { // φ is a step, so that rows are on one side or the other
			tolerance = 0.02
		}
		if g := mat.Norm(m.relative(m.white, m.parts).gradient, 2); g > tolerance {
			t.Errorf("the relative gradient of %v ends at %v", d, g)
		}
	}
}

// The relative gradient agrees with finite differences of the objective along V + εΔV.
func TestRelativeGradientIsOfLogP(t *testing.T) {
	rows, _ := mixed(Sech, 3, 200, 5)
	m, err := whitened(rows, 3, Sech, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := m.relative(m.white, m.parts).gradient
	for i := range 3 {
		for j := range 3 {
			Δ := mat.NewDense(3, 3, nil)
			Δ.Set(i, j, 1)
			numeric := fd.Derivative(func(ε float64) float64 {
				trial := *m
				trial.turn = append([]float64{}, m.turn...)
				trial.move(Δ, ε)
				return trial.objective()
			}, 0, &fd.Settings{Formula: fd.Central})
			wantNear(t, "the gradient", -g.At(i, j), numeric, 1e-7)
		}
	}
}

// The natural gradient ends at the log p of quasi-Newton steps.
func TestNaturalGradientReachesTheMaximum(t *testing.T) {
	rows, _ := mixed(Sech, 3, 1_000, 5)
	want := fitICA(t, rows, 3, Sech)
	m, err := whitened(rows, 3, Sech, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		m.natural(m.white, m.parts, 0.5)
	}
	wantNear(t, "log p", m.objective(), want.objective(), 1e-6)
}

// Along the natural gradient all densities end on the right side, although the first epochs leave some on the wrong one.
func TestNaturalGradientFindsTheSides(t *testing.T) {
	for seed := range uint64(3) {
		_, mixing := mixed(Laplace, 6, 0, seed)
		random := rand.New(rand.NewPCG(seed, 31))
		var rows [][]float64
		for range 1_000 {
			sources := mat.NewVecDense(6, nil)
			for i := range 3 {
				sources.SetVec(i, Laplace.draw(random))
				sources.SetVec(i+3, random.Float64()-0.5)
			}
			var row mat.VecDense
			row.MulVec(mixing, sources)
			rows = append(rows, row.RawVector().Data)
		}
		set, err := dataset.Spec{Name: "sources", Binarization: dataset.Real, Validation: new(0)}.FromRows(dataset.Shape{Height: 1, Width: 6}, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := ICA.Experiment(set)
		e.Epochs, e.Seed = 60, seed+1
		e.Settings.Sources, e.Settings.Density, e.Settings.Natural = 6, Extended, true
		run, err := ICA.Kind().Train(t.Context(), e, set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := run.Model().WrongSide(set.Train().Floats()); len(wrong) > 0 {
			t.Errorf("seed %d: the densities of sources %v have the wrong side", seed, wrong)
		}
	}
}

// The sources of mixed rows are those of the rows themselves, up to order, sign and scale.
func TestICAIsEquivariant(t *testing.T) {
	rows, _ := mixed(Laplace, 3, 1_000, 9)
	random := rand.New(rand.NewPCG(2, 2))
	change := mat.NewDense(3, 3, nil)
	for i := range change.RawMatrix().Data {
		change.RawMatrix().Data[i] = random.NormFloat64()
	}
	var other [][]float64
	for _, row := range rows {
		var of mat.VecDense
		of.MulVec(change, mat.NewVecDense(3, row))
		other = append(other, of.RawVector().Data)
	}
	one, two := fitICA(t, rows, 3, Logistic), fitICA(t, other, 3, Logistic)
	var mixing mat.Dense
	mixing.Mul(change, one.Mixing())
	if distance := amari(two.Unmixing(), &mixing); distance > 1e-6 {
		t.Errorf("the Amari distance of two fits is %v, want 0", distance)
	}
}

// Log p integrates to 1 over the plane, with and without noise beside the sources.
func TestLogPOfSourcesIsADensity(t *testing.T) {
	rows, _ := mixed(Logistic, 2, 500, 4)
	for sources := 1; sources <= 2; sources++ {
		m := fitICA(t, rows, sources, Logistic)
		const n, width = 400, 12.0
		_, variance := meanOf(rows)
		sx, sy := math.Sqrt(variance[0])*width, math.Sqrt(variance[1])*width
		sum := 0.0
		for i := range n {
			var line [][]float64
			for j := range n {
				line = append(line, []float64{m.mean[0] + sx*(float64(i)+0.5-n/2)/n*2, m.mean[1] + sy*(float64(j)+0.5-n/2)/n*2})
			}
			for _, logP := range m.LogP(line) {
				sum += math.Exp(logP) * 4 * sx * sy / n / n
			}
		}
		wantNear(t, "the integral", sum, 1, 2e-3)
	}
}

// Independent components with Q sources have the log p of probabilistic PCA but for the densities in
// the plane.
func TestPlaneAndNoiseAreThoseOfPPCA(t *testing.T) {
	rows := glyphs(t, 60).Train().Floats()
	m, ppca := fitICA(t, rows, 3, Logistic), fitPPCA(t, rows, 3)
	wantNear(t, "the noise", m.noise[0], ppca.noise[0], 1e-12)
	if sine := apart(m.Mixing(), ppca.Loadings()); sine > 1e-9 {
		t.Errorf("the planes are %v apart", sine)
	}
	sources := m.Sources(rows)
	_, inPlane := m.Sample(5, 1)
	var identity mat.Dense
	identity.Mul(m.Unmixing(), m.Mixing())
	if !mat.EqualApprox(&identity, mat.NewDiagDense(3, []float64{1, 1, 1}), 1e-10) || len(sources.RawRowView(0)) != 3 {
		t.Errorf("VA is %v, want the identity", mat.Formatted(&identity))
	}
	// log p(x) of PPCA: the Gaussian in the plane, and the noise beside it.
	gaussian := func(x []float64) float64 {
		z, squares := m.whiten([][]float64{x})
		logP := -squares[0]/(2*m.noise[0]) - float64(193)/2*math.Log(2*math.Pi*m.noise[0])
		for k, v := range z.RawRowView(0) {
			logP -= (v*v+math.Log(2*math.Pi))/2 + math.Log(m.spread[k])
		}
		return logP
	}
	for _, x := range inPlane {
		wantNear(t, "log p of PPCA", ppca.LogP([][]float64{x})[0], gaussian(x), 1e-8)
	}
}

// Two Gaussian sources are listed, since their mixing is not identified.
func TestGaussianSourcesAreListed(t *testing.T) {
	_, rows := drawn(t, 3, 2, 2_000)
	if gaussian := fitICA(t, rows, 3, Logistic).Gaussian(rows); len(gaussian) < 2 {
		t.Errorf("of Gaussian rows the sources %v are Gaussian, want several", gaussian)
	}
	rows, _ = mixed(Laplace, 3, 2_000, 2)
	if gaussian := fitICA(t, rows, 3, Logistic).Gaussian(rows); len(gaussian) > 0 {
		t.Errorf("of Laplace sources %v are Gaussian", gaussian)
	}
}

func TestAmari(t *testing.T) {
	wantNear(t, "the distance of a permutation", Amari(mat.NewDense(3, 3, []float64{0, -2, 0, 5, 0, 0, 0, 0, 0.1})), 0, 0)
	wantNear(t, "the distance of equal entries", Amari(mat.NewDense(3, 3, []float64{1, 1, -1, 1, 1, 1, -1, 1, 1})), 1, 0)
	wantNear(t, "the distance of a number", Amari(mat.NewDense(1, 1, []float64{3})), 0, 0)
	if distance := Amari(mat.NewDense(2, 2, []float64{1, 2, 0, 0})); !math.IsNaN(distance) {
		t.Errorf("the distance of a row of zeros is %v", distance)
	}
	for _, p := range []*mat.Dense{mat.NewDense(2, 3, nil), mat.NewDense(3, 2, nil)} {
		func() {
			defer func() {
				if panicked := fmt.Sprint(recover()); !strings.Contains(panicked, "give a square one") {
					t.Errorf("the panic is %v", panicked)
				}
			}()
			Amari(p)
		}()
	}
}

func TestUnknownDensitiesAreRefused(t *testing.T) {
	rows, _ := mixed(Logistic, 2, 50, 1)
	for _, d := range []Density{-1, 42} {
		_, err := FitIndependent(t.Context(), rows, 2, d, 1)
		wantError(t, err, fmt.Sprintf("unknown density %d", d))
	}
}

// Draws have the moments of the rows along each source, and beside the plane.
func TestDrawsOfSourcesHaveTheirMoments(t *testing.T) {
	rows, _ := mixed(Logistic, 3, 1_000, 6)
	m := fitICA(t, rows, 2, Logistic)
	draws, means := m.Sample(20_000, 3)
	s := m.Sources(draws)
	for i := range 2 {
		column := mat.Col(nil, i, s)
		floats.Mul(column, column)
		of := runs.EstimateOf(column)
		wantNear(t, "the variance of a source", of.Value, math.Pi*math.Pi/3, 5*of.SE)
	}
	squares := make([]float64, len(draws))
	for r := range draws {
		squares[r] = math.Pow(floats.Distance(draws[r], means[r], 2), 2)
	}
	of := runs.EstimateOf(squares)
	wantNear(t, "the noise beside the plane", of.Value, m.noise[0], 5*of.SE)
}

func TestICAFamily(t *testing.T) {
	set := small(t)
	e := ICA.Experiment(set)
	e.Epochs, e.Settings = 3, ICASettings{Sources: 3, LearningRate: 0.1, BatchSize: 9}
	runstest.Family(t, runstest.Case[ICAExperiment, *Independent]{
		Experiment: e, Set: set, Kind: ICA.Kind(),
		Refused: []runstest.Refusal[ICAExperiment]{
			runstest.Refuse(func(e *ICAExperiment) { e.Settings.Sources = 0 }, "sources = 0", "at least 1"),
			runstest.Refuse(func(e *ICAExperiment) { e.Settings.Sources = 39 }, "sources = 39 of 40 training rows", "at most 38"),
			runstest.Refuse(func(e *ICAExperiment) { e.Settings.Natural, e.Settings.LearningRate = true, 0 }, "learning_rate = 0", "such as 0.01"),
			runstest.Refuse(func(e *ICAExperiment) { e.Dataset.Binarization = dataset.Fixed }, "binarization = fixed", "use grey"),
		},
	})
	t.Run("natural gradient", func(t *testing.T) {
		e.Settings.Natural = true
		runstest.Resume(t, e, set)
	})
}
