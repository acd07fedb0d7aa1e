package boltzmann

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Log p of a column given the others is that of enumeration, among rows with one value of each column.
func TestColumnsGivenTheOthers(t *testing.T) {
	m, _ := labeledModel(t, 4, 3, 2)
	exact := exactly(m)
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("town,sick,label\n"+strings.Repeat("Aa,no,x\nBb,no,y\nCc,yes,x\n", 9)), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_, all, what, err := new(runs.Run).Why(t.Context(), m, runs.EvaluationOptions{Set: set, Rows: set.Test()})
	if err != nil || what != "exact" {
		t.Fatal(what, err)
	}
	logP := func(units ...float64) float64 {
		var terms []float64
		for _, v := range exact.Visible {
			if floats.Equal(v[:4], units) {
				terms = append(terms, exact.LogP(v))
			}
		}
		return floats.LogSumExp(terms)
	}
	for r, row := range set.Test().Floats() {
		of, sick := logP(row...), row[3]
		town := of - floats.LogSumExp([]float64{logP(1, 0, 0, sick), logP(0, 1, 0, sick), logP(0, 0, 1, sick)})
		ill := of - floats.LogSumExp([]float64{logP(row[0], row[1], row[2], 0), logP(row[0], row[1], row[2], 1)})
		if a, b := all[r][0].LogP, all[r][1].LogP; math.Abs(a-town) > 1e-10 || math.Abs(b-ill) > 1e-10 {
			t.Errorf("row %d: log p of the columns is %v and %v, want %v and %v", r, a, b, town, ill)
		}
	}
}
