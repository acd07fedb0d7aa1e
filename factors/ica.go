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
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Independent models D variables by Q independent sources, s = V(x−b). The sources lie in the plane of the
// first Q principal components. Orthogonal to the plane there is Gaussian noise of one variance, as in
// probabilistic PCA. Probabilistic PCA is the same model with Gaussian sources. With Q = D there is no noise,
// and log p(x) = Σ log p(sᵢ) + ln |det V|.
//
// The order, signs and scales of sources are not identified, nor is the mixing of Gaussian sources.
type Independent struct {
	shape     dataset.Shape
	sources   int
	mean      []float64 // b, D
	plane     []float64 // U, D×Q, orthonormal
	spread    []float64 // standard deviations along U, Q
	noise     []float64 // one value: the variance orthogonal to the plane, or 0 if Q = D
	turn      []float64 // Q×Q: s = turn · z of whitened rows z = Λ^-½Uᵀ(x−b)
	densities []float64 // the Density of each source, Q
	settled   []float64 // one value: the number of steps since Extended last changed a density

	white *mat.Dense // z of the training rows; nil before the first step
	parts []float64  // of the training rows, see partsOf
}

func newIndependent(sources int, shape dataset.Shape) *Independent {
	d := shape.Units()
	return &Independent{
		shape: shape, sources: sources, mean: make([]float64, d), plane: make([]float64, d*sources), spread: make([]float64, sources),
		noise: make([]float64, 1), turn: make([]float64, sources*sources), densities: make([]float64, sources), settled: make([]float64, 1),
	}
}

