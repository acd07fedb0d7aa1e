package thesis

import (
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// cell is a number of a table of test log p: that of a training, after all of its
// epochs or a part.
type cell struct {
	number string // of the criteria
	plan   plan
	part   float64 // 0 is all
}

// epochs are those of the cell at a scale.
func (c cell) epochs(s reproduce.Scale) int {
	if c.part > 0 {
		return partOf(c.part, c.plan.epochs(s))
	}
	return c.plan.epochs(s)
}

// plansOf are the trainings of a table's cells, each once.
func plansOf(cells []cell) []plan {
	var plans []plan
	seen := map[string]bool{}
	for _, c := range cells {
		if !seen[c.plan.name] {
			seen[c.plan.name] = true
			plans = append(plans, c.plan)
		}
	}
	return plans
}

// drawn are the cells of a figure beside a table, whose curves end where the table's first
// cell of their training does: they are trained no longer than that.
func drawn(table ...cell) []cell {
	var cells []cell
	seen := map[string]bool{}
	for _, c := range table {
		if !seen[c.plan.name] {
			seen[c.plan.name] = true
			c.plan.until, c.part = c.part, 0
			cells = append(cells, c)
		}
	}
	return cells
}

// numbered are the cells of some numbers.
func numbered(cells []cell, numbers ...string) []cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return !slices.Contains(numbers, c.number) })
}

// trainedCells are the runs of cells, in order, labelled by their numbers.
func (w *work) trainedCells(cells []cell) []curve {
	var all []curve
	for _, c := range cells {
		of := w.trained(c.plan.name, c.number)
		all = append(all, of)
	}
	return all
}

// cells finds log p of each, and where the criteria have it log p̃*, and returns the
// evaluations by number.
func (w *work) cells(all []cell) map[string][]evaluation {
	found := map[string][]evaluation{}
	for _, c := range all {
		of := w.trainedAt(c.plan.name, c.number, c.epochs(w.Scale))
		found[c.number] = w.evaluate(of)
		w.found(c.number, "log p", found[c.number], logP)
		if w.Has(c.number, "log p̃*") {
			w.found(c.number, "log p̃*", found[c.number], logPTildeStar)
		}
	}
	return found
}

func logPTildeStar(e hm.Evaluation) (float64, runs.Float) {
	return e.LogPTildeStar, e.LogPTildeStarSE
}

// aboveOf adds that log p of a number of a table is above that of another.
func (j *judgement) aboveOf(of map[string][]evaluation, a, b string) {
	j.order("", scored{a, of[a]}, scored{b, of[b]})
}

// notAbove adds that it is not, by more than twice the standard error.
func (j *judgement) notAbove(of map[string][]evaluation, a, b string) {
	g := difference(of[a], of[b])
	j.add(holdsIf(g.verdict() != reproduce.Holds), "%s − %s %v", a, b, g)
}

// within adds that two are apart by less than some nats.
func (j *judgement) within(of map[string][]evaluation, a, b string, nats float64) {
	g := difference(of[a], of[b])
	j.add(holdsIf(math.Abs(g.nats) < nats), "%s − %s %v", a, b, g)
}
