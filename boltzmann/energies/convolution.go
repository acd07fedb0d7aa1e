package energies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Convolution describes a convolutional RBM with probabilistic max-pooling (Lee, Grosse, Ranganath and Ng 2009).
// Each filter, of Window×Window pixels, has a detection unit for each of its positions within the image.
// The detection units form blocks of Pool×Pool, with at most one unit on in each block.
type Convolution struct {
	Filters int `toml:"filters" json:"filters"`
	Window  int `toml:"window" json:"window"`
	Pool    int `toml:"pool" json:"pool"`
	// Activity is the target probability of a detection unit. Sparsity is the strength of the penalty that
	// pulls the units towards this probability, through their biases.
	Activity float64 `toml:"activity" json:"activity"`
	Sparsity float64 `toml:"sparsity" json:"sparsity"`
	// Above is the number of filters of a second machine on top of the first, or 0 for none. The visible units of the
	// second machine are the blocks of the first, with one image of blocks for each filter. A block is on if one of its
	// detection units is on. Both machines train at the same time, the second on blocks drawn given the rows. The second
	// machine does not form blocks itself. AboveWindow is the side of its filters, in blocks.
	Above       int `toml:"above,omitzero" json:"above,omitempty"`
	AboveWindow int `toml:"above_window,omitzero" json:"above_window,omitempty"`
}

// ConvolutionalRBM trains convolutional RBMs of binary images.
var ConvolutionalRBM = register(kind[Convolution]{
	name: "convolutional-rbm", noun: "a convolutional RBM", data: "--dataset miniglyphs",
	usual: Convolution{Filters: 24, Window: 5, Pool: 2, Activity: 0.03, Sparsity: 1}, training: Training{LearningRate: 0.01, BatchSize: 50, Steps: 1},
	rows: func(s *Convolution) []runs.Hyperparameter {
		return []runs.Hyperparameter{{
			Value: &s.Filters, Flag: "filters", Usage: "`number` of filters", Legend: "convolutional RBM, " + names.Count(s.Filters, "filter"), Always: true,
			Valid: s.Filters >= 1, Remedy: "give at least 1; 24 to 40 are usual",
		}, {
			Value: &s.Window, Flag: "window", Usage: "`side` of the filters", Legend: fmt.Sprintf("%d×%d", s.Window, s.Window), Always: true,
			Valid: s.Window >= 1, Remedy: "give at least 1; 5 to 12 are usual",
		}, {
			Value: &s.Pool, Flag: "pool", Usage: "`side` of the blocks with at most one detection unit on", Legend: fmt.Sprintf("blocks of %d×%d", s.Pool, s.Pool),
			Valid: s.Pool >= 1, Remedy: "give at least 1; 2 is usual",
		}, {
			Value: &s.Activity, Flag: "activity", Usage: "target `probability` that a detection unit is on", Legend: fmt.Sprintf("activity %g", s.Activity),
			Valid: s.Activity > 0 && s.Activity < 1, Remedy: "give a probability between 0 and 1, such as 0.03", Idle: runs.Unless(s.Sparsity > 0, "--sparsity"),
		}, {
			Value: &s.Sparsity, Flag: "sparsity", Usage: "`strength` of the penalty on active detection units", Legend: fmt.Sprintf("sparsity %g", s.Sparsity),
			Valid: s.Sparsity >= 0 && statistics.Finite(s.Sparsity), Remedy: "give 0 or more; 1 is usual",
		}, {
			Value: &s.Above, Flag: "above", Usage: "`number` of filters of a second machine above the blocks, or 0 without one", Legend: "below " + names.Count(s.Above, "filter"),
			Valid: s.Above >= 0, Remedy: "give 0 or more",
		}, {
			Value: &s.AboveWindow, Flag: "above-window", Usage: "`side` of the filters of the second machine, in blocks", Legend: fmt.Sprintf("%d×%d", s.AboveWindow, s.AboveWindow), Always: s.Above > 0,
			Valid: s.AboveWindow >= 1 || s.Above == 0 && s.AboveWindow == 0, Remedy: "give at least 1 with --above, and 0 without", Idle: runs.Unless(s.Above > 0, "--above"),
		}}
	},
	size: func(s Convolution, _ dataset.Shape) float64 {
		return float64(s.Filters) * (float64(s.Window)*float64(s.Window) + float64(s.Above)*float64(s.AboveWindow)*float64(s.AboveWindow))
	},
	new: func(s Convolution, shape dataset.Shape, _ dataset.Mask) (energy, error) {
		return newConvolution(s, shape, 1)
	},
	above: func(s Convolution, below energy) (energy, dataset.Shape, error) {
		if s.Above == 0 {
			return nil, dataset.Shape{}, nil
		}
		blocks := below.(*convolution).pooled()
		e, err := newConvolution(Convolution{Filters: s.Above, Window: s.AboveWindow, Pool: 1, Activity: s.Activity, Sparsity: s.Sparsity}, blocks, s.Filters)
		return e, dataset.Shape{Height: s.Filters * blocks.Height, Width: blocks.Width}, err
	},
})

