package thesis

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

type work struct {
	*reproduce.Work
	ctx        context.Context
	judgements []*judgement // of the claims, in the order in which they were begun
}

// keptOf answers a question about the model of a checkpoint, once for all results.
func keptOf[T any](w *work, question string, of runs.Snapshot, answer func() T) T {
	question = fmt.Sprintf("%.16s %s", of.Checksum(), question)
	return must(reproduce.Kept(w.Work, question, func() (T, error) { return answer(), nil }))
}

func each[A, B any](of []A, to func(A) B) []B {
	all := make([]B, len(of))
	for i, a := range of {
		all[i] = to(a)
	}
	return all
}

func eachPair[A, B, C any](as []A, bs []B, to func(A, B) C) (all []C) {
	for _, a := range as {
		all = append(all, each(bs, func(b B) C { return to(a, b) })...)
	}
	return all
}

// trained is the run of a seed at the last epoch of the scale.
type trained struct {
	run      *hm.Run
	model    *hm.Model
	snapshot runs.Snapshot
	history  runs.History
	split    string // split of the curve: validation or test
	rows     int    // of the split, 0 for all
	samples  int    // of each of these rows
}

// trained opens the runs of a training, one per seed, at the last epoch of the scale. label names
// the curve in figures.
func (w *work) trained(name, label string) curve {
	return w.trainedAt(name, label, w.epochsOf(name))
}

func (w *work) epochsOf(name string) int {
	t, err := w.Training(name)
	if err != nil {
		panic(err) // the result names a training that it does not have
	}
	return t.Experiment.Header().Epochs
}

func (w *work) trainedAt(name, label string, epochs int) curve {
	return each(must(w.Dirs(name, epochs)), func(dir string) trained {
		run := must(hm.OpenRun(dir))
		return trained{
			run: run, model: must(run.At(epochs)), snapshot: must(run.Run.At(epochs)),
			history: reproduce.History(label, run.Run, epochs), split: "validation",
		}
	})
}

// timed replaces the times in the histories of runs by the times that their epochs take when measured in turn
// on this machine, since the recorded seconds also depend on the other load of the machines.
func (w *work) timed(all ...curve) {
	seconds := w.secondsAnEpoch(all)
	for i, of := range all {
		for _, t := range of {
			for j := range t.history.Epochs {
				t.history.Epochs[j].Seconds = seconds[i].median() * float64(t.history.Epochs[j].Epoch)
			}
		}
	}
}

// curves draws learning curves by epochs and by the seconds that timed measured.
func (w *work) curves(title string, all ...curve) { w.curvesBeside(title, true, nil, nil, all...) }

// curvesBeside draws learning curves by epochs and, if asked, by the seconds that timed measured. Beside the curves it
// shows −log p of test rows, as published and of our runs, unless these are nil.
func (w *work) curvesBeside(title string, bySeconds bool, published, evaluated []float64, all ...curve) {
	first := all[0][0]
	samples := first.run.Experiment().Method.Samples
	rows := fmt.Sprintf("training rows, by %d samples of each row", samples)
	switch {
	case first.last().Validation == nil:
	case first.split == "test" && first.samples != samples:
		rows = fmt.Sprintf("training rows (solid), by %d samples of each row, and of test rows (dashed), by %s",
			samples, thousands(first.samples))
	default:
		rows = fmt.Sprintf("training rows (solid) and %s rows (dashed), by %d samples of each row", first.split, samples)
	}
	caption := fmt.Sprintf("%s: −log p of %s, ", title, rows)
	if len(all[0]) > 1 {
		caption += "mean and sd over seeds, "
	}
	if published != nil {
		caption += "with values of test rows, published (dotted) and ours by " + thousands(w.testSamples()) + " samples (dots), "
	}
	groups := each(all, func(c curve) plotting.Group {
		return plotting.Group{Name: c[0].history.Name, HeldOut: c[0].split, Seeds: each(c, func(t trained) runs.History { return t.history })}
	})
	for i, y := range evaluated {
		groups[i].Evaluated = y
	}
	w.Draw(slug(title)+"-epochs", caption+"by epochs", plotting.SeedBands(groups...).Published(published...).Title(title))
	if bySeconds {
		w.Draw(slug(title)+"-seconds", caption+"by seconds of epochs that were timed in turn",
			plotting.SeedBandsByTime(groups...).Published(published...).Title(title))
	}
}

