package hm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// TestGibbsMovesFromPToPStar compares chains at their start with dreams, and their expected values
// after they have settled with p(x|h¹), h¹ ~ p*(h¹).
func TestGibbsMovesFromPToPStar(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		const n = 4000
		m, exact := tiny(t, coding, 4, 3, 2)
		start, err := m.Gibbs(t.Context(), n, Chain{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		dreams, err := m.Means(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(dreams, start, cmp.AllowUnexported(dataset.Split{}, dataset.Values{})); diff != "" {
			t.Errorf("chains without sweeps are not what Sample returns (-sample +chains):\n%s", diff)
		}
		settled, err := m.Gibbs(t.Context(), n, Chain{Sweeps: 20, Candidates: 4, Inner: 1, Retain: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, 4)
		for v, weight := range exact.Bidirectional() {
			for j := range want {
				want[j] += weight * exact.On(exact.Generative[j], v)
			}
		}
		for j := range want {
			mean := 0.0
			for _, image := range settled.Values {
				mean += image[j] / n
			}
			wantNear(t, fmt.Sprintf("the mean of unit %d", j), mean, want[j], 5*0.5/math.Sqrt(n))
		}
	})
}

// TestInpaint checks that known units do not change, and that missing units average, over chains,
// to their expectation under p* given the known units.
func TestInpaint(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		const chains = 4000
		m, exact := tiny(t, coding, 4, 3, 2)
		rows := dataset.Split{Name: "test", Shape: shape(1, 4), Values: dataset.Bytes(4, []uint8{255, 0, 255, 0, 0, 255, 255, 255})}
		mask := dataset.Mask{false, true, true, false}
		p, err := m.Inpaint(t.Context(), rows, mask, chains, Chain{Sweeps: 20, Candidates: 4, Inner: 1, Retain: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]float64{{1, 0, 1, 0}, {0, 1, 1, 1}}, p.Originals.Values); diff != "" {
			t.Errorf("originals (-data +sheet):\n%s", diff)
		}
		if diff := cmp.Diff([][]float64{{1, 0.5, 0.5, 0}, {0, 0.5, 0.5, 1}}, p.Corrupted.Values); diff != "" {
			t.Errorf("corrupted (-data +sheet):\n%s", diff)
		}
		if len(p.Images) != chains {
			t.Fatalf("images of %d chains, want %d", len(p.Images), chains)
		}
		for r, x := range states(exact, rows) {
			want := make([]float64, 4)
			for v, weight := range exact.BidirectionalGiven(x, []bool{true, false, false, true}) {
				for j := range want {
					want[j] += weight * exact.On(exact.Generative[j], v)
				}
			}
			for j := range want {
				mean := 0.0
				for _, chain := range p.Images {
					mean += chain.Values[r][j] / chains
				}
				if mask[j] {
					wantNear(t, fmt.Sprintf("the mean of unit %d of row %d", j, r), mean, want[j], 5*0.5/math.Sqrt(chains))
					continue
				}
				if got, want := mean, p.Originals.Values[r][j]; !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("the known unit %d of row %d is %v on average, was %v", j, r, got, want)
				}
			}
		}
	})
}

