package boltzmann

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// variables is the number of visible variables: of categorical units one for as many units as
// there are categories, otherwise the units themselves.
func (p *Parameters) variables() int { return p.observed() / max(1, p.Categories) }

// drawDiscrete draws visible units v with inputs, Bernoulli ones or categorical ones, each variable
// of which by the first word of a counter of its own, and those of the label.
func (p *Parameters) drawDiscrete(v, inputs []float32, key philox.Key, c philox.Counter) {
	if first := p.observed(); p.Classes > 0 {
		label := c
		label.Unit = uint16((first + 3) / 4) // behind those of the others
		kernels.DrawCategorical(v[first:], inputs[first:], key, label)
		v, inputs = v[:first], inputs[:first]
	}
	n := p.Categories
	if n == 0 {
		kernels.Draw(v, inputs, 0, key, c)
		return
	}
	for g := range p.variables() {
		c.Unit = uint16(g)
		kernels.DrawCategorical(v[g*n:(g+1)*n], inputs[g*n:(g+1)*n], key, c)
	}
}

// softmax replaces inputs of categorical units by their means.
func softmax(inputs []float64, categories int) {
	for g := 0; g < len(inputs); g += categories {
		of := inputs[g : g+categories]
		total := floats.LogSumExp(of)
		for k, a := range of {
			of[k] = math.Exp(a - total)
		}
	}
}

// discretePartition is the logarithm of the sum over all states of visible units with inputs,
// Bernoulli ones or categorical ones, and those of the label.
func (p *Parameters) discretePartition(inputs []float64) (sum float64) {
	if first := p.observed(); p.Classes > 0 {
		sum = floats.LogSumExp(inputs[first:])
		inputs = inputs[:first]
	}
	if p.Categories == 0 {
		return sum + logPartition(inputs)
	}
	for g := 0; g < len(inputs); g += p.Categories {
		sum += floats.LogSumExp(inputs[g : g+p.Categories])
	}
	return sum
}

// recategorise returns, of n categorical variables of visible states v, the first one and those
// at even distances from it, log p(v_g | v_−g), the logarithm of the probability of the
// variable given the others. Its mean over the variables, times the number of all, estimates
// the log-pseudo-likelihood. room and off are as long as inputs.
func (p *Parameters) recategorise(v, inputs, room, off []float32, first, n int) []float64 {
	variables, k := p.variables(), p.Categories
	n = min(n, variables)
	logs, terms := make([]float64, n), make([]float64, k)
	for s := range logs {
		from := (first + s*variables/n) % variables * k
		on := 0 // the category of the state
		for v[from+on] == 0 {
			on++
		}
		for c := range terms {
			copy(room, inputs)
			kernels.AddMultiple(room, -1, kernels.Row(p.Weights, from+on))
			kernels.AddMultiple(room, 1, kernels.Row(p.Weights, from+c))
			terms[c] = float64(p.VisibleBiases[from+c]) + p.sumOut(room, off)
		}
		logs[s] = terms[on] - floats.LogSumExp(terms)
	}
	return logs
}

// checkCategories refuses rows that are not of categorical units of so many categories.
func checkCategories(rows dataset.Split, categories int) error {
	for r := range rows.Rows {
		row := rows.Row(r)
		for g := 0; g < len(row); g += categories {
			on := 0
			for _, value := range row[g : g+categories] {
				on += int(value / 128)
			}
			if on != 1 {
				return fmt.Errorf("%d of the values %d to %d of row %d of %s are 1: of the units of a categorical variable of %d categories exactly one is; give other categories, or make the visible units bernoulli",
					on, g+1, g+categories, r+1, rows.Name, categories)
			}
		}
	}
	return nil
}
