package boltzmann

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// state holds what the next step of training needs.
type state struct {
	step       int // steps done
	parameters *Parameters
	moments    []*Parameters // slots of the optimiser, such as the velocity of momentum
	logFactor  float64       // logarithm of CosineRate's factor of the learning rate
	// visibleOffsets μ and hiddenOffsets λ are the moving means of the units given the data. They are ½ for
	// spins, and 0 if the gradient is not centred.
	visibleOffsets, hiddenOffsets []float32
	// persistent holds the hidden states of persistent chains, one row per chain. The replicas at one
	// temperature follow the replicas at the next lower temperature.
	persistent kernels.Matrix
	rungs      []rung    // of ptt's ladder, the lowest first
	standard   *standard // how data become values of Gaussian visible units, otherwise nil
	below      stack     // in a belief network, the machines that draw the visible units given the data
}

// trainer takes steps of training.
//
// A step follows the gradient of the mean log p(v) of a minibatch with respect to centred parameters. Their
// energy is −(v−μ)ᵀb − (h−λ)ᵀc − (v−μ)ᵀW(h−λ) (Montavon and Müller 2012), so the gradient is
//
//	∇W = ⟨(v−μ)(h−λ)ᵀ⟩ − ⟨(v−μ)(h−λ)ᵀ⟩ₘ,   ∇b = ⟨v⟩ − ⟨v⟩ₘ,   ∇c = ⟨h⟩ − ⟨h⟩ₘ.
//
// The means are over the data and, with index m, over the chains. The parameters are stored without offsets, so
// that the offsets can move while the distribution stays the same. In these coordinates, a step ΔW, Δb, Δc
// moves b by Δb − ΔWλ and c by Δc − ΔWᵀμ (Melchior, Fischer and Wiskott 2016). With offsets of 0, this is the
// plain gradient.
//
// For Gaussian visible units, the gradients of W and b are multiplied by σ². This corresponds to steps of W/σ
// and b/σ, which do not depend on the scale. Then the gradients are differences of the same means as above,
// and ΔW moves c by −ΔWᵀ(μ/σ²). The variances have a separate gradient.
//
// The difference of the means ⟨(v−μ)(h−λ)ᵀ⟩ is the difference of the means ⟨vhᵀ⟩, minus μ∇cᵀ and ∇bλᵀ. So ∇W
// is, up to a factor, the product leftᵀ·right of two matrices. A row of left holds visible states. The same
// row of right holds the means of the hidden units given these states, times the weight of the row. Two extra
// rows subtract the terms with offsets. The order of the rows is: data, the two rows of the offsets, labels
// if log p(y|v) has a weight, chains.
type trainer struct {
	state
	method   MethodSpec
	key      philox.Key
	rows     dataset.Split
	encoding encoding
	order    func(step int) []int // returns the rows of a step's minibatch

	climber        climber // for the machines below
	products       *products
	optimizer      *optimizer
	flipped        flipped         // for pl
	discrimination *discrimination // nil if log p(y|v) has no weight
	metric         *metric         // nil if it is Euclidean
	left, right    kernels.Matrix
	ofHidden       kernels.Fixed // the columns of right in fixed point
	offsets        [2][]float32  // copies of the rows of the offsets in right
	at             places
	chains         *chains     // their visible states and hidden inputs are rows of left and right
	gradient       *Parameters // after a step: for biases the step itself, for weights its direction
	parts          [][]float32 // ΔWᵀμ from each part of the visible units, to be subtracted from c
	before         []float32   // the states of persistent chains before a step
	measures       []likelihood
	means          kernels.Matrix // of Gaussian visible units given the hidden ones, for the data
}

// places has the rows of left and right that follow the data: the rows with the offsets μ in left and nλ in right, and the
// first rows of labels and of chains.
type places struct{ visibleOffsets, hiddenOffsets, labels, chains int }

