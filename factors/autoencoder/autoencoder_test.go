package autoencoder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// wantWithin checks that an estimate is within a number of its standard errors.
func wantWithin(t *testing.T, what string, e runs.Estimate, want, errors float64) {
	t.Helper()
	if !(math.Abs(e.Value-want) <= errors*e.SE) {
		t.Errorf("%s is %v ± %v, want %v", what, e.Value, e.SE, want)
	}
}

// repeated has one row many times.
func repeated(times int, row ...uint8) dataset.Split {
	s := split(row...)
	s.Values = dataset.Bytes(s.Units, slices.Repeat(row, times))
	return s
}

// states calls each with all states of n binary variables.
func states(n int, each func(z []float64)) {
	z := make([]float64, n)
	for state := range 1 << n {
		for j := range z {
			z[j] = float64(state >> j & 1)
		}
		each(z)
	}
}

// joint returns log p(x,z) of Bernoulli latent variables.
func (m *Model) joint(of reference, x, z []float64) (logP float64) {
	decoder, _ := m.take(kernels.Doubles(m.flat[len(m.flat)-m.rest():]), m.decoder)
	for i, a := range of.forward(decoder, z) {
		if m.noise != nil {
			logP += normal(x[i], a, m.Noise())
		} else {
			logP += bernoulliLogP(x[i], a)
		}
	}
	for j, b := range m.prior {
		logP += bernoulliLogP(z[j], float64(b))
	}
	return logP
}

// rest is the number of parameters behind those of the encoder.
func (m *Model) rest() int {
	n := len(m.flat)
	for _, d := range m.encoder {
		n -= len(d.weights.Data) + len(d.biases)
	}
	return n
}