func slug(title string) string {
	return strings.ToLower(strings.NewReplacer(", ", "-", ": ", "-", " ", "-", ",", "").Replace(title))
}

type norms runs.History

// at returns the Euclidean norm over all layers of both networks after a part of the epochs. It averages
// over a tenth of the epochs up to that point, since a gradient is of a single minibatch.
func (h norms) at(part float64, of func(runs.LayerNorms) float64) float64 {
	last := partOf(part, len(h.Epochs))
	return runs.SpreadOf(h.Epochs[max(0, last-partOf(0.1, len(h.Epochs))):last], func(e runs.Epoch) float64 {
		sum := 0.0
		for _, network := range slices.Sorted(maps.Keys(e.Norms)) { // in one order, so that the last digit stays
			for _, l := range e.Norms[network] {
				sum += of(l) * of(l)
			}
		}
		return math.Sqrt(sum)
	}).Mean
}

func device() string {
	_, description, err := hm.Device()
	check(err)
	return fmt.Sprintf("%s (%s)", strings.TrimSpace(cpuid.CPU.BrandName), description)
}

// times holds the seconds per epoch of a run, one value for each round.
type times []float64

func (t times) median() float64 {
	sorted := slices.Sorted(slices.Values(t))
	return sorted[len(sorted)/2]
}

// over returns the mean over the rounds of the ratio to other times, with its standard error.
func (t times) over(of times) (ratio, se float64) {
	return statistics.MeanAndError(len(t), func(round int) float64 { return t[round] / of[round] })
}

const timingRounds = 5

// secondsAnEpoch returns the times that an epoch of each run takes, measured in turn.
func (w *work) secondsAnEpoch(all []curve) []times {
	question := "rounds-of-seconds-an-epoch-" + device()
	for _, of := range all {
		e := of[0].run.Experiment()
		e.Epochs = of.epochs() // the run may have been trained further
		question += fmt.Sprintf("-%.8s", e.Hash())
	}
	return must(reproduce.Kept(w.Work, question, func() ([]times, error) {
		seconds := make([]times, len(all))
		for round := range timingRounds {
			for i, of := range all {
				w.Say("timing %s, round %d of %d", of[0].history.Name, round+1, timingRounds)
				timing := must(of[0].run.Experiment().Benchmark(w.ctx, w.dataset(of[0]), w.timedSteps(of[0]), w.Progress))
				seconds[i] = append(seconds[i], timing.EpochS)
			}
		}
		return seconds, nil
	}))
}

// timedSteps returns the number of steps of an epoch that are timed: ten intervals between refreshes of Fisher
// blocks, but at least 100 and at most 1,000 steps.
func (w *work) timedSteps(of trained) int {
	every := of.run.Experiment().Method.RefreshEvery
	switch {
	case w.Scale == reproduce.Smoke:
		return 4
	case every == 0:
		return 1000
	}
	return min(max(10*every, 100), 1000)
}

func (w *work) setOf(run *runs.Run) *dataset.Set {
	return must(w.Sets.Open(run.Experiment(), run.Dir()))
}

func (w *work) dataset(of trained) *dataset.Set { return w.setOf(of.run.Run) }

// evaluation is an evaluation of a model, with the estimates of each row and a description of the data.
type evaluation struct {
	hm.Evaluation
	Each          []float64 `json:"each"`
	EachTildeStar []float64 `json:"each_tilde_star"`
	data          string
}

func (w *work) testSamples() int { return w.few(10_000, 1000, 20) }

func (w *work) evaluate(of curve) []evaluation { return w.evaluateWith(of, w.testSamples()) }