// convolution is the energy
//
//	F(v) = −bᵀv − Σ_k Σ_α log(1 + Σ_{ij in α} e^(I^k_ij)), I^k = W_k ∗ v + c_k
//
// over the blocks α of the detection units.
type convolution struct {
	Convolution
	channels         int // images per row, one after another
	shape, detection dataset.Shape
	weights          []float64 // K×channels×w², one row per filter
	hidden, visible  []float64 // c, of length K, and b
	base             []float64 // log-odds of the training rows' units
	blocks           []int     // the block of each detection unit of a filter
}

func newConvolution(s Convolution, shape dataset.Shape, channels int) (*convolution, error) {
	d := dataset.Shape{Height: shape.Height - s.Window + 1, Width: shape.Width - s.Window + 1}
	if d.Height < 1 || d.Width < 1 {
		return nil, fmt.Errorf("window = %d for images of %v: give at most %d", s.Window, shape, min(shape.Height, shape.Width))
	}
	if d.Height%s.Pool != 0 || d.Width%s.Pool != 0 {
		return nil, fmt.Errorf("pool = %d does not divide the %v positions of a filter of %d×%d in images of %v: %s", s.Pool, d, s.Window, s.Window, shape, fitting(s, shape))
	}
	units := channels * shape.Units()
	e := &convolution{Convolution: s, channels: channels, shape: shape, detection: d,
		weights: make([]float64, s.Filters*channels*s.Window*s.Window), hidden: make([]float64, s.Filters),
		visible: make([]float64, units), base: make([]float64, units)}
	for i := range d.Height {
		for j := range d.Width {
			e.blocks = append(e.blocks, i/s.Pool*(d.Width/s.Pool)+j/s.Pool)
		}
	}
	return e, nil
}

// fitting names the pools that fit the window, and the windows that fit the pool.
func fitting(s Convolution, shape dataset.Shape) string {
	var pools, windows []string
	side := min(shape.Height, shape.Width)
	fits := func(window, pool int) bool {
		return (shape.Height-window+1)%pool == 0 && (shape.Width-window+1)%pool == 0
	}
	for n := 1; n <= side; n++ {
		if n <= side-s.Window+1 && fits(s.Window, n) {
			pools = append(pools, strconv.Itoa(n))
		}
		if n <= side-s.Pool+1 && fits(n, s.Pool) {
			windows = append(windows, strconv.Itoa(n))
		}
	}
	text := "give a pool of " + strings.Join(pools, ", ")
	if len(windows) > 0 {
		text += ", or a window of " + strings.Join(windows, ", ")
	}
	return text
}

func (e *convolution) Parameters() []parameter {
	return []parameter{
		newParameter("weights", 1, e.weights, e.Filters, e.channels*e.Window, e.Window), newParameter("hidden_biases", 1, e.hidden),
		newParameter("visible_biases", 1, e.visible), newParameter("base", 0, e.base),
	}
}

