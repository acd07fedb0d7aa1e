package autoencoder

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// smallAdversarial returns a few rows of miniglyphs, and an experiment on them.
func smallAdversarial(t testing.TB) (AdversarialExperiment, *dataset.Set) {
	t.Helper()
	_, set := small(t, dataset.Stochastic)
	e := Adversarial.Experiment(set)
	e.Epochs, e.Settings.Hidden, e.Settings.Code, e.Settings.BatchSize = 2, []int{6}, 3, 9
	return e, set
}

func TestAdversarialFamily(t *testing.T) {
	e, set := smallAdversarial(t)
	runstest.Family(t, runstest.Case[AdversarialExperiment, *Generator]{
		Experiment: e, Set: set, Kind: Adversarial.Kind(),
		Refused: []runstest.Refusal[AdversarialExperiment]{
			runstest.Refuse(func(e *AdversarialExperiment) { e.Settings.Hidden = []int{3, 0} }, "hidden = [3 0]", "such as [200], or an empty list (--hidden \"\")"),
			runstest.Refuse(func(e *AdversarialExperiment) { e.Settings.Code = 0 }, "code = 0", "between 1"),
			runstest.Refuse(func(e *AdversarialExperiment) { e.Settings.Hidden = []int{mostUnits, mostUnits} }, "the networks", "use fewer units"),
			runstest.Refuse(func(e *AdversarialExperiment) { e.Settings.LearningRate = 0 }, "learning_rate = 0", "give"),
			runstest.Refuse(func(e *AdversarialExperiment) { e.Dataset.Binarization = dataset.Gray }, "binarization = grey", "use stochastic"),
			runstest.Refuse(func(e *AdversarialExperiment) { e.Dataset.Binarization = dataset.Real }, "binarization = real", "or fixed"),
		},
	})
}

// versus returns a network of four visible variables, with other parameters than it begins with.
func versus(s AdversarialSettings) *Generator {
	m := newGenerator(s, dataset.Fixed, dataset.Shape{Height: 2, Width: 2})
	m.draw(1)
	for k := range m.flat {
		m.flat[k] += float32(math.Sin(float64(3*k))) / 3
	}
	return m
}

// The gradients agree with finite differences of both objectives, over all states of the visible variables as rows and
// the z that were drawn. Each objective counts only for the parameters of its own network.
func TestGradientsOfBothPlayers(t *testing.T) {
	var all []uint8
	states(4, func(z []float64) {
		for _, v := range z {
			all = append(all, uint8(255*v))
		}
	})
	b := runs.Minibatch{Rows: split(all...), Step: 3}
	for k := range 3 * b.Rows.Rows { // several parts
		b.Index = append(b.Index, k%b.Rows.Rows)
	}
	for _, activation := range []Activation{Tanh, ReLU} {
		m, of, layers := versus(AdversarialSettings{Hidden: []int{5, 3}, Code: 2, Activation: activation}), reference{settings: Settings{Activation: activation}}, (*Model)(nil)
		before := m.differentiate(b, 7)
		objectives := func(flat []float64) (both [2]float64) {
			discriminator, rest := layers.take(flat, m.encoder)
			generator, _ := layers.take(rest, m.decoder)
			for k, r := range b.Index {
				z, row := make([]float32, 2), make([]float32, 4)
				gaussian{}.dream(z, nil, place{key: 7, purpose: philox.Wake, datum: k, step: 3})
				binarized(row, b.Rows, r, dataset.Fixed, place{})
				g := of.forward(generator, kernels.Doubles(z))
				for i, a := range g {
					g[i] = statistics.Sigmoid(a)
				}
				real, fake := of.forward(discriminator, kernels.Doubles(row))[0], of.forward(discriminator, g)[0]
				both[0] -= (statistics.Softplus(-real) + statistics.Softplus(fake)) / 2 / float64(len(b.Index))
				both[1] -= statistics.Softplus(-fake) / float64(len(b.Index))
			}
			return both
		}
		flat := kernels.Doubles(m.flat)
		both := objectives(flat)
		for key, want := range map[string]float64{divergence.Key: math.Ln2 + both[0], fooled.Key: -both[1]} {
			if got := before[key]; !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("%v: %s is %v, want %v", activation, key, got, want)
			}
		}
		n := 0
		for _, d := range m.encoder {
			n += len(d.weights.Data) + len(d.biases)
		}
		for player := range both {
			want := fd.Gradient(nil, func(flat []float64) float64 { return objectives(flat)[player] }, flat, &fd.Settings{Formula: fd.Central})
			for k, g := range m.gradient.flat {
				if own := (k < n) == (player == 0); own && !(math.Abs(float64(g)-want[k]) <= 1e-5*(1+math.Abs(want[k]))) {
					t.Errorf("%v: derivative %d of %d is %v, want %v", activation, k, len(want), g, want[k])
				}
			}
		}
	}
}