// visibleAPart is the number of visible units in a part, whose weights one processor updates together.
const visibleAPart = kernels.PackedRows

func newTrainer(s state, method MethodSpec, seed uint64, rows dataset.Split, binarization dataset.Binarization, order func(step int) []int) *trainer {
	p, batch, most := s.parameters, method.BatchSize, method.replicas(method.BatchSize)
	at := places{batch, batch + 1, batch + 2, batch + 2}
	if method.Discriminative > 0 {
		at.chains += p.Spec.Classes
	}
	t := &trainer{
		state: s, method: method, key: philox.Key(seed), rows: rows, encoding: encoding{binarization: binarization, standard: s.standard}, order: order,
		climber:   s.below.climber(),
		products:  newProducts(p),
		optimizer: newOptimizer(method, s.moments),
		left:      kernels.NewMatrix(at.chains+most, p.Visible()),
		right:     kernels.NewMatrix(at.chains+most, p.Hidden()),
		at:        at,
		gradient:  p.zeros(),
		offsets:   [2][]float32{make([]float32, p.Hidden()), make([]float32, p.Hidden())},
		before:    make([]float32, len(s.persistent.Data)),
		measures:  make([]likelihood, batch),
	}
	t.optimizer.logFactor = &t.logFactor
	t.chains = newChains(most, p)
	t.chains.visible = kernels.Rows(t.left, at.chains, t.left.Rows)
	t.chains.hiddenInputs = kernels.Rows(t.right, at.chains, t.right.Rows)
	if method.Discriminative > 0 {
		t.discrimination = newDiscrimination(batch, p)
		for k := range p.Spec.Classes {
			kernels.Row(t.left, at.labels+k)[p.observed()+k] = 1
		}
	}
	if method.persistent() {
		t.chains.hidden = s.persistent
	}
	if method.flips() {
		t.flipped = flipped{make([]int, most), make([]float32, most)}
	}
	if method.Algorithm == Tempered {
		for r := range most {
			t.chains.β = append(t.chains.β, 1-float32(r/method.Chains)/float32(method.Temperatures))
		}
	}
	for range (p.Visible() + visibleAPart - 1) / visibleAPart {
		t.parts = append(t.parts, make([]float32, p.Hidden()))
	}
	if p.LogVariances != nil {
		t.means = kernels.NewMatrix(batch, p.Visible())
	}
	if method.Metric != Euclidean {
		t.metric = newMetric(method, p)
	}
	return t
}

// chains returns the number of chains at one temperature, for pl and rm the number of flipped states, or for mp the number of
// rows in the blocks of predictions. rows is the number of rows in the minibatch. The result is 0 if log p(y|v) has all the weight.
func (s MethodSpec) chains(rows int) int {
	switch {
	case s.Discriminative == 1:
		return 0
	case s.Algorithm == Contrastive:
		return rows
	case s.flips():
		return rows * s.Steps
	case s.Algorithm == MultiPrediction:
		return rows * (2*s.Steps + 1)
	}
	return s.Chains
}

func (s MethodSpec) persistent() bool {
	return s.Algorithm == Persistent || s.Algorithm == Tempered || s.Algorithm == Trajectories
}

// keptChains returns the number of persistent chains at all temperatures together.
func (s MethodSpec) keptChains() int {
	if !s.persistent() {
		return 0
	}
	return s.replicas(0)
}

// replicas returns the number of chains at all temperatures together, for a minibatch with a number of rows.
func (s MethodSpec) replicas(rows int) int { return s.chains(rows) * max(1, s.Temperatures) }

