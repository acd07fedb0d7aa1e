package hm

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/hm/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// enumerable is the largest sum of the units of two neighbouring hidden layers
// whose states are enumerated.
const enumerable = 20

// ExactKL is KL(p_D‖p) in nats, where p_D is the distribution of the rows of a
// split. The hidden layers are summed out exactly, from the top down. It fails
// for machines whose layers are too large for that and for data of which each
// row is a distribution.
func (m *Model) ExactKL(split dataset.Split) (float64, error) {
	data, err := m.data(split, 1)
	if err != nil {
		return 0, err
	}
	if data.Stochastic {
		return 0, fmt.Errorf("the exact divergence of %s: its rows are binarised stochastically; train with binarization = \"fixed\"", split.Name)
	}
	marginal, err := bottomMarginal(m.parameters)
	if err != nil {
		return 0, err
	}
	counts := map[string]int{}
	for r := range data.Rows {
		x := make([]byte, data.Units)
		for j, v := range split.Row(r) {
			x[j] = v / 128
		}
		counts[string(x)]++
	}
	bottom := m.parameters.Generative[0]
	hidden := m.parameters.Architecture.Units[1]
	divergence := 0.0
	for x, n := range counts {
		on := func(j int) bool { return x[j] == 1 }
		terms := make([]float64, len(marginal))
		for h := range terms {
			terms[h] = marginal[h] + logProbability(bottom, on, coded(h, hidden, m.parameters.Architecture.Coding))
		}
		p := float64(n) / float64(data.Rows)
		divergence += p * (math.Log(p) - logSumExp(terms))
	}
	return divergence, nil
}

// bottomMarginal returns log p(h¹) of all states of h¹, by number: unit j is on
// where bit j is set.
func bottomMarginal(p *engine.Parameters) ([]float64, error) {
	units := p.Architecture.Units
	top := len(units) - 1
	for i := 1; i <= top; i++ {
		pair := units[i]
		if i < top {
			pair += units[i+1]
		}
		if pair > enumerable {
			return nil, fmt.Errorf("hidden layers of %v units are too large to sum out exactly", units[1:])
		}
	}
	var above []float64 // log p of the states of the layer above
	for i := top; i >= 1; i-- {
		marginal := make([]float64, 1<<units[i])
		for h := range marginal {
			on := func(j int) bool { return h>>j&1 == 1 }
			if i == top {
				marginal[h] = logProbability(p.Generative[i], on, nil)
				continue
			}
			terms := make([]float64, len(above))
			for parents := range terms {
				terms[parents] = above[parents] + logProbability(p.Generative[i], on, coded(parents, units[i+1], p.Architecture.Coding))
			}
			marginal[h] = logSumExp(terms)
		}
		above = marginal
	}
	return above, nil
}

// coded returns the values of the units of a state given by number.
func coded(state, units int, coding Coding) []float64 {
	values := make([]float64, units)
	for j := range values {
		values[j] = float64(coding.Off())
		if state>>j&1 == 1 {
			values[j] = 1
		}
	}
	return values
}

// logProbability is the log-probability of the units of a layer given the
// values of their parents.
func logProbability(l engine.Layer, on func(j int) bool, parents []float64) float64 {
	sum := 0.0
	for j := range l.Units {
		row := l.Row(j)
		a := float64(row[0])
		for k, value := range parents {
			a += float64(row[k+1]) * value
		}
		if on(j) {
			a = -a
		}
		// −softplus(a), without overflow.
		sum -= max(a, 0) + math.Log1p(math.Exp(-math.Abs(a)))
	}
	return sum
}

func logSumExp(x []float64) float64 {
	return engine.LogMeanExp(x) + math.Log(float64(len(x)))
}
