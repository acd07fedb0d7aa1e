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

// gain is a difference of two log-likelihoods in nats, with its standard error: over
// seeds where both have several, else over the rows, paired.
type gain struct{ nats, se float64 }

// verdict is that on the first being above the second, as the head of the criteria has
// it: by more than twice the standard error.
func (g gain) verdict() reproduce.Verdict { return positive(g.nats, g.se) }

// positive is the verdict on a number being above 0, as far as its standard error tells.
func positive(number, se float64) reproduce.Verdict {
	switch {
	case number > 2*se:
		return reproduce.Holds
	case number < -2*se:
		return reproduce.Fails
	}
	return reproduce.Open
}

func (g gain) String() string { return fmt.Sprintf("%+.3f ± %.3f nats", g.nats, g.se) }

// over is how far one gain exceeds another.
func (g gain) over(other gain) gain { return gain{g.nats - other.nats, math.Hypot(g.se, other.se)} }

// gainOverSeeds returns the gain of values of several seeds each, NaN where a seed has none.
func gainOverSeeds(a, b []float64) gain {
	one, oneSE := statistics.MeanAndError(len(a), func(i int) float64 { return a[i] })
	other, otherSE := statistics.MeanAndError(len(b), func(i int) float64 { return b[i] })
	return gain{one - other, math.Hypot(oneSE, otherSE)}
}

func spread(values []float64) runs.Spread {
	return runs.SpreadOf(values, func(x float64) float64 { return x })
}

func mean(values []float64) float64 { return spread(values).Mean }
func sd(values []float64) float64   { return spread(values).SD }

// paired returns the gain of values of the same rows.
func paired(a, b []float64) gain {
	mean, se := statistics.MeanAndError(len(a), func(i int) float64 { return a[i] - b[i] })
	return gain{mean, se}
}

// difference returns how far log p of a is above log p of b.
func difference(a, b []evaluation) gain {
	if len(a) > 1 && len(b) > 1 {
		return gainOverSeeds(logPs(a), logPs(b))
	}
	return paired(a[0].Each, b[0].Each)
}

// logPs are log p of each seed.
func logPs(of []evaluation) []float64 {
	return each(of, func(e evaluation) float64 { return e.LogP })
}

// starDifference returns how far log p* of a is above log p* of b, of one seed each.
func starDifference(a, b evaluation) gain {
	g := paired(a.EachTildeStar, b.EachTildeStar)
	return gain{g.nats - *a.LogZ2 + *b.LogZ2, math.Hypot(g.se, math.Hypot(float64(*a.LogZ2SE), float64(*b.LogZ2SE)))}
}

// holdsIf is the verdict on what is known without an error.
func holdsIf(holds bool) reproduce.Verdict {
	if holds {
		return reproduce.Holds
	}
	return reproduce.Fails
}

// tally is how many of several things hold, and how many are open.
func tally(verdicts []reproduce.Verdict) (held, open int) {
	for _, v := range verdicts {
		switch v {
		case reproduce.Holds:
			held++
		case reproduce.Open:
			open++
		}
	}
	return held, open
}

// atLeast is the verdict on so many of several things holding.
func atLeast(n int, verdicts []reproduce.Verdict) reproduce.Verdict {
	held, open := tally(verdicts)
	switch {
	case held >= n:
		return reproduce.Holds
	case held+open < n:
		return reproduce.Fails
	}
	return reproduce.Open
}

// count says how many of several things hold, and how many are open.
func count(verdicts []reproduce.Verdict) string {
	held, open := tally(verdicts)
	text := fmt.Sprintf("%d of %d", held, len(verdicts))
	if open > 0 {
		text += fmt.Sprintf(" (%d open)", open)
	}
	return text
}

func verdicts(gains []gain) []reproduce.Verdict { return each(gains, gain.verdict) }

// judgement is a verdict with its evidence, in the making: all of what is added has to
// hold.
type judgement struct {
	verdict  reproduce.Verdict
	evidence []string
}

