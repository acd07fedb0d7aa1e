package thesis

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/klauspost/cpuid/v2"
)

// work is the making of a result of Helmholtz machines.
type work struct {
	*reproduce.Work
	ctx context.Context
}

// trained is the run of a seed at the epoch at which the scale ends.
type trained struct {
	run      *hm.Run
	model    *hm.Model
	snapshot runs.Snapshot
	history  runs.History
}

// trained opens the runs of a training, by seed, at the epoch at which the scale ends.
// label names it in figures.
func (w *work) trained(name, label string) ([]trained, error) {
	return w.trainedAt(name, label, w.epochsOf(name))
}

// epochsOf are the epochs that a training of the result has at the scale.
func (w *work) epochsOf(name string) int {
	t, err := w.Training(name)
	if err != nil {
		panic(err) // a result that names what it does not train
	}
	return t.Experiment.Header().Epochs
}

// trainedAt opens them at an epoch that they keep.
func (w *work) trainedAt(name, label string, epochs int) ([]trained, error) {
	dirs, err := w.Dirs(name)
	if err != nil {
		return nil, err
	}
	var all []trained
	for _, dir := range dirs {
		run, err := hm.OpenRun(dir)
		if err != nil {
			return nil, err
		}
		of := trained{run: run, history: reproduce.History(label, run.Run, epochs)}
		if of.snapshot, err = run.Run.At(epochs); err != nil {
			return nil, err
		}
		if of.model, err = run.At(epochs); err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, nil
}

// timed gives the histories of trainings the time that their epochs take when they are
// measured in turn on this machine: that of the runs themselves is of whatever else
// the machines did meanwhile.
func (w *work) timed(all ...[]trained) error {
	seconds, err := w.secondsAnEpoch(all)
	if err != nil {
		return err
	}
	for i, of := range all {
		for _, t := range of {
			for j := range t.history.Epochs {
				t.history.Epochs[j].Seconds = seconds[i] * float64(t.history.Epochs[j].Epoch)
			}
		}
	}
	return nil
}

// curves draws learning curves by epochs and by seconds, those that timed gave them.
func (w *work) curves(title string, groups []plotting.Group) error {
	if err := w.epochCurves(title, groups); err != nil {
		return err
	}
	return w.Figure(slug(title)+"-seconds", ofCurves(title, groups)+"by seconds of epochs that were timed in turn", plotting.SeedBandsByTime(groups...).Title(title))
}

// epochCurves draws learning curves by epochs.
func (w *work) epochCurves(title string, groups []plotting.Group) error {
	return w.Figure(slug(title)+"-epochs", ofCurves(title, groups)+"by epochs", plotting.SeedBands(groups...).Title(title))
}

// slug is a title as the name of a file.
func slug(title string) string {
	return strings.ToLower(strings.NewReplacer(", ", "-", ": ", "-", " ", "-", ",", "").Replace(title))
}

// ofCurves begins the caption of learning curves.
func ofCurves(title string, groups []plotting.Group) string {
	caption := title + ": −log p of training rows (solid) and validation rows (dashed), "
	if len(groups[0].Seeds) > 1 {
		caption += "mean and sd over seeds, "
	}
	return caption
}

// curvesOf are the runs of a table's cells by their numbers, without what all numbers
// begin with; those of a part of the epochs are left out.
func (w *work) curvesOf(cells []cell, begin string) (map[string][]trained, error) {
	all := map[string][]trained{}
	for _, c := range cells {
		if c.part > 0 {
			continue
		}
		label := strings.TrimPrefix(c.number, begin)
		of, err := w.trained(c.plan.name, label)
		if err != nil {
			return nil, err
		}
		all[label] = of
	}
	return all, nil
}

// norms is a history of which the norms are asked for.
type norms runs.History

type layerNorms = runs.LayerNorms

// at is the Euclidean norm over all layers of both networks after a part of the epochs.
func (h norms) at(part float64, of func(layerNorms) float64) float64 {
	sum := 0.0
	for _, layers := range h.Epochs[partOf(part, len(h.Epochs))-1].Norms {
		for _, l := range layers {
			sum += of(l) * of(l)
		}
	}
	return math.Sqrt(sum)
}

// secondsAnEpoch are the medians over three rounds of the time that an epoch of each
// training takes.
func (w *work) secondsAnEpoch(all [][]trained) ([]float64, error) {
	var question strings.Builder
	fmt.Fprintf(&question, "seconds-an-epoch-%s-%d", cpuid.CPU.BrandName, runtime.GOMAXPROCS(0))
	for _, of := range all {
		fmt.Fprintf(&question, "-%.8s", of[0].run.Experiment().Hash())
	}
	return reproduce.Kept(w.Work, question.String(), func() ([]float64, error) {
		steps := 1000
		if w.Scale == reproduce.Smoke {
			steps = 4
		}
		rounds := make([][]float64, len(all))
		for round := range 3 {
			for i, of := range all {
				w.Say("timing %s, round %d of 3", of[0].history.Name, round+1)
				set, err := w.dataset(of[0])
				if err != nil {
					return nil, err
				}
				timing, err := of[0].run.Experiment().Benchmark(w.ctx, set, steps, w.Progress)
				if err != nil {
					return nil, err
				}
				rounds[i] = append(rounds[i], timing.EpochS)
			}
		}
		var medians []float64
		for _, r := range rounds {
			slices.Sort(r)
			medians = append(medians, r[len(r)/2])
		}
		return medians, nil
	})
}

// dataset opens the data that a run was trained on.
func (w *work) dataset(of trained) (*dataset.Set, error) {
	return w.Sets.Open(of.run.Experiment(), of.run.Dir())
}

// group is what a figure draws as one curve, of all seeds.
func group(label string, of []trained) plotting.Group {
	g := plotting.Group{Name: label}
	for _, t := range of {
		g.Seeds = append(g.Seeds, t.history)
	}
	return g
}

// groups are those of several trainings.
func groups(all ...[]trained) []plotting.Group {
	var of []plotting.Group
	for _, t := range all {
		of = append(of, group(t[0].history.Name, t))
	}
	return of
}

// evaluation is one of a model, with the estimate of log p of each row.
type evaluation struct {
	hm.Evaluation
	Each []float64 `json:"each"`
}

// testRows and testSamples are how many test rows are evaluated at a scale, 0 for all,
// and the importance samples of each.
func (w *work) testRows() int {
	if w.Scale == reproduce.Smoke {
		return 50
	}
	return 0
}

func (w *work) testSamples() int {
	return map[reproduce.Scale]int{reproduce.Smoke: 20, reproduce.Laptop: 1000, reproduce.Full: 10_000}[w.Scale]
}

// evaluate estimates log p of the test rows, of each seed.
func (w *work) evaluate(of []trained) ([]evaluation, error) {
	var all []evaluation
	for _, t := range of {
		rows, samples := w.testRows(), w.testSamples()
		e, err := reproduce.KeptOf(w.Work, fmt.Sprintf("test-rows-%d-samples-%d", rows, samples), t.snapshot, func() (evaluation, error) {
			w.Say("evaluating %s, seed %d", t.history.Name, t.run.Experiment().Seed)
			set, err := w.dataset(t)
			if err != nil {
				return evaluation{}, err
			}
			e, err := t.model.Evaluate(w.ctx, t.model.Some(set.Test(), rows), samples, w.Progress)
			return evaluation{e, e.Each}, err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// value is that of a measure of evaluations over seeds, or of the one with its
// standard error.
func value(of []evaluation, measure func(hm.Evaluation) (float64, hm.StandardError)) reproduce.Value {
	v := reproduce.Over(runs.SpreadOf(of, func(e evaluation) float64 { value, _ := measure(e.Evaluation); return value }), len(of))
	if len(of) == 1 {
		_, se := measure(of[0].Evaluation)
		v.SE = (*float64)(&se)
	}
	v.By = fmt.Sprintf("%s samples of each of %s test rows", thousands(of[0].Samples), thousands(of[0].Data))
	return v
}

func logP(e hm.Evaluation) (float64, hm.StandardError) { return e.LogP, e.LogPSE }

// ratio is the ratio of two times that were measured in turn.
func ratio(a, b float64) reproduce.Value {
	return reproduce.Value{Ours: a / b, Seeds: 1, By: "epochs timed in turn, medians of three"}
}

// thousands writes a number with commas.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// elsewhere is why no verdict is given on numbers at the scale of the work.
func (w *work) elsewhere() string {
	if w.Scale == reproduce.Full {
		return ""
	}
	return "shorter than published"
}

// here marks a value with why no verdict is given on it at the scale of the work.
func (w *work) here(v reproduce.Value) reproduce.Value {
	v.Elsewhere = w.elsewhere()
	return v
}

// foundRatio adds the ratio of the seconds of an epoch of two trainings.
func (w *work) foundRatio(number string, a, b plan) error {
	var all [][]trained
	for _, p := range []plan{a, b} {
		of, err := w.trained(p.name, p.name)
		if err != nil {
			return err
		}
		all = append(all, of)
	}
	seconds, err := w.secondsAnEpoch(all)
	if err != nil {
		return err
	}
	w.Found(number, "ratio", ratio(seconds[0], seconds[1]))
	return nil
}

// difference is the mean of log p of a less that of b, with its standard error: over
// seeds where both have several, else over the rows, paired.
func difference(a, b []evaluation) (mean, se float64) {
	if len(a) > 1 && len(b) > 1 {
		of := func(e evaluation) float64 { return e.LogP }
		one, other := runs.SpreadOf(a, of), runs.SpreadOf(b, of)
		return one.Mean - other.Mean, math.Sqrt(one.SD*one.SD/float64(len(a)) + other.SD*other.SD/float64(len(b)))
	}
	one, other := a[0].Each, b[0].Each
	for i := range one {
		mean += (one[i] - other[i]) / float64(len(one))
	}
	for i := range one {
		se += (one[i] - other[i] - mean) * (one[i] - other[i] - mean)
	}
	n := float64(len(one))
	return mean, math.Sqrt(se / (n - 1) / n)
}

// differenceValue is difference as a value.
func differenceValue(a, b []evaluation) reproduce.Value {
	mean, se := difference(a, b)
	return reproduce.Value{Ours: mean, SE: &se, Seeds: min(len(a), len(b)), By: value(a, logP).By}
}

// scored is a method's evaluations under its name.
type scored struct {
	name string
	of   []evaluation
}

// order judges whether log p of the test rows falls in the order given, each step by
// more than twice its standard error.
func order(methods ...scored) (reproduce.Verdict, string) {
	verdict := reproduce.Holds
	var evidence []string
	for i := range methods[1:] {
		mean, se := difference(methods[i].of, methods[i+1].of)
		evidence = append(evidence, fmt.Sprintf("%s − %s %.3f ± %.3f nats", methods[i].name, methods[i+1].name, mean, se))
		switch {
		case mean < -2*se:
			verdict = reproduce.Fails
		case mean < 2*se && verdict == reproduce.Holds:
			verdict = reproduce.Open
		}
	}
	return verdict, strings.Join(evidence, "; ")
}

// curve is the validation log p along training, the mean over seeds.
type curve []trained

func (c curve) epochs() int { return len(c[0].history.Epochs) }

// after is the value after an epoch.
func (c curve) after(epoch int) float64 {
	return runs.SpreadOf(c, func(t trained) float64 { return t.history.Epochs[epoch-1].Validation[runs.LogP.Key] }).Mean
}

// last is the value after the last epoch.
func (c curve) last() float64 { return c.after(c.epochs()) }

// seconds is the time that training took.
func (c curve) seconds() float64 {
	return runs.SpreadOf(c, func(t trained) float64 { return t.history.Epochs[len(t.history.Epochs)-1].Seconds }).Mean
}

// at is the value after a time: of the last epoch that had ended, NaN before the
// first.
func (c curve) at(seconds float64) float64 {
	return runs.SpreadOf(c, func(t trained) float64 {
		value := math.NaN()
		for _, e := range t.history.Epochs {
			if e.Seconds <= seconds {
				value = e.Validation[runs.LogP.Key]
			}
		}
		return value
	}).Mean
}

// endsAbove judges whether a curve ends above another, by more than twice the standard
// error over seeds where both have several.
func (c curve) endsAbove(other curve) (reproduce.Verdict, string) {
	last := func(c curve) runs.Spread {
		return runs.SpreadOf(c, func(t trained) float64 { return t.history.Epochs[len(t.history.Epochs)-1].Validation[runs.LogP.Key] })
	}
	a, b := last(c), last(other)
	gain := a.Mean - b.Mean
	if len(c) < 2 || len(other) < 2 {
		return reproduce.Open, fmt.Sprintf("%+.3f nats, of one seed", gain)
	}
	se := math.Sqrt(a.SD*a.SD/float64(len(c)) + b.SD*b.SD/float64(len(other)))
	verdict := reproduce.Open
	switch {
	case gain > 2*se:
		verdict = reproduce.Holds
	case gain < -2*se:
		verdict = reproduce.Fails
	}
	return verdict, fmt.Sprintf("%+.3f ± %.3f nats", gain, se)
}

// ahead judges whether a is above b wherever they are compared, of which compare gives
// the differences.
func ahead(where string, compare []float64) (reproduce.Verdict, string) {
	above, least := 0, math.Inf(1)
	for _, d := range compare {
		if d > 0 {
			above++
		}
		least = math.Min(least, d)
	}
	verdict := reproduce.Fails
	if above == len(compare) {
		verdict = reproduce.Holds
	}
	return verdict, fmt.Sprintf("above at %d of %d %s, by %.3f nats where it is least", above, len(compare), where, least)
}

// byEpochs are the differences of two curves at the tenths of the epochs.
func byEpochs(a, b curve) []float64 {
	var d []float64
	n := min(a.epochs(), b.epochs())
	for tenth := 1; tenth <= 10; tenth++ {
		epoch := max(1, n*tenth/10)
		d = append(d, a.after(epoch)-b.after(epoch))
	}
	return d
}

// bySeconds are the differences of two curves at the tenths of the time that b takes,
// from one of them on.
func bySeconds(a, b curve, from int) []float64 {
	var d []float64
	for tenth := from; tenth <= 10; tenth++ {
		t := b.seconds() * float64(tenth) / 10
		if difference := a.at(t) - b.at(t); !math.IsNaN(difference) {
			d = append(d, difference)
		}
	}
	return d
}

// both joins two judgements: both have to hold.
func both(a reproduce.Verdict, evidence string, b reproduce.Verdict, more string) (reproduce.Verdict, string) {
	verdict := reproduce.Holds
	for _, v := range []reproduce.Verdict{reproduce.Open, reproduce.Fails} {
		if a == v || b == v {
			verdict = v
		}
	}
	if evidence != "" {
		more = evidence + "; " + more
	}
	return verdict, more
}

// pixels is the mean of the pixels of images, and its standard error over them.
func pixels(s dataset.Sheet) (mean, se float64) {
	return statistics.MeanAndError(len(s.Values), func(i int) float64 {
		sum := 0.0
		for _, x := range s.Values[i] {
			sum += x
		}
		return sum / float64(len(s.Values[i]))
	})
}

// rowPixels is the mean of the pixels of rows.
func rowPixels(s dataset.Split) float64 {
	sum := 0.0
	for _, v := range s.Values {
		sum += float64(v) / 255
	}
	return sum / float64(len(s.Values))
}
