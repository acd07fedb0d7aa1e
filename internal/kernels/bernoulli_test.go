package kernels

import (
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/philox"
	"pgregory.net/rapid"
)

func logSigmoid(a float64) float64 {
	if a < 0 {
		return a - math.Log1p(math.Exp(a))
	}
	return -math.Log1p(math.Exp(-a))
}

func TestResidualIsTheDerivativeOfTheLogProbability(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			logits := rapid.SliceOf(rapid.Float32Range(-80, 80)).Draw(t, "logits")
			states := make([]float32, len(logits))
			off := rapid.SampledFrom([]float32{0, -1}).Draw(t, "off")
			want, scale := 0.0, 0.0
			residual := make([]float64, len(logits))
			for j, a := range logits {
				sign := -1.0
				states[j] = off
				if rapid.Bool().Draw(t, "on") {
					sign, states[j] = 1, 1
				}
				l := logSigmoid(sign * float64(a))
				want += l
				scale += math.Abs(l)
				residual[j] = sign / (1 + math.Exp(sign*float64(a)))
			}
			got := Residual(logits, states)
			if !(math.Abs(got-want) <= 4e-7*scale) {
				t.Errorf("log-probability %v, want %v", got, want)
			}
			for j := range logits {
				if !(math.Abs(float64(logits[j])-residual[j]) <= 4e-7*math.Abs(residual[j])+1e-37) {
					t.Errorf("residual of unit %d is %v, want %v", j, logits[j], residual[j])
				}
			}
		})
	})
}

func TestSigmoidOverItsRange(t *testing.T) {
	for a := float32(-100); a <= 100; a += 1.0 / 64 {
		want := 1 / (1 + math.Exp(-float64(a)))
		if got := float64(Sigmoid(a)); !(math.Abs(got-want) <= 4e-7*want+1e-37) {
			t.Fatalf("σ(%v) = %v, want %v", a, got, want)
		}
	}
	for _, a := range []float32{float32(math.Inf(1)), float32(math.Inf(-1))} {
		if got := Sigmoid(a); got != max(0, min(1, a)) {
			t.Errorf("σ(%v) = %v", a, got)
		}
	}
	if nan := float32(math.NaN()); !math.IsNaN(float64(Sigmoid(nan))) {
		t.Errorf("σ(NaN) = %v", Sigmoid(nan))
	}
}

// The kernels of means have the bits of Sigmoid and Residual, for any number of units.
func TestMeansHaveTheBitsOfSigmoidAndResidual(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for units := range 70 {
			f := newField(uint64(units))
			on, off := f.vector(units), f.vector(units)
			want, residuals := make([]float32, units), make([]float32, units)
			for j := range units {
				on[j] *= float32(math.Exp2(float64((j+units)%9 - 1)))
				if j%10 == 7 {
					on[j] = unusual[(j+units)%len(unusual)]
				}
				off[j], residuals[j], want[j] = on[j], on[j], Sigmoid(on[j])
			}
			Residual(residuals, make([]float32, units))
			Sigmoids(on)
			NegateMeans(off)
			if !sameBits(on, want) || !sameBits(off, residuals) {
				t.Fatalf("means of %d units are %v and %v, want %v and %v", units, on, off, want, residuals)
			}
			f.check(t, 2*units)
		}
	})
}

func TestResidualKeepsNaN(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		logits := []float32{float32(math.NaN())}
		if got := Residual(logits, []float32{1}); !math.IsNaN(got) {
			t.Errorf("log-probability of a NaN logit is %v", got)
		}
	})
}

// unusual are logits at which a kernel could take another way than portable
// code.
var unusual = []float32{
	0, float32(math.Copysign(0, -1)), 1e-45, -1e-39, 1e-20, 87.3, -87.3, 87.30001, -87.30001, 44, -70, 89, -1e30, 3e38,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
}

func randomCounter(f *field) (philox.Key, philox.Counter) {
	r := f.random
	return philox.Key(r.Uint64()), philox.Counter{Word: philox.Word{Purpose: philox.Purpose(r.Uint32()), Layer: uint8(r.Uint32())}, Sample: r.Uint32(), Datum: r.Uint32(), Step: r.Uint32()}
}

// unitsOf is the outcome of the kernels at n units.
type unitsOf struct {
	states, drawnWithResidual, drawnWithScore, residuals, residualsWithDraw []float32
	logP, logPWithDraw, score, scoreWithDraw                                float64
}

func compute(f *field, logits []float32, off float32, key philox.Key, c philox.Counter) (u unitsOf) {
	n := len(logits)
	u = unitsOf{states: f.vector(n), drawnWithResidual: f.vector(n), drawnWithScore: f.vector(n), residuals: f.vector(n), residualsWithDraw: f.vector(n)}
	copy(u.residuals, logits)
	copy(u.residualsWithDraw, logits)
	Draw(u.states, logits, off, key, c)
	u.score = Score(logits, u.states)
	u.scoreWithDraw = Units(Draws|Scores, u.drawnWithScore, logits, off, key, c)
	u.logP = Residual(u.residuals, u.states)
	u.logPWithDraw = Units(Draws|Residuals, u.drawnWithResidual, u.residualsWithDraw, off, key, c)
	return u
}

