package boltzmann

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Metric selects the metric of the gradient. With a Fisher matrix F and the damping α, training multiplies
// the gradient by (1+α)(αI + F)⁻¹. As α grows, the result tends to the plain gradient.
type Metric int

const (
	// Euclidean steps follow the gradient itself.
	Euclidean Metric = iota
	// Joint is the Fisher matrix of p(v,h) (Desjardins, Pascanu, Courville and Bengio 2013): the
	// covariance of the statistics t = (vhᵀ, v, h).
	Joint
	// Marginal is the Fisher matrix of p(v), of the observed units alone: the covariance of E[t|v]. It is
	// smaller than the Fisher matrix of p(v,h) by the mean of Cov(t|v).
	Marginal
)

var metricNames = names.New("metric", "euclidean", "joint", "marginal")

func (m Metric) String() string                { return metricNames.Name(int(m)) }
func (m Metric) MarshalText() ([]byte, error)  { return metricNames.Marshal(int(m)) }
func (m *Metric) UnmarshalText(t []byte) error { return metricNames.Parse((*int)(m), t) }

// metric turns plain gradients into natural gradients. It estimates the whole matrix F, not blocks, from the
// statistics t of m persistent chains: F̂ = T̃ᵀT̃/m, where T̃ has a row t − t̄ for each chain. By Woodbury's
// identity
//
//	(αI + F̂)⁻¹g = (g − T̃ᵀy)/α,   (mαI + T̃T̃ᵀ)y = T̃g,
//
// so the system to solve has one equation per chain. T̃T̃ᵀ can be computed without the statistics, since
// vhᵀ·v′h′ᵀ = (v·v′)(h·h′). And since Σ y = 0, T̃ᵀy is the sum of the chains' statistics with the weights y:
// a natural step weights the chains unequally.
//
// Offsets are subtracted from the units, as in the energy of centred parameters.
type metric struct {
	damping         float64
	visible, hidden kernels.Matrix // of chains, minus the offsets, one row per chain
	// products of visible and hidden with the rows of other matrices
	byVisible, byHidden kernels.Matrix
	weights             *mat.VecDense // y
}

func newMetric(s MethodSpec, p *Parameters) *metric {
	m, most := s.Chains, s.BatchSize+2+s.Chains
	return &metric{
		damping: s.Damping,
		visible: kernels.NewMatrix(m, p.Visible()), hidden: kernels.NewMatrix(m, p.Hidden()),
		byVisible: kernels.NewMatrix(m, most), byHidden: kernels.NewMatrix(m, most),
		weights: mat.NewVecDense(m, nil),
	}
}

// gain returns (1+α)/α, the factor by which g − T̃ᵀy is multiplied.
func (f *metric) gain() float32 { return float32((1 + f.damping) / f.damping) }

// products multiplies f.visible and f.hidden by the transposes of matrices with the same numbers of columns.
func (f *metric) products(visible, hidden kernels.Matrix) (byVisible, byHidden kernels.Matrix) {
	byVisible, byHidden = kernels.Cols(f.byVisible, 0, visible.Rows), kernels.Cols(f.byHidden, 0, hidden.Rows)
	inParts(f.visible.Rows, func(first, last int) {
		kernels.MulNT(kernels.Rows(byVisible, first, last), kernels.Rows(f.visible, first, last), visible)
		kernels.MulNT(kernels.Rows(byHidden, first, last), kernels.Rows(f.hidden, first, last), hidden)
	})
	return byVisible, byHidden
}

// solve computes the weights y of the chains from the gradient of the machine's weights, −leftᵀ·right/n, and
// the gradients b and c of its biases.
func (f *metric) solve(left, right kernels.Matrix, n int, b, c []float32) error {
	m := f.visible.Rows
	along, total := mat.NewVecDense(m, nil), 0.0 // T̃g
	byVisible, byHidden := f.products(left, right)
	for r := range m {
		product := blas32.DDot(vector(kernels.Row(byVisible, r)), vector(kernels.Row(byHidden, r)))
		biases := blas32.DDot(vector(kernels.Row(f.visible, r)), vector(b)) + blas32.DDot(vector(kernels.Row(f.hidden, r)), vector(c))
		along.SetVec(r, biases-product/float64(n))
		total += along.AtVec(r)
	}
	gram, means := mat.NewSymDense(m, nil), make([]float64, m) // T̃T̃ᵀ, from TTᵀ
	byVisible, byHidden = f.products(f.visible, f.hidden)
	for r := range m {
		vs, hs := kernels.Row(byVisible, r), kernels.Row(byHidden, r)
		for s := r; s < m; s++ {
			v, h := float64(vs[s]), float64(hs[s])
			gram.SetSym(r, s, v*h+v+h)
			means[r] += gram.At(r, s) / float64(m)
			if s > r {
				means[s] += gram.At(r, s) / float64(m)
			}
		}
	}
	mean := floats.Sum(means) / float64(m)
	for r := range m {
		along.SetVec(r, along.AtVec(r)-total/float64(m))
		for s := r; s < m; s++ {
			gram.SetSym(r, s, gram.At(r, s)-means[r]-means[s]+mean)
		}
		gram.SetSym(r, r, gram.At(r, r)+float64(m)*f.damping)
	}
	factor, err := statistics.Cholesky("it", gram)
	if err != nil {
		return runs.Diverging(fmt.Errorf("the Fisher matrix of %d chains cannot be inverted at damping %g, because %w: raise the damping, or lower the learning rate if training has diverged", m, f.damping, err))
	}
	return factor.SolveVecTo(f.weights, along)
}

// naturalise makes the gradient natural, except for the factor gain. center must have completed the gradient
// before. n is the number of rows in the minibatch, and m the number of chains.
func (t *trainer) naturalise(n, m int) error {
	f, batch := t.metric, t.method.BatchSize
	visible, hidden := kernels.Rows(t.chains.visible, 0, m), kernels.Rows(t.chains.hiddenInputs, 0, m)
	for r := range m {
		copy(kernels.Row(f.visible, r), kernels.Row(visible, r))
		kernels.AddMultiple(kernels.Row(f.visible, r), -1, t.visibleOffsets)
		if t.method.Metric == Marginal {
			scaled(kernels.Row(f.hidden, r), float32(m)/float32(n), kernels.Row(hidden, r)) // the means; hidden holds them times n/m
		}
		kernels.AddMultiple(kernels.Row(f.hidden, r), -1, t.hiddenOffsets)
	}
	g := t.gradient
	if err := f.solve(kernels.Rows(t.left, batch-n, batch+2+m), kernels.Rows(t.right, batch-n, batch+2+m), n, g.VisibleBiases, g.HiddenBiases); err != nil {
		return err
	}
	for r := range m {
		y, h := float32(f.weights.AtVec(r)), kernels.Row(f.hidden, r)
		kernels.AddMultiple(h, 1, t.hiddenOffsets)
		kernels.AddMultiple(g.VisibleBiases, -y, kernels.Row(visible, r))
		kernels.AddMultiple(g.HiddenBiases, -y, h)
		kernels.AddMultiple(kernels.Row(hidden, r), y*float32(n), h)
	}
	t.completeOffsets(n)
	return nil
}
