package hm

import (
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Suggested returns a machine and a method with which training on a data set is likely to succeed at the
// first try. The page notebooks/results/first-try.md compares the suggestions with tuned settings on ten
// sets. The method is NRWS with a learning rate that falls along a cosine. The number of training rows
// decides its batch size, epochs, learning rate, damping, strength of L1, and steps between refreshes of the
// Fisher blocks. If the rows keep grey values or real numbers, the visible units are Gaussian and the method
// is RWS with Adam. If the set has categorical columns, or binary ones beside real numbers, the units of each column
// are one variable (Groups), and the method is RWS with Adam, too, if the largest Fisher block would have more than
// 1,000 rows. Dataset.Spec.OpenSuggested opens the set as "helmholtz new" does.
func Suggested(set *dataset.Set) (Machine, Method) {
	machine, method := SuggestedFor(set.Shape(), set.Train().Rows, set.Spec().Binarization)
	largest := 1
	for _, c := range set.Columns() {
		largest = max(largest, c.Units)
	}
	groups, err := groupsOf(set)
	mixed := slices.ContainsFunc(groups, func(g Groups) bool { return g.Real }) && slices.ContainsFunc(groups, func(g Groups) bool { return !g.Real })
	if err != nil || largest == 1 && !mixed {
		return machine, method
	}
	// On uci/adult, with up to 41 units a column, NRWS ends 0.05 nats higher, but takes ten times as long.
	if largest*(machine.spec.Layers[0]+1) > 1000 && method.spec.Metric != Euclidean {
		method = RWS().Optimizer(Adam).LearningRate(0.01).Schedule(CosineDecay).BatchSize(method.spec.BatchSize).Epochs(method.budget.Epochs)
	}
	return machine.Units().Groups(Groups{}), method
}

// SuggestedFor is like Suggested, for the given number, shape and binarisation of training rows.
func SuggestedFor(shape dataset.Shape, rows int, binarization dataset.Binarization) (Machine, Method) {
	const few = 1000 // rows; with fewer, the usual steps overfit within an epoch or two
	rows = max(1, rows)
	batch := min(32, rows)
	first := max(8, min(100, shape.Units()))
	machine := New(shape).Dense(first, first/2, first/4)
	epochs := max(20, min(200, 400_000/rows))
	switch {
	case binarization == dataset.Gray || binarization == dataset.Real:
		return machine.Units(Gaussian, Bernoulli, Bernoulli, Bernoulli),
			RWS().Optimizer(Adam).LearningRate(0.001).Schedule(CosineDecay).BatchSize(batch).Epochs(max(20, min(1000, 100_000/rows)))
	case rows < few:
		return machine, NRWS().LearningRate(0.03).Schedule(CosineDecay).Damping(0.2).RefreshEvery(10).L1(0.003).BatchSize(batch).Epochs(40)
	}
	return machine, NRWS().LearningRate(0.1).Schedule(CosineDecay).Damping(0.05).RefreshEvery(min(500, rows/batch)).
		L1(math.Round(1e6/float64(rows)) / 1e5).BatchSize(batch).Epochs(epochs)
}
