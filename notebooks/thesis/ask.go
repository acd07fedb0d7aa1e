package thesis

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// pair holds two labels, the first of which is claimed to be above the second, and a description of the pair.
type pair struct{ what, a, b string }

func over(a, b string) pair { return pair{a + " over " + b, a, b} }

// secondsRatio returns the ratio of the seconds per epoch of two labels, with its standard error. The labels
// inTurn are timed in turn.
func (c *comparison) secondsRatio(a, b string, inTurn ...string) (ratio, se float64) {
	seconds := c.secondsAnEpoch(c.all(inTurn...))
	return seconds[slices.Index(inTurn, a)].over(seconds[slices.Index(inTurn, b)])
}

// secondsOver finds the ratio of the seconds per epoch of two labels. It times these two, or all labels
// inTurn, in turn.
func secondsOver(name, a, b string, inTurn ...string) number {
	if len(inTurn) == 0 {
		inTurn = []string{a, b}
	}
	return func(c *comparison) {
		ratio, se := c.secondsRatio(a, b, inTurn...)
		c.foundTimes(name, "ratio", ratio, se, c.of(a))
	}
}

func (c *comparison) over(a, b string) gain { return difference(c.tested(a), c.tested(b)) }

func logPOver(name, a, b string) number {
	return func(c *comparison) {
		g, v := c.over(a, b), value(c.tested(a), logP)
		seeds := min(len(c.tested(a)), len(c.tested(b)))
		c.Found(name, "difference of log p", reproduce.Value{Ours: g.nats, SE: &g.se, Seeds: seeds, By: v.By, Data: v.Data})
	}
}

func falling(labels ...string) ask {
	return func(c *comparison, j *judgement) {
		for i, b := range labels[1:] {
			j.above(labels[i]+" − "+b, c.over(labels[i], b))
		}
	}
}

func above(pairs ...pair) ask {
	return func(c *comparison, j *judgement) {
		for _, p := range pairs {
			j.above(p.what, c.over(p.a, p.b))
		}
	}
}

// within asks whether log p of the test rows differs by less than some nats, and notAbove whether it is not
// above another label's by more than twice the standard error.
func within(nats float64, a, b string) ask {
	return func(c *comparison, j *judgement) { j.add(c.over(a, b).of("%s − %s", a, b).Within(nats).Errors(0)) }
}

func notAbove(a, b string) ask {
	return func(c *comparison, j *judgement) { j.add(c.over(a, b).of("%s − %s", a, b).Under(0).Errors(-2)) }
}

// aheadByEpochs asks whether curves are above others at each tenth of the epochs, and aheadBySeconds at each
// tenth of the seconds that the other curve takes.
func aheadByEpochs(pairs ...pair) ask { return ofPairs(pairs, (*work).aheadByEpochs) }

func aheadBySeconds(pairs ...pair) ask {
	return ofPairs(pairs, func(w *work, j *judgement, what string, a, b curve) { w.aheadBySeconds(j, what, a, b, 1) })
}

// endsAbove asks whether curves end above others, and bestAbove whether their highest value is above the
// highest of others.
func endsAbove(pairs ...pair) ask { return ofPairs(pairs, (*work).endsAbove) }

func bestAbove(pairs ...pair) ask {
	return ofPairs(pairs, func(w *work, j *judgement, what string, a, b curve) { j.above(what, w.gain(a, b, best)) })
}

func ofPairs(pairs []pair, add func(w *work, j *judgement, what string, a, b curve)) ask {
	return func(c *comparison, j *judgement) {
		for _, p := range pairs {
			add(c.work, j, p.what, c.of(p.a), c.of(p.b))
		}
	}
}

// said adds evidence that decides nothing by itself.
func said(text string) ask { return func(_ *comparison, j *judgement) { j.say("%s", text) } }

// byFewSamples adds the number of samples with which curves of bidirectional machines and of others are
// compared.
func byFewSamples(c *comparison, j *judgement) {
	j.say("by %d samples of each row, which flatter a machine whose q is better", c.all()[0][0].samples)
}
