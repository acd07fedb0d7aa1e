package deterministic

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"pgregory.net/rapid"
)

// printed lists the forms of activation as printed: (On Helmholtz Machines, 9) and the factors of
// (On Helmholtz Machines, 11), with the odds θ = exp(w) and a bias that acts as a parent always on.
var printed = map[Activation]func(q, w []float64, b float64) float64{
	Logistic: func(q, w []float64, b float64) float64 {
		for k := range q {
			b += w[k] * q[k]
		}
		return 1 / (1 + math.Exp(-b))
	},
	NoisyOr: secondFactor,
	PrintedProduct: func(q, w []float64, b float64) float64 {
		sum := math.Exp(b)
		for k := range q {
			sum += q[k] * math.Exp(w[k])
		}
		return (1 - 1/(1+sum)) * secondFactor(q, w, b)
	},
}

func secondFactor(q, w []float64, b float64) float64 {
	product := 1 - math.Exp(b)/(1+math.Exp(b))
	for k := range q {
		odds := math.Exp(w[k])
		product *= 1 - q[k]*odds/(1+odds)
	}
	return 1 - product
}

// unit is the input of a rule.
type unit struct {
	q, w []float64
	b    float64
}

func drawUnit(t *rapid.T) unit {
	n := rapid.IntRange(0, 4).Draw(t, "parents")
	return unit{
		q: rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "q"),
		w: rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(t, "w"),
		b: rapid.Float64Range(-3, 3).Draw(t, "b"),
	}
}

func TestProbabilitiesAreThoseOfTheFormulas(t *testing.T) {
	for activation, rule := range rules {
		t.Run(activation.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				u := drawUnit(t)
				p := printed[activation](u.q, u.w, u.b)
				on, off := rule.logProbabilities(u.q, u.w, u.b)
				wantClose(t, "p", math.Exp(on), p, 1e-12)
				wantClose(t, "1−p", math.Exp(off), 1-p, 1e-12)
			})
		})
	}
}

// The unit has one certain cause of odds 1, and a bias that never switches it on.
func TestOneCertainCauseOfOddsOne(t *testing.T) {
	for activation, want := range map[Activation]float64{NoisyOr: 0.5, PrintedProduct: 0.25} {
		on, off := rules[activation].logProbabilities([]float64{1}, []float64{0}, math.Inf(-1))
		wantClose(t, activation.String(), math.Exp(on), want, 1e-15)
		wantClose(t, activation.String()+", off", math.Exp(off), 1-want, 1e-15)
	}
}

func TestUnitsWithoutParentsFollowTheirBias(t *testing.T) {
	const b = 0.7
	for activation, want := range map[Activation]float64{
		Logistic: statistics.Sigmoid(b), NoisyOr: statistics.Sigmoid(b), PrintedProduct: statistics.Sigmoid(b) * statistics.Sigmoid(b),
	} {
		on, _ := rules[activation].logProbabilities(nil, nil, b)
		wantClose(t, activation.String(), math.Exp(on), want, 1e-15)
	}
}

// TestUnitGradients compares the derivatives of a unit's −t log p − (1−t) log(1−p) with finite
// differences.
func TestUnitGradients(t *testing.T) {
	for activation, rule := range rules {
		t.Run(activation.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				u := drawUnit(t)
				target := rapid.Float64Range(0, 1).Draw(t, "t")
				cost := func() float64 {
					on, off := rule.logProbabilities(u.q, u.w, u.b)
					return -target*on - (1-target)*off
				}
				dq, dw := make([]float64, len(u.q)), make([]float64, len(u.w))
				db := rule.addGradient(target, u.q, u.w, u.b, dq, dw)
				for k := range u.q {
					wantClose(t, "∂/∂q", dq[k], slope(&u.q[k], cost), 1e-7)
					wantClose(t, "∂/∂w", dw[k], slope(&u.w[k], cost), 1e-7)
				}
				wantClose(t, "∂/∂b", db, slope(&u.b, cost), 1e-7)
			})
		})
	}
}

// With extreme weights and certain activities the logarithms and the gradients must stay finite.
func TestExtremeUnitsStayFinite(t *testing.T) {
	for activation, rule := range rules {
		for _, w := range []float64{-30, 30} {
			for _, q := range []float64{0, 1} {
				for _, target := range []float64{0, 0.5, 1} {
					on, off := rule.logProbabilities([]float64{q}, []float64{w}, -30)
					dq, dw := make([]float64, 1), make([]float64, 1)
					db := rule.addGradient(target, []float64{q}, []float64{w}, -30, dq, dw)
					for _, v := range []float64{on, off, dq[0], dw[0], db} {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Errorf("%v, w = %v, q = %v, t = %v: log p %v, log(1−p) %v, derivatives %v, %v, %v", activation, w, q, target, on, off, dq, dw, db)
							break
						}
					}
				}
			}
		}
	}
}

// slope returns the derivative of an objective by one variable, from differences over five points
// with an error of fourth order in the step.
func slope(variable *float64, objective func() float64) float64 {
	const step = 1e-5
	value := *variable
	at := func(steps float64) float64 {
		*variable = value + steps*step
		return objective()
	}
	derivative := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * step)
	*variable = value
	return derivative
}

// wantClose compares two numbers with a tolerance relative to the larger of want and 1.
func wantClose(t interface{ Errorf(string, ...any) }, what string, got, want, tolerance float64) {
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
