package energies

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// example is an energy of a kind, small enough for sums over its states.
type example struct {
	energy energy
	real   bool  // whether its units are real numbers
	free   []int // the units that have a probability
	x      []float64
	// hidden lists the states of the hidden units, and joint is E(x,h) of their states, or nil if the hidden
	// units are real.
	hidden [][]float64
	joint  func(x, h []float64) float64
}

// random gives the parameters of an energy normal values.
func random(e energy, deviation float64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for _, p := range e.Parameters() {
		if p.Rate > 0 || p.Name == "base" {
			draw(p.Wide, deviation, r)
		}
	}
}

// conv is a convolutional RBM of images of 3×4 with two filters of 2×3 and two blocks of 2×1.
func conv(t *testing.T, s Convolution, shape dataset.Shape) *convolution {
	t.Helper()
	e, err := newConvolution(s, shape, 1)
	if err != nil {
		t.Fatal(err)
	}
	random(e, 0.7, 1)
	return e
}

func convolved(t *testing.T) example {
	e := conv(t, Convolution{Filters: 2, Window: 2, Pool: 2}, dataset.Shape{Height: 3, Width: 3})
	x := example{energy: e, free: all(9), x: []float64{0, 1, 1, 0, 1, 0, 0, 1, 1}}
	for a := range 5 { // the unit that is on in the block of each filter, or none
		for b := range 5 {
			h := make([]float64, 8)
			if a < 4 {
				h[a] = 1
			}
			if b < 4 {
				h[4+b] = 1
			}
			x.hidden = append(x.hidden, h)
		}
	}
	x.joint = func(v, h []float64) float64 {
		energy := -floats.Dot(e.visible, v)
		for k := range 2 {
			for i := range 2 {
				for j := range 2 {
					input := e.hidden[k]
					for r := range 2 {
						for c := range 2 {
							input += e.weights[k*4+r*2+c] * v[(i+r)*3+j+c]
						}
					}
					energy -= h[k*4+i*2+j] * input
				}
			}
		}
		return energy
	}
	return x
}

// slabs is a spike-and-slab RBM of two units. Given the spikes, the slabs are integrated out in closed form.
func slabs() example {
	e := newSpikeAndSlab(3, 2)
	random(e, 0.6, 2)
	return example{energy: e, real: true, free: all(2), x: make([]float64, 2)}
}

// covariances is a mean-covariance RBM of two units; without factors it is a Gaussian RBM.
func covariances(factors int) example {
	e := newMeanCovariance(MeanCovariance{Hidden: 2, Factors: factors}, 2, false)
	random(e, 0.8, 3)
	x := example{energy: e, real: true, free: all(2), x: make([]float64, 2), hidden: oracle.Binary(2 + factors)}
	x.joint = func(x, h []float64) float64 {
		energy := quadratic(expOf(e.log), x) - floats.Dot(e.visible, x)
		for j, w := range rowsOf(e.weights, 2) {
			energy -= h[j] * (e.hidden[j] + floats.Dot(w, x))
		}
		for k, r := range rowsOf(e.factors, 2) {
			y := floats.Dot(r, x)
			energy += h[2+k] * (y*y/2 - e.shape[k])
		}
		return energy
	}
	return x
}

// studentT is a mean product of Student-t distributions of two units.
func studentT() example {
	e := newMeanCovariance(MeanCovariance{Hidden: 2, Factors: 2}, 2, true)
	random(e, 0.8, 4)
	return example{energy: e, real: true, free: all(2), x: make([]float64, 2)}
}

// responds is a machine of four binary units, or two real ones, given three or two units, with an energy that couples
// them to hidden units by a function that returns their inputs.
func responds(e *responding, seed uint64, x []float64, input func(x []float64, j int) float64) example {
	random(e, 0.7, seed)
	hidden := len(e.up(x))
	of := example{energy: e, real: e.real, free: e.v, x: x, hidden: oracle.Binary(hidden)}
	of.joint = func(x, h []float64) (energy float64) {
		for k, b := range e.given(x) {
			if v := x[e.v[k]]; e.real {
				energy += (v - b) * (v - b) / 2
			} else {
				energy -= b * v
			}
		}
		for j, on := range h {
			energy -= on * input(x, j)
		}
		return energy
	}
	return of
}

