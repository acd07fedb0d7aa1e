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
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// Dictionary is a dictionary of Q atoms for sparse coding. The code h of a row x minimises
//
//	½|x − b − Wh|² + Σ c(hⱼ)
//
// Here c is the cost of the Prior. If x has Gaussian noise, the code is the mode of p(h|x). b is the mean of
// the training rows. Atoms, the columns of W, have a length of at most 1, since longer atoms would only shrink
// the codes. The objective is not a likelihood, and objectives with different costs cannot be compared.
type Dictionary struct {
	shape dataset.Shape
	cost  cost
	atoms int
	mean  []float64 // b, D
	words []float64 // W transposed: Q×D, one row per atom
	codes []float64 // moving mean of hhᵀ, Q×Q
	cross []float64 // moving mean of h(x−b)ᵀ, Q×D
	idle  []float64 // number of steps since a row used the atom, Q
}

func newDictionary(atoms int, of cost, shape dataset.Shape) *Dictionary {
	d := shape.Units()
	return &Dictionary{shape: shape, cost: of, atoms: atoms, mean: make([]float64, d), words: make([]float64, atoms*d),
		codes: make([]float64, atoms*atoms), cross: make([]float64, atoms*d), idle: make([]float64, atoms)}
}

// begin gives each atom the direction of a training row that it draws from the seed.
func (m *Dictionary) begin(rows [][]float64, seed uint64) {
	mean, variances := meanOf(rows)
	copy(m.mean, mean)
	noise := 0.01
	if deviation := math.Sqrt(floats.Sum(variances) / float64(len(variances))); deviation > 0 && deviation < noise {
		noise *= deviation
	}
	random := rand.New(rand.NewPCG(seed, 0))
	w := m.w()
	for j := range m.atoms {
		floats.SubTo(w.RawRowView(j), rows[random.IntN(len(rows))], m.mean)
		for i := range m.mean { // so that no two atoms are the same
			w.RawRowView(j)[i] += noise * random.NormFloat64()
		}
		floats.Scale(1/floats.Norm(w.RawRowView(j), 2), w.RawRowView(j))
	}
}

func (m *Dictionary) w() *mat.Dense { return mat.NewDense(m.atoms, len(m.mean), m.words) }

// Atoms returns the atoms, Q×D with one row per atom, like components_ of scikit-learn.
func (m *Dictionary) Atoms() *mat.Dense { return mat.DenseCopyOf(m.w()) }

// Code is the result of Encode.
type Code struct {
	H         *mat.Dense // the codes, Q values for each row
	Objective []float64  // ½|x − b − Wh|² + Σ c(hⱼ) of each row
	Square    []float64  // |x − b − Wh|² of each row
	Gap       []float64  // duality gap of each row, which bounds the objective minus its minimum; +Inf if the cost is not convex
}

// Tolerances of codes. They bound the duality gap as a fraction of ½|x − b|². If the cost is not convex,
// descent ends at a sweep in which no single move changes the objective's derivative by more than 1/100 of
// the tolerance times the largest |wⱼᵀ(x − b)|.
const (
	encodingGap = 1e-8
	learningGap = 1e-4 // for the codes of a training step
)

// Encode finds the codes of rows by coordinate descent. With a Laplace prior, the duality gap of each row is at
// most 10⁻⁸ of ½|x − b|². The other priors have costs that are not convex. For them, Encode descends from 0 and
// from the code with a Laplace prior, and returns the better result: no change of a single value lowers its
// objective.
func (m *Dictionary) Encode(rows [][]float64) Code {
	c, _ := m.encode(context.Background(), rows, encodingGap) // only cancellation is an error
	return c
}

func (m *Dictionary) encode(ctx context.Context, rows [][]float64, tolerance float64) (Code, error) {
	if len(rows) == 0 {
		return Code{H: new(mat.Dense)}, nil
	}
	w, x, n, q := m.w(), centred(rows, m.mean), len(rows), m.atoms
	var gram, products mat.Dense
	gram.Mul(w, w.T())
	products.Mul(x, w.T())
	c := Code{mat.NewDense(n, q, nil), make([]float64, n), make([]float64, n), make([]float64, n)}
	work.Parallel(n, func(r int) {
		if ctx.Err() != nil {
			return
		}
		row := x.RawRowView(r)
		c.Objective[r], c.Square[r], c.Gap[r] = m.cost.encode(c.H.RawRowView(r), &gram, products.RawRowView(r), floats.Dot(row, row), tolerance)
	})
	return c, ctx.Err()
}

// encode finds the code h of a centred row x, starting from h = 0. gram is WᵀW, products is Wᵀx, and square
// is |x|².
func (c *cost) encode(h []float64, gram *mat.Dense, products []float64, square, tolerance float64) (objective, residual, gap float64) {
	objective, residual, gap = c.descend(h, gram, products, square, tolerance)
	if c.prior == LaplacePrior {
		return objective, residual, gap
	}
	other := make([]float64, len(h))
	laplace := cost{prior: LaplacePrior, alpha: c.alpha}
	laplace.descend(other, gram, products, square, tolerance)
	if o, r, _ := c.descend(other, gram, products, square, tolerance); o < objective {
		copy(h, other)
		objective, residual = o, r
	}
	return objective, residual, gap
}

