package hm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// GivenOthers computes p(x_c|x_o) of the units x_c of a column given the other units x_o. Given h¹, the columns are independent,
// so that samples h ~ q(h|x) with the weights p(x,h)/(q(h|x) p(x_c|h¹)) are weighted samples of p(h|x_o), and
// p(x_c|x_o) is the weighted mean of p(x_c|h¹). The standard error is the usual one of self-normalised importance sampling. If the hidden layers
// are Bernoulli units and can be enumerated, all states of h¹ take the place of the samples, and the result is exact. GivenOthers
// refuses machines with convolutions or tanh layers, and columns that share a group of units.
func (m *Model) GivenOthers(ctx context.Context, o runs.EvaluationOptions, columns []dataset.Column) (of func(row, column int, values [][]float64) (logs, se []float64), what string, err error) {
	return m.givenOthers(ctx, o, columns, checkEnumerable(m.Architecture().Units[1:]) == nil)
}

func (m *Model) givenOthers(ctx context.Context, o runs.EvaluationOptions, columns []dataset.Column, exact bool) (of func(row, column int, values [][]float64) (logs, se []float64), what string, err error) {
	a, samples := m.Architecture(), cmp.Or(o.Samples, 1000)
	if len(a.Convolutions) > 0 || len(a.Tanh) > 0 {
		return nil, "", errors.New("log p by column needs a machine without convolutions and tanh layers: train a machine of dense layers")
	}
	variables, err := variablesIn(a, columns)
	if err != nil {
		return nil, "", err
	}
	data, err := m.completeData(o.Rows, samples)
	if err != nil {
		return nil, "", err
	}
	units, rows := a.Units[1], o.Rows.Floats()
	var weights []float64                  // log weights of the samples of each row, without p(x|h¹) if exact
	var parents func(row, k int) []float64 // h¹ of a sample
	exact = exact && math.Exp2(float64(units))*float64(len(rows)*units*a.Visible()) <= mostMultiplications
	for i := range a.Depth() {
		exact = exact && a.Kind(i+1) == engine.Bernoulli
	}
	if exact {
		if weights, err = bottomMarginal(ctx, m.parameters); err != nil {
			return nil, "", err
		}
		samples, what = len(weights), "exact"
		states := make([][]float64, samples)
		for h := range states {
			states[h] = coded(h, units, a.Coding)
		}
		parents = func(_, k int) []float64 { return states[k] }
	} else {
		model, err := m.room(float64(data.Rows)*float64(samples), "samples", drawBytes(a))
		if err != nil {
			return nil, "", err
		}
		draws, err := model.Infer(ctx, data, samples, o.Seed)
		if err != nil {
			return nil, "", err
		}
		for i, p := range draws.LogP {
			weights = append(weights, p-draws.LogQ[i])
		}
		what = "by " + names.Count(samples, "importance sample") + " a row"
		parents = func(row, k int) []float64 {
			h, first := make([]float64, units), (row*samples+k)*units
			for j := range h {
				switch {
				case draws.Values[1] != nil:
					h[j] = float64(draws.Values[1][first+j])
				case draws.States[1][first+j] == 1:
					h[j] = 1
				default:
					h[j] = float64(a.Off(1))
				}
			}
			return h
		}
	}
	layer := m.parameters.Generative[0]
	// score returns log p(x_c|h¹) of values of a column for each sample.
	score := func(row, column int) func(x []float64) []float64 {
		inputs := make([][]float64, samples)
		for k := range inputs {
			h := parents(row, k)
			for _, v := range variables[column] {
				for _, j := range v.outputs {
					parameters := layer.Row(j)
					a := float64(parameters[0])
					for i, w := range parameters[1:] {
						a += float64(w) * h[i]
					}
					inputs[k] = append(inputs[k], a)
				}
				if a := inputs[k][len(inputs[k])-len(v.outputs):]; v.kind == engine.Gaussian {
					a[1] = math.Exp(a[1]) + engine.SigmaFloor
				}
			}
		}
		return func(x []float64) []float64 {
			logs := make([]float64, samples)
			for k, a := range inputs {
				for _, v := range variables[column] {
					logs[k] += v.logP(x, a[:len(v.outputs)])
					a = a[len(v.outputs):]
				}
			}
			return logs
		}
	}
	full := make([][]float64, len(rows)) // log weights of p(h|x)
	return func(row, column int, values [][]float64) (logs, se []float64) {
		if full[row] == nil && exact {
			full[row] = slices.Clone(weights)
			for c, of := range columns {
				floats.Add(full[row], score(row, c)(rows[row][of.First:]))
			}
		} else if full[row] == nil {
			full[row] = weights[row*samples : (row+1)*samples]
		}
		of := score(row, column)
		others := of(rows[row][columns[column].First:]) // log weights of p(h|x_o)
		floats.SubTo(others, full[row], others)
		floats.AddConst(-floats.LogSumExp(others), others)
		shares := make([]float64, samples)
		for k, log := range others {
			shares[k] = math.Exp(log)
		}
		for _, x := range values {
			terms, square := of(x), 0.0
			floats.Add(terms, others)
			most, sum := floats.Max(terms), 0.0
			for k, term := range terms {
				terms[k] = math.Exp(term - most)
				sum += terms[k]
			}
			for k := 0; k < samples && !exact; k++ {
				d := terms[k]/sum - shares[k]
				square += d * d
			}
			log := most + math.Log(sum)
			logs, se = append(logs, log), append(se, math.Sqrt(square))
		}
		return logs, se
	}, what, nil
}

