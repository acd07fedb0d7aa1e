package fisher

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

var (
	estimated = []Form{Direct, Woodbury, Kronecker} // the forms that NewInverse computes from an estimate
	forms     = append([]Form{Diagonal}, estimated...)
)

func inTurn(n int, task func(i int)) {
	for i := range n {
		task(i)
	}
}

// inverseOf returns the inverses of an estimate in any form.
func inverseOf(e Estimate, s Settings) (*Inverse, error) {
	if s.Form != Diagonal {
		return NewInverse(e, s, inTurn)
	}
	f := kernels.NewMatrix(e.Weights.Cols, e.Parents.Cols)
	for j := range f.Rows {
		b := block(e, Diagonal, j)
		for k := range f.Cols {
			kernels.Row(f, j)[k] = float32(b.At(k, k))
		}
	}
	return NewDiagonal(f, s.Damping)
}

// newEstimate returns an estimate of n samples with weight 0.
func newEstimate(n, size, units int) Estimate {
	return Estimate{kernels.NewMatrix(n, size), kernels.NewMatrix(n, units), make([]float32, n)}
}

// estimates generates samples of Bernoulli units: states in either coding, and weights from 0 to
// the largest possible for n samples of weight 1/n, σ'(0)/n.
func estimates(n, size int) *rapid.Generator[Estimate] {
	return rapid.Custom(func(t *rapid.T) Estimate {
		units := rapid.IntRange(1, 4).Draw(t, "units")
		off := rapid.SampledFrom([]float32{0, -1}).Draw(t, "off")
		e := newEstimate(n, size, units)
		states := rapid.SliceOfN(rapid.SampledFrom([]float32{off, 1}), n*size, n*size).Draw(t, "states")
		copy(e.Parents.Data, states)
		for r := range n {
			kernels.Row(e.Parents, r)[0] = 1
		}
		weight := rapid.OneOf(rapid.Just[float32](0), rapid.Just[float32](1e-30), rapid.Float32Range(0, 0.25/float32(n)))
		copy(e.Weights.Data, rapid.SliceOfN(weight, n*units, n*units).Draw(t, "weights"))
		copy(e.SampleWeights, rapid.SliceOfN(rapid.OneOf(rapid.Just[float32](0), rapid.Float32Range(0, 1)), n, n).Draw(t, "samples"))
		return e
	})
}

// matrices generates gradients, one row per unit.
func matrices(rows, cols int) *rapid.Generator[kernels.Matrix] {
	return rapid.Custom(func(t *rapid.T) kernels.Matrix {
		m := kernels.NewMatrix(rows, cols)
		copy(m.Data, rapid.SliceOfN(rapid.Float32Range(-1, 1), rows*cols, rows*cols).Draw(t, "gradients"))
		return m
	})
}

// block returns the Fisher block of unit j, summed by its definition, or factored.
func block(e Estimate, form Form, j int) *mat.SymDense {
	f := mat.NewSymDense(e.Parents.Cols, nil)
	weight := func(r int) float64 { return float64(kernels.Row(e.Weights, r)[j]) }
	if form == Kronecker {
		slope, total := 0.0, 0.0
		for r, w := range e.SampleWeights {
			slope += float64(kernels.Row(e.Weights, r)[j])
			total += float64(w)
		}
		if total == 0 {
			return f
		}
		weight = func(r int) float64 { return slope * float64(e.SampleWeights[r]) / total }
	}
	for r := range e.Parents.Rows {
		u := mat.NewVecDense(e.Parents.Cols, nil)
		for k, v := range kernels.Row(e.Parents, r) {
			u.SetVec(k, float64(v))
		}
		f.SymRankOne(f, weight(r), u)
	}
	return f
}

// dense returns (1+α)(αI + F)⁻¹ g of unit j, solved in double precision.
func dense(t rapid.TB, e Estimate, form Form, j int, damping float64, gradient []float32) []float64 {
	f := block(e, form, j)
	size, _ := f.Dims()
	damped := mat.NewDense(size, size, nil)
	g := mat.NewVecDense(size, nil)
	for r := range size {
		for c := range size {
			if form != Diagonal || r == c {
				damped.Set(r, c, f.At(r, c))
			}
		}
		damped.Set(r, r, damped.At(r, r)+damping)
		g.SetVec(r, float64(gradient[r]))
	}
	if err := g.SolveVec(damped, g); err != nil {
		t.Fatal(err)
	}
	g.ScaleVec(1+damping, g)
	return g.RawVector().Data
}

