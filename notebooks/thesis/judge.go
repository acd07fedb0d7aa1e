package thesis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// gain is a difference of two log-likelihoods in nats, with its standard error and the number of values: over
// seeds if both have several, otherwise paired over the rows.
type gain struct {
	nats, se float64
	n        int
}

// of returns the gain as a quantity.
func (g gain) of(what string, values ...any) reproduce.Quantity {
	q := reproduce.Measured(g.nats, g.se, "nats", what, values...)
	q.N = g.n
	return q
}

func (g gain) String() string { return fmt.Sprintf("%+.3f ± %.3f nats", g.nats, g.se) }

// over returns how far one gain exceeds another.
func (g gain) over(other gain) gain {
	return gain{g.nats - other.nats, math.Hypot(g.se, other.se), min(g.n, other.n)}
}

// gainOverSeeds returns the gain of a over b, which hold values of several seeds, or NaN if a seed has no
// value.
func gainOverSeeds(a, b []float64) gain {
	one, oneSE := statistics.MeanAndErrorOf(a)
	other, otherSE := statistics.MeanAndErrorOf(b)
	return gain{one - other, math.Hypot(oneSE, otherSE), min(len(a), len(b))}
}

func spread(values []float64) runs.Spread {
	return runs.SpreadOf(values, func(x float64) float64 { return x })
}

func mean(values []float64) float64 { return spread(values).Mean }
func sd(values []float64) float64   { return spread(values).SD }

// paired returns the gain of a over b, which hold values of the same rows.
func paired(a, b []float64) gain {
	mean, se := statistics.MeanAndError(len(a), func(i int) float64 { return a[i] - b[i] })
	return gain{mean, se, len(a)}
}

// difference returns how far log p of a is above log p of b.
func difference(a, b []evaluation) gain {
	if len(a) > 1 && len(b) > 1 {
		return gainOverSeeds(logPs(a), logPs(b))
	}
	return paired(a[0].Each, b[0].Each)
}

// logPs returns log p of each seed.
func logPs(of []evaluation) []float64 {
	return each(of, func(e evaluation) float64 { return e.LogP })
}

// starDifference returns how far log p* of a is above log p* of b, for one seed each.
func starDifference(a, b evaluation) gain {
	g := paired(a.EachTildeStar, b.EachTildeStar)
	return gain{g.nats - *a.LogZ2 + *b.LogZ2, math.Hypot(g.se, math.Hypot(float64(*a.LogZ2SE), float64(*b.LogZ2SE))), g.n}
}

// exact returns a quantity without an error, or one whose error the criterion disregards.
func exact(x float64, unit, of string, values ...any) reproduce.Quantity {
	return reproduce.Measured(x, 0, unit, of, values...)
}

// nats returns a difference in nats with its standard error.
func nats(x, se float64, of string, values ...any) reproduce.Quantity {
	return reproduce.Measured(x, se, "nats", of, values...)
}

// fact returns the quantity 1 if a condition is met, otherwise 0. The quantity has to be 1.
func fact(is bool, of string, values ...any) reproduce.Quantity {
	x := 0.0
	if is {
		x = 1
	}
	return exact(x, "", of+" (1 stands for yes)", values...).Over(0.5)
}

// atLeast counts the quantities that keep their limits. At least n of them have to.
func atLeast(n int, of string, all []reproduce.Quantity) reproduce.Quantity {
	held, open := 0, 0
	for _, q := range all {
		switch q.Verdict() {
		case reproduce.Holds:
			held++
		case reproduce.Open:
			open++
		}
	}
	q := exact(float64(held), "", "%s", of).Over(float64(n) - 0.5)
	q.N, q.Open = len(all), open
	return q
}

// ofGains returns the gains as quantities that have to be above 0.
func ofGains(gains []gain) []reproduce.Quantity {
	return each(gains, func(g gain) reproduce.Quantity { return g.of("").Over(0) })
}

// judgement collects the evidence for a verdict on a claim. Every quantity that is added must keep its limits.
type judgement struct {
	says     string
	on       []reproduce.Quantity
	evidence []string
	shown    bool // whether it gives no verdict, because the setting or the data differ from the published ones
	looked   bool // whether the claim is about pictures: it may fail, but whether it holds is left to the reader
}