// Begin starts with small weights and with visible biases that are the log-odds of the training rows. If there is a
// penalty, the hidden biases make the detection units about as active as their target.
func (e *convolution) Begin(rows [][]float64, r *rand.Rand) {
	draw(e.weights, 0.1/math.Sqrt(float64(e.columns())), r)
	copy(e.base, logOdds(rows))
	copy(e.visible, e.base)
	if e.Sparsity > 0 {
		block := float64(e.Pool * e.Pool)
		for k := range e.hidden {
			e.hidden[k] = math.Log(e.Activity / math.Max(1-block*e.Activity, e.Activity))
		}
	}
}

func (e *convolution) filters() *mat.Dense {
	return mat.NewDense(e.Filters, e.columns(), e.weights)
}

// columns returns the number of weights of a filter.
func (e *convolution) columns() int { return e.channels * e.Window * e.Window }

// pooled returns the shape of the image of blocks of a filter.
func (e *convolution) pooled() dataset.Shape {
	return dataset.Shape{Height: e.detection.Height / e.Pool, Width: e.detection.Width / e.Pool}
}

// eachPatch calls do for each position of a filter and, at each position, for each row of the windows under the
// filter, counted through all channels. offset is the index in v of the first pixel of this row.
func (e *convolution) eachPatch(do func(position, row, offset int)) {
	position := 0
	for top := range e.detection.Height {
		for left := range e.detection.Width {
			for channel := range e.channels {
				for row := range e.Window {
					do(position, channel*e.Window+row, (channel*e.shape.Height+top+row)*e.shape.Width+left)
				}
			}
			position++
		}
	}
}

// patches returns the parts of the images under the filters, one row per position.
func (e *convolution) patches(v []float64) *mat.Dense {
	m := mat.NewDense(e.detection.Units(), e.columns(), nil)
	e.eachPatch(func(p, row, offset int) {
		copy(m.RawRowView(p)[row*e.Window:(row+1)*e.Window], v[offset:])
	})
	return m
}

// up returns the probabilities of the detection units given the patches of v, one row per filter. It also returns
// Σ log(1 + Σ e^I), where the outer sum is over the blocks of all filters.
func (e *convolution) up(patches *mat.Dense) (on *mat.Dense, sum float64) {
	on = new(mat.Dense)
	on.Mul(e.filters(), patches.T())
	n := len(e.blocks) / (e.Pool * e.Pool)
	most, total := make([]float64, n), make([]float64, n)
	for k, bias := range e.hidden {
		row := on.RawRowView(k)
		floats.AddConst(bias, row)
		clear(most) // all units off have the input 0
		for p, α := range e.blocks {
			most[α] = max(most[α], row[p])
		}
		for α, m := range most {
			total[α] = -m
		}
		for p, α := range e.blocks {
			row[p] -= most[α]
		}
		kernels.Exp(total)
		kernels.Exp(row)
		for p, α := range e.blocks {
			total[α] += row[p]
		}
		for p, α := range e.blocks {
			row[p] /= total[α]
		}
		for α, t := range total {
			sum += most[α] + math.Log(t)
		}
	}
	return on, sum
}

func (e *convolution) FreeEnergy(v []float64) float64 {
	_, sum := e.up(e.patches(v))
	return -floats.Dot(e.visible, v) - sum
}

// restrain adds the gradient of a penalty that pulls the mean of each filter's detection units to their target (Lee,
// Ekanadham and Ng 2008) to to. data holds the mean of ∂F/∂θ over rows. Both have one slice per parameter. The penalty
// acts on the hidden biases alone.
func (e *convolution) restrain(to, data [][]float64) {
	for k, slope := range data[1] { // the negated sum of the units' probabilities
		to[1][k] += e.Sparsity * (-slope - e.Activity*float64(len(e.blocks)))
	}
}

