package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

const floor = 0.01

// gaussianOutputs are those of three units at each of a number of positions.
func gaussianOutputs(positions int, seed uint64) []float32 {
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 0))
	outputs := make([]float32, positions*6)
	for k := range outputs {
		outputs[k] = float32(rng.NormFloat64())
	}
	return outputs
}

// output are μ and a of unit j of three at a position.
func output(outputs []float32, j int) (mu, a float64) {
	at := j/3*6 + j%3
	return float64(outputs[at]), float64(outputs[at+3])
}

// Standardised draws have mean 0, variance 1, fourth moment 3, and are not
// correlated with their neighbours, each within five standard errors.
func TestGaussianDrawsAreNormalAndIndependent(t *testing.T) {
	const n = 20_000
	outputs := gaussianOutputs(4, 1)
	states := make([]float32, 12)
	var sum, squares, fourth, products [12]float64
	for s := range n {
		DrawGaussian(states, outputs, 3, floor, 7, philox.Counter{Word: philox.Word{Purpose: philox.Wake}, Sample: uint32(s)})
		var z [12]float64
		for j, h := range states {
			mu, a := output(outputs, j)
			z[j] = (float64(h) - mu) / (math.Exp(a) + floor)
			sum[j] += z[j]
			squares[j] += z[j] * z[j]
			fourth[j] += z[j] * z[j] * z[j] * z[j]
			if j > 0 {
				products[j] += z[j] * z[j-1]
			}
		}
	}
	for j := range states {
		for what, c := range map[string]struct{ got, want, variance float64 }{
			"mean":          {sum[j], 0, 1},
			"variance":      {squares[j], 1, 2},
			"fourth moment": {fourth[j], 3, 96},
			"correlation":   {products[j], 0, 1},
		} {
			if z := (c.got/n - c.want) / math.Sqrt(c.variance/n); !(math.Abs(z) <= 5) {
				t.Errorf("unit %d: the %s is %.4f, %.1f standard errors from %v", j, what, c.got/n, z, c.want)
			}
		}
	}
}

// A draw is the function of its counter that is documented.
func TestGaussianDrawsAreThoseOfTheirCounters(t *testing.T) {
	outputs := gaussianOutputs(3, 2)
	states := make([]float32, 9)
	c := philox.Counter{Word: philox.Word{Purpose: philox.Sleep, Layer: 2}, Sample: 5, Datum: 6, Step: 7}
	DrawGaussian(states, outputs, 3, floor, 9, c)
	for j, got := range states {
		c.Unit = uint16(j / 4)
		words := philox.Key(9).Block(c)
		pair := j % 4 / 2 * 2
		r := math.Sqrt(-2 * math.Log(float64(philox.Uniform(words[pair]))))
		z := r * math.Cos(2*math.Pi*float64(philox.Uniform(words[pair+1]))-math.Pi/2*float64(j%2))
		mu, a := output(outputs, j)
		if want := mu + (math.Exp(a)+floor)*z; !(math.Abs(float64(got)-want) <= 1e-6*(1+math.Abs(want))) {
			t.Errorf("unit %d is %v, want %v", j, got, want)
		}
	}
}

// The vector kernels give the bits of package math for each first and each second word of a pair that differs in its
// draws.
func TestNormalsHaveTheBitsOfPackageMath(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		var got, want doubleRoom
		for w := uint32(0); w < 1<<23; {
			for j := 0; j < atATime; j += 2 {
				got.words[j], got.words[j+1] = w<<9, w*0x9e3779b1<<9 // an odd multiple of w runs through all draws, too
				w++
			}
			want.words = got.words
			current.normals(&got, atATime)
			portable.normals(&want, atATime)
			if got.normals != want.normals {
				t.Fatalf("near words %#x, draws are %v, want %v", w, got.normals, want.normals)
			}
		}
	})
}

