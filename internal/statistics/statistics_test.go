package statistics

import (
	"math"
	"testing"
)

func TestLogAdd(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ a, b, want float64 }{
		{0, 0, math.Ln2}, {-1000, -1000, math.Ln2 - 1000}, {0, -1000, 0}, {-1000, 0, 0},
		{-inf, -3, -3}, {-3, -inf, -3}, {-inf, -inf, -inf}, {inf, -3, inf}, {-3, inf, inf}, {inf, -inf, inf},
	} {
		if got := LogAdd(c.a, c.b); got != c.want {
			t.Errorf("LogAdd(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestMistaken(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		logs  []float64
		class int
		want  float64
	}{
		{[]float64{-1, -2}, 0, 0}, {[]float64{-1, -2}, 1, 1},
		{[]float64{-1, -1, -3}, 1, 0.5}, {[]float64{-1, -1, -1, -1}, 3, 0.75},
		{[]float64{math.Inf(-1), math.Inf(-1)}, 0, 0.5},
		{[]float64{nan, -1}, 1, 1}, {[]float64{nan, -1}, 0, 1},
	} {
		if got := Mistaken(c.logs, c.class); got != c.want {
			t.Errorf("class %d of %v is mistaken with probability %v, want %v", c.class, c.logs, got, c.want)
		}
	}
}

// Two weights of ten decide the mean, the effective number, and the difference from the first half.
func TestLogMean(t *testing.T) {
	logs := make([]float64, 10)
	for i := range logs {
		logs[i] = math.Inf(-1)
	}
	logs[8], logs[9] = 1000, 1000
	if mean, ess, moved := LogMean(logs); math.Abs(mean-1000-math.Log(0.2)) > 1e-12 || math.Abs(ess-0.2) > 1e-12 || !math.IsInf(moved, 1) {
		t.Errorf("mean %v, effective %v, moved %v", mean, ess, moved)
	}
	if mean, ess, moved := LogMean([]float64{-2, -2, -2}); mean != -2 || ess != 1 || moved != 0 {
		t.Errorf("mean %v, effective %v, moved %v", mean, ess, moved)
	}
	if _, _, moved := LogMean([]float64{1}); !math.IsNaN(moved) {
		t.Errorf("one weight has moved by %v", moved)
	}
}
