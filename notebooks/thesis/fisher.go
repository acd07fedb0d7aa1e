package thesis

import (
	"math"
	"math/rand/v2"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// scores draws a sample of a network and returns the gradient of its log-probability in all
// parameters.
type scores func(*rand.Rand) []float64

// outsideBlocks estimates the Fisher matrix E[∇ log p ∇ log pᵀ] from samples, and returns
// how many standard errors the entry outside the blocks that is farthest from 0 is away
// from it, and how large the entries within are at most. of says the block of each
// parameter.
func outsideBlocks(of []int, draw scores, samples int) (errors, within float64) {
	random := rand.New(rand.NewPCG(1, 2))
	n := len(of)
	sum, squares := make([]float64, n*n), make([]float64, n*n)
	for range samples {
		s := draw(random)
		for a := range n {
			for b := range a + 1 {
				product := s[a] * s[b]
				sum[a*n+b] += product
				squares[a*n+b] += product * product
			}
		}
	}
	for a := range n {
		for b := range a + 1 {
			mean := sum[a*n+b] / float64(samples)
			if of[a] == of[b] {
				within = math.Max(within, math.Abs(mean))
				continue
			}
			se := math.Sqrt((squares[a*n+b]/float64(samples) - mean*mean) / float64(samples))
			errors = math.Max(errors, math.Abs(mean)/se)
		}
	}
	return errors, within
}

// gaussianNetwork is that of 3 Gaussian units below 2, with parameters that were drawn: each
// unit has a mean μ and a deviation exp(a) + σ₀, both linear in its parents (Várady 2025, 7.1). Its
// blocks are one for μ and one for a of each unit.
func gaussianNetwork() (of []int, draw scores) {
	const visible, hidden, floor = 3, 2, 0.01
	random := rand.New(rand.NewPCG(3, 4))
	var weights [][]float64 // of the hidden units, then of the visible ones: μ, then a of each
	for unit := range hidden + visible {
		for range 2 {
			parents := 0
			if unit >= hidden {
				parents = hidden
			}
			w := make([]float64, 1+parents)
			for i := range w {
				w[i] = 0.3 * random.NormFloat64()
				of = append(of, len(weights))
			}
			weights = append(weights, w)
		}
	}
	draw = func(random *rand.Rand) []float64 {
		var gradient []float64
		parents := []float64{1}
		states := []float64{1}
		for unit := range hidden + visible {
			if unit == hidden {
				parents = states
			}
			μ, a := dot(weights[2*unit], parents), dot(weights[2*unit+1], parents)
			σ := math.Exp(a) + floor
			ε := random.NormFloat64()
			for _, u := range parents {
				gradient = append(gradient, ε/σ*u)
			}
			for _, u := range parents {
				gradient = append(gradient, (ε*ε-1)*math.Exp(a)/σ*u)
			}
			if unit < hidden {
				states = append(states, μ+σ*ε)
			}
		}
		return gradient
	}
	return of, draw
}

// convolutionOfThree is one of Bernoulli units in three channels, whose windows of 2×2 pixels
// at stride 2 see 4×4 random pixels. Its blocks are one a channel, whose weights all
// positions share.
func convolutionOfThree() (of []int, draw scores) {
	const channels, side, window = 3, 4, 2
	random := rand.New(rand.NewPCG(5, 6))
	weights := make([][]float64, channels)
	for c := range weights {
		for range 1 + window*window {
			weights[c] = append(weights[c], 0.5*random.NormFloat64())
			of = append(of, c)
		}
	}
	draw = func(random *rand.Rand) []float64 {
		var image [side * side]float64
		for i := range image {
			image[i] = float64(random.IntN(2))
		}
		gradient := make([]float64, len(of))
		for top := 0; top < side; top += window {
			for left := 0; left < side; left += window {
				u := []float64{1}
				for y := range window {
					for x := range window {
						u = append(u, image[(top+y)*side+left+x])
					}
				}
				for c, w := range weights {
					p, on := 1/(1+math.Exp(-dot(w, u))), 0.0
					if random.Float64() < p {
						on = 1
					}
					for i := range u {
						gradient[c*len(u)+i] += (on - p) * u[i]
					}
				}
			}
		}
		return gradient
	}
	return of, draw
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// makeFisher draws where the Fisher matrix of a machine is not zero, and judges by samples
// of a network whether it is zero elsewhere.
func makeFisher(says, name, caption string, machine hm.Machine, network func() ([]int, scores)) func(*work) error {
	return func(w *work) error {
		of, draw := network()
		samples := w.few(1_000_000, 1_000_000, 10_000)
		errors, within := outsideBlocks(of, draw, samples)
		w.Judge(says, holdsIf(errors < 4), "%s samples: no entry outside the blocks is farther from 0 than %.2f of its standard errors; the largest entry within has the value %.3f",
			thousands(samples), errors, within)
		return w.Figure(name, caption, plotting.FisherStructure(machine.Architecture()))
	}
}

// halving is a convolution of windows that do not overlap.
func halving(channels int) hm.Convolution {
	return hm.Convolution{Channels: channels, Height: 2, Width: 2, Stride: 2}
}

var (
	gaussianMachine  = hm.New(dataset.Shape{Height: 1, Width: 3}).Dense(2).Units(hm.Gaussian)
	convolvedMachine = hm.New(dataset.Shape{Height: 8, Width: 8}).Convolve(halving(3)).Convolve(halving(2))
	makeFig71        = makeFisher("The matrix is block-diagonal by unit.", "structure", "Fisher matrix of a 3-2 network of Gaussian units: the blocks of all means, then of all deviations", gaussianMachine, gaussianNetwork)
	makeFig72        = makeFisher("Layer-wide blocks of others contain the fine ones.", "structure", "The same matrix; dotted squares are layer-wide blocks, which contain the fine ones", gaussianMachine, gaussianNetwork)
	makeFig77        = makeFisher("One block a channel.", "structure", "Fisher matrix of a machine with two convolutions: the lower hidden layer has three channels, and a block for each, whose weights all positions share", convolvedMachine, convolutionOfThree)
)
