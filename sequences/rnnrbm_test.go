package sequences

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// bits returns a split of sequences of some lengths, drawn by seed.
func bits(width int, seed uint64, lengths ...int) dataset.Split {
	s := dataset.Split{Name: "train", Shape: dataset.Shape{Height: 0, Width: width}, Lengths: lengths}
	for _, n := range lengths {
		s.Shape.Height = max(s.Shape.Height, n)
	}
	s.Values = dataset.Bytes(s.Shape.Units(), make([]uint8, len(lengths)*s.Shape.Units()))
	stream := philox.NewStream(seed, philox.Synthesis, 0)
	for i, n := range lengths {
		for k := range n * width {
			s.Bytes()[i*s.Shape.Units()+k] = 255 * uint8(stream.Uint32()>>31)
		}
	}
	return s
}

// tiny returns a machine with weights of order 1.
func tiny(visible, hidden, recurrent int, tied bool) *RNNRBM {
	m := newRNNRBM(dataset.Shape{Height: 3, Width: visible}, hidden, recurrent, tied)
	normal(m.flat, 0.7, 5, 0)
	return m
}

// Training draws weights, not biases, also if a matrix of weights has one row.
func TestWeightsBeginApartFromZero(t *testing.T) {
	for _, of := range [][2]int{{1, 3}, {3, 1}, {1, 1}} {
		for _, tied := range []bool{false, true} {
			m := newRNNRBM(dataset.Shape{Height: 3, Width: of[0]}, of[1], of[1], tied)
			m.begin(bits(of[0], 1, 3), 1)
			for _, p := range m.all {
				bias := slices.Contains([]string{"c", "d", "u0"}, p.name)
				if zero := !slices.ContainsFunc(p.Data, func(x float32) bool { return x != 0 }); p.name != "b" && zero != bias {
					t.Errorf("%d visible and %d recurrent units, tied %v: %s is %v", of[0], of[1], tied, p.name, p.Data)
				}
			}
		}
	}
}

// logP sums log p of sequences in double precision, by the definition of the model.
func (m *RNNRBM) logP(rows dataset.Split) (sum float64) {
	at := func(of kernels.Matrix, i, j int) float64 { return float64(of.Data[i*of.Stride+j]) }
	for i := range rows.Rows {
		u := make([]float64, m.d.Cols)
		for j := range u {
			u[j] = at(m.initial, 0, j)
		}
		for _, v := range rows.Sequence(i) {
			affine := func(bias, weights kernels.Matrix) []float64 {
				out := make([]float64, bias.Cols)
				for j := range out {
					out[j] = at(bias, 0, j)
					for k, x := range u {
						out[j] += x * at(weights, k, j)
					}
				}
				return out
			}
			b, c := affine(m.b, m.toB), affine(m.c, m.toC)
			free := func(v []float64) float64 {
				f := floats.Dot(b, v)
				for j, a := range c {
					for k, x := range v {
						a += x * at(m.w, k, j)
					}
					f += statistics.Softplus(a)
				}
				return f
			}
			logs, x := []float64{}, make([]float64, len(v))
			for state := range 1 << len(v) {
				for k := range x {
					x[k] = float64(state >> k & 1)
				}
				logs = append(logs, free(x))
			}
			sum += free(v) - floats.LogSumExp(logs)
			next := affine(m.d, m.u)
			for j := range next {
				for k, x := range v {
					next[j] += x * at(m.v, k, j)
				}
				if m.tied {
					next[j] = statistics.Sigmoid(next[j])
				} else {
					next[j] = math.Tanh(next[j])
				}
			}
			u = next
		}
	}
	return sum
}

// exact returns the derivatives of log p of frames by their biases, and by W, by sums over all visible states.
func (m *RNNRBM) exact(f frames, s biases, w kernels.Matrix) (toB, toC kernels.Matrix) {
	n, d := f.v.Rows, f.v.Cols
	toB, toC = kernels.Clone(f.v), kernels.NewMatrix(n, m.w.Cols)
	m.up(toC, f.v, s.c)
	sigmoid(toC)
	kernels.MulTN(w, 0, f.v, toC)
	z := m.enumerate(s)
	for i := range n {
		states := kernels.NewMatrix(1<<d, d)
		for k := range states.Data {
			states.Data[k] = float32(k / d >> (k % d) & 1)
		}
		one := biases{b: repeated(kernels.Rows(s.b, i, i+1), states.Rows), c: repeated(kernels.Rows(s.c, i, i+1), states.Rows)}
		h := kernels.NewMatrix(states.Rows, m.w.Cols)
		free := m.free(states, h, one)
		sigmoid(h)
		for k := range states.Rows {
			p := float32(math.Exp(free[k] - z[i].log))
			kernels.AddMultiple(kernels.Row(toB, i), -p, kernels.Row(states, k))
			kernels.AddMultiple(kernels.Row(toC, i), -p, kernels.Row(h, k))
			for r, v := range kernels.Row(states, k) {
				kernels.AddMultiple(kernels.Row(w, r), -p*v, kernels.Row(h, k))
			}
		}
	}
	return toB, toC
}