// Of Bernoulli latent variables log p(x) is a sum over all states, whatever the encoder and the relaxation.
func TestLogPOfDiscreteVariablesIsTheSumOverStates(t *testing.T) {
	for _, latent := range []Latent{StraightThrough, GumbelSoftmax} {
		m := tiny(Settings{Hidden: []int{3}, Code: 3, Latent: latent, Temperature: 1, Samples: 1})
		row := repeated(2000, 255, 0, 0, 255)
		var logs []float64
		states(3, func(z []float64) {
			logs = append(logs, m.joint(reference{settings: m.settings}, []float64{1, 0, 0, 1}, z))
		})
		of, err := m.Estimate(t.Context(), row, 200, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantWithin(t, "log p(x) by "+latent.String(), of[runs.LogP.Key], floats.LogSumExp(logs), 4)
		if of, err = m.Estimate(t.Context(), repeated(9, 255, 0, 0, 255), 1, 5, nil); err != nil || of[runs.ESS.Key].Value != 1 {
			t.Errorf("one sample per row has the effective sample size %v, %v", of[runs.ESS.Key].Value, err)
		}
	}
}

// A row of weight 0 counts neither in log p, nor in its sample size, nor in the number of active variables.
func TestSampleSizesCountRowsByTheirWeights(t *testing.T) {
	m, rows := tiny(Settings{Hidden: []int{3}, Code: 3, Temperature: 1, Samples: 1}), split(255, 0, 0, 255, 0, 255, 0, 0)
	rows.Weights = []float64{2, 0}
	weighted, err := m.Estimate(t.Context(), rows, 50, 5, nil)
	alone, failure := m.Estimate(t.Context(), repeated(1, 255, 0, 0, 255), 50, 5, nil)
	got, want := weighted[runs.LogP.Key], alone[runs.LogP.Key]
	if err != nil || failure != nil || math.Abs(got.Value-want.Value) > 1e-12 || math.Abs(float64(got.SampleSize.Moved-want.SampleSize.Moved)) > 1e-12 || math.Abs(float64(got.SampleSize.Effective-want.SampleSize.Effective)) > 1e-9 {
		t.Errorf("%+v, want %+v of the other row alone (%v, %v)", got, want, err, failure)
	}
	rows.Weights = nil
	unweighted, err := m.Estimate(t.Context(), rows, 50, 5, nil)
	if got, both := weighted[active.Key].Value, unweighted[active.Key].Value; err != nil || got != 0 || both == 0 {
		t.Errorf("%v active variables of one row, and %v of two (%v)", got, both, err)
	}
}

// chosen has draws that a test chooses.
type chosen struct {
	straightThrough
	z []float64
}

func (c chosen) relax(z, outputs, prior []float32, at place) float64 {
	for j, v := range c.z {
		z[j] = float32(v)
	}
	return 0
}

// A linear decoder with noise σ has log p(x|z) that is quadratic in z. Of the ELBO the straight-through
// estimator then expects the gradient by all parameters but those of the encoder. The derivative by the
// logit a of a variable has the bias q(1−q)(½−q)|w|²/σ², with q = σ(a) and the column w of weights: it
// takes the slope of −z²|w|²/2σ² at z = q for the difference of z = 1 and z = 0.
func TestStraightThroughHasTheStatedBias(t *testing.T) {
	m := tiny(Settings{Code: 3, Decoder: Normal, Latent: StraightThrough, Samples: 1})
	b := runs.Minibatch{Rows: split(250, 3, 100, 160), Index: []int{0}}
	x := x(m, b.Rows, 0)
	of := reference{settings: m.settings}
	exact := func(flat []float64) (elbo float64) {
		encoder, _ := m.take(flat, m.encoder)
		outputs := of.forward(encoder, x)
		other := &Model{network: m.settings.network(4), settings: m.settings}
		for k, v := range flat {
			other.flat[k] = float32(v)
		}
		states(3, func(z []float64) {
			logQ := 0.0
			for j, a := range outputs {
				logQ += bernoulliLogP(z[j], a)
			}
			elbo += math.Exp(logQ) * (other.joint(of, x, z) - logQ)
		})
		return elbo
	}
	outputs := of.forward(m.layers(kernels.Doubles(m.flat)), x)
	mean := make([]float64, len(m.flat))
	states(3, func(z []float64) {
		m.latent = chosen{z: z}
		m.differentiate(b, 1)
		logQ := 0.0
		for j, a := range outputs {
			logQ += bernoulliLogP(z[j], a)
		}
		floats.AddScaled(mean, math.Exp(logQ), kernels.Doubles(m.gradient.flat))
	})
	bias := make([]float64, 3)
	for j, a := range outputs {
		q, square := statistics.Sigmoid(a), 0.0
		for _, w := range kernels.Row(m.decoder[0].weights, j) {
			square += float64(w) * float64(w)
		}
		bias[j] = q * (1 - q) * (0.5 - q) * square / (m.Noise() * m.Noise())
		if math.Abs(bias[j]) < 1e-2 {
			t.Errorf("the bias by logit %d is %v: the test needs a larger one", j, bias[j])
		}
	}
	n := len(m.encoder[0].weights.Data)
	const h = 1e-2 // parameters are float32, in which the ELBO is nearly quadratic
	for k := range mean {
		flat := kernels.Doubles(m.flat)
		flat[k] += h
		up := exact(flat)
		flat[k] -= 2 * h
		want := (up - exact(flat)) / (2 * h)
		switch {
		case k < n:
			want += bias[k%3] * x[k/3]
		case k < n+3:
			want += bias[k-n]
		}
		if !(math.Abs(mean[k]-want) <= 2e-3*(1+math.Abs(want))) {
			t.Errorf("the expected derivative %d is %v, want %v", k, mean[k], want)
		}
	}
}

// The relaxed draws are on, above one half, with the probabilities of the draws, at the same noise, and
// the mean of p/q over them is 1.
func TestRelaxedDrawsHaveTheirDensity(t *testing.T) {
	const n = 100_000
	outputs, prior := []float32{0.7, -1.2, 0}, []float32{0.2, -0.9, 0.5}
	g, z, hard := gumbel{temperature: 0.7}, make([]float32, 3), make([]float32, 3)
	ratios := make([]float64, n)
	for k := range n {
		at := place{key: 3, purpose: philox.Wake, sample: k}
		ratios[k] = math.Exp(g.relax(z, outputs, prior, at))
		g.draw(hard, outputs, prior, at)
		for j := range z {
			if (z[j] > 0.5) != (hard[j] == 1) {
				t.Fatalf("variable %d of sample %d is %v relaxed and %v drawn", j, k, z[j], hard[j])
			}
		}
	}
	mean, se := statistics.MeanAndError(n, func(k int) float64 { return ratios[k] })
	wantWithin(t, "the mean of p/q", runs.Estimate{Value: mean, SE: se}, 1, 4)
}

// The bias of relaxed draws falls with the temperature, towards the derivative of the ELBO by the logit
// of a single variable: q(1−q)(f(1) − f(0)), where f(z) = log p(x,z) − log q(z|x).
func TestBiasOfRelaxedDrawsFallsWithTheTemperature(t *testing.T) {
	bias := func(temperature float64) runs.Estimate {
		m := tiny(Settings{Code: 1, Decoder: Normal, Latent: GumbelSoftmax, Temperature: temperature, Samples: 20_000})
		b := runs.Minibatch{Rows: split(250, 3, 100, 160), Index: []int{0}}
		row, of := x(m, b.Rows, 0), reference{settings: m.settings}
		m.differentiate(b, 1)
		a := of.forward(m.layers(kernels.Doubles(m.flat)), row)[0]
		q := statistics.Sigmoid(a)
		f := func(z float64) float64 { return m.joint(of, row, []float64{z}) - bernoulliLogP(z, a) }
		return runs.Estimate{Value: float64(m.gradient.encoder[0].biases[0]) - q*(1-q)*(f(1)-f(0))}
	}
	warm, cool := math.Abs(bias(2).Value), math.Abs(bias(0.2).Value)
	if !(cool < warm/3) {
		t.Errorf("the bias is %v at the temperature 2 and %v at 0.2, want less than a third", warm, cool)
	}
}

// A linear autoencoder with Gaussian variables is probabilistic PCA, whose log p is exact: training
// reaches it within 0.01 nats, and its noise.
func TestLinearAutoencoderIsPPCA(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, 1500)
	for r := range rows {
		u, v := random.NormFloat64(), random.NormFloat64()
		for i := range 6 {
			angle := float64(i)
			rows[r] = append(rows[r], min(1, max(0, 0.5+0.1*math.Cos(angle)*u+0.08*math.Sin(angle)*v+0.05*random.NormFloat64())))
		}
	}
	set, err := dataset.Spec{Name: "plane", Binarization: dataset.Gray, Validation: new(0)}.FromRows(dataset.Shape{Height: 2, Width: 3}, rows, rows[:1])
	if err != nil {
		t.Fatal(err)
	}
	exact, err := factors.FitPPCA(set.Train().Floats(), 2)
	if err != nil {
		t.Fatal(err)
	}
	e := Family.Experiment(set)
	e.Epochs = 100
	e.Settings.Hidden, e.Settings.Code, e.Settings.Decoder, e.Settings.LearningRate, e.Settings.BatchSize = []int{}, 2, Normal, 0.05, 50
	e.Settings.Samples, e.Settings.Decay.Schedule = 3, runs.CosineDecay
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	m := run.Model()
	of, err := m.Estimate(t.Context(), set.Train(), 100, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := floats.Sum(exact.LogP(set.Train().Floats())) / float64(set.Train().Rows)
	if got := of[runs.LogP.Key].Value; !(math.Abs(got-want) <= 0.01) {
		t.Errorf("log p is %v, of probabilistic PCA %v", got, want)
	}
	if got, want := m.Noise(), math.Sqrt(exact.Noise()[0]); !(math.Abs(got/want-1) <= 0.01) {
		t.Errorf("the noise is %v, of probabilistic PCA %v", got, want)
	}
	if got := of[active.Key].Value; got != 2 {
		t.Errorf("%v variables are active, want 2", got)
	}
}

// Hidden units with ReLU stay on while the output learns the means of the pixels, of which many are
// always 0: latent variables remain in use.
func TestRectifiedUnitsStayOn(t *testing.T) {
	set, err := dataset.Spec{Name: "glyphs", Subset: 400}.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := Family.Experiment(set)
	e.Epochs, e.Settings.Activation = 6, ReLU
	e.Settings.Hidden, e.Settings.Code, e.Settings.BatchSize, e.Settings.LearningRate = []int{500, 500}, 100, 50, 0.003
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if used := run.History().Epochs[5].Validation[active.Key]; !(used >= 10) {
		t.Errorf("%v latent variables are in use, want at least 10 of 100", used)
	}
}
