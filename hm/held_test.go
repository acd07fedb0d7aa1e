package hm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestHeldUnitsAreIntervenedUpon compares the mean image of dreams with a held unit with p(x |
// do(hˡⱼ)) by enumeration: the joint distribution divided by p(hˡⱼ | hˡ⁺¹), over the states in
// which the unit is as held.
func TestHeldUnitsAreIntervenedUpon(t *testing.T) {
	t.Parallel()
	const n, unit = 4000, 1
	bothCodings(t, func(t *testing.T, coding Coding) {
		m, exact := tiny(t, coding, 4, 3, 2)
		for layer := 1; layer <= 2; layer++ {
			for _, on := range []bool{false, true} {
				value := float64(coding.Off())
				if on {
					value = 1
				}
				above, with := map[string]float64{}, map[string]float64{}
				for s, weight := range exact.Model() {
					parents := fmt.Sprint(s[layer+1:])
					above[parents] += weight
					if s[layer][unit] == value {
						with[parents] += weight
					}
				}
				want := make([]float64, 4)
				for s, weight := range exact.Model() {
					if s[layer][unit] != value {
						continue
					}
					parents := fmt.Sprint(s[layer+1:])
					for j, lit := range s[0] {
						if lit == 1 {
							want[j] += weight * above[parents] / with[parents]
						}
					}
				}
				held, err := m.Held(layer, unit, on)
				if err != nil {
					t.Fatal(err)
				}
				sheet, err := held.Draw(t.Context(), n)
				if err != nil {
					t.Fatal(err)
				}
				for j := range want {
					mean := 0.0
					for _, image := range sheet.Values {
						mean += image[j] / n
					}
					wantNear(t, fmt.Sprintf("layer %d, %t: the mean of pixel %d", layer, on, j), mean, want[j], 5*math.Sqrt(want[j]*(1-want[j])/n))
				}
				rows := everyRow(4)
				e, err := held.Evaluate(t.Context(), rows, n, nil)
				if err != nil {
					t.Fatal(err)
				}
				estimates, total := map[string]float64{}, 0.0
				for r, logP := range e.Each {
					estimates[string(rows.Row(r))] = logP
				}
				for _, logP := range estimates {
					total += math.Exp(logP)
				}
				wantNear(t, fmt.Sprintf("layer %d, %t: Σ p(x | do)", layer, on), total, 1, 0.1)
				if e.Bound < e.LogP-10 {
					t.Errorf("layer %d, %t: log p is %v by samples of which most are impossible: their bound is %v", layer, on, e.LogP, e.Bound)
				}
			}
		}
	})
}

// TestHeldUnitsLeaveTheRestAsItWas compares the draws above and beside a held unit.
func TestHeldUnitsLeaveTheRestAsItWas(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 4, 3, 2)
	held, err := m.Held(1, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	free, err := m.generate(t.Context(), 200)
	if err != nil {
		t.Fatal(err)
	}
	with, err := held.generate(t.Context(), 200)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(with.States[2], free.States[2]) {
		t.Error("the layer above is another")
	}
	for i, state := range with.States[1] {
		if i%3 == 2 && state != 1 || i%3 != 2 && state != free.States[1][i] {
			t.Fatalf("unit %d of dream %d is %d, and %d where none is held", i%3, i/3, state, free.States[1][i])
		}
	}
}

func TestUnitsThatCannotBeHeld(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	for _, c := range []struct {
		layer, unit int
		says        string
	}{
		{0, 0, "the machine has the layers 1 to 2"},
		{3, 0, "the machine has the layers 1 to 2"},
		{2, 2, "it has the units 0 to 1"},
		{2, -1, "it has the units 0 to 1"},
	} {
		if _, err := m.Held(c.layer, c.unit, true); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("layer %d, unit %d: %v, want %q", c.layer, c.unit, err, c.says)
		}
	}
}