func (w *work) evaluateWith(of curve, samples int) []evaluation {
	return each(of, func(t trained) evaluation { return w.estimate(t, "test", w.few(0, 0, 50), samples) })
}

// estimate estimates log p of some rows of a split, or of all if rows is 0, from a number of samples of each.
func (w *work) estimate(t trained, split string, rows, samples int) evaluation {
	e := keptOf(w, fmt.Sprintf("log-p-of-%s-rows-%d-samples-%d", split, rows, samples), t.snapshot, func() evaluation {
		w.Say("estimating log p of %s rows, %s samples each: %s, seed %d", split, thousands(samples), t.history.Name, t.run.Experiment().Seed)
		of, _ := w.dataset(t).Split(split)
		e := must(t.model.Evaluate(w.ctx, t.model.Subset(of, rows), samples, w.Progress))
		return evaluation{Evaluation: e, Each: e.Each, EachTildeStar: e.EachTildeStar}
	})
	e.data = reproduce.DataOf(t.run.Experiment().Dataset)
	return e
}

// value returns a measure of evaluations over seeds, or the value of a single seed with its standard error.
func value(of []evaluation, by measure) reproduce.Value {
	v := reproduce.Over(runs.SpreadOf(of, func(e evaluation) float64 { value, _ := by(e.Evaluation); return value }), len(of))
	if len(of) == 1 {
		_, se := by(of[0].Evaluation)
		v.SE = (*float64)(&se)
	}
	v.By = fmt.Sprintf("%s samples of each of %s test rows", thousands(of[0].Samples), thousands(of[0].Data))
	v.Data = of[0].data
	return v
}

func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func list(format string, numbers []float64) string {
	return strings.Join(each(numbers, func(x float64) string { return fmt.Sprintf(format, x) }), ", ")
}

// foundTimes adds a ratio of two times that were measured in turn, on the data of a run.
func (w *work) foundTimes(number, measure string, ratio, se float64, of curve) {
	w.Found(number, measure, reproduce.Value{
		Ours: ratio, SE: &se, Seeds: 1, By: fmt.Sprintf("epochs timed in turn, mean of %d rounds, on %s", timingRounds, device()),
		Data: reproduce.DataOf(of[0].run.Experiment().Dataset),
	})
}

func pixels(s dataset.Sheet) (float64, float64) {
	return statistics.MeanAndError(len(s.Values), func(i int) float64 { return mean(s.Values[i]) })
}

// likeTheRows judges whether the mean pixel of many dreams is close to the mean of the training rows.
func (w *work) likeTheRows(j *judgement, begin string, of trained) {
	mean, se := pixels(must(of.model.Means(w.ctx, w.few(10_000, 10_000, 100))))
	rows := rowPixels(w.dataset(of).Train())
	j.add(reproduce.Measured(mean-rows, se, "", "%smean of the pixels of dreams less the mean of the training rows", begin).Within(0.02).Errors(0))
}

func (w *work) drawDreams(name, caption string, of trained) {
	w.Draw(name, caption, plotting.Samples(must(of.model.Means(w.ctx, w.few(100, 100, 10)))))
}

// pixelMeans returns the mean of each pixel over rows, and rowPixels the mean of all pixels.
func pixelMeans(s dataset.Split) []float64 {
	means := make([]float64, s.Shape.Units())
	for i, v := range s.Bytes() {
		means[i%len(means)] += float64(v) / 255 / float64(s.Rows)
	}
	return means
}

func rowPixels(s dataset.Split) float64 { return mean(pixelMeans(s)) }

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

// A result needs all of its runs, so the first error ends its making. Functions that make results therefore
// return no errors: check and must panic with an error, and untilAnError, which the catalogue calls, returns
// it.

// ended is the panic by which an error ends the making of a result.
type ended struct{ err error }

func check(err error) {
	if err != nil {
		panic(ended{err})
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// untilAnError runs something, and returns the error that ended it, if any.
func untilAnError(something func()) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case ended:
			err = reason.err
		default:
			panic(reason)
		}
	}()
	something()
	return nil
}
