package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Residuals, probabilities and log-probabilities of variables must agree with double precision, for
// ordinary and for extreme logits, and a unit alone with a rest with a Bernoulli unit.
func TestCategoriesAreSoftmaxes(t *testing.T) {
	variables := []Variable{{1, true}, {3, true}, {3, false}, {40, false}, {2, true}, {2, false}}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, scale := range []float64{0, 1, 8, 80} {
		for range 20 {
			var logits, states, residuals, means []float32
			logP := 0.0
			for _, v := range variables {
				of := make([]float64, v.Units, v.Units+1)
				for k := range of {
					of[k] = scale * rng.NormFloat64()
				}
				on, all := rng.IntN(v.Units), of
				if v.Rest {
					all = append(slices.Clone(of), 0)
					on = rng.IntN(v.Units + 1)
				}
				total, largest := 0.0, slices.Max(all)
				for _, a := range all {
					total += math.Exp(float64(float32(a)) - largest)
				}
				logP += float64(float32(all[on])) - largest - math.Log(total)
				for k, a := range of {
					p, state := math.Exp(float64(float32(a))-largest)/total, float32(0)
					if k == on {
						state = 1
					}
					logits, states = append(logits, float32(a)), append(states, state)
					means, residuals = append(means, float32(p)), append(residuals, float32(float64(state)-p))
				}
			}
			got := slices.Clone(logits)
			if l := ResidualCategories(got, states, variables); !(math.Abs(l-logP) <= 2e-6*(1+math.Abs(logP))) {
				t.Errorf("scale %v: log-probability %v, want %v", scale, l, logP)
			}
			for k := range got {
				if !(math.Abs(float64(got[k]-residuals[k])) <= 1e-6) {
					t.Errorf("scale %v: residual %d is %v, want %v", scale, k, got[k], residuals[k])
				}
			}
			alone, state := []float32{logits[0]}, states[:1]
			if Residual(alone, state); !(math.Abs(float64(alone[0]-got[0])) <= 1e-6) {
				t.Errorf("a unit alone has the residual %v, a Bernoulli unit %v", got[0], alone[0])
			}
			got = slices.Clone(logits)
			MeanCategories(got, variables)
			for k := range got {
				if !(math.Abs(float64(got[k]-means[k])) <= 1e-6) {
					t.Errorf("scale %v: mean %d is %v, want %v", scale, k, got[k], means[k])
				}
			}
		}
	}
}

// Drawn variables occur in each category as often as its probability requires, are at most in one
// category, and leave the logits; variable g uses the draw of a Bernoulli unit g.
func TestDrawnCategories(t *testing.T) {
	const draws = 40_000
	variables, logits := []Variable{{2, true}, {3, false}, {1, true}}, []float32{0.3, -1, 0.5, 0, 1.2, 0.7}
	means, counts := slices.Clone(logits), make([]float64, len(logits))
	MeanCategories(means, variables)
	before := slices.Clone(logits)
	for d := range uint32(draws) {
		states, alone := make([]float32, len(logits)), make([]float32, 3)
		c := philox.Counter{Datum: d}
		DrawCategories(states, logits, variables, 7, c)
		if Draw(alone, []float32{0, 0, 0.7}, 0, 7, c); alone[2] != states[5] {
			t.Fatalf("draw %d of a unit alone is %v, of a Bernoulli unit %v", d, states[5], alone[2])
		}
		if states[0]+states[1] > 1 || states[2]+states[3]+states[4] != 1 {
			t.Fatalf("draw %d is %v", d, states)
		}
		for k, s := range states {
			counts[k] += float64(s) / draws
		}
	}
	if !slices.Equal(logits, before) {
		t.Error("draws change the logits")
	}
	for k, p := range means {
		if se := math.Sqrt(float64(p*(1-p)) / draws); !(math.Abs(counts[k]-float64(p)) <= 4*se) {
			t.Errorf("unit %d is on in a share %v of draws, want %v ± %v", k, counts[k], p, se)
		}
	}
}

// A category of vanishing probability is never drawn: not if the walk ends exactly at its border,
// nor if rounding leads past the last category.
func TestVanishingCategoriesAreNeverDrawn(t *testing.T) {
	states := make([]float32, 3)
	DrawCategories(states, []float32{0, -60, -0.6931472}, []Variable{{3, false}}, 1, philox.Counter{Word: philox.Word{Purpose: philox.Wake}, Datum: 3168450})
	if want := []float32{1, 0, 0}; !slices.Equal(states, want) {
		t.Errorf("drew %v, want %v", states, want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		of := make([]float32, 2000)
		for k := range of {
			of[k] = rng.Float32()
		}
		of[len(of)-1] = 1e-26
		for rest, v := range map[float32]Variable{0: {len(of), false}, -1e-26: {len(of), true}} {
			total := -rest
			for _, e := range of {
				total += e
			}
			if k := choose(of, v, rest, total, 1-0x1p-24); k >= len(of)-1 {
				t.Fatalf("chose category %d of %d", k, len(of))
			}
		}
	}
}
