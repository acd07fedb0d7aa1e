package boltzmann

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// grays are 60 training and 20 validation rows of grey values.
func grays(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 60, Validation: new(20)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// gaussianModel has standard normal parameters, and standardises by random numbers.
func gaussianModel(t *testing.T, visible, hidden int) *Model {
	t.Helper()
	m, err := New(dataset.Shape{Height: 1, Width: visible}).Hidden(hidden).Visible(Gaussian).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(visible), uint64(hidden)))
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] = float32(random.NormFloat64())
	}
	for i := range visible {
		m.encoding.standard.means[i], m.encoding.standard.deviations[i] = random.Float32(), 0.1+random.Float32()
	}
	return m
}

// gaussianEnergy is E(v,h) as Gaussian defines it.
func gaussianEnergy(p *Parameters, v, h []float64) float64 {
	e := 0.0
	for i, x := range v {
		b, variance := float64(p.VisibleBiases[i]), math.Exp(float64(p.LogVariances[i]))
		e += (x - b) * (x - b) / 2 / variance
		for j, y := range h {
			e -= x * float64(kernels.Row(p.Weights, i)[j]) * y / variance
		}
	}
	for j, y := range h {
		e -= float64(p.HiddenBiases[j]) * y
	}
	return e
}

// gaussianFreeEnergy is −log Σ_h e^(−E(v,h)).
func gaussianFreeEnergy(p *Parameters, v []float64) float64 {
	var terms []float64
	for _, h := range oracle.Binary(p.Hidden()) {
		terms = append(terms, -gaussianEnergy(p, v, h))
	}
	return -floats.LogSumExp(terms)
}

func narrow(x []float64) []float32 {
	n := make([]float32, len(x))
	for i, value := range x {
		n[i] = float32(value)
	}
	return n
}