// take takes a step and returns the measures of each row of its minibatch, which stay valid until the next
// step. If the context is cancelled, the state does not change.
func (t *trainer) take(ctx context.Context, rate float64) ([]likelihood, error) {
	rows := t.order(t.step)
	n, m := len(rows), t.method.chains(len(rows))
	t.positive(rows)
	copy(t.before, t.persistent.Data)
	err := ctx.Err()
	if !t.method.flips() && t.method.Algorithm != MultiPrediction && m > 0 {
		err = t.negative(ctx, t.method.replicas(n))
	}
	if err != nil {
		copy(t.persistent.Data, t.before)
		return nil, err
	}
	t.center(n, m)
	if t.metric != nil {
		if err := t.naturalise(n, m); err != nil {
			return nil, err
		}
	}
	t.optimizer.begin(rate, t.step+1)
	t.products.seen.adapt(t, n, m, t.method.VarianceRate*rate/t.method.LearningRate)
	t.update(n, m)
	t.optimizer.end()
	if err := t.parameters.proper(); err != nil {
		return nil, runs.Diverging(fmt.Errorf("after step %d: %w", t.step+1, err))
	}
	t.step++
	return t.measures[:n], nil
}

// data returns the rows of left and right for a minibatch of n rows. The rows of the offsets and of the chains
// follow.
func (t *trainer) data(n int) (visible, hidden kernels.Matrix) {
	batch := t.method.BatchSize
	return kernels.Rows(t.left, batch-n, batch), kernels.Rows(t.right, batch-n, batch)
}

// positive loads a minibatch, measures it, and computes the negated means of the hidden units given its rows.
// It also starts the chains of contrastive divergence, and flips units for the pseudo-likelihood and ratio matching.
func (t *trainer) positive(rows []int) {
	visible, hidden := t.data(len(rows))
	meter := newMeter(t.products)
	inParts(len(rows), func(first, last int) {
		v, h := kernels.Rows(visible, first, last), kernels.Rows(hidden, first, last)
		binarize := place{key: t.key, purpose: philox.Binarize, step: uint32(t.step)}
		observed := v
		if len(t.climber) > 0 {
			observed = kernels.NewMatrix(v.Rows, t.climber[0].Visible())
		}
		binarize.datum = uint32(first)
		for r := range v.Rows {
			t.encoding.load(kernels.Row(observed, r), t.rows, rows[first+r], binarize, r)
			t.parameters.loadLabel(kernels.Row(v, r), t.rows, rows[first+r])
		}
		if len(t.climber) > 0 {
			t.climber.riseTo(v, observed, binarize)
		}
		if t.rows.Missing != nil {
			for r := range v.Rows {
				t.measures[first+r].mask = t.rows.Mask(rows[first+r])
			}
			t.products.fillIn(v, t.measures[first:last], uint64(t.key)+uint64(t.step)<<32, first)
		}
		if t.parameters.Layers != nil {
			t.products.meanField(v, h, t.method.settling())
		} else {
			t.products.upDrawn(h, v)
		}
		switch {
		case t.chains.hidden.Rows == 0: // log p(y|v) has all the weight
		case t.method.Algorithm == Contrastive:
			at := place{key: t.key, purpose: philox.Start, layer: 1, step: uint32(t.step), datum: uint32(first)}
			at.draw(t.products.latent, kernels.Rows(t.chains.hidden, first, last), h)
		case t.method.Algorithm == MultiPrediction:
			t.predict(len(rows), first, v)
		case t.method.flips():
			for r := range v.Rows {
				t.flip(first+r, kernels.Row(v, r), kernels.Row(h, r))
			}
		}
		if t.discrimination != nil {
			off := make([]float32, h.Cols)
			for r := range v.Rows {
				t.discrimination.see(first+r, t.products, kernels.Row(v, r), kernels.Row(h, r), off)
			}
		}
		flip := place{key: t.key, purpose: philox.Flip, step: uint32(t.step), datum: uint32(first)}
		meter.measure(t.measures[first:last], v, h, kernels.Rows(t.means, first, last), flip, 1)
	})
}

