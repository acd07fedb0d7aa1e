package boltzmann

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// path describes the distributions between a base-rate model, whose units are independent, and a machine, at
// inverse temperatures β from 0 to 1 (Salakhutdinov and Murray 2008):
//
//	p*_β(v) = e^(((1−β) b₀ + β b)ᵀv) ∏_j (1 + e^(β (c_j + (Wᵀv)_j))).
//
// For other kinds of hidden units, the partition function of these units at the inputs β (c + Wᵀv) replaces the
// product. Gaussian visible units keep their variances: the energy of p*_β(v) has the means (1−β) b₀ + β b, and
// the inputs of the hidden units are β (c + Wᵀ(v/σ²)).
type path struct {
	*products
	base  []float32 // b₀
	pull  []float32 // b − b₀, divided by σ² for Gaussian units
	logZ0 float64   // log Σ p*_0
}

// newPath returns the path that begins at the base rates of rows. A unit that is on in n of N rows has the base
// rate (n+1)/(N+2), or (n+1)/(N+K) if it is one of K categories or classes, since a unit that is never on in
// these rows may be on in others. Gaussian units begin at the means of the rows. The visible side of a deep
// machine also holds its even hidden layers, and the visible side of a belief network's top machine holds the
// hidden units below. These hidden units begin at their means given some of the rows.
func (m *Model) newPath(ctx context.Context, rows dataset.Split) (*path, error) {
	if err := runs.First(m.checkDistribution, func() error { return m.checkRows(rows) }); err != nil {
		return nil, err
	}
	p := &path{products: newProducts(m.parameters)}
	var biases []float64
	begin := func(base float32) {
		i := len(p.base)
		p.base, p.pull = append(p.base, base), append(p.pull, (p.VisibleBiases[i]-base)*float32(p.seen.precision(i)))
		biases = append(biases, float64(base))
	}
	units, is := m.parameters.Spec.data()
	if !is {
		standard := m.encoding.standard
		for i, mean := range means(rows, m.encoding.binarization) {
			begin((float32(mean) - standard.means[i]) / standard.deviations[i])
		}
	} else if err := m.beginAtRates(ctx, rows, units, begin); err != nil {
		return nil, err
	}
	frequencies, labeled := classFrequencies(rows, p.Spec.Classes)
	for _, frequency := range frequencies {
		begin(p.Spec.label().base(frequency, labeled))
	}
	p.logZ0 = p.seen.partition(biases) + p.latent.partition(make([]float64, p.Hidden()))
	return p, nil
}

// beginAtRates calls begin once per visible unit, in order, with the unit's bias in the base-rate model of rows.
// It leaves out the units of the label.
func (m *Model) beginAtRates(ctx context.Context, rows dataset.Split, units discrete, begin func(bias float32)) error {
	some := rows.Subset(latentRows, m.seed)
	latent, err := m.latentMeans(ctx, some)
	if err != nil {
		return err
	}
	from := func(units discrete, means []float64, n float64) {
		for _, mean := range means {
			begin(units.base(mean, n))
		}
	}
	if m.below == nil {
		from(units, means(rows, m.encoding.binarization), float64(rows.Rows))
	}
	from(bernoulli{}, latent, float64(some.Rows))
	return nil
}

type walk struct {
	chains int
	// samples is the number of chains per datum: the counters of chain i have the sample i mod samples and the
	// datum i/samples.
	samples int
	key     philox.Key
	purpose philox.Purpose
	betas   []float64 // the inverse temperatures, from the first to the last
	// start writes the first state of a chain. Its draws may use counters of step 0.
	start func(chain int, v []float32, c philox.Counter)
	// anneal calls add for each step of each chain, concurrently, with the ratio log p*_to(v) − log p*_from(v)
	// at the state v before the step. Steps are counted from 1.
	add      func(chain, step int, ratio float64)
	progress func(float64) // called with the fraction of the work done; may be nil
}

func (w *walk) counter(chain int) philox.Counter {
	return philox.Counter{Word: philox.Word{Purpose: w.purpose}, Sample: uint32(chain % w.samples), Datum: uint32(chain / w.samples)}
}

// anneal moves chains along a path. At each temperature but the first, each chain draws h given v and then v
// given h, which leaves p_β invariant.
func (p *path) anneal(ctx context.Context, w *walk) error {
	done := work.Meter(w.progress, w.chains*(len(w.betas)-1))
	inParts(w.chains, func(first, last int) {
		a := &annealed{
			path: p, chains: newChains(last-first, p.Parameters), first: first,
			biases: make([]float32, p.Visible()), off: make([]float32, p.Hidden()), inputs: make([]float32, max(p.Visible(), p.Hidden())),
		}
		for r := range a.visible.Rows {
			w.start(first+r, kernels.Row(a.visible, r), w.counter(first+r))
		}
		for k := 1; k < len(w.betas) && ctx.Err() == nil; k++ {
			a.step(w, k)
			done(last - first)
		}
	})
	return ctx.Err()
}

// annealed holds the states of some chains, one row per chain, and their inputs at β = 1.
type annealed struct {
	*path
	*chains
	first  int       // the chain in row 0
	biases []float32 // (1−β) b₀ of the visible units; the inputs contribute β b
	off    []float32 // zeros
	inputs []float32 // room for a chain's inputs at β
}

func (a *annealed) step(w *walk, k int) {
	from, to := w.betas[k-1], w.betas[k]
	a.upDrawn(a.hiddenInputs, a.visible)
	for r := range a.visible.Rows {
		v, inputs := kernels.Row(a.visible, r), kernels.Row(a.hiddenInputs, r)
		ratio := (to - from) * float64(blas32.Dot(vector(a.pull), vector(v)))
		ratio -= a.latent.sumOut(a.at(from, a.off, inputs), a.off)
		scaled := a.at(to, a.off, inputs)
		a.latent.draw(kernels.Row(a.hidden, r), scaled, w.key, a.counter(w, k, r, 1))
		ratio += a.latent.sumOut(scaled, a.off)
		w.add(a.first+r, k, ratio)
	}
	a.downDrawn(a.visibleInputs, a.hidden)
	for i, b := range a.base {
		a.biases[i] = float32(1-to) * b
	}
	for r := range a.visible.Rows {
		a.seen.draw(kernels.Row(a.visible, r), a.at(to, a.biases, kernels.Row(a.visibleInputs, r)), w.key, a.counter(w, k, r, 0))
	}
}

// at returns biases + β inputs, in memory that the next call overwrites.
func (a *annealed) at(beta float64, biases, inputs []float32) []float32 {
	sum := a.inputs[:len(inputs)]
	copy(sum, biases)
	blas32.Axpy(float32(beta), vector(inputs), vector(sum))
	return sum
}

// counter returns the counter of the draws in step k for a layer of the chain in row r.
func (a *annealed) counter(w *walk, k, r int, layer uint8) philox.Counter {
	c := w.counter(a.first + r)
	c.Step, c.Layer = uint32(k), layer
	return c
}