// A sweep of a machine without weights keeps a fair unit if it picks the previous state among two candidates, and else draws it anew.
func TestTheLastSweepCountsChangedChains(t *testing.T) {
	t.Parallel()
	const chains = 4000
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	clear(m.parameters.Flat)
	rows := dataset.Split{Name: "test", Shape: shape(1, 4), Values: dataset.Bytes(4, []uint8{255, 0, 255, 0})}
	p, err := m.Inpaint(t.Context(), rows, dataset.Mask{false, true, false, false}, chains, Chain{Sweeps: 3, Candidates: 2, Inner: 1, Retain: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantNear(t, "the share of changed chains", p.Moved, 0.25, 5*math.Sqrt(0.25*0.75/chains))
}

// TestMissingPixelsDoNotMatter inpaints rows that differ only in missing pixels.
func TestMissingPixelsDoNotMatter(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	mask := dataset.Mask{true, true, false, false}
	inpaint := func(values ...uint8) []dataset.Sheet {
		p, err := m.Inpaint(t.Context(), dataset.Split{Name: "test", Shape: shape(1, 4), Values: dataset.Bytes(4, values)}, mask, 3, Chain{Sweeps: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.Images
	}
	if diff := cmp.Diff(inpaint(0, 255, 255, 0), inpaint(255, 255, 255, 0), cmp.AllowUnexported(dataset.Split{}, dataset.Values{})); diff != "" {
		t.Errorf("the images depend on pixels that are missing:\n%s", diff)
	}
}

// TestDescend checks that the dreams from each layer have the marginals of p, and that the dreams
// from the first layer are unchanged.
func TestDescend(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		const n = 4000
		m, marginals := marginals(t, coding, 4, 3, 2)
		sheets, err := m.Descend(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		dreams, err := m.Means(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if len(sheets) != 2 {
			t.Fatalf("%d sheets, want one for each of 2 hidden layers", len(sheets))
		}
		if !cmp.Equal(dreams, sheets[0], cmp.AllowUnexported(dataset.Split{}, dataset.Values{})) || cmp.Equal(dreams, sheets[1], cmp.AllowUnexported(dataset.Split{})) {
			t.Error("the sheet of h¹ is not that of the dreams, or that of h² is")
		}
		for layer, sheet := range sheets {
			for j, want := range marginals {
				mean := 0.0
				for _, image := range sheet.Values {
					mean += image[j] / n
				}
				wantNear(t, fmt.Sprintf("the mean of unit %d from layer %d", j, layer+1), mean, want, 5*0.5/math.Sqrt(n))
			}
		}
	})
}

// TestDreamWeights compares the effective sample size with its limit, Z⁴/(1/J + (1−1/J) Z²): the
// mean of ω is Z², and the mean of ω² is the denominator. 1/ESS is the mean of ω² if ω has mean
// one, and its standard error follows from the derivative by both means.
func TestDreamWeights(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		const n = 100_000
		m, exact := tiny(t, coding, 4, 3, 2)
		z2 := math.Exp(exact.LogZ2())
		for _, inner := range []int{1, 4, 20} {
			w, err := m.DreamWeights(t.Context(), n, inner)
			if err != nil {
				t.Fatal(err)
			}
			sum, variance := 0.0, 0.0
			for _, l := range w.LogWeights {
				weight := math.Exp(l)
				d := (weight*weight - 1/w.ESS) - 2/w.ESS*(weight-1)
				sum, variance = sum+weight/n, variance+d*d/n
			}
			wantNear(t, "the mean weight", sum, 1, 1e-9)
			j := float64(inner)
			wantNear(t, fmt.Sprintf("1/ESS with %d inner samples", inner), 1/w.ESS, (1/j+(1-1/j)*z2)/(z2*z2), 5*math.Sqrt(variance/n))
		}
	})
}

func TestChainsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	rows, mask := everyRow(4), dataset.Mask{true, false, false, false}
	gibbs := func(n int, c Chain) error { _, err := m.Gibbs(t.Context(), n, c, nil); return err }
	inpaint := func(mask dataset.Mask, chains int) error {
		_, err := m.Inpaint(t.Context(), rows, mask, chains, Chain{Sweeps: 1}, nil)
		return err
	}
	descend := func(n int) error { _, err := m.Descend(t.Context(), n); return err }
	weights := func(n, inner int) error { _, err := m.DreamWeights(t.Context(), n, inner); return err }
	for want, err := range map[string]error{
		"0 chains: use at least 1":          gibbs(0, Chain{}),
		"-1 sweeps: use":                    gibbs(1, Chain{Sweeps: -1}),
		"-1 candidates with 10 inner":       gibbs(1, Chain{Candidates: -1}),
		"use at least 2 candidates":         gibbs(1, Chain{Candidates: 1, Retain: true}),
		"their product must be below":       gibbs(1<<20, Chain{Candidates: 1 << 20}),
		"a mask of 3 pixels for images":     inpaint(dataset.Mask{true, false, false}, 1),
		"hides all 4 pixels":                inpaint(dataset.Mask{true, true, true, true}, 1),
		"hides no pixel of 4":               inpaint(make(dataset.Mask, 4), 1),
		"0 chains for each of 24 rows":      inpaint(mask, 0),
		"0 dreams: use at least 1":          descend(0),
		"weights of 0 dreams with 1 inner":  weights(0, 1),
		"weights of 1 dreams with -3 inner": weights(1, -3),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
}

// TestInpaintKeepsKnownGrayLevels checks that images show a known pixel as the data have it, not as the state drawn
// for it.
func TestInpaintKeepsKnownGrayLevels(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	rows := dataset.Split{Name: "test", Shape: shape(1, 4), Values: dataset.Bytes(4, []uint8{51, 204, 0, 255})}
	p, err := m.Inpaint(t.Context(), rows, dataset.Mask{false, false, true, true}, 5, Chain{Sweeps: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for chain, images := range p.Images {
		if diff := cmp.Diff([]float64{0.2, 0.8}, images.Values[0][:2]); diff != "" {
			t.Errorf("known pixels of chain %d (-data +image):\n%s", chain, diff)
		}
	}
}

// With Draws, the missing units of a categorical column and a Bernoulli unit have their joint distribution under p* given a
// known unit, and so they have if no unit is known.
func TestInpaintedDraws(t *testing.T) {
	t.Parallel()
	const chains = 2000
	a := engine.Architecture{Units: []int{5, 2, 2}, Kinds: []engine.Kind{engine.Categorical}, Groups: [][]engine.Group{{{Units: 3}, {Units: 1, Rest: true}, {Units: 1, Rest: true}}}}
	p := oracle.Random(a, 4)
	e := NRWS().Experiment(New(shape(1, 5)).Dense(2, 2), patterns(t))
	m := &Model{experiment: e, shape: shape(1, 5), parameters: p, engine: &evaluator{parameters: p}, seed: 3}
	exact := oracle.NewNetworks(p)
	rows := dataset.Split{Name: "test", Shape: shape(1, 5), Values: dataset.Bytes(5, []uint8{255, 0, 0, 0, 255})}
	for _, mask := range []dataset.Mask{{true, true, true, true, false}, {true, true, true, true, true}} {
		filled, err := m.Inpaint(t.Context(), rows, mask, chains, Chain{Sweeps: 15, Candidates: 4, Inner: 1, Retain: true, Draws: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts, want := map[string]float64{}, map[string]float64{}
		for _, image := range filled.Images {
			counts[fmt.Sprint(image.Values[0])]++
		}
		for v, weight := range exact.BidirectionalGiven([]float64{0, 0, 0, 0, 1}, []bool{false, false, false, false, !mask[4]}) {
			want[fmt.Sprint(v[0])] += weight
		}
		for state, n := range counts {
			if want[state] == 0 {
				t.Errorf("%v draws of %v", n, state)
			}
		}
		for state, share := range want {
			wantNear(t, "the share of "+state, counts[state]/chains, share, 4.5*math.Sqrt(share*(1-share)/chains))
		}
	}
}
