package thesis

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
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

// firsts are the first cell of each training.
func firsts(cells []cell) []cell {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool {
		again := seen[c.plan.name]
		seen[c.plan.name] = true
		return again
	})
}

// plansOf are the trainings of a table's cells, each once.
func plansOf(cells []cell) []plan {
	return each(firsts(cells), func(c cell) plan { return c.plan })
}

// drawn are the cells of a figure beside a table, whose curves end where the table's first
// cell of their training does: they are trained no longer than that.
func drawn(table ...cell) []cell {
	return each(firsts(table), func(c cell) cell {
		c.plan.until, c.part = c.part, 0
		return c
	})
}

// numbered are the cells of some numbers.
func numbered(cells []cell, numbers ...string) []cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return !slices.Contains(numbers, c.number) })
}