// allEvery is the number of sweeps in a cycle. The first sweep moves all values and checks whether they have
// converged; the others move only values that are not 0.
const allEvery = 5

// limit returns the α from which the value of a code is 0, given the arguments of least. With a Student-t prior, only
// at = 0 leaves it 0.
func (c *cost) limit(at, curve float64) float64 {
	if c.prior == SpikeAndSlabPrior {
		return at * at / 2 / (curve + 1/c.slab)
	}
	return math.Abs(at)
}

// descend is like encode, but descends only once, from the given h, by coordinate descent.
func (c *cost) descend(h []float64, gram *mat.Dense, products []float64, square, tolerance float64) (objective, residual, gap float64) {
	left := slices.Clone(products) // Wᵀ(x − Wh)
	for j, v := range h {
		if v != 0 {
			floats.AddScaled(left, -v, gram.RawRowView(j))
		}
	}
	const most = 100_000
	for sweep := range most {
		moved, all := 0.0, sweep%allEvery == 0
		for j, was := range h {
			if was == 0 && !all {
				continue
			}
			row := gram.RawRowView(j)
			curve := row[j]
			if curve == 0 {
				continue
			}
			if h[j] = c.least(left[j]+curve*was, curve); h[j] != was {
				floats.AddScaled(left, was-h[j], row)
				moved = max(moved, curve*math.Abs(h[j]-was))
			}
		}
		if !all {
			continue
		}
		explained := floats.Dot(h, products)
		residual = max(0, square-explained-floats.Dot(h, left))
		objective = residual / 2
		for _, v := range h {
			objective += c.of(v)
		}
		if c.prior != LaplacePrior {
			gap = math.Inf(1)
			if moved <= tolerance/100*floats.Norm(products, math.Inf(1)) {
				break
			}
			continue
		}
		// r = x − Wh, scaled until |Wᵀr| ≤ α, is a point of the dual problem.
		scale := 1.0
		if largest := floats.Norm(left, math.Inf(1)); largest > c.alpha {
			scale = c.alpha / largest
		}
		gap = objective - scale*(square-explained) + scale*scale*residual/2
		if gap <= tolerance*square/2 || moved == 0 {
			break
		}
	}
	return objective, residual, gap
}

// learn takes a step of dictionary learning on rows (Mairal, Bach, Ponce and Sapiro 2009). weight is the weight
// of these rows in the moving means. Atoms that no row used for patience steps take the direction of the rows
// with the worst reconstruction. learn returns the codes before the step, found with the tolerance
// learningGap.
func (m *Dictionary) learn(ctx context.Context, rows [][]float64, weight float64, patience int) (Code, error) {
	c, err := m.encode(ctx, rows, learningGap)
	if err != nil {
		return c, err
	}
	x := centred(rows, m.mean)
	if mat.Norm(c.H, 1) == 0 {
		return c, m.silent(x)
	}
	w, codes, cross := m.w(), mat.NewDense(m.atoms, m.atoms, m.codes), mat.NewDense(m.atoms, len(m.mean), m.cross)
	slide := func(mean *mat.Dense, by mat.Matrix) {
		var now mat.Dense
		now.Mul(c.H.T(), by)
		now.Scale(weight/float64(len(rows)), &now)
		mean.Scale(1-weight, mean)
		mean.Add(mean, &now)
	}
	slide(codes, c.H)
	slide(cross, x)
	worst := lists.N(len(rows), func(r int) int { return r })
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(c.Square[b], c.Square[a]) })
	for j := range m.atoms {
		m.idle[j]++
		for r := range rows {
			if c.H.At(r, j) != 0 {
				m.idle[j] = 0
				break
			}
		}
		atom := w.RawRowView(j)
		if int(m.idle[j]) >= patience && len(worst) > 0 {
			copy(atom, x.RawRowView(worst[0]))
			if length := floats.Norm(atom, 2); length < 1 {
				floats.Scale(inverse(length), atom)
			}
			worst, m.idle[j] = worst[1:], 0
			for k := range m.atoms {
				codes.Set(j, k, 0)
				codes.Set(k, j, 0)
			}
			clear(cross.RawRowView(j))
		} else if own := codes.At(j, j); own > 0 {
			step := slices.Clone(cross.RawRowView(j))
			for k := range m.atoms {
				floats.AddScaled(step, -codes.At(j, k), w.RawRowView(k))
			}
			floats.AddScaled(atom, 1/own, step)
		}
		if length := floats.Norm(atom, 2); length > 1 {
			floats.Scale(1/length, atom)
		}
	}
	return c, nil
}

