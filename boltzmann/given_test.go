package boltzmann

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Rows drawn given a column, a label or both have the frequencies of p(v|given) by enumeration, within 4.5 standard errors, among
// rows with one value of each column.
func TestGiven(t *testing.T) {
	const n = 2000
	m, _ := labeledModel(t, 4, 3, 2)
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] *= 1.5 // so that labels depend on the columns
	}
	m.parameters.VisibleBiases[5] += 4 // so that the label y is not rare
	exact := exactly(m)
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("town,sick,label\n"+strings.Repeat("Aa,no,x\nBb,no,y\nCc,yes,x\n", 9)), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]func(v []float64) bool{
		"town=Bb":         func(v []float64) bool { return v[1] == 1 },
		"sick=yes":        func(v []float64) bool { return v[3] == 1 },
		"label=y":         func(v []float64) bool { return v[5] == 1 },
		"sick=no,label=x": func(v []float64) bool { return v[3] == 0 && v[4] == 1 },
	} {
		given, err := set.ParseGiven(text)
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := new(runs.Run).Given(t.Context(), m, set, given, runs.Sampling{N: n, Chain: runs.Chain{Sweeps: 30}, Seed: 1}, dataset.Writing{})
		if err != nil || len(rows.Values) != n {
			t.Fatalf("%s: %d rows, %v", text, len(rows.Values), err)
		}
		p, counts, total := map[string]float64{}, map[string]float64{}, 0.0
		for _, v := range exact.Visible {
			if v[0]+v[1]+v[2] == 1 && fits(v) {
				p[fmt.Sprint(v[:4])] += math.Exp(exact.LogP(v))
				total += math.Exp(exact.LogP(v))
			}
		}
		for _, row := range rows.Values {
			counts[fmt.Sprint(row)]++
		}
		for state, of := range p {
			share := of / total
			if math.Abs(counts[state]/n-share) > 4.5*math.Sqrt(share*(1-share)/n) {
				t.Errorf("given %s, the share of %s is %v, want %v", text, state, counts[state]/n, share)
			}
			delete(counts, state)
		}
		if len(counts) > 0 {
			t.Errorf("given %s, there are draws %v", text, counts)
		}
	}
}