// claim begins the judgement of a claim, which is recorded when the result has been made. shown begins one that gives
// no verdict, and look one about pictures.
func (w *work) claim(says string) *judgement {
	j := &judgement{says: says}
	w.judgements = append(w.judgements, j)
	return j
}

func (w *work) shown(says string) *judgement {
	j := w.claim(says)
	j.shown = true
	return j
}

func (w *work) look(says string) *judgement {
	j := w.claim(says)
	j.looked = true
	return j
}

// record records the verdicts on all claims.
func (w *work) record() {
	for _, j := range w.judgements {
		if j.looked && reproduce.VerdictOn(j.on) != reproduce.Fails {
			j.on = nil
		}
		record := w.Judge
		if j.shown {
			record = w.Show
		}
		record(j.says, j.on, strings.Join(j.evidence, "; "))
	}
}

func (j *judgement) add(all ...reproduce.Quantity) *judgement {
	for _, q := range all {
		j.on = append(j.on, q)
		j.say("%v", q)
	}
	return j
}

// say adds evidence that decides nothing by itself.
func (j *judgement) say(evidence string, values ...any) *judgement {
	j.evidence = append(j.evidence, fmt.Sprintf(evidence, values...))
	return j
}

// undecided leaves the verdict open, for a reason.
func (j *judgement) undecided(reason string, values ...any) {
	j.add(reproduce.Quantity{Of: fmt.Sprintf(reason, values...), Undecided: true})
}

// bestAtEnd leaves the verdict open because the best rate of a method is the first or the last of those tried.
func (j *judgement) bestAtEnd(method string) {
	j.undecided("%s: the best rate lies at an end of those tried", method)
}

// above judges whether one thing is above another.
func (j *judgement) above(what string, g gain) *judgement { return j.add(g.of("%s", what).Over(0)) }

// ahead judges whether one thing is above another at all compared places, by the place where this is least
// certain.
func (j *judgement) ahead(what, where string, gains []gain) {
	compared := slices.DeleteFunc(slices.Clone(gains), func(g gain) bool { return math.IsNaN(g.nats) })
	if early := len(gains) - len(compared); early > 0 {
		j.add(reproduce.Quantity{Of: fmt.Sprintf("%s at %d of the %s, where no epoch of both has ended", what, early, where)})
	}
	if len(compared) > 0 {
		least := slices.MinFunc(compared, func(a, b gain) int { return cmp.Compare(a.nats/a.se, b.nats/b.se) })
		j.add(least.of("%s at the worst of %d %s", what, len(compared), where).Over(0))
	}
}

// passedOver holds the errors of runs that a search for the best rate skips.
type passedOver []error

// diverged opens a run, and reports whether it has diverged. It keeps the error.
func (p *passedOver) diverged(open func()) bool {
	err := untilAnError(open)
	if errors.Is(err, runs.ErrDiverged) {
		*p = append(*p, err)
		return true
	}
	check(err)
	return false
}

// note adds the errors to the evidence.
func (p passedOver) note(j *judgement) {
	for _, err := range p {
		j.say("%v", err)
	}
}

// bestOf returns the result of made for the candidate with the highest score, and the index of that
// candidate. It skips runs that have diverged; if all have, it fails with the last error.
func bestOf[C, T any](passed *passedOver, candidates []C, made func(C) (of T, score float64)) (best T, at int) {
	highest := math.NaN()
	at = -1
	for i, c := range candidates {
		var of T
		var score float64
		diverged := passed.diverged(func() { of, score = made(c) })
		if !diverged && (at < 0 || math.IsNaN(highest) || score > highest) {
			best, at, highest = of, i, score
		}
	}
	if at < 0 {
		check((*passed)[len(*passed)-1])
	}
	return best, at
}

// tried returns the candidates that a search tries at a scale: all, or at the scale smoke the first and the last.
func tried[C any](s reproduce.Scale, candidates []C) []C {
	if s == reproduce.Smoke && len(candidates) > 2 {
		return []C{candidates[0], candidates[len(candidates)-1]}
	}
	return candidates
}

// atEnd reports whether the best of candidates is the first or the last of them.
func atEnd[C any](best int, candidates []C) bool { return best == 0 || best == len(candidates)-1 }
