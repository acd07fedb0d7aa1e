package oracle

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/lists"
)

// maxTuples bounds the enumeration of the sample sets of one datum.
const maxTuples = 1 << 24

// Estimate is the exact distribution, up to second moments, of an estimator of a gradient.
// Monte-Carlo tests need it to state standard errors.
type Estimate struct {
	Mean     []float64
	Variance []float64 // per component
}

// Expected returns the mean and variance of GradientOn given `samples` wake samples h ~ q(h|x) of
// each row of data, and `dreams` dreams. Self-normalised weights make the mean differ from Limit,
// so Expected sums over all tuples of wake samples. It panics if there are more than 2²⁴ tuples, or
// if a rule with a sleep phase has no dreams.
func (n *Networks) Expected(data [][]float64, samples, dreams int, r engine.Algorithm) Estimate {
	if r.Sleep != 0 && dreams < 1 {
		panic("oracle: the rule has a sleep phase, but there are no dreams")
	}
	total := Estimate{make([]float64, len(n.Flat)), make([]float64, len(n.Flat))}
	b := float64(len(data))
	for _, x := range data {
		total.add(moments(n.wakeOutcomes(x, samples, r)), 1/b, 1/(b*b))
	}
	if r.Sleep != 0 {
		total.add(moments(n.sleepOutcomes(r.Sleep)), 1, 1/float64(dreams))
	}
	return total
}

// add adds an independent estimate, after scaling its mean and its variance.
func (e Estimate) add(other Estimate, mean, variance float64) {
	floats.AddScaled(e.Mean, mean, other.Mean)
	floats.AddScaled(e.Variance, variance, other.Variance)
}

// moments returns the mean and variance of gradients, given their probabilities.
func moments(outcomes iter.Seq2[[]float64, float64]) (e Estimate) {
	for gradient, probability := range outcomes {
		if e.Mean == nil {
			e.Mean, e.Variance = make([]float64, len(gradient)), make([]float64, len(gradient))
		}
		floats.AddScaled(e.Mean, probability, gradient)
	}
	for gradient, probability := range outcomes {
		for k, g := range gradient {
			e.Variance[k] += probability * (g - e.Mean[k]) * (g - e.Mean[k])
		}
	}
	return e
}

// wakeOutcomes yields the gradient of the wake and q-wake phases of one datum
// for every tuple of S samples.
func (n *Networks) wakeOutcomes(x []float64, samples int, r engine.Algorithm) iter.Seq2[[]float64, float64] {
	e := n.Explain(x)
	scores := n.scores(e.states)
	return func(yield func([]float64, float64) bool) {
		for tuple := range tuples(len(e.states), samples) {
			logP, logQ := pick(e.logP, tuple), pick(e.logQ, tuple)
			if !yield(n.wakeGradient(r, pick(scores, tuple), logP, logQ), math.Exp(floats.Sum(logQ))) {
				return
			}
		}
	}
}

// pick returns the elements of a list at the indices of a tuple.
func pick[T any](list []T, tuple []int) []T {
	return lists.Map(tuple, func(i int) T { return list[i] })
}

// Dreamed returns the mean and variance of factor·∂ log q(h|x) over one dream, which is the
// gradient of a sleep phase (2.31).
func (n *Networks) Dreamed(factor float64) Estimate {
	return moments(n.sleepOutcomes(factor))
}

// sleepOutcomes yields the gradient of the sleep phase for every dream.
func (n *Networks) sleepOutcomes(factor float64) iter.Seq2[[]float64, float64] {
	return func(yield func([]float64, float64) bool) {
		for v, probability := range n.Model() {
			gradient := make([]float64, len(n.Flat))
			n.addScore(gradient, n.Recognition, v, factor)
			if !yield(gradient, probability) {
				return
			}
		}
	}
}

// tuples yields all tuples of the numbers 0 … n−1, the same slice each time.
func tuples(n, length int) iter.Seq[[]int] {
	count := math.Pow(float64(n), float64(length))
	if count > maxTuples {
		panic(fmt.Sprintf("oracle: %d samples of %d states make %g tuples: use fewer samples or units, for at most %d tuples", length, n, count, maxTuples))
	}
	return func(yield func([]int) bool) {
		all := combin.NewCartesianGenerator(slices.Repeat([]int{n}, length))
		for tuple := make([]int, length); all.Next(); {
			all.Product(tuple)
			slices.Reverse(tuple) // the first changes fastest
			if !yield(tuple) {
				return
			}
		}
	}
}
