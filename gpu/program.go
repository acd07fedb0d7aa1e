//go:build cuda

package gpu

import (
	"cmp"
	"math"
	"slices"
	"unsafe"
)

type address uint64

func (a address) floats(n int) address { return a + address(4*n) }

// kind selects what an operation does. The kinds and the structures of their operations must match
// kernels/walk.cu, which describes each.
type kind uint32

const (
	lookAhead kind = iota
	load
	outputs
	weigh
	gradient
	blocks
	multiplyBlocks
	diagonal
	scale
	update
	reinforce
	learn
	advance
	softmax
	scoreLabels
	weighLabels
	condition
)

type place struct {
	word                        uint32
	step, sample, datum, listed uint32
}

type lookAheadOf struct {
	parameters, velocity, point address
	count, ahead                uint32
}

type loadOf struct {
	data, states              address
	units, stride, stochastic uint32
	row, listed               uint32
	off                       float32
	place                     place
}

type outputsOf struct {
	parents, weights, logits                                  address
	stored, states, residuals, slopes, means, scores          address
	parentsStride, logitsOf, width                            uint32
	rows, units, stride, statesStride, statesOf, scoresStride uint32
	draw                                                      uint32
	samples                                                   uint32
	off                                                       float32
	place                                                     place
	chained                                                   chained
}

// chained locates the chains of the training rows, for a layer. rows is the input that lists the rows.
type chained struct {
	chains             address
	width, first, rows uint32
}

type weighOf struct {
	generative, recognition, logWeights, joint, sums                    address
	weights, recognitionWeights                                         address
	factor, exponent, scale, recognitionScale, baseline                 float64
	generativeTiles, recognitionTiles, stride, samples, score, outputAt uint32
	signal                                                              uint32
	place                                                               place
	stays                                                               address
}

type source struct {
	residuals, parents, weights                   address
	residualsStride, parentsStride, sharing, rows uint32
	scale                                         uint32
}

type gradientOf struct {
	gradient, base        address
	baseScale             float32
	units, width, sources uint32
	source                [mostSources]source
}

// mostSources is the largest number of terms of a gradient: wake samples, dreams,
// and the entropy.
const mostSources = 3

type reinforceOf struct {
	source                source
	logWeights, gradient  address
	samples, units, width uint32
	scale                 float32
}

type learnOf struct {
	residuals, seen, learned, logWeights          address
	weighted, moves                               address
	scale, rate                                   float64
	stride, seenStride, seenWidth, outputs, first uint32
	samples, units                                uint32
	least                                         float32
}

type advanceOf struct {
	states, stays                      address
	chained                            chained
	statesStride, units, samples, data uint32
}

type softmaxOf struct {
	variables, logits                     address
	states, residuals, means, scores      address
	rows, count, stride, logitsOf         uint32
	statesStride, statesOf, draw, samples uint32
	place                                 place
}

type scoreLabelsOf struct {
	generative, recognition                                   address
	logits, shared                                            address
	prior, conditions, off, states                            address
	scores, logQ                                              address
	generativeTiles, recognitionTiles, rows, samples, classes uint32
	stride, conditionsStride, statesStride, units, offTiles   uint32
}

type weighLabelsOf struct {
	scores, logQ, labels, states                address
	residuals                                   [2]address
	table, weights, recognitionWeights          address
	half, gamma, scale                          float64
	row, classes, samples, stride, statesStride uint32
	proposal, baseline                          uint32
	place                                       place
}

type conditionOf struct {
	products, means, gradient                          address
	units, width, classes, productsStride, meansStride uint32
	off                                                float32
}

type blocksOf struct {
	residuals, parents, weights, gram address
	inverses, scratch, failed         address
	scratchSize                       uint64
	residualsStride, parentsStride    uint32
	rows, units, size, halved         uint32
	scale, damping                    float32
}

type multiplyBlocksOf struct {
	blocks, vectors, products    address
	size, units, halved          uint32
	vectorsStride, vectorsStep   uint32
	productsStride, productsStep uint32
	scale                        float32
}

type diagonalOf struct {
	residuals, parents, weights, factors address
	residualsStride, parentsStride       uint32
	rows, units, size                    uint32
	scale, damping                       float32
}

