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

// onTest returns the curve of the test rows that the plan measures, whose measures take the place
// of the validation rows' own.
func onTest(of curve) curve {
	return each(of, func(t trained) trained {
		t.split = "test"
		for _, m := range t.run.Experiment().Measurements {
			if m = m.WithDefaults(); m.Name == "test" {
				t.rows, t.samples = m.Rows, m.Samples
			}
		}
		t.history.Epochs = each(t.history.Epochs, func(e runs.Epoch) runs.Epoch {
			e.Validation = e.Measured["test"]
			return e
		})
		t.history.Epochs = slices.DeleteFunc(t.history.Epochs, func(e runs.Epoch) bool {
			_, finite := e.Validation[runs.LogP.Key]
			return !finite
		})
		return t
	})
}

// heldOut returns log p of the rows of a curve that are not trained on, after an epoch.
func heldOut(e runs.Epoch) float64 { return e.Validation[runs.LogP.Key] }

// last is the last epoch of a curve.
func (t trained) last() runs.Epoch { return t.history.Epochs[len(t.history.Epochs)-1] }

// after, at and end are places of a curve: after an epoch, after a time, and its end. Before the
// first epoch log p is NaN.
func after(epoch int) func(trained) float64 {
	return func(t trained) float64 {
		value := math.NaN()
		for _, e := range t.history.Epochs {
			if e.Epoch <= epoch {
				value = heldOut(e)
			}
		}
		return value
	}
}

func end(t trained) float64 { return after(math.MaxInt)(t) }

// Between the ends of two epochs a curve is the line that figures draw: epochs of methods take
// different times, and the last one that has ended would be older, the longer they are.
func at(seconds float64) func(trained) float64 {
	const rounding = 1 + 1e-9 // an epoch that ends at these very seconds counts, whatever their last bit
	return func(t trained) float64 {
		before, logP := 0.0, math.NaN()
		for _, e := range t.history.Epochs {
			if e.Seconds > seconds*rounding {
				return logP + (heldOut(e)-logP)*(seconds-before)/(e.Seconds-before)
			}
			before, logP = e.Seconds, heldOut(e)
		}
		return logP
	}
}

// best is the highest of a curve, and trainedAfter log p of the training rows of an epoch.
func best(t trained) float64 {
	return slices.Max(append(each(t.history.Epochs, heldOut), math.Inf(-1)))
}

func trainedAfter(epoch int) func(trained) float64 {
	return func(t trained) float64 { return t.history.Epochs[epoch-1].Train[runs.LogP.Key] }
}

// mean returns the mean over the seeds at a place.
func (c curve) mean(place func(trained) float64) float64 { return runs.SpreadOf(c, place).Mean }

func (c curve) epochs() int { return c[0].last().Epoch }

// seconds is the time that training took.
func (c curve) seconds() float64 { return c.mean(func(t trained) float64 { return t.last().Seconds }) }

// tenths are the epochs after each tenth of them, all of them where they are fewer.
func (c curve) tenths() []int {
	var epochs []int
	for tenth := 1; tenth <= 10; tenth++ {
		epochs = append(epochs, max(1, c.epochs()*tenth/10))
	}
	return slices.Compact(epochs)
}

// gain returns how far a is above b at a place. Of one seed the standard error is taken at the
// ends, over the rows of the curves, paired.
func (w *work) gain(a, b curve, place func(trained) float64) gain {
	if len(a) > 1 && len(b) > 1 {
		return gainOverSeeds(each(a, place), each(b, place))
	}
	ofRows := func(t trained) []float64 {
		return w.estimate(t, t.split, w.few(t.rows, t.rows, 50), w.few(100, 100, 20)).Each
	}
	return gain{place(a[0]) - place(b[0]), paired(ofRows(a[0]), ofRows(b[0])).se}
}

// byEpochs are how far a is above b after some epochs.
func (w *work) byEpochs(a, b curve, epochs []int) []gain {
	return each(epochs, func(epoch int) gain { return w.gain(a, b, after(epoch)) })
}

// bySeconds are how far a is above b at the tenths of the time that a curve takes, from
// one of them to another.
func (w *work) bySeconds(a, b curve, of curve, from, to int) (gains []gain) {
	for tenth := from; tenth <= to; tenth++ {
		gains = append(gains, w.gain(a, b, at(of.seconds()*float64(tenth)/10)))
	}
	return gains
}

// aheadByEpochs adds that a is above b at every tenth of the epochs.
func (w *work) aheadByEpochs(j *judgement, what string, a, b curve) {
	epochs, where := b.tenths(), "tenths of the epochs"
	if len(epochs) == b.epochs() {
		where = "epochs"
	}
	j.ahead(what, where, w.byEpochs(a, b, epochs))
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
	ofEnd := func(t trained) evaluation {
		return w.estimate(t, t.split, w.few(t.rows, t.rows, 50), w.endSamples())
	}
	return difference(each(a, ofEnd), each(b, ofEnd))
}

// endsAbove adds that a ends above b.
func (w *work) endsAbove(j *judgement, what string, a, b curve) {
	j.above(fmt.Sprintf("%s, by %s samples of each row,", what, thousands(w.endSamples())), w.ends(a, b))
}
