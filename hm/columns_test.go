package hm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Log p of a column given the others is that of enumeration for a machine of categories, numbers and binary columns whose hidden
// states can be enumerated, and lies within its errors if the hidden states are samples.
func TestColumnsGivenTheOthers(t *testing.T) {
	t.Parallel()
	set := measured(t, dataset.Real)
	run, err := short(RWS()).LearningRate(0.02).Epochs(20).Train(t.Context(), New(set.Shape()).Dense(3, 2).Groups(Groups{}), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	exact, rows := oracle.NewNetworks(run.Parameters()), set.Test().Subset(3, 1)
	o := runs.EvaluationOptions{Set: set, Rows: rows, Seed: 1}
	columns, all, what, err := new(runs.Run).Why(t.Context(), run.Model, o)
	if err != nil || what != "exact" || len(all) != 3 || len(columns) != 4 {
		t.Fatalf("%d rows, %s, %v", len(all), what, err)
	}
	for r, row := range rows.Floats() {
		for i, c := range columns {
			x := append([]float64{}, row...)
			of := func(units ...float64) float64 {
				copy(x[c.First:], units)
				return exact.Explain(x).LogP()
			}
			own, others := of(row[c.First:c.First+c.Units]...), []float64{}
			switch {
			case c.Kind == dataset.RealColumn:
				for k := -300; k <= 300; k++ {
					others = append(others, of(float64(k)/20)-math.Log(20))
				}
			case c.Units == 1:
				others = []float64{of(0), of(1)}
			default:
				others = []float64{of(1, 0, 0), of(0, 1, 0), of(0, 0, 1)}
			}
			want := own - floats.LogSumExp(others)
			if c := all[r][i]; math.Abs(c.LogP-want) > 1e-10 || c.SE != 0 || c.Below() < 0 {
				t.Errorf("row %d, %s: log p is %v ± %v, want %v", r, columns[i].Name, c.LogP, c.SE, want)
			}
		}
	}
	of, _, err := run.givenOthers(t.Context(), o, columns, false)
	if err != nil {
		t.Fatal(err)
	}
	for r, row := range rows.Floats() {
		for i, c := range columns {
			logs, se := of(r, i, [][]float64{row[c.First : c.First+c.Units]})
			if d := math.Abs(logs[0] - all[r][i].LogP); !(d <= 5*se[0]+1e-5) || se[0] > 0.2 {
				t.Errorf("row %d, %s: the estimate of log p is %v ± %v, want %v", r, c.Name, logs[0], se[0], all[r][i].LogP)
			}
		}
	}
}