func (j *judgement) add(v reproduce.Verdict, evidence string, values ...any) {
	j.verdict = worse(cmp.Or(j.verdict, reproduce.Holds), v)
	j.say(evidence, values...)
}

// say adds evidence that decides nothing by itself.
func (j *judgement) say(evidence string, values ...any) {
	j.evidence = append(j.evidence, fmt.Sprintf(evidence, values...))
}

// undecided leaves open what has been judged so far, for a reason.
func (j *judgement) undecided(reason string, values ...any) {
	j.add(reproduce.Open, reason, values...)
	j.verdict = reproduce.Open
}

// worse is the worse of two verdicts on claims.
func worse(a, b reproduce.Verdict) reproduce.Verdict {
	switch {
	case a == reproduce.Fails || b == reproduce.Fails:
		return reproduce.Fails
	case a == reproduce.Open || b == reproduce.Open:
		return reproduce.Open
	}
	return reproduce.Holds
}

// above adds that something is above something else.
func (j *judgement) above(what string, g gain) { j.add(g.verdict(), "%s %v", what, g) }

// ahead adds that something is above something else everywhere where they were
// compared.
func (j *judgement) ahead(what, where string, gains []gain) {
	compared := slices.DeleteFunc(slices.Clone(gains), func(g gain) bool { return math.IsNaN(g.nats) })
	if len(compared) == 0 {
		j.add(reproduce.Open, "%s: no epoch of both has ended at the %s", what, where)
		return
	}
	least := slices.MinFunc(compared, func(a, b gain) int { return cmp.Compare(a.nats, b.nats) })
	of := verdicts(gains)
	j.add(atLeast(len(of), of), "%s above at %s %s, where it is least by %v", what, count(of), where, least)
	if early := len(gains) - len(compared); early > 0 {
		j.say("at %d of them no epoch of both has ended", early)
	}
}

// behindLess adds that something is nowhere behind by so many nats.
func (j *judgement) behindLess(nats float64, where string, gains []gain) {
	least := slices.Min(each(gains, func(g gain) float64 { return g.nats })) // NaN where they could not be compared
	verdict := holdsIf(least > -nats)
	if math.IsNaN(least) {
		verdict = reproduce.Open
	}
	j.add(verdict, "%+.3f nats at the worst of the %s", least, where)
}

// passedOver are the errors of trainings that a search for the best rate passes over.
type passedOver []error

// diverged opens a training, and says whether it has diverged; then it keeps the error.
func (p *passedOver) diverged(open func()) bool {
	err := untilAnError(open)
	if errors.Is(err, runs.ErrDiverged) {
		*p = append(*p, err)
		return true
	}
	check(err)
	return false
}

// note adds them to the evidence.
func (p passedOver) note(j *judgement) {
	for _, err := range p {
		j.say("%v", err)
	}
}

// bestOf is what scores highest among what is made of candidates, and which of them that is of.
// Those whose training has diverged are passed over; where all have, that is the error.
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

// atEnd says whether the best of candidates is the first or the last of them.
func atEnd[C any](best int, candidates []C) bool { return best == 0 || best == len(candidates)-1 }

func (j *judgement) text() string { return strings.Join(j.evidence, "; ") }

// judge says what was found of a claim that asks for nothing but an order, judgeFull of
// another.
func (w *work) judge(says string, j judgement) { w.Judge(says, j.verdict, "%s", j.text()) }

func (w *work) judgeFull(says string, j judgement) { w.JudgeFull(says, j.verdict, "%s", j.text()) }

// show says what was found of a claim that asks for more than an order, and gives no verdict:
// on stand-in data, or in another setting than the published.
func (w *work) show(says string, j judgement) { w.Show(says, j.verdict, "%s", j.text()) }

// lookAt says what was measured of a claim that has to be looked at, too: it fails where that
// fails, and is left to whoever looks where it does not.
func (w *work) lookAt(says string, j judgement) {
	if j.verdict == reproduce.Fails {
		w.judgeFull(says, j)
		return
	}
	j.verdict = ""
	w.show(says, j)
}
