package boltzmann

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Chains settle at p(missing|known), and known units stay.
func TestClampedChainsSettleAtTheConditional(t *testing.T) {
	const n = 20_000
	m := randomModel(t, 4, 3)
	mask, row := dataset.Mask{true, false, true, false}, []float64{0, 1, 0, 0}
	rows := make([][]float64, n)
	for r := range rows {
		rows[r] = row
	}
	c, _ := m.clamped(t.Context(), newProducts(m.parameters), matrix(rows), mask, 0, 30)
	counts := make([]float64, 4)
	for r := range n {
		v := c.visible.Data[4*r : 4*r+4]
		if v[1] != 1 || v[3] != 0 {
			t.Fatalf("known units have become %v", v)
		}
		counts[int(v[0])+2*int(v[2])]++
	}
	exact := exactly(m)
	var logs []float64
	for s := range 4 {
		logs = append(logs, exact.LogP([]float64{float64(s & 1), 1, float64(s >> 1), 0}))
	}
	known, chi2 := floats.LogSumExp(logs), 0.0
	for s, count := range counts {
		expected := n * math.Exp(logs[s]-known)
		chi2 += (count - expected) * (count - expected) / expected
	}
	if chi2 > 16.3 { // 99.9 % quantile at 3 degrees of freedom
		t.Errorf("chi-squared %.1f of the states %v", chi2, counts)
	}
}

// A sweep of a machine without weights draws two fair units anew, and so changes three chains of four.
func TestTheLastSweepCountsChangedChains(t *testing.T) {
	const n = 4000
	m := randomModel(t, 4, 3)
	clear(m.parameters.Flat)
	p, err := m.Inpaint(t.Context(), split([][]float64{{0, 1, 0, 0}, {1, 1, 1, 1}}), dataset.Mask{true, false, true, false}, n/2, 3, nil)
	if err != nil || math.Abs(p.Moved-0.75) > 5*math.Sqrt(0.75*0.25/n) {
		t.Errorf("the last sweep changed a share of %v (%v)", p.Moved, err)
	}
}

// After one sweep the images are means of p(v|h), whose mean over chains is that of
// the chain's law after it, by enumeration.
func TestInpaintedMeans(t *testing.T) {
	const chains = 20_000
	m := randomModel(t, 3, 2)
	exact := exactly(m)
	p, err := m.Inpaint(t.Context(), split([][]float64{{1, 0, 0}}), dataset.Mask{false, true, true}, chains, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 3)
	for _, start := range exact.Visible {
		for _, h := range exact.Hidden {
			for _, v := range exact.Visible {
				if start[0] == 1 { // the others are 0 or 1 alike
					floats.AddScaled(want, math.Exp(exact.LogPHidden(h, start)+exact.LogPVisible(v, h))/4, v)
				}
			}
		}
	}
	want[0] = 1 // known
	got := make([]float64, 3)
	for _, image := range p.Images {
		floats.AddScaled(got, 1.0/chains, image.Values[0])
	}
	if !floats.EqualApprox(got, want, 4*0.5/math.Sqrt(chains)) {
		t.Errorf("means %v, want %v", got, want)
	}
	if !reflect.DeepEqual(p.Originals.Values, [][]float64{{1, 0, 0}}) || !reflect.DeepEqual(p.Corrupted.Values, [][]float64{{1, 0.5, 0.5}}) {
		t.Errorf("originals %v, corrupted %v", p.Originals.Values, p.Corrupted.Values)
	}
}

