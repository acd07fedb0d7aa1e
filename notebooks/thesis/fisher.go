package thesis

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

var untrainedEntries = map[string]reproduce.Entry{
	"varady/fig6.10": by[plan](func(w *work) {
		set := w.open(fashionDrawn)
		train := set.Train()
		share := float64(bytes.Count(train.Bytes(), []byte{0})) / float64(len(train.Bytes()))
		w.claim("(shown) Many backgrounds are black.").
			add(exact(share, "", "share of the pixels of %s training rows that are 0:", thousands(train.Rows)).Over(1.0 / 3))
		w.drawRows("rows", "A hundred training rows of FashionMNIST", set)
	}),
	"varady/figA.1": by[plan](func(w *work) {
		w.drawRows("3by3", "Training rows of 3by3", w.open(dataset.Spec{Name: "3by3"}))
		w.drawRows("mnist", "Training rows of binarised MNIST", w.open(binarizedMNIST))
		w.drawRows("minimnist", "Training rows of miniMNIST, grey levels (C)", w.open(miniMNISTDrawn))
		w.drawRows("fashion", "Training rows of FashionMNIST, grey levels (C)", w.open(fashionDrawn))
		w.drawRows("faces", "Training rows of the Olivetti faces in 24×24 pixels, which stand in for TFD", w.open(smallFaces))
		w.claim("(shown)").say("the figures are there to be looked at")
	}),
	"varady/fig4.1": by[plan](func(w *work) {
		n := networkOf(hm.New(dataset.Shape{Height: 1, Width: 6}).Dense(3, 2).Coding(hm.ZeroOne), 1, true)
		f := newFisher(n.of)
		for v, probability := range n.Model() {
			f.add(n.score(v), probability)
		}
		outside, within := f.outside(f.size)
		w.claim("The matrix is block-diagonal by unit.").add(exact(outside, "", "largest entry outside the blocks").Under(1e-12)).
			say("all 2,048 states of a network with drawn parameters (thesis/fisher.go); within the blocks it is %.3f", within)
		w.Draw("enumerated", "Fisher matrix of a network of 2, 3 and 6 binary units, from the top, summed over all states, and its blocks, one a unit; on the left brightness is logarithmic, over three decades",
			f.besideBlocks())
	}),
	"varady/fig7.1": by[plan](func(w *work) {
		f, _ := w.estimated("The matrix is block-diagonal by unit.", gaussianNetwork())
		w.Draw("estimate", "Fisher matrix of a 3-2 network of Gaussian units, estimated from samples without assuming blocks, and its blocks, one of the mean and one of the deviation of each unit; "+logarithmic,
			f.besideBlocks())
	}),
	"varady/fig7.2": by[plan](func(w *work) {
		n := gaussianNetwork()
		f, j := w.estimated("Layer-wide blocks of others contain the fine ones.", n)
		of := func(a int) block { return n.blocks[f.of[a]] }
		fine, wide := 0, 0
		for _, both := range eachPair(f.asTheyAre(), f.asTheyAre(), func(a, b int) [2]int { return [2]int{a, b} }) {
			if of(both[0]).layer == of(both[1]).layer {
				wide++
				fine += int(f.block(both[0], both[1]))
			}
		}
		j.say("%d of the %d entries of the layer-wide blocks are in fine ones", fine, wide)
		byLayer := f.asTheyAre()
		slices.SortStableFunc(byLayer, func(a, b int) int {
			return cmp.Or(-cmp.Compare(of(a).layer, of(b).layer), cmp.Compare(of(a).output, of(b).output))
		})
		inLayers := func(a, b int) float64 {
			if of(a).layer == of(b).layer {
				return max(0.4, f.block(a, b))
			}
			return 0
		}
		w.Draw("layers", "The same matrix with all means of a layer before its deviations, and its blocks within the blocks of whole layers (grey); "+logarithmic,
			plotting.SideBySide(f.picture("estimated", byLayer, f.brightness()),
				f.picture("blocks in blocks of layers", byLayer, inLayers)))
	}),
	"varady/fig7.7": by[plan](func(w *work) {
		halving := func(channels int) hm.Convolution {
			return hm.Convolution{Channels: channels, Height: 2, Width: 2, Stride: 2}
		}
		three := hm.New(dataset.Shape{Height: 4, Width: 4}).Convolve(halving(3)).Coding(hm.ZeroOne)
		f, _ := w.estimated("One block a channel.", networkOf(three, 0.5, false))
		w.Draw("estimate", "Fisher matrix of a convolution with three channels of 2×2 windows, whose weights all positions share, estimated from samples, and its blocks, one a channel; "+logarithmic,
			f.besideBlocks())
		twice := hm.New(dataset.Shape{Height: 8, Width: 8}).Convolve(halving(3)).Convolve(halving(2))
		w.Draw("structure", "Fisher matrix of a machine with two convolutions: the lower hidden layer has three channels, and a block for each", plotting.FisherStructure(twice.Architecture()))
	}),
}

// network is one of the networks of a small machine with random parameters. Its Fisher matrix has a block for
// each unit, or for each channel of a convolution; a Gaussian unit has two, for its mean and for its
// deviation.
type network struct {
	*oracle.Networks
	units  []oracle.Unit // each after its parents
	at, of []int         // position in Flat, and block, of each parameter
	blocks []block
}

// block is a block of the Fisher matrix: its layer, and the output of its units, 0 or, for deviations, 1.
type block struct{ layer, output int }

