package kernels

import (
	"math"
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
		if math.Abs(got-want) > 4e-7*scale {
			t.Errorf("log-probability %v, want %v", got, want)
		}
		for j := range logits {
			if math.Abs(float64(logits[j])-residual[j]) > 4e-7*math.Abs(residual[j])+1e-37 {
				t.Errorf("residual of unit %d is %v, want %v", j, logits[j], residual[j])
			}
		}
	})
}

func TestSigmoidOverItsRange(t *testing.T) {
	for a := float32(-100); a <= 100; a += 1.0 / 64 {
		want := 1 / (1 + math.Exp(-float64(a)))
		if got := float64(Sigmoid(a)); math.Abs(got-want) > 4e-7*want+1e-37 {
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

func TestResidualKeepsNaN(t *testing.T) {
	logits := []float32{float32(math.NaN())}
	if got := Residual(logits, []float32{1}); !math.IsNaN(got) {
		t.Errorf("log-probability of a NaN logit is %v", got)
	}
}

// The share of draws that are on is σ(a), within five standard errors.
func TestDrawFrequency(t *testing.T) {
	const draws = 100_000
	logits := []float32{-4, -1, 0, 0.5, 3, 30}
	states := make([]float32, len(logits))
	on := make([]float64, len(logits))
	for n := range draws {
		Draw(states, logits, -1, 7, philox.Counter{Purpose: philox.Wake, Sample: uint32(n)})
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
		if se := math.Sqrt(p * (1 - p) / draws); math.Abs(on[j]/draws-p) > 5*se+1e-12 {
			t.Errorf("logit %v: on in %v of the draws, want %v ± %v", a, on[j]/draws, p, se)
		}
	}
}

func BenchmarkResidual(b *testing.B) {
	logits, states := make([]float32, 784), make([]float32, 784)
	for b.Loop() {
		for j := range logits {
			logits[j] = float32(j%17) - 8
		}
		Residual(logits, states)
	}
}

func BenchmarkDraw(b *testing.B) {
	logits, states := make([]float32, 784), make([]float32, 784)
	for j := range logits {
		logits[j] = float32(j%17) - 8
	}
	for b.Loop() {
		Draw(states, logits, 0, 1, philox.Counter{})
	}
}