func TestInpaintingDependsOnTheSeedAlone(t *testing.T) {
	m := randomModel(t, 8, 5)
	mask := dataset.Mask{true, true, true, true, false, false, false, false}
	inpaint := func(m *Model) dataset.Inpainting {
		p, err := m.Inpaint(t.Context(), split(oracle.Binary(8)), mask, 2, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := inpaint(m)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !reflect.DeepEqual(inpaint(m), want) {
		t.Error("one processor draws other images than several")
	}
	if reflect.DeepEqual(inpaint(m.WithSeed(2)), want) || reflect.DeepEqual(want.Images[0], want.Images[1]) {
		t.Error("another seed or chain draws the same images")
	}
}

// Means of a missing Gaussian unit are those of its density given the known one.
func TestInpaintingOfGaussianUnits(t *testing.T) {
	const chains = 4_000
	m, err := New(dataset.Shape{Height: 1, Width: 2}).Visible(Gaussian).Hidden(2).Deviation(1).Model(3)
	if err != nil {
		t.Fatal(err)
	}
	p := m.parameters
	copy(p.VisibleBiases, []float32{0.3, -0.2})
	copy(p.HiddenBiases, []float32{0.4, -0.5})
	rows := dataset.Split{Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), []uint8{0, 255})}
	got, err := m.Inpaint(t.Context(), rows, dataset.Mask{true, false}, chains, 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	// With v₁ = 1 and σ = 1, p(h|v₁) ∝ e^(cᵀh + (Wh)₁ + (a² − b²)/2), where a = b + (Wh) is the
	// mean of v₀ given h.
	total, mean, square := 0.0, 0.0, 0.0
	for _, h := range oracle.Binary(2) {
		a, log := float64(p.VisibleBiases[0]), -float64(p.VisibleBiases[0]*p.VisibleBiases[0])/2
		for j, on := range h {
			a += on * float64(p.Weights.Data[j])
			log += on * (float64(p.HiddenBiases[j]) + float64(p.Weights.Data[2+j]))
		}
		weight := math.Exp(log + a*a/2)
		total, mean, square = total+weight, mean+weight*a, square+weight*a*a
	}
	mean, square = mean/total, square/total
	drawn := 0.0
	for _, image := range got.Images {
		drawn += image.Values[0][0] / chains
		if image.Values[0][1] != 1 {
			t.Fatal("the known unit has changed")
		}
	}
	if se := math.Sqrt((square - mean*mean) / chains); math.Abs(drawn-mean) > 4*se {
		t.Errorf("the mean of the missing unit is %v ± %v, want %v", drawn, se, mean)
	}
}

func TestInpaintingHidesWholeVariables(t *testing.T) {
	m, err := New(dataset.Shape{Height: 1, Width: 4}).Categorical(2).Hidden(2).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Inpaint(t.Context(), split([][]float64{{0, 1, 1, 0}}), dataset.Mask{true, false, false, false}, 1, 1, nil); err == nil || !strings.Contains(err.Error(), "hide all or none") {
		t.Errorf("error %v", err)
	}
	p, err := m.Inpaint(t.Context(), split([][]float64{{0, 1, 1, 0}}), dataset.Mask{true, true, false, false}, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Images[0].Values[0]; math.Abs(v[0]+v[1]-1) > 1e-12 || v[2] != 1 || v[3] != 0 {
		t.Errorf("the image is %v", v)
	}
}

// With Draws, missing units have their distribution given the known ones: a categorical variable has exactly one unit on.
func TestInpaintedDraws(t *testing.T) {
	const chains = 6000
	categorical, exactCategories := categoricalModel(t)
	bernoulli := randomModel(t, 4, 3)
	for _, of := range []struct {
		m     *Model
		exact *oracle.Machine
		row   []float64
		mask  dataset.Mask
	}{
		{categorical, exactCategories, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, dataset.Mask{true, true, true, false, false, false, true, true, true}},
		{bernoulli, exactly(bernoulli), []float64{0, 1, 0, 0}, dataset.Mask{true, false, true, false}},
		{bernoulli, exactly(bernoulli), []float64{0, 1, 0, 0}, dataset.Mask{true, true, true, true}},
	} {
		filled, err := of.m.Inpainting().Fill(t.Context(), split([][]float64{of.row}), of.mask, chains, runs.Chain{Sweeps: 30, Draws: true}, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]float64{}
		for _, image := range filled.Images {
			counts[fmt.Sprint(image.Values[0])]++
		}
		var logs []float64
		var states []string
		for _, v := range of.exact.Visible {
			agrees := true
			for i, missing := range of.mask {
				agrees = agrees && (missing || v[i] == of.row[i])
			}
			if agrees {
				logs, states = append(logs, of.exact.LogP(v)), append(states, fmt.Sprint(v))
			}
		}
		total := 0.0
		for s, state := range states {
			share := math.Exp(logs[s] - floats.LogSumExp(logs))
			if total += counts[state]; math.Abs(counts[state]/chains-share) > 4.5*math.Sqrt(share*(1-share)/chains) {
				t.Errorf("the share of %s is %v, want %v", state, counts[state]/chains, share)
			}
		}
		if total != chains {
			t.Errorf("draws %v, want only %v", counts, states)
		}
	}
}

// A machine that draws the units of categories one by one gives missing categories their distribution given the other
// columns and that each column has one value.
func TestImputedCategories(t *testing.T) {
	const draws = 5000
	folder := t.TempDir()
	train, file := filepath.Join(folder, "train.csv"), filepath.Join(folder, "rows.csv")
	for path, text := range map[string]string{train: "town,sick\n" + strings.Repeat("Aa,no\nBb,no\nCc,yes\n", 9), file: "town,sick\nAa,no\n,yes\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := dataset.Open(train)
	if err != nil {
		t.Fatal(err)
	}
	gaps, err := set.ReadGaps(file)
	if err != nil {
		t.Fatal(err)
	}
	m := randomModel(t, 4, 2)
	sheets, how, err := m.Inpainting().Impute(t.Context(), gaps, draws, 30, 1, nil)
	if err != nil || how.Again == 0 || len(sheets) != draws {
		t.Fatalf("%d draws, %+v, %v", len(sheets), how, err)
	}
	counts, logs := make([]float64, 3), make([]float64, 3)
	for k := range logs {
		v := []float64{0, 0, 0, 1}
		v[k] = 1
		logs[k] = exactly(m).LogP(v)
		for _, sheet := range sheets {
			if slices.Equal(sheet.Values[1], v) {
				counts[k]++
			}
			if !slices.Equal(sheet.Values[0], []float64{1, 0, 0, 0}) {
				t.Fatalf("the row without gaps became %v", sheet.Values[0])
			}
		}
	}
	for k, log := range logs {
		share := math.Exp(log - floats.LogSumExp(logs))
		if math.Abs(counts[k]/draws-share) > 4.5*math.Sqrt(share*(1-share)/draws) {
			t.Errorf("the share of value %d is %v, want %v", k, counts[k]/draws, share)
		}
	}
}