// pools draws the detection units given v, and returns the states of the blocks, one image per filter.
func (e *convolution) pools(v []float64, r *rand.Rand) []float64 {
	on, _ := e.up(e.patches(v))
	left := make([]float64, e.pooled().Units())
	pools := make([]float64, e.Filters*len(left))
	for k := range e.Filters {
		for α := range left {
			left[α] = r.Float64()
		}
		for p, α := range e.blocks {
			before := left[α]
			if left[α] -= on.At(k, p); before > 0 && left[α] <= 0 {
				pools[k*len(left)+α] = 1
			}
		}
	}
	return pools
}

// At scales weights and hidden biases by β. In the base model, the visible biases are the log-odds of the training
// rows.
func (e *convolution) At(β float64) energy {
	at := *e
	at.weights, at.hidden, at.visible = scaled(β, e.weights), scaled(β, e.hidden), scaled(β, e.visible)
	floats.AddScaled(at.visible, 1-β, e.base)
	return &at
}

func (e *convolution) Base(v []float64, r *rand.Rand) float64 {
	copy(v, e.base)
	blocks := float64(e.Filters * len(e.blocks) / (e.Pool * e.Pool))
	logZ := blocks*math.Log1p(float64(e.Pool*e.Pool)) - lessSoftplusses(0, slices.Clone(v))
	bernoullis(v, r)
	return logZ
}

func (e *convolution) exact() bool { return len(e.visible) <= enumerable }

// LogZ sums over all states of the visible units if there are at most 16.
func (e *convolution) LogZ([]float64) float64 {
	return sumOut(len(e.visible), func(v []float64) float64 { return -e.FreeEnergy(v) })
}

// project returns the filters of the machine above as images of pixels, and the shape of an image. Each weight of an
// upper filter belongs to a block of e. project multiplies the filter of this block by the weight, and adds it to the
// image at every position in the block.
func (e *convolution) project(above *convolution) (dataset.Shape, [][]float64) {
	side := (above.Window-1)*e.Pool + e.Pool + e.Window - 1
	var images [][]float64
	for weights := range slices.Chunk(above.weights, above.columns()) {
		image := make([]float64, side*side)
		for i, weight := range weights {
			filter := e.weights[i/(above.Window*above.Window)*e.Window*e.Window:]
			top, left := i/above.Window%above.Window*e.Pool, i%above.Window*e.Pool
			for p := range e.Pool * e.Pool {
				for row := range e.Window {
					at := (top+p/e.Pool+row)*side + left + p%e.Pool
					floats.AddScaled(image[at:at+e.Window], weight, filter[row*e.Window:(row+1)*e.Window])
				}
			}
		}
		images = append(images, image)
	}
	return dataset.Shape{Height: side, Width: side}, images
}

func (e *convolution) Fields() (dataset.Shape, [][]float64) {
	side := dataset.Shape{Height: e.Window, Width: e.Window}
	return side, rowsOf(e.weights, side.Units())
}

// convolutionProducts holds W, as it is and packed, c and b, and the positions in each block. A row of the window at a
// position begins at the sum of its corner and its offset.
type convolutionProducts struct {
	*convolution
	groups  [][]int
	corners []int32
	offsets []int
	ones    []float32
	w       kernels.Matrix
	packed  *kernels.Packed
	hidden  []float32
}

func (e *convolution) Products() products {
	n, columns := e.Filters, e.columns()
	p := &convolutionProducts{
		convolution: e, groups: make([][]int, e.pooled().Units()), ones: slices.Repeat([]float32{1}, len(e.blocks)),
		w: single(e.weights, n, columns), packed: packed(e.weights, n, columns), hidden: singles(e.hidden),
	}
	for position, α := range e.blocks {
		p.groups[α] = append(p.groups[α], position)
	}
	e.eachPatch(func(position, row, offset int) {
		if row == 0 {
			p.corners = append(p.corners, int32(offset))
		}
		if position == 0 {
			p.offsets = append(p.offsets, offset)
		}
	})
	return p
}