// A discriminator that is trained alone ends at f(x) = log p(x)/q(x) for every state x of three variables, where its bound is the
// Jensen–Shannon divergence of p and q; before, the bound is lower.
func TestOptimalDiscriminatorIsTheDensityRatio(t *testing.T) {
	m := newGenerator(AdversarialSettings{Hidden: []int{16}, Code: 1}, dataset.Fixed, dataset.Shape{Height: 1, Width: 3})
	m.draw(1)
	counts := [2][]int{{1, 2, 3, 4, 5, 6, 7, 8}, {6, 6, 6, 6, 3, 3, 3, 3}}
	d := newStack(m.encoder, Tanh, 72, true)
	r, state := 0, 0
	for _, count := range counts {
		state = 0
		states(3, func(x []float64) {
			for range count[state] {
				for i, v := range x {
					kernels.Row(d.input(), r)[i] = float32(v)
				}
				r++
			}
			state++
		})
	}
	real, generated := d.rows(0, 36), d.rows(36, 72)
	bound := func() float64 {
		d.forward()
		f := d.outputs().Data
		return judged(runs.EstimateOf(losses(f[:36], true)), f[36:])[divergence.Key].Value
	}
	want := 0.0
	for x := range 8 {
		p, q := float64(counts[0][x])/36, float64(counts[1][x])/36
		want += (p*math.Log(2*p/(p+q)) + q*math.Log(2*q/(p+q))) / 2
	}
	if first := bound(); first > want-0.01 {
		t.Errorf("the bound of an untrained discriminator is %v, and the divergence %v", first, want)
	}
	for step := range 4000 {
		d.forward()
		real.learn(true, 0.5/36)
		generated.learn(false, 0.5/36)
		d.backward(1)
		d.derive(m.gradient.encoder)
		m.adam.Ascend(m.network.flat, m.gradient.flat, 0.02, beta1, step)
	}
	if last := bound(); !(math.Abs(last-want) <= 1e-5) {
		t.Errorf("the bound is %v, and the divergence %v", last, want)
	}
	at := 0
	for x, n := range counts[0] {
		want := math.Log(float64(n) / float64(counts[1][x]))
		if got := float64(d.outputs().Data[at]); !(math.Abs(got-want) <= 0.01) {
			t.Errorf("f of state %d is %v, and the log density ratio %v", x, got, want)
		}
		at += n
	}
}

// Draws of generated rows have the means that the generator gives them.
func TestGeneratedDrawsHaveTheirMeans(t *testing.T) {
	rows, means := versus(AdversarialSettings{Hidden: []int{5}, Code: 2}).Sample(20_000, 3)
	for i := range 4 {
		mean, se := statistics.MeanAndError(len(rows), func(r int) float64 { return rows[r][i] - means[r][i] })
		wantWithin(t, "the mean of draws less their means", runs.Estimate{Value: mean, SE: se}, 0, 4)
		if rows[0][i] != 0 && rows[0][i] != 1 {
			t.Errorf("a drawn pixel is %v", rows[0][i])
		}
	}
	if means[0][0] == means[1][0] {
		t.Error("two rows have the same z")
	}
}

// Estimates refuse rows that the discriminator cannot read.
func TestGeneratorRefusesOtherRows(t *testing.T) {
	e, set := smallAdversarial(t)
	m := newGenerator(e.Settings, dataset.Stochastic, set.Shape())
	if _, err := m.Estimate(t.Context(), repeated(2, 1, 0, 1), 0, 1, nil); err == nil || !strings.Contains(err.Error(), "the model has 196 visible units") {
		t.Errorf("the error is %v", err)
	}
}
