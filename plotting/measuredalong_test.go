package plotting

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// measuredRun returns a run that measured the test rows after every second epoch.
func measuredRun(name string) runs.History {
	h := runs.History{Name: name, Measures: hm.Experiment{}.Measures()}
	for epoch := 1; epoch <= 4; epoch++ {
		e := runs.Epoch{Epoch: epoch, Train: runs.Measures{"log_p": -9}}
		if epoch%2 == 0 {
			e.Measured = map[string]runs.Measures{"test": {"log_p": -8 + float64(epoch), "log_p_se": 0.5, "ess": 0.5}}
		}
		h.Epochs = append(h.Epochs, e)
	}
	return h
}

// The figure shows the measured epochs with their values and standard errors.
func TestMeasuredPoints(t *testing.T) {
	points, errors := measuredPoints(measuredRun("a"), "test", runs.LogP)
	if len(points) != 2 || points[0].X != 2 || points[0].Y != -6 || points[1].X != 4 || points[1].Y != -4 || errors[1] != 0.5 {
		t.Errorf("points %v, errors %v", points, errors)
	}
}

func TestMeasuredAlongRefuses(t *testing.T) {
	a := measuredRun("a")
	for want, f := range map[string]*Figure{
		"no histories":                         MeasuredAlong("test", []string{"log_p"}),
		"no measures":                          MeasuredAlong("test", nil, a),
		`no measure with the key "log_q"`:      MeasuredAlong("test", []string{"log_q"}, a),
		"effective sample size has another un": MeasuredAlong("test", []string{"log_p", "ess"}, a),
		"measured as train_rows":               MeasuredAlong("train_rows", []string{"log_p"}, a),
		"log p* of a, measured as test":        MeasuredAlong("test", []string{"log_p_star"}, a),
	} {
		if err := f.Save(filepath.Join(t.TempDir(), "f.png")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
	if err := MeasuredAlong("test", []string{"log_p"}, a, measuredRun("b")).Save(filepath.Join(t.TempDir(), "f.png")); err != nil {
		t.Error(err)
	}
}