// of returns the patches, with one row for each position of a filter in each row of data, and the probabilities of the
// detection units at these positions, with one column per filter. There is room for as many rows as filters before both.
func (p *convolutionProducts) of(m *room, rows [][]float64) (patches, on kernels.Matrix) {
	n := p.detection.Units()
	patches, on = m.matrix(p.Filters+len(rows)*n, p.columns()), m.matrix(p.Filters+len(rows)*n, p.Filters)
	v := m.floats(len(p.visible))
	for r, row := range rows {
		patches := kernels.Rows(patches, p.Filters+r*n, p.Filters+(r+1)*n)
		narrow(v, row)
		for i := range p.channels * p.Window {
			windows := kernels.Matrix{Rows: len(v) - p.offsets[i] - p.Window + 1, Cols: p.Window, Stride: 1, Data: v[p.offsets[i]:]}
			kernels.Gather(kernels.Cols(patches, i*p.Window, (i+1)*p.Window), windows, p.corners, p.ones)
		}
		on := kernels.Rows(on, p.Filters+r*n, p.Filters+(r+1)*n)
		kernels.MulPacked(on, patches, p.packed)
		kernels.AtMostOne(on, p.hidden, p.groups)
	}
	return patches, on
}

// draw replaces probabilities of the detection units of a row by draws, at most one unit per block. left is memory for
// one number per block.
func (p *convolutionProducts) draw(left []float64, on kernels.Matrix, r *rand.Rand) {
	for k := range p.Filters {
		for α := k; α < len(left); α += p.Filters {
			left[α] = r.Float64()
		}
	}
	for position, α := range p.blocks {
		left, on := left[α*p.Filters:(α+1)*p.Filters], kernels.Row(on, position)[:p.Filters]
		for k, before := range left {
			after := before - float64(on[k])
			left[k], on[k] = after, float32(one(before > 0)&one(after <= 0))
		}
	}
}

func (p *convolutionProducts) Sweeps(rows [][]float64, draws []*rand.Rand, means bool) []float64 {
	n, left := p.detection.Units(), make([]float64, p.pooled().Units()*p.Filters)
	for r, v := range rows {
		m := newRoom()
		patches, on := p.of(m, rows[r:r+1])
		patches, on = kernels.Rows(patches, p.Filters, p.Filters+n), kernels.Rows(on, p.Filters, p.Filters+n)
		p.draw(left, on, draws[r])
		clear(patches.Data)
		kernels.AddMulNN(patches, on, p.w)
		copy(v, p.visible)
		p.eachPatch(func(position, row, offset int) {
			kernels.AddSingles(v[offset:offset+p.Window], kernels.Row(patches, position)[row*p.Window:][:p.Window])
		})
		if means {
			kernels.Logistic(v)
		} else {
			bernoullis(v, draws[r])
		}
		m.leave()
	}
	return certain(len(rows))
}

// Gradients continues the sums of ∂F/∂W from one part of the rows to the next: the first terms of a part are an identity
// times the sums so far. The patches of a part stay in the cache, but are many more than the filters.
func (p *convolutionProducts) Gradients(to [][]float64, factor float64, rows [][]float64) {
	sums := kernels.NewMatrix(p.Filters, p.columns())
	for part := range slices.Chunk(rows, 1+8*p.Filters/p.detection.Units()) {
		m := newRoom()
		patches, on := p.of(m, part)
		kernels.Scale(on.Data, -factor)
		addRows(to[1], kernels.Rows(on, p.Filters, on.Rows))
		copy(patches.Data, sums.Data)
		clear(on.Data[:p.Filters*p.Filters])
		for k := range p.Filters {
			on.Data[k*p.Filters+k] = 1
		}
		kernels.MulTN(sums, 0, on, patches)
		m.leave()
	}
	kernels.AddSingles(to[0], sums.Data)
	for _, v := range rows {
		floats.AddScaled(to[2], -factor, v)
	}
}
