package thesis

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// scores draws a sample of a network and returns the gradient of its log-probability with respect to all
// parameters.
type scores func(*rand.Rand) []float64

// fisher is the Fisher matrix E[∇ log p ∇ log pᵀ].
type fisher struct {
	of     []int       // the block of each parameter
	matrix [][]float64 // only the lower triangle is filled
	errors [][]float64 // how many standard errors an entry is away from 0, if it is estimated
}

// estimateFisher estimates the Fisher matrix from samples.
func estimateFisher(of []int, draw scores, samples int) fisher {
	random := rand.New(rand.NewPCG(1, 2))
	n := len(of)
	f, squares := fisher{of: of}, make([]float64, n*n)
	for a := range n {
		f.matrix, f.errors = append(f.matrix, make([]float64, a+1)), append(f.errors, make([]float64, a+1))
	}
	for range samples {
		s := draw(random)
		for a := range n {
			for b := range a + 1 {
				product := s[a] * s[b]
				f.matrix[a][b] += product / float64(samples)
				squares[a*n+b] += product * product / float64(samples)
			}
		}
	}
	for a := range n {
		for b := range a + 1 {
			mean := f.matrix[a][b]
			f.errors[a][b] = math.Abs(mean) / math.Sqrt((squares[a*n+b]-mean*mean)/float64(samples))
		}
	}
	return f
}

// bernoulliFisher sums the Fisher matrix of a network of binary units over all its states. Each unit has a block.
// Units of the layers, from the top, are 0 or 1; weights and biases are drawn.
func bernoulliFisher(layers ...int) (f fisher) {
	random := rand.New(rand.NewPCG(7, 8))
	var weights [][]float64 // of each unit: its bias, and its weights
	parents := 0
	for _, width := range layers {
		for range width {
			w := make([]float64, 1+parents)
			for i := range w {
				w[i] = random.NormFloat64()
				f.of = append(f.of, len(weights))
			}
			weights = append(weights, w)
		}
		parents = width
	}
	for a := range f.of {
		f.matrix = append(f.matrix, make([]float64, a+1))
	}
	for state := range 1 << len(weights) {
		probability, score, above, unit := 1.0, make([]float64, 0, len(f.of)), []float64{1}, 0
		for _, width := range layers {
			states := []float64{1}
			for range width {
				on := float64(state >> unit & 1)
				p := statistics.Sigmoid(dot(weights[unit], above))
				probability *= on*p + (1-on)*(1-p)
				for _, u := range above {
					score = append(score, (on-p)*u)
				}
				states = append(states, on)
				unit++
			}
			above = states
		}
		for a, row := range f.matrix {
			for b := range row {
				row[b] += probability * score[a] * score[b]
			}
		}
	}
	return f
}

// outside returns the largest size of an entry of far outside the blocks, and of an entry of the matrix within them.
func (f fisher) outside(far [][]float64) (outside, within float64) {
	for a, row := range f.matrix {
		for b, x := range row {
			if f.of[a] == f.of[b] {
				within = max(within, math.Abs(x))
			} else {
				outside = max(outside, math.Abs(far[a][b]))
			}
		}
	}
	return outside, within
}

// picture shows a number in [0, 1] for each entry, with the parameters in a given order.
func (f fisher) picture(heading string, order []int, of func(a, b int) float64) plotting.Column {
	n := len(order)
	image := eachPair(order, order, func(a, b int) float64 { return of(max(a, b), min(a, b)) })
	return plotting.Column{Heading: heading, Sheet: dataset.Sheet{Shape: dataset.Shape{Height: n, Width: n}, Values: [][]float64{image}}}
}

// block returns 1 within the blocks, otherwise 0.
func (f fisher) block(a, b int) float64 {
	if f.of[a] == f.of[b] {
		return 1
	}
	return 0
}

// asTheyAre returns the parameters in the order of the network.
func (f fisher) asTheyAre() []int {
	order := make([]int, len(f.of))
	for a := range order {
		order[a] = a
	}
	return order
}

// size returns a function that shows the size of an entry as its brightness, over three decades below the
// largest.
func (f fisher) size() func(a, b int) float64 {
	_, largest := f.outside(f.matrix)
	return func(a, b int) float64 { return max(0, 1+math.Log10(math.Abs(f.matrix[a][b])/largest+1e-12)/3) }
}

// besideBlocks draws the sizes of the entries beside the blocks.
func (f fisher) besideBlocks() *plotting.Figure {
	order := f.asTheyAre()
	return plotting.SideBySide(f.picture("measured", order, f.size()), f.picture("blocks", order, f.block))
}

const gaussianHidden = 2

