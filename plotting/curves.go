package plotting

import (
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

const minusLogP = "−log p(x) (nats)"

// Curves draws −log p(x) against the epoch: training solid, validation dashed,
// a colour a run.
func Curves(histories ...hm.History) *Figure {
	return curves(histories, byEpoch)
}

// CurvesByTime draws what Curves does against the wall-clock time of training.
func CurvesByTime(histories ...hm.History) *Figure {
	return curves(histories, byTime(histories))
}

// CurvesByEpochAndTime draws Curves and CurvesByTime side by side.
func CurvesByEpochAndTime(histories ...hm.History) *Figure {
	return curves(histories, byEpoch, byTime(histories))
}

// abscissa is what training curves are drawn against.
type abscissa struct {
	label string
	of    func(hm.Epoch) float64
	ticks linearTicks
}

var byEpoch = abscissa{
	label: "epoch",
	of:    func(e hm.Epoch) float64 { return float64(e.Epoch) },
	ticks: linearTicks{integers: true},
}

// byTime picks the unit of time that suits the longest run.
func byTime(histories []hm.History) abscissa {
	longest := 0.0
	for _, h := range histories {
		for _, e := range h.Epochs {
			longest = max(longest, e.Seconds)
		}
	}
	unit, seconds := "s", 1.0
	switch {
	case longest > 3*3600:
		unit, seconds = "h", 3600
	case longest > 10*60:
		unit, seconds = "min", 60
	}
	return abscissa{
		label: fmt.Sprintf("wall-clock time of training (%s)", unit),
		of:    func(e hm.Epoch) float64 { return e.Seconds / seconds },
	}
}

func curves(histories []hm.History, abscissas ...abscissa) *Figure {
	if len(histories) == 0 {
		return failed(errors.New("no histories to draw: give at least one run's"))
	}
	var panels []*plot.Plot
	for _, x := range abscissas {
		panel := newPanel(x.label, minusLogP)
		panel.X.Tick.Marker = x.ticks
		for i, h := range histories {
			if err := addRun(panel, h, runName(h, i), i, x); err != nil {
				return failed(err)
			}
		}
		padY(panel)
		panels = append(panels, panel)
	}
	f := newFigure(panels...)
	validated := false
	for i, h := range histories {
		validated = validated || hasValidation(h)
		if h.Name != "" || len(histories) > 1 {
			f.legend.add(runName(h, i), sample(in(colour(i), solid)))
		}
	}
	f.addLineStyles(validated)
	return f
}

// addRun draws one run's training curve and its validation curve, if it has one.
func addRun(panel *plot.Plot, h hm.History, name string, i int, x abscissa) error {
	train := trainPoints(h, x)
	if len(train) == 0 {
		return fmt.Errorf("%s has no epochs: train it first", name)
	}
	if err := addLine(panel, "training log p of "+name, train, in(colour(i), solid)); err != nil {
		return err
	}
	if !hasValidation(h) {
		return nil
	}
	return addLine(panel, "validation log p of "+name, validationPoints(h, x), in(colour(i), dashed))
}

func trainPoints(h hm.History, x abscissa) (points plotter.XYs) {
	for _, e := range h.Epochs {
		points = append(points, plotter.XY{X: x.of(e), Y: -e.Train.LogP})
	}
	return points
}

func validationPoints(h hm.History, x abscissa) (points plotter.XYs) {
	for _, e := range h.Epochs {
		if e.Validation != nil {
			points = append(points, plotter.XY{X: x.of(e), Y: -e.Validation.LogP})
		}
	}
	return points
}

func hasValidation(h hm.History) bool { return len(validationPoints(h, byEpoch)) > 0 }

func runName(h hm.History, i int) string {
	if h.Name == "" {
		return fmt.Sprintf("run %d", i+1)
	}
	return h.Name
}

// addLineStyles explains the lines that the colours do not tell apart, where
// there are two kinds.
func (f *Figure) addLineStyles(validated bool) {
	if validated {
		f.legend.add("training", sample(solid))
		f.legend.add("validation", sample(dashed))
	}
}
