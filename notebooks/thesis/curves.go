package thesis

import (
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
)

// curve holds log p along training of each seed: of the validation rows, estimated by training, or of the test
// rows if onTest made it.
type curve []trained

// onTest returns the curve of the test rows that the plan measures. These measures replace the measures of the
// validation rows.
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

func heldOut(e runs.Epoch) float64 { return e.Validation[runs.LogP.Key] }

func ofTraining(e runs.Epoch) float64 { return e.Train[runs.LogP.Key] }

func (t trained) last() runs.Epoch { return t.history.Epochs[len(t.history.Epochs)-1] }

// after, at and end return log p at a place of a curve: after an epoch, after a time, and at its end. Before
// the first epoch log p is NaN.
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

// at interpolates between the ends of two epochs, as figures do. Otherwise a method with longer epochs would be
// read at an older epoch. After its last epoch a curve keeps its last value.
func at(seconds float64) func(trained) float64 {
	const rounding = 1 + 1e-9 // an epoch that ends exactly at these seconds counts, whatever the last bit
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

// best returns the highest value of a curve, and trainedAfter log p of the training rows after an epoch.
func best(t trained) float64 {
	return slices.Max(append(each(t.history.Epochs, heldOut), math.Inf(-1)))
}

func trainedAfter(epoch int) func(trained) float64 {
	return func(t trained) float64 { return ofTraining(t.history.Epochs[epoch-1]) }
}

func (c curve) mean(place func(trained) float64) float64 { return runs.SpreadOf(c, place).Mean }

func (c curve) epochs() int { return c[0].last().Epoch }

func (c curve) seconds() float64 { return c.mean(func(t trained) float64 { return t.last().Seconds }) }

// tenths returns the epoch that ends each tenth of training, or all epochs if there are fewer than ten.
func (c curve) tenths() []int {
	var epochs []int
	for tenth := 1; tenth <= 10; tenth++ {
		epochs = append(epochs, max(1, c.epochs()*tenth/10))
	}
	return slices.Compact(epochs)
}

// gain returns how far a is above b at a place. With a single seed, its standard error comes from the ends of
// the curves, paired over their rows.
func (w *work) gain(a, b curve, place func(trained) float64) gain {
	if len(a) > 1 && len(b) > 1 {
		return gainOverSeeds(each(a, place), each(b, place))
	}
	ofRows := func(t trained) []float64 {
		return w.estimate(t, t.split, w.few(t.rows, t.rows, 50), w.few(100, 100, 20)).Each
	}
	rows := paired(ofRows(a[0]), ofRows(b[0]))
	return gain{place(a[0]) - place(b[0]), rows.se, rows.n}
}

func (w *work) byEpochs(a, b curve, epochs []int) []gain {
	return each(epochs, func(epoch int) gain { return w.gain(a, b, after(epoch)) })
}

// bySeconds returns how far a is above b at tenths of the time that the curve of takes, between the tenths
// from and to.
func (w *work) bySeconds(a, b curve, of curve, from, to int) (gains []gain) {
	for tenth := from; tenth <= to; tenth++ {
		gains = append(gains, w.gain(a, b, at(of.seconds()*float64(tenth)/10)))
	}
	return gains
}

func (w *work) aheadByEpochs(j *judgement, what string, a, b curve) {
	epochs, where := b.tenths(), "tenths of the epochs"
	if len(epochs) == b.epochs() {
		where = "epochs"
	}
	j.ahead(what, where, w.byEpochs(a, b, epochs))
}

// aheadBySeconds judges whether a is above b at every tenth of the time that b takes, starting at tenth
// number from.
func (w *work) aheadBySeconds(j *judgement, what string, a, b curve, from int) {
	j.ahead(what, "tenths of the seconds", w.bySeconds(a, b, b, from, 10))
}

// endSamples returns the number of importance samples of each row for comparing the ends of curves. Training
// uses fewer, which flatters a machine with a better q.
func (w *work) endSamples() int { return w.few(1000, 1000, 20) }

// ends returns how far a ends above b, on the rows of the curves.
func (w *work) ends(a, b curve) gain {
	ofEnd := func(t trained) evaluation {
		return w.estimate(t, t.split, w.few(t.rows, t.rows, 50), w.endSamples())
	}
	return difference(each(a, ofEnd), each(b, ofEnd))
}

func (w *work) endsAbove(j *judgement, what string, a, b curve) {
	j.above(fmt.Sprintf("%s, by %s samples of each row,", what, thousands(w.endSamples())), w.ends(a, b))
}
