package boltzmann

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// The units of one side are independent given the other side, which gives each unit an input: c + Wᵀv for
// hidden units, b + Wh for visible units. The kind of the units determines how states are drawn given inputs.
// Hidden units of every kind have the energy −cᵀh − vᵀWh, plus ½Σ_j h_j² if they are Gaussian, so a machine
// learns from the same statistics for every kind. The logarithms of the sums of e^(−E) over their states are
//
//	Σ_j log(1 + e^(a_j)),   Σ_g log Σ_(j in g) e^(a_j),   Σ_j ½a_j² + ½log 2π
//
// for Bernoulli, categorical and Gaussian units with inputs a.

type units interface {
	// draw draws states of units given their inputs.
	draw(states, inputs []float32, key philox.Key, c philox.Counter)
	// partition returns the logarithm of the sum, or integral, of e^(−E) over the states of units given their
	// inputs.
	partition(inputs []float64) float64
	// choices returns the binary logarithm of the number of states of n units, or infinity if they cannot be
	// enumerated.
	choices(n int) float64
}

// hiddenUnits is the interface to units that are summed out.
type hiddenUnits interface {
	units
	// sumOut replaces inputs by the negated means of the units, and returns the same value as partition. off
	// holds zeros, one per input.
	sumOut(inputs, off []float32) (partition float64)
	// rest returns the mean of a unit with the input 0.
	rest() float32
	// spread returns Σ_i Var((Wh)_i). means holds the negated means of the units h, and squares the sum of the
	// squared weights of each unit.
	spread(means []float32, squares []float64, weights kernels.Matrix) float64
	// check refuses states that the units cannot have.
	check(states []float32) error
}

// visibleUnits is the interface to units that hold the data and the label.
type visibleUnits interface {
	units
	// means returns the means of units given their inputs.
	means(inputs []float32) []float64
	// energy returns the energy of the states alone, given biases.
	energy(states, biases []float32) float64
	// precision returns the factor by which W is multiplied where the hidden units see unit i.
	precision(i int) float64
	// counters returns the number of counters that the draws of n units use.
	counters(n int) int
	// refresh updates everything that depends on the variances of units first to last−1.
	refresh(first, last int)
	// bound returns length, or less if unit i would otherwise move too far. The step moves the unit's weights by
	// length times direction, and its bias by *bias, which bound may shorten as well.
	bound(i int, length float32, direction []float32, bias *float32) float32
	// adapt moves the variances by a step at the given rate. n is the number of rows of data, and m of chains.
	adapt(t *trainer, n, m int, rate float64)
	// meter returns the meter for rows of these units.
	meter(w *products) meter
}

// discrete is the interface to units whose states can be counted. They form variables. A variable has one unit for
// each of its categories; if categories returns 0, it is a single unit that is 0 or 1.
type discrete interface {
	visibleUnits
	categories() int
	// initial returns the initial bias of a unit and its smoothed mean, given its mean over n rows.
	initial(mean, n float64) (bias, smoothed float32)
	// base returns the bias of a unit in the base-rate model, given its mean over n rows.
	base(mean, n float64) float32
	// pseudo returns log p(v_g | v_−g) for n variables g of the states v: variable first, and other variables at
	// even distances. inputs holds the inputs of the hidden units, and partition is the result of sumOut for
	// them. room and off are as long as inputs; off holds zeros.
	pseudo(w *products, v, inputs []float32, partition float64, room, off []float32, first, n int) []float64
}

// fixed is embedded by visible units without variances.
type fixed struct{}

func (fixed) precision(int) float64             { return 1 }
func (fixed) counters(n int) int                { return (n + 3) / 4 }
func (fixed) refresh(int, int)                  {}
func (fixed) adapt(*trainer, int, int, float64) {}

func (fixed) bound(_ int, length float32, _ []float32, _ *float32) float32 { return length }

func (fixed) energy(states, biases []float32) (energy float64) {
	for i, x := range states {
		energy -= float64(biases[i]) * float64(x)
	}
	return energy
}

// bernoulli units are 0 or 1.
type bernoulli struct{ fixed }