// begin computes the whitening of rows, and draws the initial rotation of the sources from the seed.
func (m *Independent) begin(rows [][]float64, weights []float64, density Density, seed uint64) error {
	d, q := len(m.mean), m.sources
	if len(rows) <= q {
		return fmt.Errorf("%s of %s: give more rows", names.Count(q, "source"), names.Count(len(rows), "training row"))
	}
	mean, variance := meanOf(rows, weights...)
	copy(m.mean, mean)
	values, vectors, err := momentsOf(rows, mean, weights...).principal(q)
	if err != nil {
		return err
	}
	least := roundedNoise * floats.Sum(variance) / float64(d)
	if values[q-1] <= least {
		return fmt.Errorf("%s of rows that span fewer dimensions: use fewer sources", names.Count(q, "source"))
	}
	mat.NewDense(d, q, m.plane).Copy(vectors)
	for k := range q {
		m.spread[k] = math.Sqrt(values[k])
		m.densities[k] = float64(density)
		if density == Extended {
			m.densities[k] = float64(Logistic)
		}
	}
	if q < d {
		m.noise[0] = max(0, floats.Sum(values[q:])) / float64(d-q)
		if m.noise[0] <= least {
			return fmt.Errorf("the training rows have no variance beyond %s: use fewer, or bring the variables to one scale", names.Count(q, "source"))
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	drawn := mat.NewDense(q, q, nil)
	for i := range drawn.RawMatrix().Data {
		drawn.RawMatrix().Data[i] = random.NormFloat64()
	}
	mat.NewDense(q, q, m.turn).Copy(basis(drawn))
	return nil
}

// whiten returns z = Λ^-½Uᵀ(x−b) of rows, and the squared distance of each row from the plane.
func (m *Independent) whiten(rows [][]float64) (z *mat.Dense, squares []float64) {
	x := centred(rows, m.mean)
	z, squares = new(mat.Dense), make([]float64, len(rows))
	z.Mul(x, mat.NewDense(len(m.mean), m.sources, m.plane))
	for r := range squares {
		row := z.RawRowView(r)
		squares[r] = max(0, floats.Dot(x.RawRowView(r), x.RawRowView(r))-floats.Dot(row, row))
		floats.Div(row, m.spread)
	}
	return z, squares
}

func (m *Independent) v() *mat.Dense { return mat.NewDense(m.sources, m.sources, m.turn) }

// Sources returns s = V(x−b), Q values for each row x.
func (m *Independent) Sources(rows [][]float64) *mat.Dense {
	s := new(mat.Dense)
	if len(rows) == 0 {
		return s
	}
	z, _ := m.whiten(rows)
	s.Mul(z, m.v().T())
	return s
}

// Unmixing returns the unmixing matrix V, Q×D.
func (m *Independent) Unmixing() *mat.Dense {
	scaled := mat.NewDense(len(m.mean), m.sources, slices.Clone(m.plane))
	for i := range m.mean {
		floats.Div(scaled.RawRowView(i), m.spread)
	}
	v := new(mat.Dense)
	v.Mul(m.v(), scaled.T())
	return v
}

// Mixing returns the mixing matrix A, D×Q, with one column per source: x = As + b in the plane of the
// sources. VA is the identity.
func (m *Independent) Mixing() *mat.Dense {
	inverse, err := statistics.Inverse("the unmixing matrix", m.v())
	if err != nil {
		inverse.CloneFrom(m.v().T()) // if sources are dependent, which only happens with parameters from a file
	}
	scaled := mat.NewDense(len(m.mean), m.sources, slices.Clone(m.plane))
	for i := range m.mean {
		floats.Mul(scaled.RawRowView(i), m.spread)
	}
	a := new(mat.Dense)
	a.Mul(scaled, inverse)
	return a
}

// constant returns the part of log p(x) that is the same for all rows.
func (m *Independent) constant() float64 {
	logDet := statistics.LogDet(m.v())
	for _, s := range m.spread {
		logDet -= math.Log(s)
	}
	if beside := len(m.mean) - m.sources; beside > 0 {
		logDet -= float64(beside) * math.Log(2*math.Pi*m.noise[0]) / 2
	}
	return logDet
}

// LogP returns the log-density of each row, in nats.
func (m *Independent) LogP(rows [][]float64) []float64 {
	if len(rows) == 0 {
		return nil
	}
	z, squares := m.whiten(rows)
	var s mat.Dense
	s.Mul(z, m.v().T())
	constant := m.constant()
	for r := range squares {
		square := squares[r]
		squares[r] = constant
		if len(m.mean) > m.sources {
			squares[r] -= square / (2 * m.noise[0])
		}
		for i, v := range s.RawRowView(r) {
			squares[r] += Density(m.densities[i]).logP(v)
		}
	}
	return squares
}

// WrongSide lists the sources whose density has the wrong side on rows: peaked while the source is flatter than
// a Gaussian, or flat while it is more peaked. Do not trust the mixing of these sources.
func (m *Independent) WrongSide(rows [][]float64, weights ...float64) (sources []int) {
	if len(rows) == 0 {
		return nil
	}
	s := m.Sources(rows)
	for i := range m.sources {
		if isPeaked(mat.Col(nil, i, s), partsOf(len(rows), weights)) != Density(m.densities[i]).peaked() {
			sources = append(sources, i)
		}
	}
	return sources
}

// Gaussian lists the sources whose excess kurtosis on rows is less than two standard errors √(24/n)
// from 0. If there are several, their mixing is not identified.
func (m *Independent) Gaussian(rows [][]float64) (sources []int) {
	if len(rows) == 0 {
		return nil
	}
	s, n := m.Sources(rows), float64(len(rows))
	for i := range m.sources {
		second, fourth := 0.0, 0.0
		for _, v := range mat.Col(nil, i, s) {
			second += v * v / n
			fourth += v * v * v * v / n
		}
		if math.Abs(fourth/(second*second)-3) < 2*math.Sqrt(24/n) {
			sources = append(sources, i)
		}
	}
	return sources
}

// settledSteps is the number of quasi-Newton steps without a change after which Extended no longer changes
// densities, so that training has one objective.
const settledSteps = 10

// extend chooses the densities, unless they are settled.
func (m *Independent) extend() {
	if m.settled[0] < settledSteps {
		m.choose()
	}
}

// choose chooses each density by the source's values on the training rows.
func (m *Independent) choose() {
	var s mat.Dense
	s.Mul(m.white, m.v().T())
	m.settled[0]++
	for i := range m.sources {
		side := float64(TwoGaussians)
		if isPeaked(mat.Col(nil, i, &s), m.parts) {
			side = float64(Logistic)
		}
		if m.densities[i] != side {
			m.densities[i], m.settled[0] = side, 0
		}
	}
}

// relative holds the relative gradient of −log p with respect to V, E[φ(s)sᵀ] − I over whitened rows, and the
// means that the quasi-Newton step needs.
type relative struct {
	gradient *mat.Dense
	slopes   []float64 // E φ'(sᵢ)
	squares  []float64 // E sᵢ²
	curve    []float64 // E φ'(sᵢ)sᵢ²
}

func (m *Independent) relative(z *mat.Dense, parts []float64) relative {
	n, q := z.RawMatrix().Rows, m.sources
	var s mat.Dense
	s.Mul(z, m.v().T())
	φ := mat.NewDense(n, q, nil)
	of := relative{new(mat.Dense), make([]float64, q), make([]float64, q), make([]float64, q)}
	for r := range n {
		row := s.RawRowView(r)
		for i, v := range row {
			score, slope := Density(m.densities[i]).score(v)
			φ.Set(r, i, score*(float64(n)/parts[r]))
			of.slopes[i] += slope / parts[r]
			of.squares[i] += v * v / parts[r]
			of.curve[i] += slope * v * v / parts[r]
		}
	}
	of.gradient.Mul(φ.T(), &s)
	of.gradient.Scale(1/float64(n), of.gradient)
	for i := range q {
		of.gradient.Set(i, i, of.gradient.At(i, i)-1)
	}
	return of
}

// natural takes a step along the natural gradient on whitened rows: V ← V + η(I − E[φ(s)sᵀ])V.
func (m *Independent) natural(z *mat.Dense, parts []float64, η float64) {
	g := m.relative(z, parts).gradient
	g.Scale(-η, g)
	m.move(g, 1)
}

// move takes the step V ← (I + αΔ)V.
func (m *Independent) move(Δ *mat.Dense, α float64) {
	var change mat.Dense
	v := m.v()
	change.Mul(Δ, v)
	change.Scale(α, &change)
	v.Add(v, &change)
}

// objective returns the part of the mean log p of the training rows that depends on V.
func (m *Independent) objective() float64 {
	var s mat.Dense
	s.Mul(m.white, m.v().T())
	logP := statistics.LogDet(m.v())
	for r, part := range m.parts {
		for i, v := range s.RawRowView(r) {
			logP += Density(m.densities[i]).logP(v) / part
		}
	}
	return logP
}

// leastCurvature is the smallest eigenvalue that newton allows in a block of the approximate Hessian.
const leastCurvature = 0.01

// flat is the norm of the gradient below which training has converged.
const flat = 1e-8

// newton takes a relative quasi-Newton step on the training rows (Ablin, Cardoso and Gramfort 2018). Its
// approximate Hessian assumes independent sources, and has one block per pair of sources. newton halves the
// step until log p rises. It returns the norm of the gradient before the step, and whether log p has risen.
func (m *Independent) newton() (gradient float64, risen bool) {
	of, q := m.relative(m.white, m.parts), m.sources
	g := of.gradient
	Δ := mat.NewDense(q, q, nil)
	for i := range q {
		Δ.Set(i, i, -g.At(i, i)/max(leastCurvature, 1+of.curve[i]))
		for j := range i {
			a, b := of.slopes[i]*of.squares[j], of.slopes[j]*of.squares[i]
			// low is the smaller eigenvalue of the block [[a, 1], [1, b]].
			if low := (a + b - math.Hypot(a-b, 2)) / 2; low < leastCurvature {
				a, b = a+leastCurvature-low, b+leastCurvature-low
			}
			det := a*b - 1
			Δ.Set(i, j, -(b*g.At(i, j)-g.At(j, i))/det)
			Δ.Set(j, i, -(a*g.At(j, i)-g.At(i, j))/det)
		}
	}
	before, was := m.objective(), slices.Clone(m.turn)
	for α := 1.0; α > 1e-6; α /= 2 {
		m.move(Δ, α)
		if m.objective() > before {
			return mat.Norm(g, 2), true
		}
		copy(m.turn, was)
	}
	return mat.Norm(g, 2), false
}

// FitIndependent fits independent components to rows by maximum likelihood, with quasi-Newton steps and the
// given density for all sources. Rows need not be whitened.
func FitIndependent(ctx context.Context, rows [][]float64, sources int, density Density, seed uint64) (*Independent, error) {
	m, err := whitened(rows, sources, density, seed)
	if err != nil {
		return nil, err
	}
	const most = 1000
	for range most {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if density == Extended {
			m.extend()
		}
		gradient, risen := m.newton()
		if (gradient < flat || !risen) && (density != Extended || m.settled[0] >= settledSteps) {
			m.order()
			return m, nil
		}
	}
	return nil, fmt.Errorf("independent components have not converged in %d steps: give more rows, or fewer sources", most)
}

// whitened returns a model of rows before the first training step.
func whitened(rows [][]float64, sources int, density Density, seed uint64) (*Independent, error) {
	if err := checkRows(rows); err != nil {
		return nil, err
	}
	if _, err := density.MarshalText(); err != nil {
		return nil, err
	}
	if sources < 1 || sources > len(rows[0]) {
		return nil, fmt.Errorf("%s of %s: give at least one source, and no more than the variables", names.Count(sources, "source"), names.Count(len(rows[0]), "variable"))
	}
	m := newIndependent(sources, dataset.Shape{Height: 1, Width: len(rows[0])})
	if err := m.begin(rows, nil, density, seed); err != nil {
		return nil, err
	}
	m.white, _ = m.whiten(rows)
	m.parts = partsOf(len(rows), nil)
	return m, nil
}

// Amari returns the Amari distance of p from a scaled permutation. p is the product VA of an unmixing matrix
// V and the true mixing matrix A. The distance is 0 if V finds the sources, and 1 if all entries of p have
// the same size. It is 0 if p is a number, and NaN if a row or a column of a larger p is 0. Amari panics if p is not
// square.
func Amari(p mat.Matrix) float64 {
	d, columns := p.Dims()
	if d != columns {
		panic(fmt.Sprintf("factors: the Amari distance of a %d×%d matrix: give a square one", d, columns))
	}
	if d == 1 {
		return 0
	}
	excess := func(at func(i, j int) float64) (sum float64) {
		for i := range d {
			total, largest := 0.0, 0.0
			for j := range d {
				total, largest = total+math.Abs(at(i, j)), max(largest, math.Abs(at(i, j)))
			}
			sum += total/largest - 1
		}
		return sum
	}
	return (excess(p.At) + excess(func(i, j int) float64 { return p.At(j, i) })) / float64(2*d*(d-1))
}

// order sorts sources by the lengths of their columns in the mixing matrix, longest first, and makes the
// largest entry of each column positive.
func (m *Independent) order() {
	mixing := m.Mixing()
	q := m.sources
	order, sizes, signs := make([]int, q), make([]float64, q), make([]float64, q)
	for k := range q {
		column := mat.Col(nil, k, mixing)
		order[k], sizes[k], signs[k] = k, floats.Norm(column, 2), 1
		if floats.Max(column) < -floats.Min(column) {
			signs[k] = -1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	turn, densities := slices.Clone(m.turn), slices.Clone(m.densities)
	for place, k := range order {
		floats.ScaleTo(m.turn[place*q:(place+1)*q], signs[k], turn[k*q:(k+1)*q])
		m.densities[place] = densities[k]
	}
}
