package hm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// marginals returns a model and its probabilities p(xⱼ = 1).
func marginals(t *testing.T, coding Coding, units ...int) (*Model, []float64) {
	t.Helper()
	m, exact := tiny(t, coding, units...)
	p := make([]float64, units[0])
	for s, weight := range exact.Model() {
		for j, on := range s[0] {
			if on == 1 {
				p[j] += weight
			}
		}
	}
	return m, p
}

// TestSheetsHaveTheMarginalsOfP averages draws, and expected values, over many
// images.
func TestSheetsHaveTheMarginalsOfP(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		const n = 4000
		m, want := marginals(t, coding, 4, 3, 2)
		draws, err := m.Draw(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		expected, err := m.Means(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]dataset.Sheet{"draws": draws, "expected values": expected} {
			if s.Shape != shape(1, 4) || len(s.Values) != n {
				t.Fatalf("%d %s of shape %v, want %d of shape 1×4", len(s.Values), name, s.Shape, n)
			}
			means := make([]float64, 4)
			for _, image := range s.Values {
				if len(image) != 4 {
					t.Fatalf("an image of %d values", len(image))
				}
				for j, v := range image {
					if !(v >= 0 && v <= 1) || name == "draws" && v != 0 && v != 1 {
						t.Fatalf("%s hold %v", name, v)
					}
					means[j] += v / n
				}
			}
			for j := range means {
				wantNear(t, fmt.Sprintf("the mean of %s of unit %d", name, j), means[j], want[j], 5*math.Sqrt(want[j]*(1-want[j])/n))
			}
		}
		// The draws and the expected values share their hidden states, so they agree more often
		// than chance.
		for j := range 4 {
			sum := 0.0
			for i := range draws.Values {
				sum += (draws.Values[i][j] - want[j]) * (expected.Values[i][j] - want[j]) / n
			}
			if sum <= 0 {
				t.Errorf("unit %d: the covariance of draws and expected values is %v", j, sum)
			}
		}
	})
}

func TestSheetsKeepTheShapeOfTheData(t *testing.T) {
	t.Parallel()
	run := mustTrain(t, short(RWS()).Epochs(1), patterns(t), t.TempDir())
	s, err := run.Means(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if s.Shape != shape(3, 3) {
		t.Errorf("images of shape %v, want 3×3", s.Shape)
	}
}

// TestEncode checks the states and means of the recognition network against its
// formula: the first layer exactly, the others by their frequencies.
func TestEncode(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		const samples = 2000
		m, _ := tiny(t, coding, 4, 3, 2)
		split := everyRow(4)
		e, err := m.Encode(t.Context(), split, samples)
		if err != nil {
			t.Fatal(err)
		}
		if e.Samples != samples || len(e.States) != 2 || len(e.Means) != 2 {
			t.Fatalf("%d samples of %d and %d layers, want %d of 2", e.Samples, len(e.States), len(e.Means), samples)
		}
		for i, units := range []int{3, 2} {
			if len(e.States[i]) != split.Rows*samples || len(e.Means[i]) != split.Rows {
				t.Fatalf("layer %d has %d states and %d means", i+1, len(e.States[i]), len(e.Means[i]))
			}
			for d, mean := range e.Means[i] {
				frequency := make([]float64, units)
				for _, state := range e.States[i][d*samples : (d+1)*samples] {
					for j, on := range state {
						if on > 1 {
							t.Fatalf("a state of %d", on)
						}
						frequency[j] += float64(on) / samples
					}
				}
				for j := range mean {
					wantNear(t, fmt.Sprintf("the frequency of unit %d in layer %d", j, i+1), frequency[j], mean[j], 5*math.Sqrt(0.25/samples))
				}
			}
		}
		layer := m.parameters.Recognition[1]
		for d := range split.Rows {
			for j := range 3 {
				a := float64(layer.Row(j)[0])
				for k, v := range split.Row(d) {
					x := float64(coding.Off())
					if v == 255 {
						x = 1
					}
					a += float64(layer.Row(j)[k+1]) * x
				}
				wantNear(t, "q(h¹|x)", e.Means[0][d][j], 1/(1+math.Exp(-a)), 1e-6)
			}
		}
	})
}

// TestReconstruct checks that the reconstructions are E_q[p(x|h¹)] on average.
func TestReconstruct(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		m, exact := tiny(t, coding, 4, 3, 2)
		const n = 3000 // of the same row
		x := dataset.Split{Name: "test", Shape: shape(1, 4), Values: dataset.Bytes(4, slices.Repeat([]uint8{255, 0, 255, 255}, n))}
		rows, reconstructions, err := m.Reconstruct(t.Context(), x, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows.Values) != n || len(reconstructions.Values) != n || rows.Shape != x.Shape || reconstructions.Shape != x.Shape {
			t.Fatalf("%d rows and %d reconstructions of shapes %v and %v", len(rows.Values), len(reconstructions.Values), rows.Shape, reconstructions.Shape)
		}
		if diff := cmp.Diff([]float64{1, 0, 1, 1}, rows.Values[0]); diff != "" {
			t.Errorf("the row (-data +sheet):\n%s", diff)
		}
		want := make([]float64, 4)
		for v, q := range exact.Wake(states(exact, x)[:1], oracle.Uniform) {
			for j := range want {
				want[j] += q * exact.On(exact.Generative[j], v)
			}
		}
		for j := range want {
			mean := 0.0
			for _, image := range reconstructions.Values {
				if image[j] <= 0 || image[j] >= 1 {
					t.Fatalf("a reconstruction holds %v", image[j])
				}
				mean += image[j] / n
			}
			wantNear(t, fmt.Sprintf("the mean reconstruction of unit %d", j), mean, want[j], 5*0.5/math.Sqrt(n))
		}
	})
}

func TestReconstructSomeRows(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 6, 2)
	split := everyRow(6)
	rows, reconstructions, err := m.Reconstruct(t.Context(), split, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows.Values) != 10 || len(reconstructions.Values) != 10 {
		t.Fatalf("%d rows and %d reconstructions, want 10", len(rows.Values), len(reconstructions.Values))
	}
	some := m.Subset(split, 10)
	for i, image := range rows.Values {
		for j, v := range image {
			if v != float64(some.Row(i)[j])/255 {
				t.Errorf("row %d is %v, want %v", i, image, some.Row(i))
			}
		}
	}
}
