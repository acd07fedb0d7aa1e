package hm

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Rows drawn given a column have the frequencies of p(x|given) by enumeration, within 4.5 standard errors.
func TestGiven(t *testing.T) {
	const n = 20_000
	m, exact := tiny(t, ZeroOne, 3, 2)
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("a,b,c\n"+strings.Repeat("no,no,yes\nyes,yes,no\n", 9)), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	given, err := set.ParseGiven("b=yes")
	if err != nil {
		t.Fatal(err)
	}
	rows, drawn, err := new(runs.Run).Given(t.Context(), m, set, given, runs.Sampling{N: n, Seed: 1}, dataset.Writing{})
	if err != nil {
		t.Fatal(err)
	}
	counts, p, total := map[[2]bool]float64{}, map[[2]bool]float64{}, 0.0
	for _, x := range [][]float64{{0, 1, 0}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}} {
		of := math.Exp(exact.Explain(x).LogP())
		p[[2]bool{x[0] == 1, x[2] == 1}] = of
		total += of
	}
	for _, row := range rows.Values {
		if row[1] != 1 {
			t.Fatalf("the row %v does not meet the condition", row)
		}
		counts[[2]bool{row[0] == 1, row[2] == 1}]++
	}
	for state, of := range p {
		share := of / total
		if got := counts[state] / n; math.Abs(got-share) > 4.5*math.Sqrt(share*(1-share)/n) {
			t.Errorf("the share of %v is %v, want %v", state, got, share)
		}
	}
	wantNear(t, "the share of draws that meet the condition", n/float64(drawn), total, 4.5*math.Sqrt(total*(1-total)/float64(drawn)))
}