func conditioned(hidden int, real bool) example {
	mask, x := dataset.Mask{true, false, true, true, false, false, true}, []float64{0, 1, 0, 1, 1, 0, 1}
	if real {
		mask, x = dataset.Mask{true, false, true, false}, []float64{0.3, 1.2, -0.4, -0.7}
	}
	e := newConditional(hidden, mask, real)
	return responds(e, 5, x, func(x []float64, j int) float64 {
		c := e.pairwise.(*conditional)
		return c.hidden[j] + floats.Dot(c.weights[j*len(x):(j+1)*len(x)], x)
	})
}

// gates is a gated machine, whose oracle has the full tensor of third-order weights.
func gates() example {
	mask, x := dataset.Mask{false, false, false, true, true}, []float64{0.5, -0.8, 1.1, 0.2, 0.3}
	e := newGated(Gated{Hidden: 3, Factors: 4}, mask)
	return responds(e, 6, x, func(x []float64, k int) float64 {
		g := e.pairwise.(*gated)
		input := g.hidden[k]
		for i := range x {
			for j := range x {
				if mask[i] || !mask[j] {
					continue
				}
				for f := range 4 {
					input += g.first[f*3+i] * g.second[f*2+j-3] * g.gates[f*3+k] * x[i] * x[j]
				}
			}
		}
		return input
	})
}

func examples(t *testing.T) map[string]example {
	return map[string]example{
		"convolutional RBM": convolved(t), "spike-and-slab RBM": slabs(), "mean-covariance RBM": covariances(2), "Gaussian RBM": covariances(0), "Student-t": studentT(),
		"conditional RBM": conditioned(3, false), "conditional Gaussian RBM": conditioned(3, true), "logistic regression": conditioned(0, false),
		"gated RBM": gates(),
	}
}

