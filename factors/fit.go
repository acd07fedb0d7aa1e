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
	"gonum.org/v1/gonum/optimize"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// begin sets the initial parameters: loadings drawn from the seed, which explain half of each variance on
// average, and noise for the other half.
func (m *Model) begin(mean, variance []float64, seed uint64) {
	copy(m.mean, mean)
	copy(m.variance, variance)
	random := rand.New(rand.NewPCG(seed, 0))
	w := m.w()
	for i, v := range variance {
		m.noise[i] = v / 2
		for k := range m.factors {
			w.Set(i, k, math.Sqrt(v/2/float64(m.factors))*random.NormFloat64())
		}
	}
}

// logP returns the mean of log p(x) over the training rows, in nats.
func (m *Model) logP() float64 {
	if m.open != nil {
		return m.logPOpen()
	}
	p := m.posterior()
	return -(p.constant + m.square(p, m.data.times(p.weighted))) / 2
}

// square returns tr(C⁻¹S), the mean of (x−b)ᵀC⁻¹(x−b) over the training rows, whose covariance is S. sp is
// the product SP, where P is p.weighted.
func (m *Model) square(p posterior, sp *mat.Dense) (square float64) {
	for i, v := range m.variance {
		square += v*inverse(m.noise[i]) - floats.Dot(p.gain.RawRowView(i), sp.RawRowView(i))
	}
	return square
}

// em takes a step of EM. In factor analysis, no noise variance falls below the fraction floor of its variable's
// variance. In probabilistic PCA, em returns an error if the components leave no noise.
func (m *Model) em(floor float64) error {
	if m.open != nil {
		return m.emOpen(floor)
	}
	p := m.posterior()
	cross := m.data.times(p.gain) // mean of (x−b)E[h|x]ᵀ
	var second, w mat.Dense       // second: mean of E[hhᵀ|x]; w: the new Wᵀ
	second.Mul(p.gain.T(), cross)
	second.Add(&second, p.covariance)
	chol, err := statistics.Cholesky("the second moment of the factors", symmetric(&second))
	if err == nil {
		err = chol.SolveTo(&w, cross.T())
	}
	if err != nil {
		return fmt.Errorf("a step of EM with %s: %w: use fewer", names.Count(m.factors, "factor"), err)
	}
	loadings := m.w()
	loadings.Copy(w.T())
	for i, v := range m.variance {
		m.noise[i] = v - floats.Dot(loadings.RawRowView(i), cross.RawRowView(i))
		m.onFloor[i] = 0
		if v > 0 && !m.shared && m.noise[i] <= floor*v {
			m.noise[i], m.onFloor[i] = floor*v, 1
		}
	}
	if m.shared {
		if m.share(floats.Sum(m.noise) / float64(len(m.noise))); m.noise[0] <= m.leastNoise() {
			return m.wholly()
		}
	}
	m.canonical()
	return nil
}

func (m *Model) share(σ2 float64) {
	for i := range m.noise {
		m.noise[i] = σ2
	}
}

// leastNoise returns the smallest σ² that probabilistic PCA accepts. A smaller σ² is only rounding error: the
// components explain the rows completely.
func (m *Model) leastNoise() float64 {
	return roundedNoise * floats.Sum(m.variance) / float64(len(m.variance))
}

// roundedNoise bounds the σ² that rounding alone produces, as a fraction of the mean variance.
const roundedNoise = 1e-12

func (m *Model) wholly() error {
	return fmt.Errorf("the training rows have no variance beyond %s: use fewer, or bring the variables to one scale", names.Count(m.factors, "component"))
}

// closedForm sets the maximum-likelihood parameters of probabilistic PCA (Tipping and Bishop 1999): W =
// U(Λ − σ²I)^½ with the first Q eigenvectors U and eigenvalues Λ of S, and σ² as the mean of the other
// eigenvalues.
func (m *Model) closedForm() error {
	values, vectors, err := m.data.principal(m.factors)
	if err != nil {
		return err
	}
	d, left := float64(len(m.mean)), 0.0
	for _, λ := range values[m.factors:] {
		left += max(0, λ)
	}
	σ2 := left / (d - float64(m.factors))
	if σ2 <= m.leastNoise() {
		return m.wholly()
	}
	w := m.w()
	for k := range m.factors {
		scale := math.Sqrt(max(0, values[k]-σ2))
		for i := range m.mean {
			w.Set(i, k, scale*vectors.At(i, k))
		}
	}
	m.share(σ2)
	positive(w)
	return nil
}