func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// TestFormsAreTheDenseSolve compares all forms with the dense solve, at dampings from far below the
// block to far above it. Numbers are in single precision, ε = 2⁻²⁴. An inverse is as large as 1/α,
// and so is its error, times ε. For Direct and Woodbury the error also grows with the condition
// number, which is at most 1 + tr F/α: a block is rounded before it is inverted, and Woodbury's
// form subtracts a product of samples, weights of up to q/α and samples again from g. The tolerance
// is a multiple of this scale, larger where elimination adds its own rounding. Diagonal and
// Kronecker do not depend on the condition number.
func TestFormsAreTheDenseSolve(t *testing.T) {
	const ε = 1.0 / (1 << 24)
	tolerated := map[Form]float64{Direct: 64, Woodbury: 64, Diagonal: 8, Kronecker: 8}
	worst := map[Form]float64{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		size := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(30, 70)).Draw(t, "size")
		e := estimates(n, size).Draw(t, "estimate")
		damping := math.Pow(10, rapid.Float64Range(-4, 4).Draw(t, "log10 α"))
		gradients := matrices(e.Weights.Cols, size).Draw(t, "gradients")
		for _, form := range forms {
			inverse, err := inverseOf(e, Settings{Form: form, Damping: damping})
			if err != nil {
				t.Fatal(err)
			}
			got := kernels.Clone(gradients)
			inverse.Apply(got, 0)
			for j := range got.Rows {
				g := kernels.Row(gradients, j)
				scale := ε * (1 + damping) / damping * norm(g)
				if form == Direct || form == Woodbury {
					scale *= 1 + mat.Trace(block(e, form, j))/damping
				}
				difference := slices.Clone(kernels.Row(got, j))
				for k, want := range dense(t, e, form, j, damping, g) {
					difference[k] = float32(float64(difference[k]) - want)
				}
				// A gradient that small has no significant digits.
				if d := norm(difference); !(d <= 1e-37) {
					worst[form] = max(worst[form], d/scale)
					if !(d <= tolerated[form]*scale) {
						t.Errorf("form %d, unit %d: %v is off by %g", form, j, kernels.Row(got, j), d)
					}
				}
			}
		}
	})
	t.Logf("worst errors: %v, tolerated %v", worst, tolerated)
}

// TestNegligibleSamples checks that omitting samples from blocks with Int16 changes an inverse
// applied to a vector by at most 2⁻¹⁰ of its length. The inverses are stored as Float32 here,
// because storage has its own error. Weights are as unequal as importance weights.
func TestNegligibleSamples(t *testing.T) {
	left := 0
	rapid.Check(t, func(t *rapid.T) {
		e := estimates(rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "size")).Draw(t, "estimate")
		for k := range e.Weights.Data {
			e.Weights.Data[k] *= float32(math.Exp(-rapid.Float64Range(0, 20).Draw(t, "nats")))
		}
		damping := math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "log10 α"))
		limit := negligible(Int16) * damping
		chosen := e.significant(limit, inTurn)
		gradients := matrices(1, e.Parents.Cols).Draw(t, "gradient")
		g := kernels.Row(gradients, 0)
		for j, rows := range chosen.units {
			left += e.Parents.Rows - len(rows)
			kept := Estimate{Parents: e.Parents, Weights: kernels.NewMatrix(e.Parents.Rows, 1)}
			for _, r := range rows {
				kept.Weights.Data[chosen.rows[r]] = e.weight(int(chosen.rows[r]), j)
			}
			want := dense(t, e, Direct, j, damping, g)
			var difference, length float64
			for k, got := range dense(t, kept, Direct, 0, damping, g) {
				difference += (got - want[k]) * (got - want[k])
				length += want[k] * want[k]
			}
			if !(math.Sqrt(difference) <= 0x1p-10*(1+1e-6)*math.Sqrt(length)) { // a sample at the limit is off by as much
				t.Errorf("unit %d with %d of %d samples is off by %g of %g", j, len(rows), e.Parents.Rows, math.Sqrt(difference), math.Sqrt(length))
			}
		}
	})
	if left == 0 {
		t.Error("no sample was ever left out")
	}
}

