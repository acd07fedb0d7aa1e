package oracle

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// A Gaussian unit has the values k·gridStep with |k| ≤ gridPoints: a sum over states integrates over them by the
// trapezoidal rule.
const gridPoints, gridStep = 150, 0.1

// maxStates bounds the sums over states to a few million terms.
const maxStates = 1 << 22

// variables lists the variables of layer i. A Bernoulli unit is a variable without a category of its own.
func variables(a engine.Architecture, i int) []engine.Group {
	switch a.Kind(i) {
	case engine.Gaussian:
		return []engine.Group{{Units: a.Units[i], Real: true}}
	case engine.Bernoulli:
		return slices.Repeat([]engine.Group{{Units: 1}}, a.Units[i])
	}
	return a.Variables(i)
}

// options lists the values that the units of each variable of a layer can have.
func (n *Networks) options(layer int) (all [][][]float64) {
	for _, g := range variables(n.Architecture, layer) {
		var list [][]float64
		switch {
		case g.Real:
			for k := -gridPoints; k <= gridPoints; k++ {
				list = append(list, []float64{float64(k) * gridStep})
			}
			all = append(all, slices.Repeat([][][]float64{list}, g.Units)...)
			continue
		case n.Architecture.Kind(layer) == engine.Bernoulli:
			list = [][]float64{{n.value(layer, false)}, {1}}
		default:
			for k := range g.Categories() {
				units := make([]float64, g.Units)
				if g.Rest {
					k--
				}
				if k >= 0 {
					units[k] = 1
				}
				list = append(list, units)
			}
		}
		all = append(all, list)
	}
	return all
}

// states yields every possible configuration of the layers from first to last, each as new values in
// which the units of all other layers are off, with the logarithm of its weight in a sum: 0 without
// Gaussian units. The first variable changes fastest. It panics if there are more than 2²² configurations.
func (n *Networks) states(first, last int) iter.Seq2[Values, float64] {
	var options [][][]float64
	logWeight, count := 0.0, 1.0
	for i := first; i <= last; i++ {
		options = append(options, n.options(i)...)
		for _, u := range n.Generative {
			if u.Layer == i && u.Kind == engine.Gaussian {
				logWeight += math.Log(gridStep)
			}
		}
	}
	lengths := make([]int, len(options)) // in reverse, because combin changes the last fastest
	for k, list := range options {
		count *= float64(len(list))
		lengths[len(options)-1-k] = len(list)
	}
	if count > maxStates {
		panic(fmt.Sprintf("oracle: layers %d to %d of %v have %g states: use fewer units, for at most %d states", first, last, n.Architecture.Units, count, maxStates))
	}
	return func(yield func(Values, float64) bool) {
		choices, chosen := combin.NewCartesianGenerator(lengths), make([]int, len(options))
		for choices.Next() {
			choices.Product(chosen)
			slices.Reverse(chosen)
			v, variable := n.blank(), 0
			for _, layer := range v[first : last+1] {
				for j := 0; j < len(layer); variable++ {
					j += copy(layer[j:], options[variable][chosen[variable]])
				}
			}
			if !yield(v, logWeight) {
				return
			}
		}
	}
}

// blank returns values of all layers in which all units are off.
func (n *Networks) blank() Values {
	v := make(Values, len(n.Architecture.Units))
	for i, units := range n.Architecture.Units {
		v[i] = slices.Repeat([]float64{n.value(i, false)}, units)
	}
	return v
}

// Explanation holds x with every h, their log-probabilities, and the logarithms of their weights in a sum.
type Explanation struct {
	states     []Values
	logP, logQ []float64 // log p(x,h), log q(h|x)
	logWeights []float64
}

// Explain enumerates the hidden units for given x.
func (n *Networks) Explain(x []float64) (e Explanation) {
	for v, logWeight := range n.states(1, n.Architecture.Depth()) {
		v[0] = x
		e.states, e.logWeights = append(e.states, v), append(e.logWeights, logWeight)
	}
	e.logP, e.logQ = n.logs(e.states)
	return e
}