// steepest is a threshold: climb has converged if every derivative of log p with respect to the variables of
// L-BFGS is smaller in absolute value.
const steepest = 1e-5

// climb moves v from below offFloor to offFloor where log p rises by more than rising nats per unit of ψ/s².
const (
	offFloor = 0.03
	rising   = 1e-4
)

// climb maximises the likelihood of factor analysis by L-BFGS, in at most the given number of iterations, and
// reports whether it has converged. If the context is cancelled, climb returns its error and the model is
// unchanged.
//
// L-BFGS does not move the parameters themselves. For a variable with the variance s² and the floor f, it
// moves the variable's row of W divided by s, and v in ψ = s²(f + v²). The square keeps ψ at or above the
// floor s²f. If values are missing, it also moves the mean divided by s. On the floor the derivative with respect to v is 0, even where log p rises with ψ. Then climb moves v to
// offFloor, and L-BFGS continues from there.
func (m *Model) climb(ctx context.Context, floor float64, iterations int) (converged bool, err error) {
	d, q := len(m.mean), m.factors
	trial := *m
	trial.loadings, trial.noise, trial.mean = make([]float64, d*q), make([]float64, d), slices.Clone(m.mean)
	set := func(x []float64) {
		for i, v := range m.variance {
			floats.ScaleTo(trial.loadings[i*q:(i+1)*q], math.Sqrt(v), x[i*q:(i+1)*q])
			trial.noise[i] = v * (floor + x[d*q+i]*x[d*q+i])
			if m.open != nil {
				trial.mean[i] = m.mean[i] + math.Sqrt(v)*x[d*(q+1)+i]
			}
		}
	}
	x := make([]float64, d*(q+1), d*(q+2))
	if m.open != nil {
		x = x[:cap(x)]
	}
	for i, v := range m.variance {
		floats.ScaleTo(x[i*q:(i+1)*q], math.Sqrt(inverse(v)), m.loadings[i*q:(i+1)*q])
		x[d*q+i] = math.Sqrt(max(0, m.noise[i]*inverse(v)-floor))
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 {
			set(x)
			return -trial.logP()
		},
		Grad: func(gradient, x []float64) {
			set(x)
			byW, byNoise, byMean := trial.gradient()
			for i, v := range m.variance {
				floats.ScaleTo(gradient[i*q:(i+1)*q], -math.Sqrt(v), byW.RawRowView(i))
				gradient[d*q+i] = -2 * v * x[d*q+i] * byNoise[i]
				if m.open != nil {
					gradient[d*(q+1)+i] = -math.Sqrt(v) * byMean[i]
				}
			}
		},
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	// lift moves v off the floor where log p rises with ψ, and reports whether it has moved any.
	lift := func(x []float64) (moved bool) {
		set(x)
		_, byNoise, _ := trial.gradient()
		for i, v := range m.variance {
			if at := &x[d*q+i]; math.Abs(*at) < offFloor && v*byNoise[i] > rising {
				*at, moved = offFloor, true
			}
		}
		return moved
	}
	before := m.logP()
	var result *optimize.Result
	lift(x)
	const most = 10 // times that variables leave the floor
	for left, again := iterations, most; left > 0 && again > 0; again-- {
		var failure error
		result, failure = optimize.Minimize(problem, x, &optimize.Settings{
			GradientThreshold: 1e-7, MajorIterations: left,
			Converger: &optimize.FunctionConverge{Absolute: 1e-13, Relative: 1e-14, Iterations: 20},
		}, &optimize.LBFGS{Store: 30})
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if result == nil {
			return false, failure
		}
		// A line search may fail next to the maximum, where rounding hides any rise, so the gradient decides.
		level := floats.Norm(result.Gradient, math.Inf(1)) < steepest
		copy(x, result.X)
		if !lift(x) {
			converged = level
			break
		}
		left -= result.MajorIterations
	}
	if result == nil || -result.F < before {
		return converged, nil
	}
	set(result.X)
	copy(m.loadings, trial.loadings)
	copy(m.noise, trial.noise)
	copy(m.mean, trial.mean)
	for i, v := range m.variance {
		m.onFloor[i] = 0
		if v > 0 && m.noise[i] <= floor*(1+1e-3)*v {
			m.onFloor[i] = 1
		}
	}
	m.canonical()
	return converged, nil
}

// gradient returns the derivatives of the mean log p(x). byW, with respect to W, is C⁻¹SC⁻¹W − C⁻¹W, D×Q.
// byNoise, with respect to the D noise variances ψ, is half the diagonal of C⁻¹SC⁻¹ − C⁻¹. byMean is nil, since the mean of
// complete rows is at its maximum.
func (m *Model) gradient() (byW *mat.Dense, byNoise, byMean []float64) {
	if m.open != nil {
		return m.gradientOpen()
	}
	p := m.posterior()
	sp := m.data.times(p.weighted)
	var su, pspu, uPSP, psp mat.Dense
	su.Mul(sp, p.covariance)
	psp.Mul(p.weighted.T(), sp)
	pspu.Mul(p.weighted.T(), &su)
	uPSP.Mul(p.gain, &psp)
	byW = new(mat.Dense)
	byW.Mul(p.gain, &pspu)
	byNoise = make([]float64, len(m.noise))
	for i, v := range m.variance {
		precision, gain := inverse(m.noise[i]), p.gain.RawRowView(i)
		row := byW.RawRowView(i)
		for k := range row {
			row[k] = precision*su.At(i, k) - row[k] - gain[k]
		}
		byNoise[i] = (precision*precision*v - 2*precision*floats.Dot(sp.RawRowView(i), gain) + floats.Dot(uPSP.RawRowView(i), gain) -
			precision + floats.Dot(gain, p.weighted.RawRowView(i))) / 2
	}
	return byW, byNoise, nil
}

// FitPPCA returns the maximum-likelihood probabilistic PCA of n rows of D values, in closed form. components
// must be at least 1, and less than n−1 and the number of variables that vary. FitPPCA also returns an error
// if the components leave no noise.
func FitPPCA(rows [][]float64, components int) (*Model, error) {
	m, err := prepared(rows, components, true, false, 1)
	if err != nil {
		return nil, err
	}
	return unlessFailed(m, m.closedForm())
}

// unlessFailed returns m, or only the error of fitting it.
func unlessFailed(m *Model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func prepared(rows [][]float64, factors int, shared, dropConstant bool, seed uint64) (*Model, error) {
	if err := checkRows(rows); err != nil {
		return nil, err
	}
	mean, variance := meanOf(rows)
	if err := checkData(len(rows), factors, variance, shared, dropConstant); err != nil {
		return nil, err
	}
	m := newModel(factors, shared, dataset.Shape{Height: 1, Width: len(mean)})
	m.begin(mean, variance, seed)
	m.data = momentsOf(rows, mean)
	return m, nil
}

// checkRows returns an error if there are no rows, if they differ in length, or if a number is not finite.
func checkRows(rows [][]float64) error {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return fmt.Errorf("no rows, or no variables: give at least 2 rows")
	}
	for r, row := range rows {
		if len(row) != len(rows[0]) {
			return fmt.Errorf("row %d has %s, but row 1 has %d: give rows of one length", r+1, names.Count(len(row), "variable"), len(rows[0]))
		}
		for i, v := range row {
			if !statistics.Finite(v) {
				return fmt.Errorf("variable %d of row %d is %v: leave out the row or the variable", i+1, r+1, v)
			}
		}
	}
	return nil
}

// checkData returns an error if there are too many factors for the rows or the variables, if a variable is
// constant and dropConstant is false, or if the factors are not identified. It skips the last two checks if the
// noise is shared, because probabilistic PCA fits constant variables and is always identified.
func checkData(rows, factors int, variance []float64, shared, dropConstant bool) error {
	varied := 0
	constant := -1
	for i, v := range variance {
		if v > 0 {
			varied++
		} else if constant < 0 {
			constant = i
		}
	}
	switch {
	case factors < 1 || factors >= len(variance):
		return fmt.Errorf("%s of %s: give at least 1, and fewer than the variables", names.Count(factors, "factor"), names.Count(len(variance), "variable"))
	case factors >= rows-1:
		return fmt.Errorf("%s of %s: centred rows span one dimension fewer than their number; use at most %d, or more rows",
			names.Count(factors, "factor"), names.Count(rows, "training row"), max(0, rows-2))
	case constant >= 0 && !shared && !dropConstant:
		return fmt.Errorf("%s of %d constant in the training rows, the first is variable %d: constant variables have no noise to fit; remove them from the data, or set drop_constant",
			names.Count(len(variance)-varied, "variable"), len(variance), constant+1)
	case factors >= varied:
		return fmt.Errorf("%s of %s that vary: use fewer", names.Count(factors, "factor"), names.Count(varied, "variable"))
	case !shared && !Identified(varied, factors):
		return fmt.Errorf("%s of %s are not identified: they have more parameters than the covariance has distinct entries; use fewer factors, or more variables",
			names.Count(factors, "factor"), names.Count(varied, "variable"))
	}
	return nil
}

// FactorAnalysisOptions are the options of FitFactorAnalysis and FactorAnalysisOf. The zero value has the
// defaults.
type FactorAnalysisOptions struct {
	Floor        float64 // smallest noise variance, as a fraction of each variable's variance, below 1; 0 means 0.001
	DropConstant bool    // leave constant variables out of densities, instead of refusing them
	Seed         uint64  // draws the initial loadings
	Starts       int     // number of random initialisations; the fit with the largest likelihood is returned; 0 means 3
}

// From each start, maximise runs L-BFGS until it converges: at most mostRuns times, with at most
// mostIterations iterations each.
const (
	mostRuns       = 10
	mostIterations = 2000
)

// FitFactorAnalysis returns the maximum-likelihood factor analysis of n rows of D values. It first takes
// steps of EM and then runs L-BFGS, because EM converges slowly if a noise variance falls to its floor. The
// likelihood has local maxima, so FitFactorAnalysis starts several times. It returns an error if the factors
// are not identified (see Identified) or not fewer than n−1, if a variable is constant unless DropConstant is
// set, if an option is out of range, if L-BFGS does not converge, or if ctx is cancelled.
func FitFactorAnalysis(ctx context.Context, rows [][]float64, factors int, o FactorAnalysisOptions) (*Model, error) {
	m, err := prepared(rows, factors, false, o.DropConstant, o.Seed)
	if err != nil {
		return nil, err
	}
	return unlessFailed(m, m.maximise(ctx, o))
}

// fewDigits bounds the negative eigenvalues of covariances that are printed with few digits, as a fraction of the
// largest eigenvalue.
const fewDigits = 1e-3

// FactorAnalysisOf is like FitFactorAnalysis, but takes the D×D covariance of n rows, with the divisor n,
// instead of the rows. The mean of the model is 0. FactorAnalysisOf refuses a matrix that is not a covariance.
func FactorAnalysisOf(ctx context.Context, covariance mat.Symmetric, factors int, o FactorAnalysisOptions) (*Model, error) {
	d := covariance.SymmetricDim()
	variance := make([]float64, d)
	for i := range variance {
		variance[i] = covariance.At(i, i)
		for j := range i + 1 {
			if v := covariance.At(i, j); !statistics.Finite(v) || i == j && v < 0 {
				return nil, fmt.Errorf("the covariance of variables %d and %d is %v: compute it from rows of finite numbers", i+1, j+1, v)
			}
		}
	}
	if err := checkData(math.MaxInt, factors, variance, false, o.DropConstant); err != nil {
		return nil, err
	}
	m := newModel(factors, false, dataset.Shape{Height: 1, Width: d})
	m.begin(make([]float64, d), variance, o.Seed)
	m.data = &moments{matrix: symmetric(covariance)}
	if values, _, err := m.data.principal(1); err == nil && values[d-1] < -fewDigits*values[0] {
		return nil, fmt.Errorf("the covariance has the eigenvalue %.3g, but covariances have none below 0: compute it from rows without missing values", values[d-1])
	}
	return unlessFailed(m, m.maximise(ctx, o))
}

func (m *Model) maximise(ctx context.Context, o FactorAnalysisOptions) error {
	o.Floor, o.Starts = cmp.Or(o.Floor, usualFloor), cmp.Or(o.Starts, 3)
	switch {
	case !(o.Floor > 0 && o.Floor < 1):
		return fmt.Errorf("floor = %g: give a fraction between 0 and 1, such as 0.001", o.Floor)
	case o.Starts < 0:
		return fmt.Errorf("starts = %d: give at least 1, or 0 for 3 starts", o.Starts)
	}
	best := math.Inf(-1)
	for i := range o.Starts {
		trial := newModel(m.factors, false, m.shape)
		trial.begin(m.mean, m.variance, o.Seed+uint64(i))
		trial.data = m.data
		for range usualEM {
			if err := trial.em(o.Floor); err != nil {
				return err
			}
		}
		converged := false
		for run := 0; run < mostRuns && !converged; run++ {
			var err error
			if converged, err = trial.climb(ctx, o.Floor, mostIterations); err != nil {
				return err
			}
		}
		if !converged {
			return fmt.Errorf("L-BFGS has not converged in %d iterations: use fewer factors, or a higher floor than %g", mostRuns*mostIterations, o.Floor)
		}
		if logP := trial.logP(); logP > best {
			best, *m = logP, *trial
		}
	}
	return nil
}