type scaleOf struct {
	numbers, factors, products address
	count                      uint32
}

type updateOf struct {
	parameters, point, natural, direction, first, second address
	units, width, optimizer, unbiased                    uint32
	rate, correction, l1, l2                             uint32
	beta1, beta2, epsilon                                float32
	rest1, rest2                                         float64
}

// These are the optimisers of updateOf.
const (
	gradientDescent = iota
	adam
	momentum
	stay
)

const (
	tileSize = 32   // rows and columns of a tile of a matrix
	elements = 2048 // numbers in a tile of an elementwise operation
)

// product returns the operation that multiplies n rows by the transpose of m units, and its number
// of tiles. Each row and each unit has width numbers. Rows begin stride numbers apart, units width,
// and the rows of the stored product storedStride.
func product(stored address, storedStride int, rows address, stride, n int, units address, m, width int) (inTiles int, o outputsOf) {
	return matrixTiles(n, m), outputsOf{
		parents: rows, weights: units, stored: stored, parentsStride: uint32(stride), width: uint32(width),
		rows: uint32(n), units: uint32(m), stride: uint32(storedStride), statesOf: 1, samples: 1,
	}
}

func tiles(n, size int) int { return (n + size - 1) / size }

func matrixTiles(rows, columns int) int { return tiles(rows, tileSize) * tiles(columns, tileSize) }

// packed returns the size of a packed symmetric matrix of n × n numbers.
func packed(n int) int {
	side := tiles(n, tileSize)
	return side * (side + 1) / 2 * tileSize * tileSize
}

// halved returns the size of a halved symmetric matrix of n × n numbers: its tiles below the diagonal
// have half precision.
func halved(n int) int {
	side := tiles(n, tileSize)
	return side * (side + 3) * tileSize * tileSize / 4
}

// mostPacked is the largest n for which a thread block can multiply a packed matrix by a vector.
const mostPacked = 4608

// operation is one operation of a phase, in the layout that the device reads.
type operation struct {
	kind     kind
	followed uint32 // whether the next operation follows in each tile
	of       [argumentsSize / 8]uint64
}

// group is a list of operations that a thread block performs one after another for the same tile.
type group struct {
	first, tiles int
	cost         int // of a tile, as the function cost estimates it
	operations   []operation
}

// argumentsSize is the size of the largest structure of an operation, in bytes.
const argumentsSize = 176

// A structure that is too large does not compile here, because a constant of type uintptr cannot be
// negative.
const (
	_ = argumentsSize - unsafe.Sizeof(lookAheadOf{})
	_ = argumentsSize - unsafe.Sizeof(loadOf{})
	_ = argumentsSize - unsafe.Sizeof(outputsOf{})
	_ = argumentsSize - unsafe.Sizeof(weighOf{})
	_ = argumentsSize - unsafe.Sizeof(gradientOf{})
	_ = argumentsSize - unsafe.Sizeof(blocksOf{})
	_ = argumentsSize - unsafe.Sizeof(multiplyBlocksOf{})
	_ = argumentsSize - unsafe.Sizeof(diagonalOf{})
	_ = argumentsSize - unsafe.Sizeof(scaleOf{})
	_ = argumentsSize - unsafe.Sizeof(updateOf{})
	_ = argumentsSize - unsafe.Sizeof(reinforceOf{})
	_ = argumentsSize - unsafe.Sizeof(learnOf{})
	_ = argumentsSize - unsafe.Sizeof(advanceOf{})
	_ = argumentsSize - unsafe.Sizeof(softmaxOf{})
	_ = argumentsSize - unsafe.Sizeof(scoreLabelsOf{})
	_ = argumentsSize - unsafe.Sizeof(weighLabelsOf{})
	_ = argumentsSize - unsafe.Sizeof(conditionOf{})
)

type tile struct{ operation, tile uint32 }

type phase struct{ first, tiles uint32 }

type header struct {
	operations, tiles, phases, arrived address
	key                                uint64
	phaseCount, inputCount             uint32
}

// program is what the device executes in a pass: phases, which consist of groups of operations, and
// the inputs that differ from pass to pass. An operation may read what earlier phases wrote.
type program struct {
	phases [][]group
	inputs []func(moment) uint32
}