// negative runs n chains and, for ptt, climbs the ladder. It then computes the negated means of the hidden
// units given the chains' visible states. Finally, for pt, it swaps states between neighbouring temperatures,
// for the next step.
func (t *trainer) negative(ctx context.Context, n int) error {
	energies := make([]float64, n)
	inParts(n, func(first, last int) {
		c, at := t.chains.part(first, last, place{key: t.key, purpose: philox.Negative, step: uint32(t.step)})
		for sweep := 0; sweep < t.method.Steps && ctx.Err() == nil; sweep++ {
			at.sample = uint32(sweep)
			c.sweep(t.products, at)
		}
		for r := range c.β {
			energies[first+r] = c.energy(r, t.parameters.VisibleBiases)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	t.climb()
	inParts(n, func(first, last int) {
		off := make([]float32, t.parameters.Hidden())
		for r := first; r < last; r++ {
			t.products.latent.sumOut(kernels.Row(t.chains.hiddenInputs, r), off)
		}
	})
	if t.method.Metric == Joint {
		copy(t.metric.hidden.Data, t.chains.hidden.Data) // at temperature 1, before swaps separate them from the visible states
	}
	t.swap(energies)
	return nil
}

// swap swaps the hidden states of chains at neighbouring temperatures with probability min(1,
// e^((β−β′)(E−E′))). Each step treats every other pair of temperatures. The swaps leave the joint
// distribution of all replicas invariant.
func (t *trainer) swap(energies []float64) {
	m := t.method.Chains
	for level := 1 + t.step%2; level < t.method.Temperatures; level += 2 {
		for cold := (level - 1) * m; cold < level*m; cold++ {
			hot, c := cold+m, t.chains
			log := float64(c.β[cold]-c.β[hot]) * (energies[cold] - energies[hot])
			at := place{key: t.key, purpose: philox.Swap, sample: uint32(level), step: uint32(t.step)}
			if u := philox.Uniform(t.key.Block(at.counter(cold % m))[0]); math.Log(float64(u)) < log {
				blas32.Swap(vector(kernels.Row(c.hidden, cold)), vector(kernels.Row(c.hidden, hot)))
			}
		}
	}
}

// center computes the gradients of the biases, moves the offsets towards the means of the minibatch, and
// completes left and right so that leftᵀ·right is −n∇W. n is the number of rows in the minibatch, and m the
// number of chains. For the variances of Gaussian visible units, it also computes the means b + Wh with the
// hidden means h as sparsity and labels change them.
func (t *trainer) center(n, m int) {
	visible, hidden := t.data(n)
	chainsVisible, chainsHidden := kernels.Rows(t.chains.visible, 0, m), kernels.Rows(t.chains.hiddenInputs, 0, m)
	weight := 1 - float32(t.method.Discriminative) // of the chains
	if t.method.Algorithm == MultiPrediction {
		m = 0 // the rows of the chains hold predictions
	}
	side := func(gradient, offsets []float32, data, chains kernels.Matrix, sign float32) {
		work.Parts(len(gradient), 128, func(first, last int) {
			g, means := gradient[first:last], make([]float32, last-first)
			mean(means, kernels.Cols(data, first, last), sign)
			mean(g, kernels.Cols(chains, first, last), weight*sign)
			for k, mean := range means {
				g[k] = mean - g[k]
				if t.method.Centered && !t.method.Spins {
					offsets[first+k] += float32(t.method.OffsetRate) * (mean - offsets[first+k])
				}
			}
		})
	}
	side(t.gradient.VisibleBiases, t.visibleOffsets, visible, chainsVisible, 1)
	side(t.gradient.HiddenBiases, t.hiddenOffsets, hidden, chainsHidden, -1)
	if t.method.Sparsity > 0 {
		t.sparsify(hidden)
	}
	if t.discrimination != nil {
		t.discriminate(n)
	}
	if t.means.Rows > 0 && (t.method.Sparsity > 0 || t.discrimination != nil) {
		t.products.reconstruct(kernels.Rows(t.means, 0, n), hidden)
	}
	if t.method.Algorithm == MultiPrediction {
		t.completePredictions(n)
	} else if t.method.flips() {
		t.pseudoGradient(n)
		t.completeOffsets(n)
		return
	}
	t.completeOffsets(n)
	for r := range m {
		row := kernels.Row(chainsHidden, r)
		scaled(row, -weight*float32(n)/float32(m), row)
	}
}

// sparsify moves the means h of the hidden units given the data to h + β(ρ − h), since β(ρ − h_j) is the
// derivative of the sparsity objective with respect to the input of unit j. hidden holds the negated means.
func (t *trainer) sparsify(hidden kernels.Matrix) {
	β, ρ := float32(t.method.Sparsity), float32(t.method.SparsityTarget)
	for r := range hidden.Rows {
		row := kernels.Row(hidden, r)
		for j, negative := range row {
			step := β * (ρ + negative)
			row[j] -= step
			t.gradient.HiddenBiases[j] += step / float32(hidden.Rows)
		}
	}
}

// completeOffsets writes the two rows of the offsets into left and right. It needs the gradients of the
// biases.
func (t *trainer) completeOffsets(n int) {
	copy(kernels.Row(t.left, t.at.visibleOffsets), t.visibleOffsets)
	copy(kernels.Row(t.left, t.at.hiddenOffsets), t.gradient.VisibleBiases)
	scaled(kernels.Row(t.right, t.at.visibleOffsets), float32(n), t.gradient.HiddenBiases)
	scaled(kernels.Row(t.right, t.at.hiddenOffsets), float32(n), t.hiddenOffsets)
}

// update computes the gradient from left and right and moves the parameters along it.
func (t *trainer) update(n, m int) {
	p, g, first := t.parameters, t.gradient, t.method.BatchSize-n
	left, right := kernels.Rows(t.left, first, t.at.chains+m), kernels.Rows(t.right, first, t.at.chains+m)
	l1, l2 := float32(t.method.L1), float32(t.method.L2)
	visible, hidden := p.Visible(), p.Hidden()
	gain := float32(1)
	if t.metric != nil {
		gain = t.metric.gain()
		scaled(g.VisibleBiases, gain, g.VisibleBiases)
		scaled(g.HiddenBiases, gain, g.HiddenBiases)
	}
	part := float32(1) // of the rate
	if t.method.Spins {
		part = 1. / 4
	}
	scaled(g.VisibleBiases, part*t.optimizer.turn(g.VisibleBiases, visible*hidden), g.VisibleBiases)
	scaled(g.HiddenBiases, part*t.optimizer.turn(g.HiddenBiases, visible*hidden+visible), g.HiddenBiases)
	inParts(right.Rows, func(first, last int) {
		for r := first; r < last; r++ {
			scaled(kernels.Row(right, r), -gain/float32(n), kernels.Row(right, r))
		}
	})
	states := t.products.ofVisible != nil && p.Layers == nil // whether the rows of left hold states, except for the two rows of the offsets
	if states {
		t.multiplyStates(left, right)
	}
	work.Parallel(len(t.parts), func(part int) {
		first := part * visibleAPart
		last := min(first+visibleAPart, visible)
		if !states {
			kernels.MulTN(kernels.Rows(g.Weights, first, last), 0, kernels.Cols(left, first, last), right)
		}
		clear(t.parts[part])
		for i := first; i < last; i++ {
			weights, direction := kernels.Row(p.Weights, i), kernels.Row(g.Weights, i)
			if states && t.method.Centered {
				kernels.AddMultiple(direction, t.visibleOffsets[i], t.offsets[0])
				kernels.AddMultiple(direction, kernels.Row(t.left, t.at.hiddenOffsets)[i], t.offsets[1])
			}
			p.unjoin(i, direction)
			if l1 != 0 || l2 != 0 {
				regularize(direction, weights, l1, l2)
			}
			length := t.products.seen.bound(i, t.optimizer.turn(direction, i*hidden), direction, &g.VisibleBiases[i])
			kernels.AddMultiple(weights, length, direction)
			step := g.VisibleBiases[i]
			if t.method.Centered {
				kernels.AddMultiple(t.parts[part], length*t.visibleOffsets[i]*t.products.upward(i), direction)
				along := length * dot(direction, t.hiddenOffsets) // (ΔWλ)ᵢ
				step -= t.products.downwards * along
			}
			p.VisibleBiases[i] += step
		}
		t.products.refresh(first, last)
	})
	t.products.complete()
	for _, part := range t.parts {
		kernels.AddMultiple(g.HiddenBiases, -1, part)
	}
	kernels.AddMultiple(p.HiddenBiases, 1, g.HiddenBiases)
	if t.method.MaxNorm > 0 {
		t.shorten()
	}
}

// shorten shortens the weights of hidden units whose norm exceeds MaxNorm. It is a step in the centred
// coordinates.
func (t *trainer) shorten() {
	p := t.parameters
	factors := make([]float32, p.Hidden()) // factors minus 1
	squares := make([]float64, p.Hidden())
	for i := range p.Visible() {
		for j, w := range kernels.Row(p.Weights, i) {
			squares[j] += float64(w) * float64(w)
		}
	}
	for j, square := range squares {
		factors[j] = float32(min(1, t.method.MaxNorm/math.Sqrt(square)) - 1)
	}
	for i := range p.Visible() {
		μ, weights := t.visibleOffsets[i]*t.products.upward(i), kernels.Row(p.Weights, i)
		for j, factor := range factors {
			step := factor * weights[j]
			weights[j] += step
			p.VisibleBiases[i] -= t.products.downwards * step * t.hiddenOffsets[j]
			p.HiddenBiases[j] -= step * μ
		}
	}
	t.products.refreshAll()
}

// multiplyStates writes leftᵀ·right into the gradient of the weights, in fixed point and without the two rows
// of the offsets, which are not states. It moves these two rows of right to t.offsets.
func (t *trainer) multiplyStates(left, right kernels.Matrix) {
	for k, at := range []int{t.at.visibleOffsets, t.at.hiddenOffsets} {
		row := kernels.Row(t.right, at)
		copy(t.offsets[k], row)
		clear(row)
	}
	t.ofHidden.Resize(right.Cols, right.Rows)
	inParts(right.Cols, func(first, last int) { t.ofHidden.PackColumns(right, first, last) })
	processors := runtime.GOMAXPROCS(0)
	work.Parts(left.Cols, (left.Cols+processors-1)/processors, func(first, last int) {
		kernels.MulTNFixed(kernels.Rows(t.gradient.Weights, first, last), kernels.Cols(left, first, last), 0, &t.ofHidden)
	})
}

// regularize subtracts l1·sign(w) + l2·w from the gradients of weights w.
func regularize(gradient, weights []float32, l1, l2 float32) {
	for k, w := range weights {
		gradient[k] -= l2 * w
		switch {
		case w > 0:
			gradient[k] -= l1
		case w < 0:
			gradient[k] += l1
		}
	}
}

// mean writes a factor times the mean of the rows of x into to, or 0 if there are no rows.
func mean(to []float32, x kernels.Matrix, factor float32) {
	clear(to)
	for r := range x.Rows {
		kernels.AddMultiple(to, 1, kernels.Row(x, r))
	}
	scaled(to, factor/float32(max(1, x.Rows)), to)
}

// dot returns xᵀy. Unlike in BLAS, the order of its sum does not depend on where x and y lie in memory.
func dot(x, y []float32) float32 {
	var a, b, c, d float32
	y = y[:len(x)]
	for len(x) >= 4 {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for k := range x {
		a += x[k] * y[k]
	}
	return a + b + (c + d)
}

func scaled(to []float32, factor float32, x []float32) {
	to = to[:len(x)]
	for k, value := range x {
		to[k] = factor * value
	}
}