// As α grows, the natural gradient tends to the plain one: (αI+F)⁻¹(1+α) is I up to a term of the
// size of F/α.
func TestLargeDampingGivesThePlainGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := estimates(10, 6).Draw(t, "estimate")
		gradients := matrices(e.Weights.Cols, 6).Draw(t, "gradients")
		for _, form := range forms {
			for _, damping := range []float64{1e3, 1e6, 1e9} {
				inverse, err := inverseOf(e, Settings{Form: form, Damping: damping})
				if err != nil {
					t.Fatal(err)
				}
				got := kernels.Clone(gradients)
				inverse.Apply(got, 0)
				for k, g := range gradients.Data {
					// ‖F‖ ≤ tr F ≤ 6/4, g is at most √6 long.
					if !(math.Abs(float64(got.Data[k]-g)) <= 5/damping+1e-6) {
						t.Fatalf("form %d, damping %g: %v became %v", form, damping, g, got.Data[k])
					}
				}
			}
		}
	})
}

// Without samples, or if all weights are 0, the block is 0 and the inverse (1+α)/α.
func TestWeightsOfZero(t *testing.T) {
	for _, n := range []int{0, 5} {
		e := newEstimate(n, 3, 2)
		for k := range e.Parents.Data {
			e.Parents.Data[k] = 1
		}
		for _, form := range append(forms, Cheapest) {
			inverse, err := inverseOf(e, Settings{Form: form, Damping: 0.25, Steps: 1})
			if err != nil {
				t.Fatal(err)
			}
			g := kernels.Matrix{Rows: 2, Cols: 3, Stride: 3, Data: []float32{1, 2, 3, -4, 5, -6}}
			inverse.Apply(g, 0)
			if want := []float32{5, 10, 15, -20, 25, -30}; !slices.Equal(g.Data, want) {
				t.Errorf("form %d gives %v of %d samples, want %v", form, g.Data, n, want)
			}
		}
	}
}

// Units may be processed in ranges. The last digit may differ, because it depends on the order of
// sums, and so on a row's place in memory.
func TestApplyToARangeOfUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := estimates(rapid.IntRange(1, 8).Draw(t, "n"), 5).Draw(t, "estimate")
		units := e.Weights.Cols
		gradients := matrices(units, 5).Draw(t, "gradients")
		first := rapid.IntRange(0, units-1).Draw(t, "first")
		last := rapid.IntRange(first+1, units).Draw(t, "last")
		for _, form := range forms {
			inverse, err := inverseOf(e, Settings{Form: form, Damping: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			all, some := kernels.Clone(gradients), kernels.Clone(gradients)
			inverse.Apply(all, 0)
			inverse.Apply(kernels.Rows(some, first, last), first)
			want := kernels.Clone(gradients)
			copy(want.Data[first*5:last*5], all.Data[first*5:])
			for k := range want.Data {
				if !(math.Abs(float64(some.Data[k]-want.Data[k])) <= 1e-4) {
					t.Fatalf("form %d, units %d to %d: %v, want %v", form, first, last-1, some.Data, want.Data)
				}
			}
		}
	})
}

