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

// gain is a difference of two log-likelihoods in nats, with its standard error: over seeds if both have
// several, otherwise over the rows, paired.
type gain struct{ nats, se float64 }

// verdict returns whether the first is above the second, as the head of the criteria defines it: by more than
// twice the standard error.
func (g gain) verdict() reproduce.Verdict { return positive(g.nats, g.se) }

// positive returns whether a number is above 0, as far as its standard error shows.
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

// over returns how far one gain exceeds another.
func (g gain) over(other gain) gain { return gain{g.nats - other.nats, math.Hypot(g.se, other.se)} }

// gainOverSeeds returns the gain of values of several seeds each, or NaN if a seed has none.
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

// logPs returns log p of each seed.
func logPs(of []evaluation) []float64 {
	return each(of, func(e evaluation) float64 { return e.LogP })
}

// starDifference returns how far log p* of a is above log p* of b, for one seed each.
func starDifference(a, b evaluation) gain {
	g := paired(a.EachTildeStar, b.EachTildeStar)
	return gain{g.nats - *a.LogZ2 + *b.LogZ2, math.Hypot(g.se, math.Hypot(float64(*a.LogZ2SE), float64(*b.LogZ2SE)))}
}

// holdsIf returns the verdict on a fact without error.
func holdsIf(holds bool) reproduce.Verdict {
	if holds {
		return reproduce.Holds
	}
	return reproduce.Fails
}

// tally returns how many of several verdicts hold, and how many are open.
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

// atLeast returns the verdict that at least n of several verdicts hold.
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

// count describes how many of several verdicts hold, and how many are open.
func count(verdicts []reproduce.Verdict) string {
	held, open := tally(verdicts)
	text := fmt.Sprintf("%d of %d", held, len(verdicts))
	if open > 0 {
		text += fmt.Sprintf(" (%d open)", open)
	}
	return text
}

func verdicts(gains []gain) []reproduce.Verdict { return each(gains, gain.verdict) }

// judgement is a verdict with its evidence, while it is made. Everything that is added must hold.
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

// undecided leaves open everything judged so far, for a reason.
func (j *judgement) undecided(reason string, values ...any) {
	j.add(reproduce.Open, reason, values...)
	j.verdict = reproduce.Open
}

// worse returns the worse of two verdicts on claims.
func worse(a, b reproduce.Verdict) reproduce.Verdict {
	switch {
	case a == reproduce.Fails || b == reproduce.Fails:
		return reproduce.Fails
	case a == reproduce.Open || b == reproduce.Open:
		return reproduce.Open
	}
	return reproduce.Holds
}

// above judges whether one thing is above another.
func (j *judgement) above(what string, g gain) { j.add(g.verdict(), "%s %v", what, g) }

// ahead judges whether one thing is above another at all places compared.
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

// behindLess judges whether something is nowhere behind by so many nats.
func (j *judgement) behindLess(nats float64, where string, gains []gain) {
	least := slices.Min(each(gains, func(g gain) float64 { return g.nats })) // NaN where they could not be compared
	verdict := holdsIf(least > -nats)
	if math.IsNaN(least) {
		verdict = reproduce.Open
	}
	j.add(verdict, "%+.3f nats at the worst of the %s", least, where)
}

// passedOver holds the errors of trainings that a search for the best rate skips.
type passedOver []error

// diverged opens a training, and reports whether it has diverged. It keeps the error.
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

// bestOf returns what the best candidate made, by its score, and the index of that candidate. It skips
// trainings that have diverged; if all have, it ends with their error.
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

// atEnd reports whether the best of candidates is the first or the last of them.
func atEnd[C any](best int, candidates []C) bool { return best == 0 || best == len(candidates)-1 }

func (j *judgement) text() string { return strings.Join(j.evidence, "; ") }

// judge records the verdict on a claim about nothing but an order, and judgeFull on any other claim.
func (w *work) judge(says string, j judgement) { w.Judge(says, j.verdict, "%s", j.text()) }

func (w *work) judgeFull(says string, j judgement) { w.JudgeFull(says, j.verdict, "%s", j.text()) }

// show records what was found about a claim without a verdict, because the setting or the data differ from the
// published ones.
func (w *work) show(says string, j judgement) { w.Show(says, j.verdict, "%s", j.text()) }

// lookAt records what was measured for a claim about pictures. If that fails, the claim fails; otherwise the
// verdict is left to the reader.
func (w *work) lookAt(says string, j judgement) {
	if j.verdict == reproduce.Fails {
		w.judgeFull(says, j)
		return
	}
	j.verdict = ""
	w.show(says, j)
}
