package oracle

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// full puts the blocks of a network on the diagonal of one matrix.
func full(blocks []Block, size int) *mat.SymDense {
	f := mat.NewSymDense(size, nil)
	for _, b := range blocks {
		for k := range b.Unit.Width {
			for l := range b.Unit.Width {
				f.SetSym(b.Unit.Start+k, b.Unit.Start+l, b.Matrix.At(k, l))
			}
		}
	}
	return f
}

// scoreCovariance returns E[∂ log p ∂ log pᵀ], every entry, without assuming blocks.
func scoreCovariance(m *Networks, network []Unit, measure Distribution) *mat.SymDense {
	f := mat.NewSymDense(len(m.Flat), nil)
	for v, weight := range measure {
		score := make([]float64, len(m.Flat))
		m.addScore(score, network, v, 1)
		f.SymRankOne(f, weight, mat.NewVecDense(len(score), score))
	}
	return f
}

func wantSameMatrix(t *testing.T, what string, got, want mat.Matrix, tolerance float64) {
	t.Helper()
	var difference mat.Dense
	difference.Sub(got, want)
	if largest := mat.Norm(&difference, math.Inf(1)); !(largest <= tolerance) {
		t.Errorf("%s differs by %g", what, largest)
	}
}

// Theorem 1: the covariance of the score under the model's own distribution is
// block-diagonal, and its blocks are (5.2) and (5.6).
func TestFisherMatrixIsTheCovarianceOfTheScore(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		size := len(m.Flat)
		wantSameMatrix(t, "F_p", full(m.Fisher(m.Generative, m.Model()), size),
			scoreCovariance(m, m.Generative, m.Model()), 1e-12)
		q := m.Wake(data, Uniform)
		wantSameMatrix(t, "F_q", full(m.Fisher(m.Recognition, q), size),
			scoreCovariance(m, m.Recognition, q), 1e-12)
	})
}

// Under any measure the blocks must be minus the mean second derivative of the log-probability,
// computed here by finite differences of the score; the derivatives between units vanish.
func TestFisherMatrixIsMinusTheMeanHessian(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		const step = 1e-5
		size := len(m.Flat)
		for name, measure := range map[string]Distribution{
			"p(x,h)": m.Model(), "p_D p(h|x)": m.Wake(data, Ratio), "p_D q(h|x)": m.Wake(data, Uniform),
		} {
			fixed := freeze(measure)
			hessian := mat.NewDense(size, size, nil)
			for k, value := range m.Flat {
				m.Flat[k] = value + step
				up := m.Score(fixed)
				m.Flat[k] = value - step
				down := m.Score(fixed)
				m.Flat[k] = value
				for l := range up {
					hessian.Set(l, k, -(up[l]-down[l])/(2*step))
				}
			}
			units := slices.Concat(m.Generative, m.Recognition)
			wantSameMatrix(t, "F under "+name, full(m.Fisher(units, fixed), size), hessian, 1e-8)
		}
	})
}

// freeze fixes the probabilities of a measure while the parameters change.
func freeze(m Distribution) Distribution {
	var states []Values
	var weights []float64
	for s, w := range m {
		states, weights = append(states, s), append(weights, w)
	}
	return func(yield func(Values, float64) bool) {
		for i, s := range states {
			if !yield(s, weights[i]) {
				return
			}
		}
	}
}

// Each source of F_p and F_q must tend to the block under the measure that it samples: with 20,000
// samples per datum it lies within six standard errors of it, and for F_p far from the block under
// the other measure.
func TestFisherEstimatesTendToTheirMeasure(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		if m.Architecture.Groups != nil {
			return // slow; TestDrawsHaveTheirProbabilities covers draws of categorical units
		}
		const n = 5000
		drawn := draw(m, data[:1], n, n, 8)
		sources := []struct {
			name     string
			units    []Unit
			estimate Distribution
			exact    Distribution
		}{
			{"dreams", m.Generative, Equal(drawn.Dreams), m.Model()},
			{"wake samples weighted by p/q", m.Generative, m.WakeMeasure(drawn, Ratio), m.Wake(data[:1], Ratio)},
			{"wake samples weighted by √(p/q)", m.Generative, m.WakeMeasure(drawn, SquareRoot), m.Wake(data[:1], SquareRoot)},
			{"dreams with the weights of wake samples", m.Generative, scaled(m.LegacyMeasure(drawn, Ratio), n), m.Model()},
			{"wake samples of equal weight", m.Recognition, m.WakeMeasure(drawn, Uniform), m.Wake(data[:1], Uniform)},
		}
		for _, source := range sources {
			estimate, exact := m.Fisher(source.units, source.estimate), m.Fisher(source.units, source.exact)
			for i, variance := range entryVariances(m, exact, source.estimate) {
				variance.Apply(func(k, l int, variance float64) float64 {
					got, want := estimate[i].Matrix.At(k, l), exact[i].Matrix.At(k, l)
					if !(math.Abs(got-want) <= 6*math.Sqrt(variance)+1e-12) {
						t.Errorf("%s, unit %d: %g, want %g ± %g", source.name, i, got, want, math.Sqrt(variance))
					}
					return variance
				}, variance)
			}
		}
		if len(m.Architecture.Convolutions) > 0 {
			return // its few weights have similar blocks under both
		}
		dreams, wake := full(m.Fisher(m.Generative, m.Model()), len(m.Flat)), full(m.Fisher(m.Generative, m.Wake(data[:1], Ratio)), len(m.Flat))
		var difference mat.Dense
		difference.Sub(dreams, wake)
		if !(mat.Norm(&difference, 2) >= 0.05*mat.Norm(dreams, 2)) {
			t.Error("the two sources of F_p have the same limit on this machine: the test says nothing")
		}
	})
}

