package plotting

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"
)

func labels(ticks []plot.Tick) (labels []string) {
	for _, tick := range ticks {
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	return labels
}

func TestLinearTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		ticks     linearTicks
		want      []string
	}{
		{-0.25, 0.31, linearTicks{}, []string{"−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"}},
		{1, 3, linearTicks{integers: true}, []string{"1", "2", "3"}},
		{0, 332_704, linearTicks{few: true}, []string{"0", "100,000", "200,000", "300,000"}},
	} {
		if got := labels(c.ticks.Ticks(c.low, c.high)); !slices.Equal(got, c.want) {
			t.Errorf("%v to %v: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{1, 1e4, []string{"1", "10", "100", "1,000", "10,000"}},
		{1, 2e8, []string{"1", "100", "10,000", "1,000,000", "100,000,000"}},
		{15, 80, []string{"20", "50"}},
		{0.6, 3, []string{"1", "2"}},
		{25, 45, []string{"25", "30", "35", "40", "45"}},
		{11, 21, []string{"12", "14", "16", "18", "20"}},
		{0.03, 0.3, []string{"0.05", "0.1", "0.2"}},
		// math.Log10 rounds these limits to the wrong side of a tick.
		{1e-4, 10, []string{"0.0001", "0.001", "0.01", "0.1", "1", "10"}},
		{0.05, 0.2, []string{"0.05", "0.1", "0.2"}},
		{2, 20, []string{"2", "5", "10", "20"}},
		// Labels leave room for the curves.
		{1e-8, 1e-3, []string{"1e−08", "1e−07", "0.000001", "0.00001", "0.0001", "0.001"}},
		{3e-9, 2e-8, []string{"5e−09", "1e−08", "2e−08"}},
		{1e-36, 1, []string{"1e−35", "1e−30", "1e−25", "1e−20", "1e−15", "1e−10", "0.00001", "1"}},
	} {
		ticks := logTicks{}.Ticks(math.Log10(c.low), math.Log10(c.high))
		if got := labels(ticks); !slices.Equal(got, c.want) {
			t.Errorf("%v to %v: %q, want %q", c.low, c.high, got, c.want)
		}
		for _, tick := range ticks {
			if v := math.Pow(10, tick.Value); v < c.low*(1-1e-9) || v > c.high*(1+1e-9) {
				t.Errorf("%v to %v: a tick at %v", c.low, c.high, v)
			}
		}
	}
}

func TestValuesAreWrittenWithTheirErrors(t *testing.T) {
	for _, c := range []struct {
		value, se float64
		want      string
	}{
		{-2.00043, 0.0132, "−2.000 ± 0.013 (standard error)"},
		{-1234.5, 12, "−1,234 ± 12 (standard error)"},
		{-0.4321, math.NaN(), "−0.4321"},
	} {
		if got := withError(c.value, c.se); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