// The free energy is that of the energy, and log Z the integral of e^(−F), which the
// trapezoidal rule has to all digits; so is the density of grey values, which are
// standardised.
func TestGaussianUnitsAreExact(t *testing.T) {
	m := gaussianModel(t, 2, 3)
	p := m.parameters
	const step, far = 0.1, 200 // far times step is many deviations
	integral := 0.0
	for x := -far; x < far; x++ {
		for y := -far; y < far; y++ {
			v := []float64{float64(x) * step, float64(y) * step}
			f := p.freeEnergy(narrow(v), make([]float64, 3))
			if y%50 == 0 && x%50 == 0 {
				if want := gaussianFreeEnergy(p, v); math.Abs(f-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("F(%v) = %v, want %v", v, f, want)
				}
			}
			integral += math.Exp(-f) * step * step
		}
	}
	logZ, err := m.ExactLogZ(t.Context())
	if err != nil || math.Abs(logZ-math.Log(integral)) > 1e-5 {
		t.Errorf("log Z = %v (%v), want %v", logZ, err, math.Log(integral))
	}
	rows := dataset.Split{Rows: 1, Shape: m.shape, Values: []uint8{51, 204}}
	logP, err := m.ExactLogP(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	s, want := m.encoding.standard, -logZ
	v := make([]float64, 2)
	for i, x := range []float64{0.2, 0.8} {
		v[i] = (x - float64(s.means[i])) / float64(s.deviations[i])
		want -= math.Log(float64(s.deviations[i]))
	}
	if want -= gaussianFreeEnergy(p, v); math.Abs(logP[0]-want) > 1e-5 {
		t.Errorf("log p = %v, want %v", logP[0], want)
	}
}

// The score is that of the derivatives of F.
func TestScoresAreOfTheDerivatives(t *testing.T) {
	m := gaussianModel(t, 4, 3)
	p, w := m.parameters, newProducts(m.parameters)
	v := []float64{0.3, -1.2, 0.7, 2}
	want := 0.0
	for i := range v {
		along := func(x float64) float64 {
			at := slices.Clone(v)
			at[i] = x
			return -gaussianFreeEnergy(p, at)
		}
		slope := fd.Derivative(along, v[i], &fd.Settings{Formula: fd.Central})
		want += slope*slope/2 + fd.Derivative(along, v[i], &fd.Settings{Formula: fd.Central2nd})
	}
	states, hidden, means := matrix([][]float64{v}), kernels.NewMatrix(1, 3), kernels.NewMatrix(1, 4)
	w.up(hidden, states)
	var l [1]likelihood
	newMeter(w).measure(l[:], states, hidden, means, place{}, 1)
	if math.Abs(l[0].objective-want) > 1e-3*math.Abs(want) {
		t.Errorf("the score is %v, want %v", l[0].objective, want)
	}
	if f := gaussianFreeEnergy(p, v); math.Abs(l[0].freeEnergy-f) > 1e-4 {
		t.Errorf("F = %v, want %v", l[0].freeEnergy, f)
	}
}

// A step of Gaussian units takes the differences of the derivatives of −F at the data and at
// the chains, those of W and b times σ², in the coordinates of the offsets; that of log σ² at
// the chains is of −E, with the hidden states that they were drawn from.
func TestGaussianStepsFollowTheDerivatives(t *testing.T) {
	const visible, hidden, rate, varianceRate = 3, 2, 1e-3, 2e-3
	m := gaussianModel(t, visible, hidden)
	rows := dataset.Split{Rows: 4, Shape: m.shape, Values: []uint8{0, 100, 200, 255, 3, 40, 90, 90, 90, 1, 2, 250}}
	for _, method := range []Method{PCD().Chains(6), PCD().Chains(6).Centered(false)} {
		spec := method.BatchSize(4).LearningRate(rate).VarianceRate(varianceRate).spec
		spec.OffsetRate = 0
		tr := training(t, m, spec, rows)
		tr.encoding.standard = m.encoding.standard
		before, chains := tr.parameters.clone(), kernels.Clone(tr.chains.hidden)
		if _, err := tr.take(t.Context(), rate); err != nil {
			t.Fatal(err)
		}
		slopes := func(of func(p *Parameters) float64) []float64 {
			return fd.Gradient(nil, func(flat []float64) float64 {
				p := before.zeros()
				copy(p.Flat, narrow(flat))
				return of(p)
			}, wide(before), &fd.Settings{Formula: fd.Central, Step: 1e-2})
		}
		gradient := slopes(func(p *Parameters) (sum float64) {
			for r := range rows.Rows {
				sum -= gaussianFreeEnergy(p, row(tr.left, tr.method.BatchSize-rows.Rows+r)) / float64(rows.Rows)
			}
			for r := range 6 {
				sum += gaussianFreeEnergy(p, row(tr.chains.visible, r)) / 6
			}
			return sum
		})
		joint := slopes(func(p *Parameters) (sum float64) {
			for r := range rows.Rows {
				sum -= gaussianFreeEnergy(p, row(tr.left, r)) / float64(rows.Rows)
			}
			for r := range 6 {
				sum += gaussianEnergy(p, row(tr.chains.visible, r), row(chains, r)) / 6
			}
			return sum
		})
		variances := len(gradient) - visible
		for i := range visible {
			σ2 := math.Exp(float64(before.LogVariances[i]))
			floats.Scale(σ2, gradient[i*hidden:(i+1)*hidden])
			gradient[visible*hidden+i] *= σ2
		}
		step := make([]float64, len(gradient))
		biases := gradient[visible*hidden:]
		for i := range visible {
			step[visible*hidden+i] += biases[i]
			for j := range hidden {
				μ, λ := float64(tr.visibleOffsets[i]), float64(tr.hiddenOffsets[j])
				weight := gradient[i*hidden+j] - μ*biases[visible+j] - biases[i]*λ
				step[i*hidden+j] = weight
				step[visible*hidden+i] -= weight * λ
				step[visible*hidden+visible+j] -= weight * μ * math.Exp(-float64(tr.parameters.LogVariances[i]))
			}
			step[variances+i] = joint[variances+i] * varianceRate / rate
		}
		floats.Add(step[visible*hidden+visible:variances], biases[visible:visible+hidden])
		for k, want := range step {
			if got := float64(tr.parameters.Flat[k]-before.Flat[k]) / rate; math.Abs(got-want) > 2e-2*(1+math.Abs(want)) {
				t.Errorf("%v: parameter %d moves by the rate times %v, want %v", spec, k, got, want)
			}
		}
	}
}

// No learning rate from 10⁻⁵ to 10³ makes Gaussian units diverge, with the usual settings
// otherwise, by either algorithm.
func TestGaussianUnitsDoNotDiverge(t *testing.T) {
	set := grays(t)
	for k := range 20 {
		rate := math.Pow(10, -5+8*float64(k)/19)
		for _, m := range []Method{CD(), PCD()} {
			t.Run(fmt.Sprint(m.LearningRate(rate).spec), func(t *testing.T) {
				t.Parallel()
				h := mustTrain(t, m.LearningRate(rate).BatchSize(20).Epochs(8), set, t.TempDir()).History()
				for _, e := range h.Epochs {
					if warning := h.Warning(e); warning != "" {
						t.Errorf("epoch %d: %s", e.Epoch, warning)
					}
				}
			})
		}
	}
}

// Of Gaussian units training lowers the score below that of independent units, raises the
// exact log p, and learns variances smaller than those of the data.
func TestGaussianUnitsLearn(t *testing.T) {
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 600, Validation: new(100)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	run, err := PCD().BatchSize(20).Epochs(15).Train(t.Context(), New(set.Shape()).Visible(Gaussian).Hidden(8), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := run.History()
	first, last := h.Epochs[0].Validation, h.Epochs[len(h.Epochs)-1].Validation
	if !(last["score"] < h.Baseline.Factorized.Value) || !(last["log_p"] > first["log_p"]) {
		t.Errorf("from the measures %v after an epoch training comes to %v, with the baseline %v", first, last, h.Baseline.Factorized.Value)
	}
	if mean := floats.Sum(wide(run.parameters)[len(run.parameters.Flat)-196:]) / 196; !(mean < -0.05) {
		t.Errorf("the mean of log σ² is %v after training", mean)
	}
	sheet, err := run.Means(t.Context(), 3, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range sheet.Values {
		if floats.Min(image) < -1 || floats.Max(image) > 2 {
			t.Errorf("an image has the values %v to %v, far from grey ones", floats.Min(image), floats.Max(image))
		}
	}
}

// AIS and its reverse have log Z of Gaussian visible units within their errors, and RAISE log p of grey rows.
func TestGaussianUnitsAreAnnealed(t *testing.T) {
	m := gaussianModel(t, 3, 4)
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] /= 2
	}
	exact, err := m.ExactLogZ(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 3))
	rows := make([][]float64, 12)
	for r := range rows {
		rows[r] = []float64{random.Float64(), random.Float64(), random.Float64()}
	}
	base, a := split(rows), Annealing{Schedule: Even(300), Chains: 400}
	for name, estimate := range map[string]func() (LogZ, error){
		"AIS":         func() (LogZ, error) { return m.AIS(t.Context(), base, a, nil) },
		"reverse AIS": func() (LogZ, error) { return m.ReverseAIS(t.Context(), base, a, nil) },
	} {
		if z, err := estimate(); err != nil || math.Abs(float64(z.Value)-exact) > 4*float64(z.SE) || z.SE > 0.1 {
			t.Errorf("%s: %v, error %v, where log Z is %v", name, z, err, exact)
		}
	}
	raised, err := m.RAISE(t.Context(), base, base, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	logP, err := m.ExactLogP(t.Context(), base)
	if err != nil || !floats.EqualApprox(raised, logP, 0.1) {
		t.Errorf("RAISE has log p %v, where it is %v (%v)", raised, logP, err)
	}
}