// Back-propagation through time gives the derivative of exact log p by every parameter, of sequences of
// different lengths.
func TestGradientThroughTime(t *testing.T) {
	rows := bits(4, 2, 2, 3, 1, 3, 2)
	for _, m := range []*RNNRBM{tiny(4, 3, 2, false), tiny(4, 3, 3, true), tiny(4, 3, 0, false)} {
		f, gradient := gather(rows, []int{0, 1, 2, 3, 4}), newRNNRBM(m.shape, m.w.Cols, m.d.Cols, m.tied)
		s := m.forward(f)
		toB, toC := m.exact(f, s, gradient.w)
		m.backward(f, s, toB, toC, gradient)
		const step = 1e-3
		for k := range m.flat {
			was := m.flat[k]
			m.flat[k] = was + step
			above := m.logP(rows)
			m.flat[k] = was - step
			want := (above - m.logP(rows)) / float64(was+step-m.flat[k])
			m.flat[k] = was
			if got := float64(gradient.flat[k]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("tied %v: the derivative by parameter %d is %v, want %v", m.tied, k, got, want)
			}
		}
	}
}

// Log p of sequences is the enumerated one, exactly with few hidden units, and by annealed chains within four
// standard errors.
func TestLogPIsExact(t *testing.T) {
	rows := bits(6, 3, 5, 2, 4)
	m := tiny(6, 4, 3, false)
	want := m.logP(rows)
	e, err := m.LogP(t.Context(), rows, 0, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := floats.Sum(e.LogP); math.Abs(got-want) > 1e-4 {
		t.Errorf("log p is %v, want %v", got, want)
	}
	f := gather(rows, []int{0, 1, 2})
	s := m.forward(f)
	z, err := m.anneal(t.Context(), s, 200, draws{key: 1, purpose: philox.Anneal})
	if err != nil {
		t.Fatal(err)
	}
	sum, variance := 0.0, 0.0
	for i, exact := range m.enumerate(s) {
		sum, variance = sum+z[i].log-exact.log, variance+z[i].variance
	}
	if math.Abs(sum) > 4*math.Sqrt(variance) || variance > 0.1 {
		t.Errorf("annealed log Z of all steps is off by %v ± %v", sum, math.Sqrt(variance))
	}
}

// A unit that the machine expects in its other state has a finite log p, even if exp of the energy difference
// overflows.
func TestPseudoLikelihoodOfUnlikelyUnits(t *testing.T) {
	m := newRNNRBM(dataset.Shape{Height: 1, Width: 1}, 1, 1, false)
	rows := bits(1, 1, 1)
	rows.Bytes()[0] = 255
	f := gather(rows, []int{0})
	m.b.Data[0] = -1000
	if got := m.pseudo(f, m.forward(f)); got[0] != -1000 {
		t.Errorf("log p of a unit with the log odds −1000 is %v, want −1000", got[0])
	}
}

// The pseudo-likelihood is that of the enumerated conditionals, and contrastive divergence with many sweeps is
// the derivative by the biases, within four standard errors.
func TestPseudoAndContrast(t *testing.T) {
	rows := bits(5, 4, 1)
	m := tiny(5, 3, 2, false)
	f := gather(rows, []int{0})
	s := m.forward(f)
	h := kernels.NewMatrix(1, 3)
	here, want := m.free(f.v, h, s)[0], 0.0
	for j := range f.v.Data {
		flipped := kernels.Clone(f.v)
		flipped.Data[j] = 1 - flipped.Data[j]
		want -= math.Log1p(math.Exp(m.free(flipped, h, s)[0] - here))
	}
	if got := m.pseudo(f, s)[0]; math.Abs(got-want) > 1e-5 {
		t.Errorf("the log pseudo-likelihood is %v, want %v", got, want)
	}
	const chains = 4000
	many := frames{v: repeated(f.v, chains), start: []int{0, chains}}
	ms := m.forward(many)
	w := kernels.NewMatrix(5, 3)
	exactW := kernels.NewMatrix(5, 3)
	exactB, _ := m.exact(f, s, exactW)
	toB, _ := m.contrast(many, ms, 60, draws{key: 3, purpose: philox.Negative}, w)
	for j := range 5 {
		mean, se := statistics.MeanAndError(chains, func(i int) float64 { return float64(toB.Data[i*toB.Stride+j]) })
		if want := float64(exactB.Data[j]); math.Abs(mean-want) > 4*se {
			t.Errorf("the derivative by bias %d is %v ± %v, want %v", j, mean, se, want)
		}
	}
	for k, got := range w.Data {
		if want := exactW.Data[k]; math.Abs(float64(got/chains-want)) > 4*0.5/math.Sqrt(chains) {
			t.Errorf("the derivative by weight %d is %v, want %v", k, got/chains, want)
		}
	}
}

// Samples have the distribution of the model: the mean over drawn sequences of log p of their exact machine is
// the negative entropy, by which p of each of the 64 sequences of two steps is known.
func TestSamplesFollowTheModel(t *testing.T) {
	m := tiny(3, 2, 2, false)
	m.shape.Height = 2
	const n = 20_000
	sheet, err := m.sample(context.Background(), n, 40, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	var counts [64]int
	for _, x := range sheet.Values {
		state := 0
		for k, v := range x {
			state |= int(v) << k
		}
		counts[state]++
	}
	chi := 0.0
	for state := range counts {
		s := dataset.Split{Shape: m.shape, Lengths: []int{2}, Values: dataset.Bytes(6, make([]uint8, 6))}
		for k := range s.Bytes() {
			s.Bytes()[k] = 255 * uint8(state>>k&1)
		}
		expected := n * math.Exp(m.logP(s))
		chi += (float64(counts[state]) - expected) * (float64(counts[state]) - expected) / expected
	}
	if chi > 63+4*math.Sqrt(2*63) {
		t.Errorf("χ² of the samples is %v with 63 degrees of freedom", chi)
	}
}