// scaled multiplies the weights of a distribution.
func scaled(d Distribution, by float64) Distribution {
	return func(yield func(Values, float64) bool) {
		d(func(v Values, weight float64) bool { return yield(v, by*weight) })
	}
}

// entryVariances returns the variance of each entry of the blocks estimated from weighted samples,
// Σ ω̃² (entry − mean)² (the delta method for self-normalised weights).
func entryVariances(m *Networks, exact []Block, samples Distribution) []*mat.Dense {
	variances := make([]*mat.Dense, len(exact))
	for i, b := range exact {
		variances[i] = mat.NewDense(b.Unit.Width, b.Unit.Width, nil)
	}
	for s, weight := range samples {
		of := m.Fisher(unitsOf(m, exact), Point(s))
		for i, b := range exact {
			variances[i].Apply(func(k, l int, sum float64) float64 {
				return sum + math.Pow(weight*(of[i].Matrix.At(k, l)-b.Matrix.At(k, l)), 2)
			}, variances[i])
		}
	}
	return variances
}

// unitsOf returns the units of the network that the blocks belong to.
func unitsOf(m *Networks, blocks []Block) []Unit {
	if blocks[0].Unit.Start < m.Architecture.GenerativeSize() {
		return m.Generative
	}
	return m.Recognition
}

// The units of the prior have no parents: their block is the number σ'(b).
func TestPriorBlocksAreTheDerivativeOfTheSigmoid(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		for _, b := range m.Fisher(m.Generative, m.Wake(data, Ratio)) {
			if b.Unit.Layer == m.Architecture.Depth() {
				on := statistics.Sigmoid(m.Flat[b.Unit.Start])
				wantClose(t, "prior block", b.Matrix.At(0, 0), on*(1-on), 1e-12)
			}
		}
	})
}

// (αI + F) times the natural gradient must be (1+α) times the gradient, and strong damping must
// give the gradient itself.
func TestNaturalGradientSolvesTheDampedSystem(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		gradient := m.Limit(data, ReweightedWakeSleep)
		units := slices.Concat(m.Generative, m.Recognition)
		blocks := m.Fisher(units, m.Wake(data, Uniform))
		for _, alpha := range []float64{0.01, 0.2, 5} {
			natural, err := NaturalGradient(blocks, gradient, alpha)
			if err != nil {
				t.Fatal(err)
			}
			var back mat.VecDense
			back.MulVec(full(blocks, len(gradient)), mat.NewVecDense(len(natural), natural))
			for k := range natural {
				wantClose(t, fmt.Sprintf("α %g, component %d", alpha, k), (back.AtVec(k)+alpha*natural[k])/(1+alpha), gradient[k], 1e-10)
			}
			diagonal, err := NaturalGradient(Diagonal(blocks), gradient, alpha)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range blocks {
				for k := range b.Unit.Width {
					want := (1 + alpha) / (alpha + b.Matrix.At(k, k)) * gradient[b.Unit.Start+k]
					wantClose(t, "diagonal natural gradient", diagonal[b.Unit.Start+k], want, 1e-12)
				}
			}
		}
		plain, err := NaturalGradient(blocks, gradient, 1e12)
		if err != nil {
			t.Fatal(err)
		}
		wantAllClose(t, "natural gradient under strong damping", plain, gradient, 1e-10)
	})
}

func TestUndampedSingularBlocksAreAnError(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		one := draw(m, data[:1], 1, 0, 1)
		if _, err := NaturalGradient(m.Fisher(m.Generative, m.WakeMeasure(one, Uniform)), m.Limit(data, WakeSleep), 0); err == nil {
			t.Error("a block of rank one has an inverse")
		}
	})
}

// Factored blocks equal the blocks if the parents do not change the logit: for a machine without
// weights, and for the prior of any machine.
func TestKroneckerIsExactWhereParentsDoNotMatter(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		if m.Architecture.Groups != nil {
			return // categorical units have no factored blocks
		}
		want := func(units []Unit, measure Distribution) {
			t.Helper()
			wantSameMatrix(t, "blocks", full(m.Kronecker(units, measure), len(m.Flat)), full(m.Fisher(units, measure), len(m.Flat)), 1e-12)
		}
		top := m.Architecture.Depth()
		prior := m.Generative[len(m.Generative)-m.Architecture.Units[top]:]
		want(prior, m.Model())
		for _, u := range slices.Concat(m.Generative, m.Recognition) {
			clear(m.Flat[u.Start+1 : u.Start+u.Width])
		}
		want(m.Generative, m.Wake(data, Ratio))
		want(m.Recognition, m.Wake(data, Uniform))
	})
}