// conform calls check with each example.
func conform(t *testing.T, check func(t *testing.T, e example)) {
	for name, e := range examples(t) {
		t.Run(name, func(t *testing.T) { check(t, e) })
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}

// rows draws values of the free units.
func (e example) rows(n int) (rows [][]float64) {
	r := rand.New(rand.NewPCG(5, 5))
	for range n {
		x := slices.Clone(e.x)
		for _, i := range e.free {
			if x[i] = float64(r.IntN(2)); e.real {
				x[i] = 1.5 * r.NormFloat64()
			}
		}
		rows = append(rows, x)
	}
	return rows
}

// F(x) is −log Σ_h e^(−E(x,h)).
func TestFreeEnergySumsOut(t *testing.T) {
	conform(t, func(t *testing.T, e example) {
		if e.joint == nil {
			t.Skip("the hidden units are real: see TestRealHiddenUnitsIntegrateOut")
		}
		for _, x := range e.rows(8) {
			var terms []float64
			for _, h := range e.hidden {
				terms = append(terms, -e.joint(x, h))
			}
			near(t, "F(x)", e.energy.FreeEnergy(x), -floats.LogSumExp(terms), 1e-10)
		}
	})
}

// With a slab s, and with a Gamma-distributed unit, e^(−F(x)) is the integral of e^(−E), but for a constant.
func TestRealHiddenUnitsIntegrateOut(t *testing.T) {
	a := slabs()
	e := a.energy.(*spikeAndSlab)
	b := studentT()
	g := b.energy.(*meanCovariance)
	for _, x := range a.rows(4) {
		want := quadratic(expOf(e.logVisible), x)
		for i := range e.bias {
			w, α, μ := e.weights[i*2:][:2], math.Exp(e.logSlab[i]), e.mean[i]
			integral := 0.0
			for h := range 2 {
				precision := 0.0
				for j, v := range x {
					precision += (math.Abs(w[j])*(math.Abs(w[0])+math.Abs(w[1]))/α + math.Exp(e.logExtra[i])) * v * v / 2
				}
				on := float64(h)
				integral += quad.Fixed(func(s float64) float64 {
					return math.Exp(on*(floats.Dot(w, x)*s-precision+α*μ*s+e.bias[i]-α*μ*μ/2) - α*s*s/2)
				}, -40, 40, 400, nil, 0)
			}
			want -= math.Log(integral) - math.Log(2*math.Pi/α)/2
		}
		near(t, "F(v) with slabs", e.FreeEnergy(x), want, 1e-8)

		want = quadratic(expOf(g.log), x) - floats.Dot(g.visible, x)
		for j, w := range rowsOf(g.weights, 2) {
			want -= statistics.Softplus(g.hidden[j] + floats.Dot(w, x))
		}
		for k, r := range rowsOf(g.factors, 2) {
			y, γ := floats.Dot(r, x), math.Exp(g.shape[k])
			// h = e^u takes the real line to the positive numbers.
			integral := quad.Fixed(func(u float64) float64 { return math.Exp(γ*u - math.Exp(u)*(1+y*y/2)) }, -120, 6, 1200, nil, 0)
			logΓ, _ := math.Lgamma(γ)
			want -= math.Log(integral) - logΓ
		}
		near(t, "F(x) with Gamma-distributed units", g.FreeEnergy(x), want, 1e-8)
	}
}

// Gradients with respect to parameters and to real units agree with finite differences.
func TestGradientsAreDifferences(t *testing.T) {
	conform(t, func(t *testing.T, e example) {
		x := e.rows(1)[0]
		var to [][]float64
		for _, p := range e.energy.Parameters() {
			to = append(to, make([]float64, p.Size()))
		}
		e.energy.(rowwise).Gradient(to, 2, x)
		for i, p := range e.energy.Parameters() {
			if p.Rate == 0 {
				continue
			}
			for j, was := range p.Wide {
				want := fd.Derivative(func(v float64) float64 {
					p.Wide[j] = v
					return e.energy.FreeEnergy(x)
				}, was, &fd.Settings{Formula: fd.Central})
				p.Wide[j] = was
				near(t, p.Name, to[i][j], 2*want, 1e-6*(1+math.Abs(want)))
			}
		}
		if e.real {
			slope, want := make([]float64, len(x)), fd.Gradient(nil, e.energy.FreeEnergy, x, &fd.Settings{Formula: fd.Central})
			e.energy.(sloped).Slope(slope, x)
			for i, s := range slope {
				if !slices.Contains(e.free, i) {
					want[i] = 0
				}
				near(t, "∂F/∂x", s, want[i], 1e-6*(1+math.Abs(want[i])))
			}
		}
	})
}

// states lists the states of an example's binary units, or the points of a grid of two real units, with the
// logarithm of the area that each stands for.
func (e example) states() (states [][]float64, area float64) {
	put := func(values []float64) {
		x := slices.Clone(e.x)
		for k, i := range e.free {
			x[i] = values[k]
		}
		states = append(states, x)
	}
	if !e.real {
		for _, v := range oracle.Binary(len(e.free)) {
			put(v)
		}
		return states, 0
	}
	const n, most = 120, 12.0
	for i := range n {
		for j := range n {
			put([]float64{(float64(i)+0.5)*2*most/n - most, (float64(j)+0.5)*2*most/n - most})
		}
	}
	return states, 2 * math.Log(2*most/n)
}

// probabilities returns the probability of each state, and log Z.
func (e example) probabilities() (states [][]float64, p []float64, logZ float64) {
	states, area := e.states()
	for _, x := range states {
		p = append(p, -e.energy.FreeEnergy(x))
	}
	logZ = floats.LogSumExp(p)
	for i, l := range p {
		p[i] = math.Exp(l - logZ)
	}
	return states, p, logZ + area
}

// log Z agrees with enumeration or quadrature, exactly, and by AIS within four standard errors. So does log Z of
// the base model at β = 0. At β = 1 the energy is itself.
func TestLogZ(t *testing.T) {
	conform(t, func(t *testing.T, e example) {
		_, _, want := e.probabilities()
		if e.energy.exact() {
			near(t, "log Z", e.energy.LogZ(e.x), want, 1e-7)
			if said := (&Model{energy: e.energy}).CountSamples(9); said != "" {
				t.Errorf("exact estimates use %s", said)
			}
		} else if said := (&Model{energy: e.energy}).CountSamples(9); said != "9 chains" {
			t.Errorf("estimates use %q, want 9 chains", said)
		}
		base := e
		base.energy = e.energy.At(0)
		_, _, first := base.probabilities()
		near(t, "log Z of the base model", e.energy.Base(slices.Clone(e.x), rand.New(rand.NewPCG(1, 1))), first, 1e-9)
		near(t, "F(x) at β = 1", e.energy.At(1).FreeEnergy(e.x), e.energy.FreeEnergy(e.x), 1e-12)
		z, err := anneal(t.Context(), e.energy, e.x, 15, usualSchedule, 1, philox.Counter{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "log Z by AIS", float64(z.Value), want, 4*float64(z.SE)+1e-12)
		if z.SE > 0.2 {
			t.Errorf("the standard error of AIS is %v", z.SE)
		}
	})
}

// Sweeps from the base model reach the means and the products of units that p(x) has, and given units never
// change.
func TestSweepsReachTheMeans(t *testing.T) {
	conform(t, func(t *testing.T, e example) {
		r := rand.New(rand.NewPCG(3, 3))
		moments := func(x []float64) (m []float64) {
			for k, i := range e.free {
				m = append(m, x[i], x[i]*x[e.free[(k+1)%len(e.free)]])
			}
			return m
		}
		want := make([]float64, 2*len(e.free))
		states, p, _ := e.probabilities()
		for s, x := range states {
			floats.AddScaled(want, p[s], moments(x))
		}
		const batches, sweeps = 20, 300
		means := make([][]float64, len(want)) // of each batch
		for range batches {
			x, sum := slices.Clone(e.x), make([]float64, len(want))
			e.energy.Base(x, r)
			for sweep := range sweeps {
				e.energy.Products().Sweeps([][]float64{x}, []*rand.Rand{r}, false)
				if sweep >= sweeps/10 {
					floats.AddScaled(sum, 1/float64(sweeps-sweeps/10), moments(x))
				}
			}
			for i, v := range x {
				if !slices.Contains(e.free, i) && v != e.x[i] {
					t.Fatalf("the given unit %d has changed", i)
				}
			}
			for k, v := range sum {
				means[k] = append(means[k], v)
			}
		}
		for k, of := range means {
			m, d := stat.MeanStdDev(of, nil)
			near(t, "a mean or a product", m, want[k], 5*d/math.Sqrt(batches))
		}
	})
}

// An energy that follows exact gradients from other parameters learns the distribution that it had: the
// cross-entropy falls to the entropy.
func TestExactGradientsLearnADistribution(t *testing.T) {
	conform(t, func(t *testing.T, e example) {
		if e.real {
			t.Skip("its states are not few")
		}
		states, want, _ := e.probabilities()
		random(e.energy, 0.2, 9)
		m := &Model{energy: e.energy}
		for _, p := range e.energy.Parameters() {
			m.first = append(m.first, make([]float64, p.Size())...)
		}
		m.second = slices.Clone(m.first)
		const steps = 150
		for step := range steps {
			_, p, _ := e.probabilities()
			gradient := make([][]float64, len(e.energy.Parameters()))
			for i, p := range e.energy.Parameters() {
				gradient[i] = make([]float64, p.Size())
			}
			for s, x := range states {
				e.energy.(rowwise).Gradient(gradient, want[s]-p[s], x)
			}
			m.descend(gradient, 0.1*(1-float64(step)/steps), step+1)
		}
		_, p, _ := e.probabilities()
		near(t, "the divergence from the distribution", stat.KullbackLeibler(want, p), 0, 0.01)
	})
}

// Many rows at once have the gradients that each row has by itself, in single precision.
func TestManyRowsAtOnce(t *testing.T) {
	conform(t, func(t *testing.T, e example) {
		rows := e.rows(200)
		gradients := func(add func(to [][]float64)) (to [][]float64) {
			for _, p := range e.energy.Parameters() {
				to = append(to, make([]float64, p.Size()))
			}
			add(to)
			return to
		}
		want := gradients(func(to [][]float64) {
			for _, x := range rows {
				e.energy.(rowwise).Gradient(to, 0.5, x)
			}
		})
		for i, g := range gradients(func(to [][]float64) { e.energy.Products().Gradients(to, 0.5, rows) }) {
			for j, v := range g {
				near(t, e.energy.Parameters()[i].Name, v, want[i][j], 1e-4*(1+math.Abs(want[i][j])))
			}
		}
	})
}

// Without hidden units, or with weights and hidden biases of 0 but for a constant, a conditional RBM of binary units
// is logistic regression.
func TestConditionalIsLogisticRegression(t *testing.T) {
	mask := dataset.Mask{true, false, true, true, false}
	regression, machine := newConditional(0, mask, false), newConditional(3, mask, false)
	random(regression, 1, 1)
	copy(machine.pairwise.(*conditional).direct, regression.pairwise.(*conditional).direct)
	copy(machine.pairwise.(*conditional).visible, regression.pairwise.(*conditional).visible)
	for _, x := range oracle.Binary(5) {
		want := 0.0
		for k, input := range regression.given(x) {
			want += x[machine.v[k]]*input - statistics.Softplus(input)
		}
		for name, e := range map[string]*responding{"no hidden units": regression, "W = 0": machine} {
			if !e.exact() {
				t.Fatal("log Z is not exact")
			}
			near(t, name+": log p(v|u)", -e.FreeEnergy(x)-e.LogZ(x), want, 1e-12)
		}
	}
}
