package thesis

import (
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
)

// curve is log p along training, of each seed: of the validation rows as training
// estimates it, or of the test rows as onTest has them.
type curve []trained

// point is a place of a curve.
type point struct {
	epoch         int
	seconds, logP float64
}

// onTest is the curve of the test rows that the plan measures: their measures take the place of
// those of the validation rows.
func onTest(of []trained) curve {
	c := make(curve, len(of))
	for i, t := range of {
		t.split = "test"
		for _, m := range t.run.Experiment().Measurements {
			if m = m.WithDefaults(); m.Name == "test" {
				t.rows, t.samples = m.Rows, m.Samples
			}
		}
		var measured []runs.Epoch
		for _, e := range t.history.Epochs {
			e.Validation = e.Measured["test"]
			if _, finite := e.Validation[runs.LogP.Key]; finite {
				measured = append(measured, e)
			}
		}
		t.history.Epochs = measured
		c[i] = t
	}
	return c
}

func (t trained) points() []point {
	var points []point
	for _, e := range t.history.Epochs {
		points = append(points, point{e.Epoch, e.Seconds, e.Validation[runs.LogP.Key]})
	}
	return points
}

// last is the last epoch of a curve.
func (t trained) last() runs.Epoch { return t.history.Epochs[len(t.history.Epochs)-1] }

// lastOf is log p at the last of the points that a condition has, NaN where none does.
func (t trained) lastOf(condition func(point) bool) float64 {
	value := math.NaN()
	for _, p := range t.points() {
		if condition(p) {
			value = p.logP
		}
	}
	return value
}

// after, at and end are places of a curve: after an epoch, after a time, and its end.
func after(epoch int) func(trained) float64 {
	return func(t trained) float64 { return t.lastOf(func(p point) bool { return p.epoch <= epoch }) }
}

// Between the ends of two epochs a curve is the line that figures draw: epochs of methods take
// different times, and the last one that has ended would be older, the longer they are.
func at(seconds float64) func(trained) float64 {
	const rounding = 1 + 1e-9 // an epoch that ends at these very seconds counts, whatever their last bit
	return func(t trained) float64 {
		before := point{logP: math.NaN()}
		for _, p := range t.points() {
			if p.seconds > seconds*rounding {
				return before.logP + (p.logP-before.logP)*(seconds-before.seconds)/(p.seconds-before.seconds)
			}
			before = p
		}
		return before.logP
	}
}

func end(t trained) float64 { return t.lastOf(func(point) bool { return true }) }

// best is the highest of a curve, and trainedAfter log p of the training rows of an epoch.
func best(t trained) float64 {
	highest := math.Inf(-1)
	for _, p := range t.points() {
		highest = math.Max(highest, p.logP)
	}
	return highest
}

func trainedAfter(epoch int) func(trained) float64 {
	return func(t trained) float64 { return t.history.Epochs[epoch-1].Train[runs.LogP.Key] }
}

// mean is that of the seeds.
func (c curve) mean(place func(trained) float64) float64 { return runs.SpreadOf(c, place).Mean }

func (c curve) epochs() int { return c[0].last().Epoch }

// seconds is the time that training took.
func (c curve) seconds() float64 {
	return c.mean(func(t trained) float64 { return t.last().Seconds })
}

// tenths are the epochs after each tenth of them, all of them where they are fewer.
func (c curve) tenths() []int {
	var epochs []int
	for tenth := 1; tenth <= 10; tenth++ {
		epochs = append(epochs, max(1, c.epochs()*tenth/10))
	}
	return slices.Compact(epochs)
}

// gain is how far a is above b at a place. The standard error of one seed is that of the
// difference at the ends, over the rows of the curves, paired.
func (w *work) gain(a, b curve, place func(trained) float64) gain {
	if len(a) > 1 && len(b) > 1 {
		of := func(c curve) (values []float64) {
			for _, t := range c {
				values = append(values, place(t))
			}
			return values
		}
		return gainOverSeeds(of(a), of(b))
	}
	var ends [2]evaluation
	for i, t := range []trained{a[0], b[0]} {
		ends[i] = w.estimate(t, t.split, w.few(t.rows, t.rows, 50), w.few(100, 100, 20))
	}
	return gain{place(a[0]) - place(b[0]), paired(ends[0].Each, ends[1].Each).se}
}

// gains are those at several places.
func (w *work) gains(a, b curve, places []func(trained) float64) []gain {
	var all []gain
	for _, place := range places {
		g := w.gain(a, b, place)
		all = append(all, g)
	}
	return all
}

// byEpochs are how far a is above b after some epochs.
func (w *work) byEpochs(a, b curve, epochs []int) []gain {
	var places []func(trained) float64
	for _, epoch := range epochs {
		places = append(places, after(epoch))
	}
	return w.gains(a, b, places)
}

// bySeconds are how far a is above b at the tenths of the time that a curve takes, from
// one of them to another.
func (w *work) bySeconds(a, b curve, of curve, from, to int) []gain {
	var places []func(trained) float64
	for tenth := from; tenth <= to; tenth++ {
		places = append(places, at(of.seconds()*float64(tenth)/10))
	}
	return w.gains(a, b, places)
}

// aheadByEpochs adds that a is above b at every tenth of the epochs.
func (w *work) aheadByEpochs(j *judgement, what string, a, b curve) {
	epochs := b.tenths()
	gains := w.byEpochs(a, b, epochs)
	where := "tenths of the epochs"
	if len(epochs) == b.epochs() {
		where = "epochs"
	}
	j.ahead(what, where, gains)
}

// aheadBySeconds adds that a is above b at every tenth of the time that b takes, from one
// of them on.
func (w *work) aheadBySeconds(j *judgement, what string, a, b curve, from int) {
	j.ahead(what, "tenths of the seconds", w.bySeconds(a, b, b, from, 10))
}

// endSamples are the importance samples of each row by which the ends of curves are set side
// by side. Those of training are few, and flatter a machine whose q is better.
func (w *work) endSamples() int { return w.few(1000, 1000, 20) }

// ends is how far a ends above b, on the rows that the curves are of.
func (w *work) ends(a, b curve) gain {
	var of [2][]evaluation
	for i, c := range []curve{a, b} {
		for _, t := range c {
			e := w.estimate(t, t.split, w.few(t.rows, t.rows, 50), w.endSamples())
			of[i] = append(of[i], e)
		}
	}
	return difference(of[0], of[1])
}

// endsAbove adds that a ends above b.
func (w *work) endsAbove(j *judgement, what string, a, b curve) {
	j.above(fmt.Sprintf("%s, by %s samples of each row,", what, thousands(w.endSamples())), w.ends(a, b))
}

// aboveAt adds that a is above b at a place.
func (w *work) aboveAt(j *judgement, what string, a, b curve, place func(trained) float64) {
	j.above(what, w.gain(a, b, place))
}