// Draws, residuals and log-probabilities have the same bits with every
// instruction set, and in one kernel or in two; scores leave logits as they are.
func TestBernoulliUnitsDoNotDependOnTheInstructionSet(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n := range 131 {
			f := newField(uint64(n))
			logits := f.vector(n)
			for j := range logits {
				logits[j] *= 20
				if n%2 == 1 && f.random.IntN(4) == 0 {
					logits[j] = unusual[f.random.IntN(len(unusual))]
				}
			}
			key, c := randomCounter(f)
			off, before := -float32(n%3/2), slices.Clone(logits)
			got := compute(f, logits, off, key, c)
			f.check(t, 6*n)
			if !sameBits(logits, before) {
				t.Fatalf("scores of %d units change their logits", n)
			}
			var want unitsOf
			with(&portable, func() { want = compute(newField(0), logits, off, key, c) })
			if !slices.Equal(got.states, want.states) || !slices.Equal(got.drawnWithResidual, want.states) || !slices.Equal(got.drawnWithScore, want.states) {
				t.Fatalf("draws of %d units: %v, %v and %v, portably %v", n, got.states, got.drawnWithResidual, got.drawnWithScore, want.states)
			}
			if !sameBits(got.residuals, want.residuals) || !sameBits(got.residualsWithDraw, want.residuals) {
				t.Fatalf("residuals of %d units: %v and %v, portably %v", n, got.residuals, got.residualsWithDraw, want.residuals)
			}
			for _, l := range []float64{got.logP, got.logPWithDraw, got.score, got.scoreWithDraw} {
				if l != want.logP && !(math.IsNaN(l) && math.IsNaN(want.logP)) {
					t.Fatalf("log-probability of %d units: %v, portably %v", n, l, want.logP)
				}
			}
		}
	})
}

// With logits at which σ is as close to the uniform draws as it can be, each
// draw tests all bits of its random number.
func TestDrawsDecidedByTheLastBits(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		f := newField(6)
		on := 0
		for range 200 {
			key, c := randomCounter(f)
			logits, states, want := make([]float32, 100), make([]float32, 100), make([]float32, 100)
			for j := range logits {
				c.Unit = uint16(j / 4)
				u := philox.Uniform(key.Block(c)[j%4])
				logit := float32(math.Log(float64(u)) - math.Log1p(-float64(u)))
				logits[j] = logit * (1 + float32(f.random.IntN(3)-1)*0x1p-22)
				if u < Sigmoid(logits[j]) {
					want[j] = 1
					on++
				}
			}
			c.Unit = 7 // which Draw sets
			Draw(states, logits, 0, key, c)
			if !slices.Equal(states, want) {
				t.Fatalf("draws %v, want %v", states, want)
			}
		}
		if on < 4_000 || on > 16_000 {
			t.Errorf("%d of 20,000 logits lie above their draws", on)
		}
	})
}

// The share of draws that are on is σ(a), within five standard errors.
func TestDrawFrequency(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const draws = 100_000
		logits := []float32{-4, -1, 0, 0.5, 3, 30}
		states := make([]float32, len(logits))
		on := make([]float64, len(logits))
		for n := range draws {
			Draw(states, logits, -1, 7, philox.Counter{Word: philox.Word{Purpose: philox.Wake}, Sample: uint32(n)})
			for j, s := range states {
				if s == 1 {
					on[j]++
				} else if s != -1 {
					t.Fatalf("state %v is neither on nor off", s)
				}
			}
		}
		for j, a := range logits {
			p := float64(Sigmoid(a))
			if se := math.Sqrt(p * (1 - p) / draws); !(math.Abs(on[j]/draws-p) <= 5*se+1e-12) {
				t.Errorf("logit %v: on in %v of the draws, want %v ± %v", a, on[j]/draws, p, se)
			}
		}
	})
}

// A counter's Unit word has 16 bits: beyond 4 · 2¹⁶ units it begins anew.
func TestDrawsOfVeryManyUnits(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const most = 4 << 16
		logits, states := make([]float32, most+20), make([]float32, most+20)
		Draw(states, logits, 0, 1, philox.Counter{})
		if !slices.Equal(states[most:], states[:20]) {
			t.Error("the draws do not begin anew")
		}
		first := make([]float32, most)
		Draw(first, logits[:most], 0, 1, philox.Counter{})
		if !slices.Equal(first, states[:most]) {
			t.Error("the draws depend on the number of units")
		}
	})
}
