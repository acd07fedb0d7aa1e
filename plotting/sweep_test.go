package plotting

import (
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

func legendOf(f *Figure) string {
	var all []string
	for _, entry := range f.legend {
		all = append(all, entry.text)
	}
	return strings.Join(all, "; ")
}

// A setting that has lost a seed is neither best nor drawn: its mean would cover other seeds.
func TestSweepsLeaveOutWhatHasFailed(t *testing.T) {
	of := func(rate string, mean float64, failed int) runs.SettingReport {
		s := runs.SettingReport{States: map[runs.State]int{runs.Finished: 3 - failed, runs.Failed: failed}, Reached: runs.Spread{Mean: mean, SD: 0.5}}
		if failed > 0 {
			s.Reached = runs.Spread{Mean: math.NaN(), SD: math.NaN()}
		}
		s.Setting = runs.Setting{Name: "learning_rate=" + rate, Values: []string{rate, "10"}}
		s.Best = runs.Spread{Mean: math.NaN(), SD: math.NaN()}
		return s
	}
	r := runs.SweepReport{Objective: runs.LogP, Keys: []string{"learning_rate", "batch_size"},
		Settings: []runs.SettingReport{of("0.5", -95, 2), of("0.02", -100, 0), of("0.04", -101, 0)}}
	if best := r.ByBest().Settings[0]; best.Name != "learning_rate=0.02" {
		t.Errorf("%s is the best, by the seed that it has left", best.Name)
	}
	curves := SweepCurves(r, "learning_rate")
	if _, err := curves.PNG(); err != nil || !strings.Contains(legendOf(curves), "± 1 sd over seeds") {
		t.Errorf("%v; the legend is %q", err, legendOf(curves))
	}
	if x := curves.Panels()[0].X; x.Min < math.Log10(0.01) || x.Max > math.Log10(0.08) {
		t.Errorf("the curve goes from %v to %v, beyond what has all its seeds", math.Pow(10, x.Min), math.Pow(10, x.Max))
	}
	grid := SweepMap(r, "learning_rate", "batch_size")
	if _, err := grid.PNG(); err != nil || !strings.Contains(legendOf(grid), "no value") {
		t.Errorf("%v; the legend is %q", err, legendOf(grid))
	}

	r.Keys = []string{"method.learning_rate", "batch_size"}
	if label := SweepCurves(r, "learning_rate").Panels()[0].X.Label.Text; label != "method.learning_rate" {
		t.Errorf("by the end of its name the curve is against %q", label)
	}
	for _, f := range []*Figure{SweepCurves(r, "rate"), SweepMap(r, "decay", "batch_size"), SweepMap(r, "batch_size", "decay")} {
		if _, err := f.PNG(); err == nil || !strings.Contains(err.Error(), "method.learning_rate, batch_size") {
			t.Errorf("a setting that does not vary: %v", err)
		}
	}
	for i := range r.Settings {
		r.Settings[i].Reached.SD = math.NaN()
	}
	if one := SweepCurves(r, "learning_rate"); strings.Contains(legendOf(one), "sd") {
		t.Errorf("of one seed the legend is %q", legendOf(one))
	}
	for i := range r.Settings {
		r.Settings[i].Reached.Mean = math.NaN()
	}
	for name, f := range Sweep(r) {
		t.Errorf("%s is drawn of nothing: %v", name, f.err)
	}
	if _, err := SweepCurves(r, "batch_size").PNG(); err == nil || !strings.Contains(err.Error(), "yet") {
		t.Errorf("a curve of nothing: %v", err)
	}
	if _, err := SweepCurves(runs.SweepReport{}, "batch_size").PNG(); err == nil || !strings.Contains(err.Error(), "varies no settings") {
		t.Errorf("a curve against the setting of a sweep without axes: %v", err)
	}
}