// networkOf returns the generative or the recognition network of a machine with parameters drawn from a normal
// distribution.
func networkOf(m hm.Machine, sd float64, generative bool) network {
	p, random := engine.NewParameters(m.Architecture()), rand.New(rand.NewPCG(7, 8))
	for i := range p.Flat {
		p.Flat[i] = float32(sd * random.NormFloat64())
	}
	all, seen := network{Networks: oracle.NewNetworks(p)}, map[int]bool{}
	if all.units = all.Recognition; generative {
		all.units = slices.Clone(all.Generative)
		slices.Reverse(all.units)
	}
	for _, u := range all.units {
		starts := []int{u.Start}
		if u.Kind == engine.Gaussian {
			starts = append(starts, u.Deviation)
		}
		for output, start := range starts {
			if seen[start] { // positions of a convolution share their parameters
				continue
			}
			seen[start] = true
			for k := range u.Width {
				all.at, all.of = append(all.at, start+k), append(all.of, len(all.blocks))
			}
			all.blocks = append(all.blocks, block{u.Layer, output})
		}
	}
	return all
}

func (n network) score(v oracle.Values) []float64 {
	all := n.ScoreOf(v)
	return each(n.at, func(i int) float64 { return all[i] })
}

// draw draws a state from the network. A recognition network gets a random image.
func (n network) draw(random *rand.Rand) oracle.Values {
	v := each(n.Architecture.Units, func(units int) []float64 { return make([]float64, units) })
	for j := range v[0] {
		v[0][j] = float64(random.IntN(2))
	}
	for _, u := range n.units {
		state := &v[u.Layer][u.Index]
		switch *state = 0; {
		case u.Kind == engine.Gaussian:
			mean, deviation, _ := n.Outputs(u, v)
			*state = mean + deviation*random.NormFloat64()
		case random.Float64() < n.On(u, v):
			*state = 1
		}
	}
	return v
}

type fisher struct {
	of              []int       // the block of each parameter
	matrix, squares [][]float64 // E of the products of scores and of their squares; only the lower triangle is filled
	samples         float64
}

func newFisher(of []int) fisher {
	triangle := func() [][]float64 { return each(of, func(int) []float64 { return make([]float64, len(of)) }) }
	return fisher{of: of, matrix: triangle(), squares: triangle()}
}

func (f *fisher) add(score []float64, probability float64) {
	f.samples++
	for a, x := range score {
		for b, y := range score[:a+1] {
			product := x * y
			f.matrix[a][b] += probability * product
			f.squares[a][b] += probability * product * product
		}
	}
}

// size returns the size of an entry, and errors how many standard errors its estimate is away from 0.
func (f fisher) size(a, b int) float64 { return math.Abs(f.matrix[a][b]) }

func (f fisher) errors(a, b int) float64 {
	mean := f.matrix[a][b]
	return math.Abs(mean) / math.Sqrt((f.squares[a][b]-mean*mean)/f.samples)
}

// outside returns the largest value of a function of the entries outside the blocks, and the largest size within them.
func (f fisher) outside(of func(a, b int) float64) (outside, within float64) {
	for a := range f.of {
		for b := range a + 1 {
			if f.of[a] == f.of[b] {
				within = max(within, f.size(a, b))
			} else {
				outside = max(outside, of(a, b))
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
func (f fisher) asTheyAre() (order []int) {
	for a := range f.of {
		order = append(order, a)
	}
	return order
}

// brightness returns a function that shows the size of an entry, over three decades below the largest.
func (f fisher) brightness() func(a, b int) float64 {
	_, largest := f.outside(f.size)
	return func(a, b int) float64 { return max(0, 1+math.Log10(f.size(a, b)/largest+1e-12)/3) }
}

// besideBlocks draws the sizes of the entries next to the blocks.
func (f fisher) besideBlocks() *plotting.Figure {
	order := f.asTheyAre()
	return plotting.SideBySide(f.picture("measured", order, f.brightness()), f.picture("blocks", order, f.block))
}

// estimated estimates the Fisher matrix of a network from samples, and judges by a claim whether the entries outside
// its blocks are 0.
func (w *work) estimated(says string, n network) (fisher, *judgement) {
	f, j := newFisher(n.of), w.claim(says)
	random, samples := rand.New(rand.NewPCG(1, 2)), w.few(1_000_000, 1_000_000, 2000)
	for range samples {
		f.add(n.score(n.draw(random)), 1/float64(samples))
	}
	errors, within := f.outside(f.errors)
	j.add(exact(errors, "", "standard errors by which the farthest entry outside the blocks is away from 0:").Under(4))
	j.say("%s samples of a small network with drawn parameters (thesis/fisher.go); the largest entry within the blocks is %.3f", thousands(samples), within)
	return f, j
}

const logarithmic = "on the left brightness is logarithmic, over three decades, and what is not black outside the blocks is noise"

// gaussianNetwork returns a network of 3 Gaussian units below 2.
func gaussianNetwork() network {
	return networkOf(hm.New(dataset.Shape{Height: 1, Width: 3}).Dense(2).Units(hm.Gaussian), 0.3, true)
}

func (w *work) open(spec dataset.Spec) *dataset.Set {
	if w.Scale == reproduce.Smoke {
		spec.Name, spec.Subset = madeUp(spec.Name), 128
	}
	return must(spec.Open())
}

func (w *work) drawRows(name, caption string, set *dataset.Set) {
	var first []int
	for i := range min(w.few(100, 100, 10), set.Train().Rows) {
		first = append(first, i)
	}
	w.Draw(name, caption, plotting.Samples(dataset.Sheet{Shape: set.Shape(), Values: set.Train().Floats(first...)}))
}
