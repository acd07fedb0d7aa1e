package boltzmann

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
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

// gaussianModel has standard normal parameters, and standardises by random numbers. With classes it has a label.
func gaussianModel(t *testing.T, visible, hidden, classes int) *Model {
	t.Helper()
	m, err := New(dataset.Shape{Height: 1, Width: visible}).Hidden(hidden).Visible(Gaussian).Labels(classes).Model(1)
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

// logClassesOf returns −F(v,y) of each class, or −F(v) alone if the machine has no label. v may have a label, which
// is ignored.
func logClassesOf(p *Parameters, v []float64) (logs []float64) {
	labels := [][]float64{nil}
	if p.Spec.labelled() {
		labels = oracle.Categorical(1, p.Spec.Classes)
	}
	for _, y := range labels {
		logs = append(logs, quadrature(p, slices.Concat(v[:p.observed()], y)))
	}
	return logs
}

func narrow(x []float64) []float32 {
	n := make([]float32, len(x))
	for i, value := range x {
		n[i] = float32(value)
	}
	return n
}

// F(v) follows from the energy with a label summed out, and log Z is the integral of e^(−F), which the
// trapezoidal rule has to all digits. So is the density of grey values, which are standardised. p(y|v) is exact.
func TestGaussianUnitsAreExact(t *testing.T) {
	for _, classes := range []int{0, 3} {
		testGaussianUnitsAreExact(t, gaussianModel(t, 2, 3, classes))
	}
}

func testGaussianUnitsAreExact(t *testing.T, m *Model) {
	p := m.parameters
	const step, far = 0.1, 200 // far times step is many deviations
	integral := 0.0
	for x := -far; x < far; x++ {
		for y := -far; y < far; y++ {
			v := []float64{float64(x) * step, float64(y) * step}
			f := p.freeEnergy(narrow(v), make([]float64, 3))
			if y%50 == 0 && x%50 == 0 {
				if want := -floats.LogSumExp(logClassesOf(p, v)); math.Abs(f-want) > 1e-4*(1+math.Abs(want)) {
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
	rows := dataset.Split{Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), []uint8{51, 204})}
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
	logs := logClassesOf(p, v)
	sum := floats.LogSumExp(logs)
	if want += sum; math.Abs(logP[0]-want) > 1e-5 {
		t.Errorf("log p = %v, want %v", logP[0], want)
	}
	if !p.Spec.labelled() {
		return
	}
	floats.AddConst(-sum, logs)
	if got, err := m.LogLabelProbabilities(t.Context(), rows); err != nil || !floats.EqualApprox(got[0], logs, 1e-5) {
		t.Errorf("log p(y|v) = %v (%v), want %v", got, err, logs)
	}
}

// A step of Gaussian units follows (1−w) log p(v,y) + w log p(y|v) of the data, less (1−w) times the derivatives of
// −F at the chains, less the target of sparsity. The derivatives of W and b are times σ², in the coordinates of the offsets. At the chains, the
// derivative of log σ² is of −E, with the hidden states from which they were drawn. A label has no σ².
func TestGaussianStepsFollowTheDerivatives(t *testing.T) {
	method := PCD().Chains(6)
	testGaussianSteps(t, method, 0)
	testGaussianSteps(t, method.Centered(false), 0)
	testGaussianSteps(t, method.Sparsity(0.5, 0.1), 0)
	for _, weight := range []float64{0, 0.3, 1} {
		testGaussianSteps(t, method.Discriminative(weight), 3)
		testGaussianSteps(t, method.Discriminative(weight).Sparsity(0.5, 0.1), 3)
	}
}

func testGaussianSteps(t *testing.T, method Method, classes int) {
	const hidden, rate, varianceRate = 2, 1e-3, 2e-3
	m := gaussianModel(t, 3, hidden, classes)
	rows := dataset.Split{Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), []uint8{0, 100, 200, 255, 3, 40, 90, 90, 90, 1, 2, 250}), Labels: []uint8{0, 2, 1, 2}}
	spec := method.BatchSize(4).LearningRate(rate).VarianceRate(varianceRate).spec
	spec.OffsetRate = 0
	w := spec.Discriminative
	tr := training(t, m, spec, rows)
	tr.encoding.standard = m.encoding.standard
	before, chains := tr.parameters.clone(), kernels.Clone(tr.chains.hidden)
	visible := before.Visible()
	if _, err := tr.take(t.Context(), rate); err != nil {
		t.Fatal(err)
	}
	variance := func(p *Parameters, i int) float64 {
		if i >= len(p.LogVariances) {
			return 1
		}
		return math.Exp(float64(p.LogVariances[i]))
	}
	entropy := func(p *Parameters, v []float64) (sum float64) {
		for j := range hidden {
			input := float64(p.HiddenBiases[j])
			for i, x := range v {
				input += x * float64(kernels.Row(p.Weights, i)[j]) / variance(p, i)
			}
			sum += spec.SparsityTarget*statistics.Softplus(-input) + (1-spec.SparsityTarget)*statistics.Softplus(input)
		}
		return sum
	}
	slopes := func(chain func(p *Parameters, r int) float64) []float64 {
		return fd.Gradient(nil, func(flat []float64) (sum float64) {
			p := before.zeros()
			copy(p.Flat, narrow(flat))
			for r := range rows.Rows {
				v := row(tr.left, r)
				f := quadrature(p, v)
				sum += ((1-w)*f + w*(f-floats.LogSumExp(logClassesOf(p, v))) - spec.Sparsity*entropy(p, v)) / float64(rows.Rows)
			}
			for r := range chains.Rows {
				sum -= (1 - w) * chain(p, r) / float64(chains.Rows)
			}
			return sum
		}, wide(before), &fd.Settings{Formula: fd.Central, Step: 1e-2})
	}
	gradient := slopes(func(p *Parameters, r int) float64 { return quadrature(p, row(tr.chains.visible, r)) })
	joint := slopes(func(p *Parameters, r int) float64 {
		return -definedEnergy(p, row(tr.chains.visible, r), row(chains, r))
	})
	for i := range visible {
		floats.Scale(variance(before, i), gradient[i*hidden:(i+1)*hidden])
		gradient[visible*hidden+i] *= variance(before, i)
	}
	step := centeredStep(gradient, tr.visibleOffsets, tr.hiddenOffsets)
	for i := range visible {
		for j := range hidden {
			μ := float64(tr.visibleOffsets[i])
			step[visible*hidden+visible+j] += step[i*hidden+j] * μ * (1 - 1/variance(tr.parameters, i))
		}
	}
	variances := len(step) - len(before.LogVariances)
	floats.ScaleTo(step[variances:], varianceRate/rate, joint[variances:])
	for k, want := range step {
		if got := float64(tr.parameters.Flat[k]-before.Flat[k]) / rate; math.Abs(got-want) > 2e-2*(1+math.Abs(want)) {
			t.Errorf("%v: parameter %d moves by the rate times %v, want %v", spec, k, got, want)
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

// AIS and its reverse have log Z of Gaussian visible units within their errors, and RAISE log p of grey rows, with
// a label and without.
func TestGaussianUnitsAreAnnealed(t *testing.T) {
	for _, classes := range []int{0, 3} {
		testGaussianUnitsAreAnnealed(t, gaussianModel(t, 3, 4, classes))
	}
}

func testGaussianUnitsAreAnnealed(t *testing.T, m *Model) {
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
	base.Labels = slices.Repeat([]uint8{0, 2, 1, 2}, 3)
	for name, estimate := range map[string]func() (LogZ, error){
		"AIS":         func() (LogZ, error) { return m.AIS(t.Context(), base, a, nil) },
		"reverse AIS": func() (LogZ, error) { return m.ReverseAIS(t.Context(), base, a, nil) },
	} {
		if z, err := estimate(); err != nil || math.Abs(float64(z.Value)-exact) > 4*float64(z.SE) || z.SE > 0.1 {
			t.Errorf("%s: %v, error %v, where log Z is %v", name, z, err, exact)
		}
	}
	a.Chains = 100
	raised, err := m.RAISE(t.Context(), base, base, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	logP, err := m.ExactLogP(t.Context(), base)
	if err != nil || !floats.EqualApprox(raised, logP, 0.1) {
		t.Errorf("RAISE has log p %v, where it is %v (%v)", raised, logP, err)
	}
}

// Draws of Gaussian units without weights have the means and deviations of the numbers of the data.
func TestGaussianUnitsAreDrawn(t *testing.T) {
	m := gaussianModel(t, 3, 2, 0)
	clear(m.parameters.Weights.Data)
	const n = 20_000
	sheet, err := m.Sample(t.Context(), n, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := m.encoding.standard
	for i := range 3 {
		var values []float64
		for _, row := range sheet.Values {
			values = append(values, row[i])
		}
		mean, sd := stat.MeanStdDev(values, nil)
		wantMean := float64(s.means[i]) + float64(s.deviations[i]*m.parameters.VisibleBiases[i])
		wantSD := float64(s.deviations[i]) * math.Exp(float64(m.parameters.LogVariances[i])/2)
		if math.Abs(mean-wantMean) > 4*wantSD/math.Sqrt(n) || math.Abs(sd/wantSD-1) > 4/math.Sqrt(2*n) {
			t.Errorf("unit %d: %v ± %v, want %v ± %v", i, mean, sd, wantMean, wantSD)
		}
	}
}