// All instruction sets give the same bits for layers and positions of any size.
func TestGaussiansHaveTheBitsOfPortableCode(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, shape := range [][2]int{{1, 1}, {3, 1}, {4, 1}, {20, 1}, {127, 1}, {129, 1}, {260, 1}, {8, 65}, {3, 50}, {130, 3}, {4 << 16, 2}} {
			units, n := shape[0], shape[0]*shape[1]
			outputs := make([]float32, 2*n)
			for k := range outputs {
				outputs[k] = float32(k%11-5) / 3
			}
			if n > 20 {
				outputs[2*n-1], outputs[2*n-2], outputs[2*n-3], outputs[n/4] = 710, -800, float32(math.NaN()), float32(math.Inf(1))
			}
			run := func() (states, residuals, information []float32, log float64) {
				states, residuals, information = make([]float32, n), slices.Clone(outputs), slices.Clone(outputs)
				DrawGaussian(states, outputs, units, floor, 9, philox.Counter{Word: philox.Word{Unit: 11, Layer: 2}, Sample: 5, Datum: 6, Step: 7})
				InformationGaussian(information, units, floor, 0.3)
				return states, residuals, information, ResidualGaussian(residuals, states, units, floor)
			}
			states, residuals, information, log := run()
			with(&portable, func() {
				wantStates, wantResiduals, wantInformation, want := run()
				if !sameBits(states, wantStates) || !sameBits(residuals, wantResiduals) || !sameBits(information, wantInformation) || math.Float64bits(log) != math.Float64bits(want) {
					t.Errorf("%d positions of %d units differ from portable code", shape[1], units)
				}
			})
		}
	})
}

// logDensity is that of Várady 2025, 7.1.
func logDensity(outputs []float64, states []float32) float64 {
	sum := 0.0
	for j, h := range states {
		at := j/3*6 + j%3
		sigma := math.Exp(outputs[at+3]) + floor
		sum += math.Log(math.Exp(-(float64(h)-outputs[at])*(float64(h)-outputs[at])/(2*sigma*sigma)) / (math.Sqrt(2*math.Pi) * sigma))
	}
	return sum
}

// Residuals are the derivatives of the log-density, by finite differences, also
// where the floor makes most of σ.
func TestGaussianResidualsAreDerivatives(t *testing.T) {
	outputs := gaussianOutputs(3, 3)
	outputs[3] = -6
	states := make([]float32, 9)
	DrawGaussian(states, outputs, 3, floor, 1, philox.Counter{})
	exact := make([]float64, len(outputs))
	for k, o := range outputs {
		exact[k] = float64(o)
	}
	residuals := slices.Clone(outputs)
	if got, want := ResidualGaussian(residuals, states, 3, floor), logDensity(exact, states); !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("the log-density is %v, want %v", got, want)
	}
	for k := range exact {
		const h = 1e-5
		above, below := slices.Clone(exact), slices.Clone(exact)
		above[k] += h
		below[k] -= h
		want := (logDensity(above, states) - logDensity(below, states)) / (2 * h)
		if !(math.Abs(float64(residuals[k])-want) <= 1e-4*(1+math.Abs(want))) {
			t.Errorf("derivative by output %d is %v, want %v", k, residuals[k], want)
		}
	}
}

// The information is the covariance of the residuals under the units' own
// distribution: 1/σ² for μ, 2ρ² for a, nothing between them.
func TestGaussianInformationIsTheCovarianceOfResiduals(t *testing.T) {
	const n = 40_000
	outputs := gaussianOutputs(2, 4)
	outputs[4] = -5
	want := slices.Clone(outputs)
	InformationGaussian(want, 3, floor, 0.5)
	states := make([]float32, 6)
	square, fourth := make([]float64, len(outputs)), make([]float64, len(outputs))
	cross, crossSquare := make([]float64, len(outputs)), make([]float64, len(outputs))
	for s := range n {
		residuals := slices.Clone(outputs)
		DrawGaussian(states, residuals, 3, floor, 3, philox.Counter{Sample: uint32(s)})
		ResidualGaussian(residuals, states, 3, floor)
		for k, r := range residuals {
			v := float64(r) * float64(r)
			square[k] += v / n
			fourth[k] += v * v / n
			if k%6 < 3 {
				p := float64(r) * float64(residuals[k+3])
				cross[k] += p / n
				crossSquare[k] += p * p / n
			}
		}
	}
	for k := range want {
		se := math.Sqrt((fourth[k] - square[k]*square[k]) / n)
		if !(math.Abs(square[k]-2*float64(want[k])) <= 5*se) {
			t.Errorf("the information of output %d is %v, of samples %v ± %.2g", k, 2*want[k], square[k], se)
		}
		if se := math.Sqrt(crossSquare[k] / n); !(math.Abs(cross[k]) <= 5*se) {
			t.Errorf("the information between μ and a of output %d is %v ± %.2g", k, cross[k], se)
		}
	}
}
