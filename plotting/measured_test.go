package plotting

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

func TestTheLegendSaysWhatBarsAre(t *testing.T) {
	one := []float64{1}
	f := Measurements(Axis{}, Axis{},
		Measured{"a", one, one, one, "± 1 sd over 3 seeds"}, Measured{Name: "none", X: one, Y: one},
		Measured{"b", one, one, one, "± 1 sd over 3 seeds"}, Measured{"c", one, one, one, "± 1 se"})
	var got []string
	for _, entry := range f.legend {
		got = append(got, entry.text)
	}
	if want := []string{"a", "none", "b", "c", "± 1 sd over 3 seeds", "± 1 se"}; !slices.Equal(got, want) {
		t.Errorf("the legend is %q, want %q", got, want)
	}
}

// On a logarithmic axis, a bar from 1 − 3 to 1 + 3 is drawn from the axis up, and does not extend
// the axis.
func TestBarsBelowALogarithmicAxisBeginAtIt(t *testing.T) {
	p := plot.New()
	m := Measured{"wide", []float64{1, 2}, []float64{1, 0.1}, []float64{3, 0}, "± 1 se"}
	wide, err := m.curve(Axis{}, Axis{Logarithmic: true}, ink)
	if err == nil {
		err = addLine(p, wide)
	}
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(p.Y.Min+1) > 1e-9 || p.Y.Max != math.Log10(4) {
		t.Errorf("the axis reaches from 10^%v to 10^%v", p.Y.Min, p.Y.Max)
	}
	var drawn recorder.Canvas
	c := draw.NewCanvas(&drawn, 100, 100)
	p.Draw(c)
	data := p.DataCanvas(c)
	for _, action := range drawn.Actions {
		if stroke, ok := action.(*recorder.Stroke); ok && len(stroke.Path) == 2 {
			from, to := stroke.Path[0].Pos, stroke.Path[1].Pos
			if from.X == to.X && from.Y == data.Min.Y && to.Y == data.Max.Y {
				return
			}
		}
	}
	t.Error("no bar reaches from the axis to the top")
}