// TestInverseIsFrozen checks that an inverse shares nothing with the estimate.
func TestInverseIsFrozen(t *testing.T) {
	e := estimates(4, 6).Example(1)
	gradients := matrices(e.Weights.Cols, 6).Example(2)
	for _, form := range forms {
		inverse, err := inverseOf(e, Settings{Form: form, Damping: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		before, after := kernels.Clone(gradients), kernels.Clone(gradients)
		inverse.Apply(before, 0)
		parents := kernels.Clone(e.Parents)
		clear(e.Parents.Data)
		inverse.Apply(after, 0)
		e.Parents = parents
		if !slices.Equal(after.Data, before.Data) {
			t.Errorf("form %d: %v became %v when the samples changed", form, before.Data, after.Data)
		}
	}
}

// The same gradients give the same bits wherever they are in memory.
func TestApplyIsReproducible(t *testing.T) {
	e := estimates(5, 6).Example(1)
	gradients := kernels.Rows(matrices(4, 6).Example(2), 0, 1)
	for _, form := range forms {
		inverse, err := inverseOf(e, Settings{Form: form, Damping: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		var copies []kernels.Matrix
		for range 50 {
			c := kernels.Clone(gradients)
			inverse.Apply(c, 0)
			copies = append(copies, c)
			if !slices.Equal(c.Data, copies[0].Data) {
				t.Fatalf("form %d: %v, and before %v", form, c.Data, copies[0].Data)
			}
		}
	}
}

func TestWhatIsNotFiniteIsAnError(t *testing.T) {
	for _, value := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		for _, form := range forms {
			for what, place := range map[string]func(e Estimate) *float32{
				"parents": func(e Estimate) *float32 { return &kernels.Row(e.Parents, 2)[1] },
				"weights": func(e Estimate) *float32 { return &kernels.Row(e.Weights, 2)[1] },
			} {
				t.Run(fmt.Sprintf("form %d, %s, %v", form, what, value), func(t *testing.T) {
					e := newEstimate(4, 3, 2)
					for k := range e.Parents.Data {
						e.Parents.Data[k] = 1
					}
					for k := range e.Weights.Data {
						e.Weights.Data[k] = 0.05
					}
					for r := range e.SampleWeights {
						e.SampleWeights[r] = 0.25
					}
					*place(e) = value
					_, err := inverseOf(e, Settings{Form: form, Damping: 0.1})
					if err == nil || !strings.Contains(err.Error(), "damping 0.1") {
						t.Errorf("the error is %v", err)
					}
					if entry := fmt.Sprintf("products of the parents is %v in row", value); form == Kronecker && what == "parents" && !strings.Contains(fmt.Sprint(err), entry) {
						t.Errorf("the error is %v, want one that names %q", err, entry)
					}
				})
			}
		}
	}
}

// A damping is an error for any samples and any form if an inverse overflows at it, or if it is not
// positive or not finite. The suggested remedy must work.
func TestImpossibleDampingIsAnError(t *testing.T) {
	for _, n := range []int{1, 2} {
		for _, weight := range []float32{0, 0.25} {
			e := newEstimate(n, 3, 1)
			for k := range e.Parents.Data {
				e.Parents.Data[k] = 1
			}
			for k := range e.Weights.Data {
				e.Weights.Data[k] = weight
			}
			for _, form := range append(forms, Cheapest) {
				for damping, remedy := range map[float64]string{
					1e-40: "use a larger positive damping", 0: "use a larger positive damping", -2: "use a larger positive damping",
					math.NaN(): "use a positive damping of at most", math.Inf(1): "use a positive damping of at most", 1e39: "use a positive damping of at most",
				} {
					_, err := inverseOf(e, Settings{Form: form, Damping: damping, Steps: 1})
					if err == nil || !strings.Contains(err.Error(), remedy) {
						t.Errorf("form %d, a block of %d samples of weight %v at damping %g: the error is %v", form, n, weight, damping, err)
					}
				}
			}
		}
	}
}

// An estimate whose parts do not agree is a programming error, and panics.
func TestEstimatesThatDoNotFit(t *testing.T) {
	whole, few, alone := newEstimate(3, 2, 4), newEstimate(3, 2, 4), newEstimate(3, 2, 4)
	few.Weights, alone.SampleWeights = kernels.NewMatrix(2, 4), nil
	panics := func(e Estimate, form Form) (said any) {
		defer func() { said = recover() }()
		_, err := NewInverse(e, Settings{Form: form, Damping: 1, Steps: 1}, inTurn)
		if err != nil {
			t.Error(err)
		}
		return nil
	}
	for _, groups := range [][]int{{1, 2}, {2, 3}, {4, 0}} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "fisher: categories have the Groups") {
					t.Errorf("groups of %v of 4 units: panic %v", groups, said)
				}
			}()
			_, _ = NewCategorical(Categories{Parents: whole.Parents, Probabilities: whole.Weights, SampleWeights: whole.SampleWeights}, Settings{Damping: 1, Groups: groups}, inTurn)
		}()
	}
	for _, form := range append(estimated, Cheapest) {
		for _, c := range []struct {
			estimate Estimate
			fits     bool
		}{{whole, true}, {few, false}, {alone, form != Kronecker}} {
			said := panics(c.estimate, form)
			if text, _ := said.(string); (said == nil) != c.fits || !c.fits && !strings.HasPrefix(text, "fisher: ") {
				t.Errorf("form %d: panic %v", form, said)
			}
		}
	}
}

