package plotting

import (
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot/plotter"
)

func TestThinnedKeepsEndsAndExtremes(t *testing.T) {
	points := make(plotter.XYs, 12_345)
	for i := range points {
		points[i] = plotter.XY{X: float64(i), Y: math.Sin(float64(i))}
	}
	points[7_001].Y, points[7_002].Y = 50, -60
	kept := thinned(points)
	if len(kept) > mostPoints {
		t.Errorf("%d points kept", len(kept))
	}
	if kept[0] != points[0] || kept[len(kept)-1] != points[len(points)-1] {
		t.Errorf("ends are %v and %v", kept[0], kept[len(kept)-1])
	}
	for _, extreme := range []plotter.XY{points[7_001], points[7_002]} {
		if !slices.Contains(kept, extreme) {
			t.Errorf("%v is lost", extreme)
		}
	}
	for i := range kept[1:] {
		if kept[i].X >= kept[i+1].X {
			t.Fatalf("x falls from %v to %v", kept[i].X, kept[i+1].X)
		}
	}
}

func TestThinnedKeepsShortCurves(t *testing.T) {
	points := make(plotter.XYs, mostPoints)
	if kept := thinned(points); len(kept) != mostPoints {
		t.Errorf("%d of %d points kept", len(kept), mostPoints)
	}
}

func TestFiniteDropsWhatCannotBeDrawn(t *testing.T) {
	points := plotter.XYs{{X: 1, Y: 2}, {X: math.NaN(), Y: 1}, {X: 1, Y: math.Inf(-1)}, {X: 3, Y: 4}}
	if got, want := finite(points), (plotter.XYs{{X: 1, Y: 2}, {X: 3, Y: 4}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !math.IsNaN(points[1].X) {
		t.Error("the points given were changed")
	}
}

func TestMeanAndSD(t *testing.T) {
	mean, sd := meanAndSD([]float64{2, math.NaN(), 4, 9, math.Inf(1)})
	if mean != 5 || sd != math.Sqrt(13) {
		t.Errorf("mean %v, sd %v; want 5 and √13", mean, sd)
	}
	if mean, sd := meanAndSD([]float64{3}); mean != 3 || !math.IsNaN(sd) {
		t.Errorf("of one value: mean %v, sd %v; want 3 and NaN", mean, sd)
	}
}

func TestSeedsAreComparedWhereAllHaveTrained(t *testing.T) {
	seeds := []plotter.XYs{
		{{X: 1, Y: 1}, {X: 2, Y: 2}, {X: 3, Y: 3}},
		{{X: 1, Y: 3}, {X: 3, Y: 7}},
	}
	mean, sd := acrossSeeds(seeds)
	if want := (plotter.XYs{{X: 1, Y: 2}, {X: 3, Y: 5}}); !slices.Equal(mean, want) {
		t.Errorf("mean %v, want %v", mean, want)
	}
	for i, want := range []float64{math.Sqrt2, math.Sqrt(8)} {
		if math.Abs(sd[i]-want) > 1e-12 {
			t.Errorf("sd %v, want %v at %d", sd[i], want, i)
		}
	}
}

func TestTimeIsInTheUnitThatSuitsTheLongestRun(t *testing.T) {
	for _, c := range []struct {
		seconds, want float64
		label         string
	}{
		{90, 90, "wall-clock time of training (s)"},
		{1800, 30, "wall-clock time of training (min)"},
		{36_000, 10, "wall-clock time of training (h)"},
	} {
		epoch := runs.Epoch{Seconds: c.seconds}
		x := byTime([]runs.History{{Epochs: []runs.Epoch{{Seconds: 1}}}, {Epochs: []runs.Epoch{epoch}}})
		if x.of(epoch) != c.want || x.label != c.label {
			t.Errorf("%v s is %v on %q", c.seconds, x.of(epoch), x.label)
		}
	}
}

func TestEveryWeightIsCounted(t *testing.T) {
	values := []float64{-100, -3, -3, 0, 2.5}
	bins, err := commonBins(values, nil)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, n := range bins.count(values) {
		total += n
	}
	if total != 5 {
		t.Errorf("%v of 5 values counted", total)
	}
}

// TestInterpolated aligns a curve that bends at 2 with a straight one that begins later and ends
// earlier.
func TestInterpolated(t *testing.T) {
	bent := plotter.XYs{{X: 0, Y: 0}, {X: 2, Y: 4}, {X: 6, Y: 8}}
	straight := plotter.XYs{{X: 1, Y: 1}, {X: 5, Y: 5}}
	got := interpolated([]plotter.XYs{bent, straight})
	want := []plotter.XYs{
		{{X: 1, Y: 2}, {X: 2, Y: 4}, {X: 5, Y: 7}},
		{{X: 1, Y: 1}, {X: 2, Y: 2}, {X: 5, Y: 5}},
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("curve %d is %v, want %v", i, got[i], want[i])
		}
	}
	if alone := interpolated([]plotter.XYs{bent}); !slices.Equal(alone[0], bent) {
		t.Errorf("one curve alone becomes %v", alone[0])
	}
}
