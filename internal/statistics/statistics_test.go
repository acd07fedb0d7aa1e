package statistics

import (
	"math"
	"testing"
)

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
