package kernels

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Softplus, Logistic, Log1p, Exp and RoundedTanh give the bits of package math, built for GOAMD64=v1. On an amd64 processor with fused
// multiply-add, they use it, as math.Exp does.

// Softplus replaces each x by log(1 + eˣ).
func Softplus(x []float64) { current.doubles[0](x) }

// Logistic replaces each x by σ(x) = 1/(1 + e⁻ˣ).
func Logistic(x []float64) { current.doubles[1](x) }

// Exp replaces each x by eˣ.
func Exp(x []float64) { current.doubles[3](x) }

// Log1p replaces each x ≥ 0 by log(1 + x).
func Log1p(x []float64) {
	s := current
	for _, v := range x {
		if !(v < 1<<53) { // 1 + x is inexact
			s = &portable
		}
	}
	s.doubles[2](x)
}

// RoundedTanh replaces each x by tanh x, computed in double precision.
func RoundedTanh(x []float32) {
	r := doubleRooms.Get().(*doubleRoom)
	defer doubleRooms.Put(r)
	for first := 0; first < len(x); first += atATime {
		some := x[first:min(first+atATime, len(x))]
		for i, v := range some {
			r.doubles[i] = float64(v)
		}
		current.doubles[4](r.whole(len(some)))
		for i := range some {
			some[i] = float32(r.doubles[i])
		}
	}
}

var portableDoubles = [...]func(x []float64){
	each(func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }),
	each(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	each(math.Log1p), each(math.Exp), each(math.Tanh),
}

func each(f func(x float64) float64) func(x []float64) {
	return func(x []float64) {
		for i, v := range x {
			x[i] = f(v)
		}
	}
}

// AddSingles adds numbers in single precision to numbers in double precision.
func AddSingles(to []float64, from []float32) {
	to, first := to[:len(from)], 0
	if s := current; s.addSingles != nil && len(from) >= s.lanes/2 {
		s.addSingles(&to[0], &from[0], len(from)/(s.lanes/2))
		first = len(from) / (s.lanes / 2) * (s.lanes / 2)
	}
	for i := first; i < len(from); i++ {
		to[i] += float64(from[i])
	}
}

// Dots sets each element of to to the product of a row of a matrix with x, with the bits of gonum's floats.Dot. rows
// holds the rows, one after another.
func Dots(to, rows, x []float64) { current.dots(to, rows[:len(to)*len(x)], x) }

func portableDots(to, rows, x []float64) {
	for i := range to {
		to[i] = floats.Dot(rows[i*len(x):(i+1)*len(x)], x)
	}
}

// AtMostOne replaces the inputs of units by the probabilities that they are on, if at most one unit in a group is on:
//
//	e^(input + bias) / (1 + Σ e^(input + bias))
//
// The units of a group have the same column, and so the same bias, in several rows of inputs. groups lists the rows of
// each group. Exponentials are rounded from double precision, and added in the order of the rows.
func AtMostOne(inputs Matrix, biases []float32, groups [][]int) {
	for _, rows := range groups {
		if len(biases) != inputs.Cols || !complete(inputs) || slices.Min(rows) < 0 || slices.Max(rows) >= inputs.Rows {
			panic(fmt.Sprintf("kernels: rows %v of %s with %d biases", rows, describe(inputs), len(biases)))
		}
		current.atMostOne(inputs, biases, rows)
	}
}

func portableAtMostOne(inputs Matrix, biases []float32, rows []int) {
	for k, bias := range biases {
		column := inputs.Data[k:]
		var most float32 // all units off have the input 0
		for _, r := range rows {
			if input := column[r*inputs.Stride] + bias; input > most {
				most = input
			}
		}
		exponential := func(x float32) float32 {
			if x == most {
				return 1
			}
			return float32(math.Exp(float64(x - most)))
		}
		total := exponential(0)
		for _, r := range rows {
			e := exponential(column[r*inputs.Stride] + bias)
			column[r*inputs.Stride] = e
			total += e
		}
		for _, r := range rows {
			column[r*inputs.Stride] /= total
		}
	}
}