// variable is a visible variable: a Bernoulli unit, a Gaussian unit, or a categorical variable.
type variable struct {
	kind         engine.Kind
	rest         bool
	first, units int   // within the column
	outputs      []int // of the layer
}

// variablesIn returns the visible variables of each column.
func variablesIn(a engine.Architecture, columns []dataset.Column) ([][]variable, error) {
	groups := a.Variables(0)
	switch a.Kind(0) {
	case engine.Bernoulli:
		groups = slices.Repeat([]engine.Group{{Units: 1}}, a.Visible())
	case engine.Gaussian:
		groups = []engine.Group{{Units: a.Visible(), Real: true}}
	}
	var list []variable
	unit, output := 0, 0
	for _, g := range groups {
		if !g.Real {
			v := variable{kind: a.Kind(0), rest: g.Rest, first: unit, units: g.Units}
			for j := range g.Units {
				v.outputs = append(v.outputs, output+j)
			}
			list = append(list, v)
		}
		for j := range g.Units {
			if g.Real {
				list = append(list, variable{kind: engine.Gaussian, first: unit + j, units: 1, outputs: []int{output + j, output + g.Units + j}})
			}
		}
		unit, output = unit+g.Units, output+g.Outputs()
	}
	all := make([][]variable, len(columns))
	for i, c := range columns {
		for _, v := range list {
			switch v.first -= c.First; {
			case v.first >= 0 && v.first+v.units <= c.Units:
				all[i] = append(all[i], v)
			case v.first < c.Units && v.first+v.units > 0:
				return nil, fmt.Errorf("the column %s shares a group of units with another column: log p by column needs the groups of the columns (--groups data)", c.Name)
			}
		}
	}
	return all, nil
}

// logP returns log p of the variable in the units x of its column, from its outputs, with σ in place of the second output of a
// Gaussian unit.
func (v variable) logP(x, outputs []float64) float64 {
	x = x[v.first : v.first+v.units]
	switch v.kind {
	case engine.Bernoulli:
		return -statistics.Softplus(outputs[0] * (1 - 2*x[0]))
	case engine.Gaussian:
		z := (x[0] - outputs[0]) / outputs[1]
		return -z*z/2 - math.Log(outputs[1]*math.Sqrt(2*math.Pi))
	}
	chosen, all := floats.Dot(x, outputs), outputs
	if v.rest {
		all = append(slices.Clone(outputs), 0)
	}
	return chosen - floats.LogSumExp(all)
}
