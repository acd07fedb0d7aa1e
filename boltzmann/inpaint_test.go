package boltzmann

import (
	"math"
	"reflect"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
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
	c := m.clamped(t.Context(), newProducts(m.parameters), matrix(rows), mask, 0, 30)
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
	if reflect.DeepEqual(inpaint(m.Seed(2)), want) || reflect.DeepEqual(want.Images[0], want.Images[1]) {
		t.Error("another seed or chain draws the same images")
	}
}