func (bernoulli) draw(states, inputs []float32, key philox.Key, c philox.Counter) {
	kernels.Draw(states, inputs, 0, key, c)
}

// partition returns Σ_j log(1 + e^(a_j)).
func (bernoulli) partition(inputs []float64) float64 {
	sum, product := 0.0, 1.0 // product of several 1 + e^(−|a|), which need only one logarithm
	for _, a := range inputs {
		sum += max(a, 0)
		if product *= 1 + math.Exp(-math.Abs(a)); product > 1e300 {
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

func (bernoulli) choices(n int) float64 { return float64(n) }

func (bernoulli) sumOut(inputs, off []float32) float64 { return turnOff(inputs, off) }

func (bernoulli) rest() float32 { return 0.5 }

func (bernoulli) spread(means []float32, squares []float64, _ kernels.Matrix) (sum float64) {
	for j, negative := range means {
		h := -float64(negative)
		sum += h * (1 - h) * squares[j]
	}
	return sum
}

func (bernoulli) check(states []float32) error {
	for _, x := range states {
		if x != 0 && x != 1 {
			return fmt.Errorf("the value %v: these units are 0 or 1", x)
		}
	}
	return nil
}

func (bernoulli) means(inputs []float32) []float64 {
	means := make([]float64, len(inputs))
	for i, a := range inputs {
		means[i] = float64(kernels.Sigmoid(a))
	}
	return means
}

func (b bernoulli) meter(w *products) meter { return pseudoMeter{w, b} }

func (bernoulli) categories() int { return 0 }

// initial smooths the mean, since a unit that is never on in training may be on elsewhere.
func (bernoulli) initial(mean, n float64) (bias, smoothed float32) {
	on := (n*mean + 0.5) / (n + 0.5*2)
	return float32(math.Log(on)) - float32(math.Log1p(-on)), float32(on)
}

func (bernoulli) base(mean, n float64) float32 {
	return float32(math.Log((n*mean + 1) / (n*(1-mean) + 1)))
}

// pseudo compares the two values of each unit: log p(v_i | v_−i) = −log(1 + e^(F(v) − F(v with unit i
// flipped))) (Besag 1975). The even hidden layers of a deep machine keep their means, although these depend
// on the unit, so the estimate is too high. A doubled side has two copies; the estimate is for one copy given
// the other copy.
func (bernoulli) pseudo(w *products, v, inputs []float32, partition float64, room, off []float32, first, n int) []float64 {
	units := w.observed()
	logs := make([]float64, min(n, units))
	for k := range logs {
		copy(room, inputs)
		i := (first + k*units/len(logs)) % units
		δ := 1 - 2*v[i]
		kernels.AddMultiple(room, δ, kernels.Row(w.Weights, i))
		logs[k] = -statistics.Softplus(float64(δ*w.VisibleBiases[i]) + float64(w.downwards)*(w.latent.sumOut(room, off)-partition))
	}
	return logs
}

// categorical units form variables. A variable has one unit for each category; exactly one of these units is
// 1.
type categorical struct {
	fixed
	each int
}

// draw draws each variable from the first word of a separate counter.
func (u categorical) draw(states, inputs []float32, key philox.Key, c philox.Counter) {
	for g := range u.variables(len(states)) {
		c.Unit = uint16(g)
		kernels.DrawCategorical(states[g*u.each:(g+1)*u.each], inputs[g*u.each:(g+1)*u.each], key, c)
	}
}

func (u categorical) partition(inputs []float64) (sum float64) {
	for g := 0; g < len(inputs); g += u.each {
		sum += floats.LogSumExp(inputs[g : g+u.each])
	}
	return sum
}

func (u categorical) choices(n int) float64 {
	return float64(u.variables(n)) * math.Log2(float64(u.each))
}

func (u categorical) sumOut(inputs, _ []float32) (partition float64) {
	for g := 0; g < len(inputs); g += u.each {
		of := inputs[g : g+u.each]
		total := kernels.LogSumExp(of)
		for k, a := range of {
			of[k] = float32(-math.Exp(float64(a) - total))
		}
		partition += total
	}
	return partition
}

func (u categorical) rest() float32 { return 1 / float32(u.each) }

func (u categorical) spread(means []float32, squares []float64, weights kernels.Matrix) (sum float64) {
	for j, negative := range means {
		sum -= float64(negative) * squares[j]
	}
	for i := range weights.Rows {
		row := kernels.Row(weights, i)
		for g := 0; g < len(means); g += u.each {
			mean := blas32.DDot(vector(row[g:g+u.each]), vector(means[g:g+u.each]))
			sum -= mean * mean
		}
	}
	return sum
}

func (u categorical) check(states []float32) error {
	if err := (bernoulli{}).check(states); err != nil {
		return err
	}
	for g := 0; g < len(states); g += u.each {
		on := float32(0)
		for _, x := range states[g : g+u.each] {
			on += x
		}
		if on != 1 {
			return fmt.Errorf("a variable in %v categories: it is in exactly one category", on)
		}
	}
	return nil
}

func (u categorical) means(inputs []float32) []float64 {
	means := kernels.Doubles(inputs)
	for g := 0; g < len(means); g += u.each {
		of := means[g : g+u.each]
		total := floats.LogSumExp(of)
		for k, a := range of {
			of[k] = math.Exp(a - total)
		}
	}
	return means
}

func (u categorical) meter(w *products) meter { return pseudoMeter{w, u} }

func (u categorical) categories() int { return u.each }

func (u categorical) initial(mean, n float64) (bias, smoothed float32) {
	on := (n*mean + 0.5) / (n + 0.5*float64(u.each))
	return float32(math.Log(on)), float32(on)
}

func (u categorical) base(mean, n float64) float32 {
	return float32(math.Log((n*mean + 1) / (n + float64(u.each))))
}

func (u categorical) variables(n int) int { return n / u.each }

func (u categorical) counters(n int) int { return u.variables(n) }

func (u categorical) pseudo(w *products, v, inputs []float32, _ float64, room, off []float32, first, n int) []float64 {
	variables := u.variables(w.observed())
	logs, terms := make([]float64, min(n, variables)), make([]float64, u.each)
	for s := range logs {
		from := (first + s*variables/len(logs)) % variables * u.each
		on := 0 // the category of the state
		for v[from+on] == 0 {
			on++
		}
		for c := range terms {
			copy(room, inputs)
			kernels.AddMultiple(room, -1, kernels.Row(w.Weights, from+on))
			kernels.AddMultiple(room, 1, kernels.Row(w.Weights, from+c))
			terms[c] = float64(w.VisibleBiases[from+c]) + w.latent.sumOut(room, off)
		}
		logs[s] = terms[on] - floats.LogSumExp(terms)
	}
	return logs
}

// gaussian units are hidden units that are real numbers with variance 1.
type gaussian struct{}

func (gaussian) draw(states, inputs []float32, key philox.Key, c philox.Counter) {
	normal := make([]float32, 2*len(states)) // the means, and the logarithms of the deviations
	copy(normal, inputs)
	kernels.DrawGaussian(states, normal, len(states), 0, key, c)
}

func (gaussian) partition(inputs []float64) float64 {
	return gaussianLog(floats.Dot(inputs, inputs), len(inputs))
}

func (gaussian) choices(int) float64 { return math.Inf(1) }

func (gaussian) sumOut(inputs, _ []float32) (partition float64) {
	partition = gaussianLog(blas32.DDot(vector(inputs), vector(inputs)), len(inputs))
	scaled(inputs, -1, inputs)
	return partition
}

func (gaussian) rest() float32 { return 0 }

func (gaussian) spread(_ []float32, squares []float64, _ kernels.Matrix) float64 {
	sum := 0.0
	for _, square := range squares {
		sum += square
	}
	return sum
}

func (gaussian) check([]float32) error { return nil }

// gaussianLog returns the logarithm of the integral of e^(aᵀh − ½hᵀh) over n units h. square is aᵀa.
func gaussianLog(square float64, n int) float64 {
	return square/2 + float64(n)/2*math.Log(2*math.Pi)
}