func TestFormNames(t *testing.T) {
	if known, unknown := Kronecker.String(), Form(5).String(); known != "Kronecker" || unknown != "invalid(5)" {
		t.Errorf("the forms are %s and %s", known, unknown)
	}
}

func TestBytes(t *testing.T) {
	const n, size, units = 7, 5, 3
	e := newEstimate(n, size, units)
	for k := range e.Parents.Data {
		e.Parents.Data[k] = 1
	}
	for k := range e.Weights.Data {
		e.Weights.Data[k] = 0.05
	}
	for form, want := range map[Form]int64{
		// A triangle of blocks of 16 × 16 stores a symmetric matrix.
		Direct: 4 * units * 16 * 16,
		// Samples are stored plain and packed, with a list of samples per unit.
		Woodbury: 4*(units*16*16+n*size+units*n) + int64(kernels.PackedBytes(n, size)),
		Diagonal: 4 * units * size,
		// Vectors for the second moment, their squares, and one slope per unit.
		Kronecker: 4*size*size + 8*(size+units),
	} {
		inverse, err := inverseOf(e, Settings{Form: form, Damping: 1})
		if err != nil {
			t.Fatal(err)
		}
		if inverse.form != form || inverse.Bytes() != want {
			t.Errorf("form %d takes %d bytes, want form %d and %d bytes", inverse.form, inverse.Bytes(), form, want)
		}
		if got := (Settings{Form: form}).Bytes(n, size, units); got != float64(want) {
			t.Errorf("form %d will take %v bytes, want %d", form, got, want)
		}
	}
}

// NewInverse must allocate what Bytes and Scratch announce, within a fifth: with more samples than
// parents and with fewer, in all forms.
func TestScratch(t *testing.T) {
	// The pool of scratch keeps its memory for the processor that returned it, until the next
	// garbage collection.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, n := range []int{100, 3000, 30_000} {
		for _, s := range []Settings{
			{Form: Kronecker}, {Steps: 1}, {Steps: 1000}, {Steps: 1000, Precision: Int16}, {Form: Direct}, {Form: Woodbury},
		} {
			if s.Form == Woodbury && n > 1000 {
				continue // too slow to be useful
			}
			const size, units = 60, 20
			s.Damping = 1
			e := newEstimate(n, size, units)
			for k := range e.Parents.Data {
				e.Parents.Data[k] = float32(k%7) - 3
			}
			for k := range e.Weights.Data {
				e.Weights.Data[k] = 1 / float32(n)
			}
			for r := range n {
				e.SampleWeights[r] = 1 / float32(n)
			}
			scratch = sync.Pool{New: scratch.New} // empty again
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := NewInverse(e, s, inTurn); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			shares := 8 * float64(n) * (units - 1) // allocated once per unit, held once per thread
			if s.Form == Kronecker || s.Form == Direct {
				shares = 0
			}
			got, want := float64(after.TotalAlloc-before.TotalAlloc)-shares, s.Bytes(n, size, units)+s.Scratch(n, size, units, 1)
			if got < want*4/5 || got > want*6/5 {
				t.Errorf("%+v, %d samples: the inverses take %v bytes while they are made, announced were %v", s, n, got, want)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		n, size, units, steps int
		damping               float64
		want                  Form
	}{
		{1, 1000, 100, 1, 0.1, Woodbury},    // one sample
		{32, 785, 300, 1000, 0.1, Woodbury}, // q(h¹|x) of MNIST: B samples
		{10000, 10, 100, 1, 0.1, Direct},
		{320, 11, 10, 1000, 0.1, Direct},  // the top of a deep machine
		{10, 1, 10, 1, 0.1, Direct},       // the prior
		{320, 301, 784, 1, 0.1, Woodbury}, // refreshed in each step, so the sums over samples dominate
		{320, 301, 784, 1, 1e-4, Direct},  // of full rank, at a small damping
		{300, 301, 784, 1, 1e-4, Woodbury},
		{320, 301, 784, 1000000, 0.1, Direct}, // hardly ever refreshed, so Apply dominates
	} {
		if got := (Settings{Steps: c.steps, Damping: c.damping}).Choose(c.n, c.size, c.units); got != c.want {
			t.Errorf("%d samples of size %d, %d units, %d steps, damping %g: form %d, want %d", c.n, c.size, c.units, c.steps, c.damping, got, c.want)
		}
	}
}

// Fewer samples must never favour Direct over Woodbury.
func TestChoiceIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, size := rapid.IntRange(2, 2000).Draw(t, "n"), rapid.IntRange(1, 2000).Draw(t, "size")
		units := rapid.IntRange(1, 1000).Draw(t, "units")
		s := Settings{Steps: rapid.IntRange(1, 10000).Draw(t, "steps"), Damping: rapid.SampledFrom([]float64{1e-4, 0.1}).Draw(t, "damping")}
		if s.Choose(n, size, units) == Woodbury && s.Choose(n-1, size, units) != Woodbury {
			t.Errorf("Woodbury for %d samples, and not for %d", n, n-1)
		}
	})
}

