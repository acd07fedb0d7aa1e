package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Bidirectional returns p*(x,h) = √(p(x,h) q(x) q(h|x))/Z. Since q(x) is defined as p*(x) =
// p̃*(x)/Z² (BiHM thesis 2016, 3.1–3.3), it equals √(p̃*(x) p(x,h) q(h|x))/Z².
func (n *Networks) Bidirectional() Distribution { return n.BidirectionalGiven(nil, nil) }

// BidirectionalGiven returns p*(x,h) given the values of the known visible units in x. If known is
// nil, no unit is known.
func (n *Networks) BidirectionalGiven(x []float64, known []bool) Distribution {
	return func(yield func(Values, float64) bool) {
		var states []Values
		var logs []float64
		for v := range n.states(0, 0) {
			if !agree(v[0], x, known) {
				continue
			}
			e := n.Explain(v[0])
			states = append(states, e.states...)
			for _, log := range e.logTargets(SquareRoot) {
				logs = append(logs, e.LogPTildeStar()/2+log)
			}
		}
		for i, probability := range normalize(logs) {
			if !yield(states[i], probability) {
				return
			}
		}
	}
}

// agree reports whether the known units have the same values in two visible layers.
func agree(x, y []float64, known []bool) bool {
	for j, k := range known {
		if k && x[j] != y[j] {
			return false
		}
	}
	return true
}

// Gibbs is Algorithm 2 of BiHM thesis 2016 as a Markov chain. Its transition probabilities are
// exact sums, including the randomness of importance resampling.
type Gibbs struct {
	*Networks
	Candidates int    // K, per layer
	Inner      int    // samples h ~ q(h|x) for the estimate of √p̃*(x)
	Known      []bool // visible units that keep their values; nil for none
}

// After returns the distribution of a chain after some sweeps. Each sweep draws the odd layers,
// then the even layers, then x.
func (g Gibbs) After(start Distribution, sweeps int) Distribution {
	var states []Values
	number := map[string]int{}
	for s := range g.states(0, g.Architecture.Depth()) {
		number[s.Key()] = len(states)
		states = append(states, s)
	}
	distribution := make([]float64, len(states))
	for s, probability := range start {
		distribution[number[s.Key()]] += probability
	}
	draws := make([]map[string][]choice, len(g.Architecture.Units)) // by the states that they depend on
	for i := range draws {
		draws[i] = map[string][]choice{}
	}
	for range sweeps {
		for _, layer := range g.order() {
			next := make([]float64, len(states))
			for i, s := range states {
				if distribution[i] == 0 {
					continue
				}
				given := g.given(layer, s)
				if draws[layer][given] == nil {
					draws[layer][given] = g.choices(layer, s)
				}
				for _, c := range draws[layer][given] {
					changed := s.with(layer, c.units)
					next[number[changed.Key()]] += distribution[i] * c.probability
				}
			}
			distribution = next
		}
	}
	return func(yield func(Values, float64) bool) {
		for i, s := range states {
			if !yield(s, distribution[i]) {
				return
			}
		}
	}
}

// order returns the layers in the order of a sweep.
func (g Gibbs) order() (layers []int) {
	for _, first := range []int{1, 2} {
		for i := first; i <= g.Architecture.Depth(); i += 2 {
			layers = append(layers, i)
		}
	}
	return append(layers, 0)
}

// given returns a key of the states that the draw of a layer depends on.
func (g Gibbs) given(layer int, s Values) string {
	var on Values
	if layer > 0 {
		on = append(on, s[layer-1])
	}
	if layer < g.Architecture.Depth() {
		on = append(on, s[layer+1])
	}
	for j, k := range g.Known {
		if layer == 0 && k {
			on = append(on, s[0][j:j+1])
		}
	}
	return on.Key()
}

// with returns a copy of v in which a layer is replaced.
func (v Values) with(layer int, units []float64) Values {
	changed := slices.Clone(v)
	changed[layer] = units
	return changed
}

// choice is a possible outcome of the draw of a layer.
type choice struct {
	units       []float64
	probability float64
}

// choices returns the outcomes of the draw of a layer.
//
// The target is p* given all other layers. For a hidden layer it is
//
//	p*(hˡ|hˡ⁻¹,hˡ⁺¹) ∝ √(p(hˡ|hˡ⁺¹) p(hˡ⁻¹|hˡ) q(hˡ|hˡ⁻¹) q(hˡ⁺¹|hˡ)),
//
// without q(hˡ⁺¹|hˡ) at the top: √(p(x,h) q(h|x)) up to factors without hˡ. The proposal is
// ½p(hˡ|hˡ⁺¹) + ½q(hˡ|hˡ⁻¹). For x the target is √(p̃*(x) p(x|h¹) q(h¹|x)) and the proposal
// p(x|h¹); √p̃*(x) is estimated without bias by the mean of √(p(x,h)/q(h|x)) over a few h ~ q(h|x).
func (g Gibbs) choices(layer int, s Values) (list []choice) {
	var proposal, weights []float64
	add := func(units []float64, logProposal, logWeight float64) {
		list = append(list, choice{units: units})
		proposal = append(proposal, math.Exp(logProposal))
		weights = append(weights, math.Exp(logWeight))
	}
	for candidate := range g.states(layer, layer) {
		v := s.with(layer, candidate[layer])
		if layer > 0 {
			up, down := g.logLayer(g.Generative, layer, v), g.logLayer(g.Recognition, layer, v)
			logProposal := floats.LogSumExp([]float64{up, down}) - math.Ln2
			add(v[layer], logProposal, (g.LogJointOf(v)+g.LogRecognitionOf(v))/2-logProposal)
			continue
		}
		if !agree(v[0], s[0], g.Known) {
			continue
		}
		logProposal := g.logLayer(g.Generative, 0, v)
		for j, k := range g.Known {
			if k {
				logProposal -= g.logDensity(g.Generative[j:j+1], v)
			}
		}
		logWeight := (g.logLayer(g.Recognition, 1, v) - g.logLayer(g.Generative, 0, v)) / 2
		e := g.Explain(v[0])
		for tuple := range tuples(len(e.states), g.Inner) {
			logQ := pick(e.logQ, tuple)
			roots := floats.SubTo(make([]float64, g.Inner), pick(e.logP, tuple), logQ)
			floats.Scale(0.5, roots)
			add(v[0], logProposal+floats.Sum(logQ), logWeight+bound(roots))
		}
	}
	for i, probability := range Resampled(proposal, weights, g.Candidates) {
		list[i].probability = probability
	}
	return list
}

// logLayer returns the log-probability of a layer under a network, given its parents.
func (n *Networks) logLayer(network []Unit, layer int, v Values) (sum float64) {
	for k, u := range network {
		if u.Layer == layer {
			sum += n.logDensity(network[k:k+1], v)
		}
	}
	return sum
}
