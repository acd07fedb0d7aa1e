package hm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"

	"gonum.org/v1/gonum/floats"
)

// enumerable limits the size of hidden layers whose states are enumerated: two neighbouring layers
// together have at most this number of units.
const enumerable = 20

// mostMultiplications limits the time of an exact divergence to seconds.
const mostMultiplications = 1e9

// ExactKL returns KL(p_D‖p) in nats, where p_D is the distribution of the rows of a split. It sums
// over the states of all hidden layers, from the top down. It returns an error if the machine or the
// data are too large, if the machine has anything but dense layers of Bernoulli units, or if the rows
// are binarised stochastically.
func (m *Model) ExactKL(ctx context.Context, split dataset.Split) (float64, error) {
	data, err := m.completeData(split, 1)
	if err != nil {
		return 0, err
	}
	if data.Stochastic {
		return 0, fmt.Errorf("the exact divergence of %s: its rows are binarised stochastically; train with binarization = \"fixed\"", split.Name)
	}
	architecture := m.parameters.Architecture
	if len(architecture.Kinds) > 0 || len(architecture.Convolutions) > 0 || len(architecture.Tanh) > 0 {
		return 0, errors.New("the exact divergence needs a machine of dense layers of Bernoulli units without tanh layers: estimate log p by Evaluate")
	}
	units := architecture.Units
	if err := checkEnumerable(units[1:]); err != nil {
		return 0, err
	}
	counts := distinctRows(split)
	if work := multiplications(units, len(counts)); work > mostMultiplications {
		return 0, fmt.Errorf("the exact divergence of %d distinct rows from layers of %v units is too large: it takes %.1e multiplications, more than %.0e; estimate log p by Evaluate",
			len(counts), units, work, float64(mostMultiplications))
	}
	marginal, err := bottomMarginal(ctx, m.parameters)
	if err != nil {
		return 0, err
	}
	bottom := m.parameters.Generative[0]
	divergence := 0.0
	for _, x := range slices.Sorted(maps.Keys(counts)) {
		on := func(j int) bool { return x[j] == 1 }
		terms := make([]float64, len(marginal))
		for h := range terms {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			terms[h] = marginal[h] + logProbability(bottom, on, coded(h, units[1], m.parameters.Architecture.Coding))
		}
		p := float64(counts[x]) / float64(split.Rows)
		divergence += p * (math.Log(p) - logSumExp(terms))
	}
	return divergence, nil
}

// distinctRows counts how often each distinct row occurs in a split, after rounding its units to 0 or 1.
func distinctRows(split dataset.Split) map[string]int {
	counts := map[string]int{}
	for r := range split.Rows {
		x := slices.Clone(split.Row(r))
		for j, v := range x {
			x[j] = v / 128
		}
		counts[string(x)]++
	}
	return counts
}

func checkEnumerable(hidden []int) error {
	for i, pair := range hidden {
		if i+1 < len(hidden) {
			pair += hidden[i+1]
		}
		if pair > enumerable {
			return fmt.Errorf("hidden layers of %v units have too many states to enumerate: estimate log p by Evaluate", hidden)
		}
	}
	return nil
}

// multiplications returns the number of multiplications in an exact divergence. For each distinct row,
// it counts all states of h¹; and once, all joint states of each pair of neighbouring hidden layers.
func multiplications(units []int, rows int) float64 {
	work := float64(rows) * math.Exp2(float64(units[1])) * float64(units[0]*units[1])
	for i := 1; i+1 < len(units); i++ {
		work += math.Exp2(float64(units[i]+units[i+1])) * float64(units[i]*units[i+1])
	}
	return work
}

// bottomMarginal returns log p(h¹) of each state of h¹. In the state with index k, unit j is on if bit j of k
// is set.
func bottomMarginal(ctx context.Context, p *engine.Parameters) ([]float64, error) {
	units := p.Architecture.Units
	top := len(units) - 1
	var above []float64 // log p of the states of the layer above
	for i := top; i >= 1; i-- {
		marginal := make([]float64, 1<<units[i])
		for h := range marginal {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
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
		sum -= statistics.Softplus(a)
	}
	return sum
}

// logSumExp returns log Σ eˣ. It takes the logarithm of the mean, as earlier versions did, so that evaluations of their
// runs keep all digits; floats.LogSumExp rounds in another way.
func logSumExp(x []float64) float64 {
	largest, sum, n := floats.Max(x), 0.0, float64(len(x))
	if math.IsInf(largest, 0) {
		return largest
	}
	for _, v := range x {
		sum += math.Exp(v - largest)
	}
	return largest + math.Log(sum/n) + math.Log(n)
}
