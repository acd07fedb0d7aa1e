package thesis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// row describes the training runs that a result compares, and how it reads them. with adds the steps that find, judge
// and draw. A run is identified by its label, the name of its cell in figures.
type row struct {
	cells    []cell
	more     []plan            // further training runs
	begin    string            // prefix of the number of each cell, which its label omits
	names    map[string]string // labels that figures name differently
	table    bool              // log p of each cell is found, as a number of the criteria or in addition
	few      bool              // log p of test rows uses as few samples as the ends of curves
	unstable string            // label of the run that may have diverged
	timed    bool              // epochs are timed in turn, and curves are also drawn by seconds
	onTest   bool              // curves are of the test rows that training measures
	drawn    string            // id of the result whose published numbers figures show as lines, or empty
}

// cell is a number in a table of test log p, for a run after all or a part of its epochs.
type cell struct {
	number string // of the criteria
	plan   plan
	part   float64 // 0 for all
}

// epochs returns the number of epochs of the cell at a scale.
func (c cell) epochs(s reproduce.Scale) int {
	if c.part > 0 {
		return partOf(c.part, c.plan.epochs(s))
	}
	return c.plan.epochs(s)
}

func firsts(cells []cell) []cell {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool {
		again := seen[c.plan.name]
		seen[c.plan.name] = true
		return again
	})
}

func plansOf(cells []cell) []plan {
	return each(firsts(cells), func(c cell) plan { return c.plan })
}

// drawn returns the cells of a figure that accompanies a table. Their curves end where the table's first cell
// of the same run ends, so training stops there.
func drawn(table ...cell) []cell {
	return each(firsts(table), func(c cell) cell {
		c.plan.until, c.part = c.part, 0
		return c
	})
}

func numbered(cells []cell, numbers ...string) []cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return !slices.Contains(numbers, c.number) })
}

// A step finds a number of the criteria, judges a claim, or draws figures.
type step func(*comparison)

// ask adds the answer of a comparison to a judgement.
type ask func(c *comparison, j *judgement)

// judged judges a claim of the criteria by everything that must hold for it. shown does so for a claim on which this
// setting allows no verdict.
func judged(says string, asks ...ask) step {
	return func(c *comparison) { c.claim(says).by(c, asks) }
}

func shown(says string, asks ...ask) step {
	return func(c *comparison) { c.shown(says).by(c, asks) }
}

func (j *judgement) by(c *comparison, asks []ask) {
	for _, ask := range asks {
		ask(c, j)
	}
}

// curves draws the learning curves of some labels, or of all.
func curves(title string, labels ...string) step {
	return func(c *comparison) {
		labels := labels
		if labels == nil {
			labels = c.labels
		}
		published, evaluated := c.row.published(labels), []float64(nil)
		if published != nil {
			evaluated = each(labels, func(label string) float64 { return -value(c.tested(label), logP).Ours })
		}
		c.curvesBeside(title, c.row.timed, published, evaluated, c.all(labels...)...)
	}
}

// methods lists the two methods that chapter 6 of Várady 2025 compares.
var methods = []string{"RWS", "NRWS"}

// curvesByMethod draws the learning curves of each method, in a figure for each.
func curvesByMethod(title string, endings ...string) step {
	return func(c *comparison) {
		for _, m := range methods {
			curves(title+": "+m, each(endings, func(ending string) string { return m + ending })...)(c)
		}
	}
}

// with returns the entry that takes steps one after the other.
func (r row) with(steps ...step) reproduce.Entry {
	return by(func(w *work) {
		c := r.compare(w)
		for _, take := range steps {
			take(c)
		}
	}, append(plansOf(r.cells), r.more...)...)
}

// published returns the published −log p of labels, or NaN if a label has no published value.
func (r row) published(labels []string) []float64 {
	if r.drawn == "" {
		return nil
	}
	results := must(reproduce.ParseCriteria("criteria.toml", criteria))
	of := slices.IndexFunc(results, func(result reproduce.Result) bool { return result.ID == r.drawn })
	return each(labels, func(label string) float64 {
		for _, cell := range r.cells {
			if n, has := results[of].Number(cell.number, "log p"); has && r.label(cell) == label {
				return -n.Published
			}
		}
		return math.NaN()
	})
}

// comparison is a row while its result is made: the runs of its cells by their labels.
type comparison struct {
	*work
	row     row
	labels  []string // in the order of the cells
	runs    map[string]curve
	passed  passedOver              // the error of the unstable run, if it has diverged
	samples int                     // of each test row
	tests   map[string][]evaluation // of test rows, filled when asked for
}

// label names a cell in figures and evidence by its number: outside of tables, without the prefix of all
// cells and without the epochs that all curves share.
func (r row) label(c cell) string {
	if r.table {
		return c.number
	}
	return strings.Replace(strings.TrimPrefix(c.number, r.begin), ", 2,000 epochs", "", 1)
}

func (r row) compare(w *work) *comparison {
	c := &comparison{work: w, row: r, runs: map[string]curve{}, samples: w.testSamples(), tests: map[string][]evaluation{}}
	if r.few {
		c.samples = w.endSamples()
	}
	for _, cell := range r.cells {
		label := r.label(cell)
		open := func() {
			c.runs[label] = w.trainedAt(cell.plan.nameAt(w.Scale), cmp.Or(r.names[label], label), cell.epochs(w.Scale))
			c.labels = append(c.labels, label)
		}
		if label == r.unstable {
			c.passed.diverged(open)
		} else {
			open()
		}
	}
	if r.onTest {
		for label, of := range c.runs {
			c.runs[label] = onTest(of)
		}
	}
	if r.table {
		c.findCells()
	}
	if r.timed { // after the evaluations of the table, which are kept if the program stops
		w.timed(c.all()...)
	}
	return c
}

func (c *comparison) of(label string) curve {
	of, known := c.runs[label]
	if !known {
		panic(fmt.Sprintf("no cell is labelled %q", label))
	}
	return of
}

func (c *comparison) all(labels ...string) []curve {
	if len(labels) == 0 {
		labels = c.labels
	}
	return each(labels, c.of)
}

func (c *comparison) tested(label string) []evaluation {
	if c.tests[label] == nil {
		c.tests[label] = c.evaluateWith(c.of(label), c.samples)
	}
	return c.tests[label]
}

// findCells finds log p of each cell, and log p̃* if the criteria have it.
func (c *comparison) findCells() {
	for _, number := range c.labels {
		if c.Has(number, "log p") {
			c.found(number, "log p", c.tested(number), logP)
		} else {
			c.Beside(number, "log p", value(c.tested(number), logP))
		}
		if c.Has(number, "log p̃*") {
			c.found(number, "log p̃*", c.tested(number), logPTildeStar)
		}
	}
}

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
func secondsOver(name, a, b string, inTurn ...string) step {
	if len(inTurn) == 0 {
		inTurn = []string{a, b}
	}
	return func(c *comparison) {
		ratio, se := c.secondsRatio(a, b, inTurn...)
		c.foundTimes(name, "ratio", ratio, se, c.of(a))
	}
}

func (c *comparison) over(a, b string) gain { return difference(c.tested(a), c.tested(b)) }

func logPOver(name, a, b string) step {
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