// moment holds the values from which the inputs of a pass are computed.
type moment struct {
	step         int     // training step, or the number that replaces it in the counters of draws
	learningRate float64 // of the step
	rows         []int   // of the data, for a training step
	row          int     // the first row of the data, for an evaluation
	datum        int     // the number of that row in the counters of draws
	sample       int     // the first sample
	output       int     // where the sums of the pass begin
}

// add puts an operation into phase at, and returns the phase from which its results are ready.
func add[T any](p *program, at int, k kind, tiles int, args T) (ready int) {
	for len(p.phases) <= at {
		p.phases = append(p.phases, nil)
	}
	p.phases[at] = append(p.phases[at], group{tiles: tiles})
	return follow(p, at, len(p.phases[at])-1, k, args)
}

// follow appends an operation to a group of phase at. It returns the phase from which all results of
// the group are ready.
func follow[T any](p *program, at, groupOf int, k kind, args T) (ready int) {
	g := &p.phases[at][groupOf]
	if n := len(g.operations); n > 0 {
		g.operations[n-1].followed = 1
	}
	o := operation{kind: k}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&o.of)), len(o.of)*8), unsafe.Slice((*byte)(unsafe.Pointer(&args)), unsafe.Sizeof(args)))
	g.operations, g.cost = append(g.operations, o), g.cost+cost(args)
	return at + 1
}

// cost estimates how long a tile of an operation takes. The unit is the time that a tile of a
// product takes for one more element of depth. The part that does not depend on the depth takes 400
// units, as measured on an H100.
func cost(args any) int {
	depth := 0
	switch o := args.(type) {
	case outputsOf:
		if o.logits == 0 {
			depth = int(o.width)
		}
	case gradientOf:
		for _, s := range o.source[:o.sources] {
			depth += int(s.rows * s.sharing)
		}
	case multiplyBlocksOf:
		depth = int(o.size) * int(o.size) / 128
	case blocksOf:
		depth = int(o.size) * int(o.size)
	case diagonalOf:
		// A tile has 2 · 1,024 numbers, and each row adds two products in double precision, at half the rate.
		depth = 8 * int(o.rows)
	case reinforceOf:
		depth = 16 * int(o.source.rows*o.source.sharing)
	}
	return 400 + depth
}

// duration estimates how long the given number of thread blocks take for the groups of a phase and
// more groups, in the units of cost. The first block gets the most costly tile of each round.
func duration(groups []group, blocks int, more ...group) int {
	groups = append(slices.Clone(groups), more...)
	sortByCost(groups)
	longest, before := 0, 0
	for _, g := range groups {
		rounds := tiles(before+g.tiles, blocks) - tiles(before, blocks)
		longest, before = longest+rounds*g.cost, before+g.tiles
	}
	return longest
}

func tilesOf(groups []group) int {
	n := 0
	for _, g := range groups {
		n += g.tiles
	}
	return n
}

func sortByCost(groups []group) {
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.cost, a.cost) })
}

// balance sorts the groups of each phase by the cost of a tile, highest first, so that no thread
// block begins a costly tile when the others are done.
func (p *program) balance() {
	for _, groups := range p.phases {
		sortByCost(groups)
	}
}

func (p *program) input(f func(m moment) uint32) uint32 {
	p.inputs = append(p.inputs, f)
	return uint32(len(p.inputs) - 1)
}

// number adds an input that is a float32 and returns its place.
func (p *program) number(f func(m moment) float64) uint32 {
	return p.input(func(m moment) uint32 { return math.Float32bits(float32(f(m))) })
}

func (p *program) constant(x float64) uint32 {
	return p.number(func(moment) float64 { return x })
}

// rows adds n inputs that hold the rows of the minibatch, and returns the place of the first.
func (p *program) rows(n int) uint32 {
	first := uint32(len(p.inputs))
	for k := range n {
		p.input(func(m moment) uint32 { return uint32(m.rows[k]) })
	}
	return first
}

// words returns the inputs of some passes, one pass after another.
func (p *program) words(moments []moment) []uint32 {
	words := make([]uint32, 0, len(moments)*len(p.inputs))
	for _, m := range moments {
		for _, f := range p.inputs {
			words = append(words, f(m))
		}
	}
	return words
}