// Cheapest must invert blocks of full rank accurately at a small damping, where Woodbury is cheaper.
func TestSmallDampingOfFullRank(t *testing.T) {
	const size, n, units, damping = 301, 320, 75, 1e-5
	rng := rand.New(rand.NewPCG(1, 2))
	e, gradients := newEstimate(n, size, units), kernels.NewMatrix(units, size)
	for k := range e.Parents.Data {
		e.Parents.Data[k] = float32(2*rng.IntN(2) - 1)
	}
	for k := range e.Weights.Data {
		e.Weights.Data[k] = rng.Float32() / (4 * n)
	}
	for k := range gradients.Data {
		gradients.Data[k] = float32(rng.NormFloat64())
	}
	inverse, err := inverseOf(e, Settings{Damping: damping, Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := kernels.Clone(gradients)
	inverse.Apply(got, 0)
	for j := range 5 {
		want, difference := make([]float32, size), make([]float32, size)
		for k, x := range dense(t, e, Direct, j, damping, kernels.Row(gradients, j)) {
			want[k], difference[k] = float32(x), float32(float64(kernels.Row(got, j)[k])-x)
		}
		if d := norm(difference) / norm(want); !(d <= 1e-3) {
			t.Errorf("unit %d has the relative error %g", j, d)
		}
	}
}

// A block of more samples than rowsAtOnce must include all of them.
func TestBlocksOfManySamples(t *testing.T) {
	const damping = 0.1
	n := 2*rowsAtOnce + 100
	e := Estimate{Parents: kernels.NewMatrix(n, 2), Weights: kernels.NewMatrix(n, 1)}
	var f [3]float64 // F₀₀, F₀₁, F₁₁
	for r := range n {
		u, w := float64(r%7)-3, float64(1+r%3)/float64(n)
		copy(kernels.Row(e.Parents, r), []float32{1, float32(u)})
		e.Weights.Data[r] = float32(w)
		f[0], f[1], f[2] = f[0]+w, f[1]+w*u, f[2]+w*u*u
	}
	inverse, err := NewInverse(e, Settings{Form: Direct, Damping: damping}, func(n int, task func(int)) {
		for i := range n {
			task(i)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	g := kernels.NewMatrix(1, 2)
	copy(g.Data, []float32{1, 2})
	inverse.Apply(g, 0)
	a, b, c := f[0]+damping, f[1], f[2]+damping
	for k, want := range []float64{(1 + damping) * (c - 2*b) / (a*c - b*b), (1 + damping) * (2*a - b) / (a*c - b*b)} {
		if !(math.Abs(float64(g.Data[k])-want) <= 1e-4*math.Abs(want)) {
			t.Errorf("element %d of the natural gradient is %v, want %v", k, g.Data[k], want)
		}
	}
}

// Gradients whose rows do not have the size of the blocks are refused in every form.
func TestApplyRefusesRowsOfAnotherSize(t *testing.T) {
	for _, form := range forms {
		v, err := inverseOf(newEstimate(4, 3, 2), Settings{Form: form, Damping: 0.1, Steps: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, cols := range []int{2, 4} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: rows of %d numbers are multiplied by blocks of size 3", form, cols)
					}
				}()
				v.Apply(kernels.NewMatrix(2, cols), 0)
			}()
		}
	}
}