// gaussianLayer returns the layer to which a block of gaussianNetwork belongs.
func gaussianLayer(block int) int {
	if block/2 < gaussianHidden {
		return 1
	}
	return 0
}

// gaussianNetwork returns a network of 3 Gaussian units below 2, with drawn parameters. Each unit has a mean μ
// and a deviation exp(a) + σ₀, both linear in its parents (Várady 2025, 7.1). Each unit has a block for μ and
// one for a.
func gaussianNetwork() (of []int, draw scores) {
	const visible, hidden, floor = 3, gaussianHidden, 0.01
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

// convolutionOfThree returns a convolution of Bernoulli units with three channels, whose windows of 2×2 pixels
// at stride 2 see 4×4 random pixels. Each channel has a block, since all positions share its weights.
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
					p, on := statistics.Sigmoid(dot(w, u)), 0.0
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

// estimated returns the Fisher matrix of a network, and what samples show about the entries outside its blocks.
func (w *work) estimated(network func() ([]int, scores)) (f fisher, verdict reproduce.Verdict, evidence string) {
	of, draw := network()
	samples := w.few(1_000_000, 1_000_000, 10_000)
	f = estimateFisher(of, draw, samples)
	errors, within := f.outside(f.errors)
	return f, holdsIf(errors < 4), fmt.Sprintf("%s samples of a small network with drawn parameters (thesis/fisher.go): no entry outside the blocks is farther from 0 than %.2f of its standard errors; the largest entry within has the value %.3f",
		thousands(samples), errors, within)
}

const logarithmic = "on the left brightness is logarithmic, over three decades, and what is not black outside the blocks is noise"

func makeFig41(w *work) {
	f := bernoulliFisher(2, 3, 6)
	outside, within := f.outside(f.matrix)
	w.Judge("The matrix is block-diagonal by unit.", holdsIf(outside < 1e-12), "all 2,048 states of a network with drawn parameters (thesis/fisher.go): the largest entry outside the blocks is %.1g, within them %.3f", outside, within)
	w.draw("enumerated", "Fisher matrix of a network of 2, 3 and 6 binary units, from the top, summed over all states, and its blocks, one a unit; on the left brightness is logarithmic, over three decades",
		f.besideBlocks())
}

func makeFig71(w *work) {
	f, verdict, evidence := w.estimated(gaussianNetwork)
	w.Judge("The matrix is block-diagonal by unit.", verdict, "%s", evidence)
	w.draw("estimate", "Fisher matrix of a 3-2 network of Gaussian units, estimated from samples without assuming blocks, and its blocks, one of the mean and one of the deviation of each unit; "+logarithmic,
		f.besideBlocks())
}

func makeFig72(w *work) {
	f, verdict, evidence := w.estimated(gaussianNetwork)
	var fine, wide int
	for a := range f.of {
		for b := range f.of {
			if gaussianLayer(f.of[a]) == gaussianLayer(f.of[b]) {
				wide++
				fine += int(f.block(a, b))
			}
		}
	}
	w.Judge("Layer-wide blocks of others contain the fine ones.", verdict, "%d of the %d entries of the layer-wide blocks are in fine ones; %s", fine, wide, evidence)
	byLayer := f.asTheyAre()
	slices.SortStableFunc(byLayer, func(a, b int) int {
		return cmp.Or(cmp.Compare(gaussianLayer(f.of[a]), gaussianLayer(f.of[b])), cmp.Compare(f.of[a]%2, f.of[b]%2))
	})
	inLayers := func(a, b int) float64 {
		if gaussianLayer(f.of[a]) == gaussianLayer(f.of[b]) {
			return math.Max(0.4, f.block(a, b))
		}
		return 0
	}
	w.draw("layers", "The same matrix with all means of a layer before its deviations, and its blocks within the blocks of whole layers (grey); "+logarithmic,
		plotting.SideBySide(f.picture("estimated", byLayer, f.size()), f.picture("blocks in blocks of layers", byLayer, inLayers)))
}

func makeFig77(w *work) {
	f, verdict, evidence := w.estimated(convolutionOfThree)
	w.Judge("One block a channel.", verdict, "%s", evidence)
	w.draw("estimate", "Fisher matrix of a convolution with three channels of 2×2 windows, whose weights all positions share, estimated from samples, and its blocks, one a channel; "+logarithmic,
		f.besideBlocks())
	halving := func(channels int) hm.Convolution {
		return hm.Convolution{Channels: channels, Height: 2, Width: 2, Stride: 2}
	}
	twice := hm.New(dataset.Shape{Height: 8, Width: 8}).Convolve(halving(3)).Convolve(halving(2))
	w.draw("structure", "Fisher matrix of a machine with two convolutions: the lower hidden layer has three channels, and a block for each", plotting.FisherStructure(twice.Architecture()))
}
