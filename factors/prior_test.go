package factors

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// No value of a fine grid has a lower objective than the least one.
func TestLeastValueOfACost(t *testing.T) {
	for _, c := range []cost{
		{prior: LaplacePrior, alpha: 0.3}, {prior: StudentTPrior, alpha: 0.5, freedom: 3}, {prior: StudentTPrior, alpha: 4, freedom: 0.2},
		{prior: StudentTPrior, alpha: 4, freedom: 100}, {prior: SpikeAndSlabPrior, alpha: 0.3, slab: 2},
	} {
		for _, curve := range []float64{0.2, 1, 3} {
			for _, at := range []float64{0, 0.1, -0.4, 1, -2.5, 5, 40} {
				objective := func(h float64) float64 { return curve*h*h/2 - at*h + c.of(h) }
				least := objective(c.least(at, curve))
				for step := range 4001 {
					if h := float64(step-2000) / 2000 * (math.Abs(at)/curve + 1); objective(h) < least-1e-12*(1+math.Abs(least)) {
						t.Fatalf("%+v with curve %v at %v: %v has the objective %v, lower than %v of %v", c, curve, at, h, objective(h), least, c.least(at, curve))
					}
				}
			}
		}
	}
}

// Of costs that are not convex no change of a single value lowers the objective, and the derivative by
// values that are not 0 is 0.
func TestCodesOfOtherPriorsAreMinima(t *testing.T) {
	for _, c := range []cost{{prior: StudentTPrior, alpha: 0.3, freedom: 1}, {prior: SpikeAndSlabPrior, alpha: 0.2, slab: 3}} {
		m, rows := dictionary(8, 20, 30, 0)
		m.cost = c
		code, w := m.Encode(rows), m.w()
		for r, x := range m.Reconstruct(rows) {
			h, rest := code.H.RawRowView(r), make([]float64, 8)
			floats.SubTo(rest, rows[r], x)
			objective := floats.Dot(rest, rest) / 2
			for _, v := range h {
				objective += c.of(v)
			}
			wantNear(t, "the objective", code.Objective[r], objective, 1e-12)
			for j, v := range h {
				along := floats.Dot(w.RawRowView(j), rest)
				curve := floats.Dot(w.RawRowView(j), w.RawRowView(j))
				least := c.least(along+curve*v, curve)
				if math.Abs(least-v) > 1e-8 {
					t.Errorf("%v: value %d of row %d is %v, where %v has a lower objective", c.prior, j, r, v, least)
				}
			}
		}
	}
}

// Codes with a spike and a slab are never better than the best of all choices of the values that are 0,
// and nearly always as good.
func TestSpikeAndSlabBesideAllChoices(t *testing.T) {
	const q = 8
	c := cost{prior: SpikeAndSlabPrior, alpha: 0.2, slab: 3}
	m, rows := dictionary(6, q, 40, 0)
	m.cost = c
	code, found := m.Encode(rows), 0
	for r, row := range rows {
		best := floats.Dot(row, row) / 2
		for choice := 1; choice < 1<<q; choice++ {
			var w []float64
			n := 0
			for j := range q {
				if choice>>j&1 == 1 {
					w = append(w, m.w().RawRowView(j)...)
					n++
				}
			}
			atoms, x := mat.NewDense(n, 6, w), mat.NewVecDense(6, row)
			gram, products, h := mat.NewDense(n, n, nil), new(mat.VecDense), new(mat.VecDense)
			gram.Mul(atoms, atoms.T())
			for j := range n {
				gram.Set(j, j, gram.At(j, j)+1/c.slab)
			}
			products.MulVec(atoms, x)
			if err := h.SolveVec(gram, products); err != nil {
				t.Fatal(err)
			}
			best = min(best, floats.Dot(row, row)/2-mat.Dot(h, products)/2+float64(n)*c.alpha)
		}
		if code.Objective[r] < best-1e-10 {
			t.Errorf("row %d has the objective %v, the best of all choices %v", r, code.Objective[r], best)
		}
		if code.Objective[r] < best+1e-10 {
			found++
		}
	}
	if found < 30 {
		t.Errorf("%d of %d codes are as good as the best of all choices, want at least 30", found, len(rows))
	}
}