// silent returns the error for centred rows of a minibatch whose codes are all 0.
func (m *Dictionary) silent(x *mat.Dense) error {
	rows, _ := x.Dims()
	if max(mat.Max(x), -mat.Min(x)) <= 1e-10*floats.Norm(m.mean, math.Inf(1)) {
		return fmt.Errorf("all %d rows of a minibatch are the mean of the training rows, so their codes are 0: use rows that are not all the same", rows)
	}
	w, most := m.w(), 0.0
	var products mat.Dense
	products.Mul(x, w.T())
	for j := range m.atoms {
		curve := floats.Dot(w.RawRowView(j), w.RawRowView(j))
		for r := range rows {
			most = max(most, m.cost.limit(products.At(r, j), curve))
		}
	}
	return fmt.Errorf("alpha = %g leaves the codes of all %d rows of a minibatch 0: give less than %.3g", m.cost.alpha, rows, most)
}

// Reconstruct returns b + Wh for each row, where h is the row's code.
func (m *Dictionary) Reconstruct(rows [][]float64) [][]float64 {
	if len(rows) == 0 {
		return nil
	}
	var x mat.Dense
	x.Mul(m.Encode(rows).H, m.w())
	return shifted(&x, m.mean)
}

// Prior is the prior of the values of a code. Its cost in the objective of sparse coding is c(h).
type Prior int

const (
	// LaplacePrior has the cost α|h|.
	LaplacePrior Prior = iota
	// StudentTPrior has the cost ½α(ν+1) ln(1 + h²/ν) of a Student-t distribution with ν degrees of freedom,
	// for noise of variance α.
	StudentTPrior
	// SpikeAndSlabPrior has the cost α + h²/2v for a value that is not 0. Values are 0 (the spike) or normal
	// (the slab), with v times the noise variance. α is the noise variance times the log-odds of a 0. The
	// code is the joint mode over the choice of zeros and the other values.
	SpikeAndSlabPrior
)

var priorNames = names.New("prior", "laplace", "student-t", "spike-and-slab")

func (p Prior) String() string                { return priorNames.Name(int(p)) }
func (p Prior) MarshalText() ([]byte, error)  { return priorNames.Marshal(int(p)) }
func (p *Prior) UnmarshalText(t []byte) error { return priorNames.Parse((*int)(p), t) }

// cost computes the cost of the values of a code.
type cost struct {
	prior                Prior
	alpha, freedom, slab float64 // α, ν and v
}

// of returns c(h).
func (c *cost) of(h float64) float64 {
	switch {
	case c.prior == StudentTPrior:
		return c.alpha * (c.freedom + 1) / 2 * math.Log1p(h*h/c.freedom)
	case h == 0:
		return 0
	case c.prior == SpikeAndSlabPrior:
		return c.alpha + h*h/(2*c.slab)
	}
	return c.alpha * math.Abs(h)
}

// least returns the h that minimises ½·curve·h² − at·h + c(h).
func (c *cost) least(at, curve float64) float64 {
	switch c.prior {
	case StudentTPrior:
		return math.Copysign(c.leastStudentT(math.Abs(at), curve), at)
	case SpikeAndSlabPrior:
		curve += 1 / c.slab
		if at*at <= 2*c.alpha*curve {
			return 0
		}
		return at / curve
	}
	switch {
	case at > c.alpha:
		return (at - c.alpha) / curve
	case at < -c.alpha:
		return (at + c.alpha) / curve
	}
	return 0
}

// leastStudentT implements least for a Student-t prior and at ≥ 0. The derivative times (ν + h²) is a cubic
// polynomial. leastStudentT returns the better of its smallest and its largest root; a third root between
// them is a maximum.
func (c *cost) leastStudentT(at, curve float64) float64 {
	ν, k := c.freedom, c.alpha*(c.freedom+1)/curve
	third := at / curve / 3
	p, q := (ν+k)/3-third*third, third*((ν+k)/2-third*third)-3*third*ν/2 // of t³ + 3pt + 2q, t = h − third
	var roots []float64
	if discriminant := q*q + p*p*p; discriminant >= 0 {
		root := math.Sqrt(discriminant)
		roots = []float64{math.Cbrt(root-q) - math.Cbrt(root+q)}
	} else {
		radius := math.Sqrt(-p)
		angle := math.Acos(-q/(radius*radius*radius)) / 3
		roots = []float64{2 * radius * math.Cos(angle), 2 * radius * math.Cos(angle+2*math.Pi/3)}
	}
	best, least := 0.0, math.Inf(1)
	for _, t := range roots {
		h := t + third
		for range 2 { // Newton steps remove rounding errors
			slope := curve + c.alpha*(ν+1)*(ν-h*h)/((ν+h*h)*(ν+h*h))
			h -= (curve*h - at + c.alpha*(ν+1)*h/(ν+h*h)) / slope
		}
		if value := curve*h*h/2 - at*h + c.of(h); value < least {
			best, least = h, value
		}
	}
	return best
}
