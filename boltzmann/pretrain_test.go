package boltzmann

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// doubledModel is a random one, of which one side counts twice.
func doubledModel(t *testing.T, visible, hidden int, doubled Doubled) *Model {
	t.Helper()
	m := randomModel(t, visible, hidden)
	m.parameters.Spec.Doubled = doubled
	return m
}

// conditionals are the probabilities of units to be on, by the definitions of a layer that is
// trained for a deep machine, in double precision.
type conditionals struct {
	w    [][]float64
	b, c []float64
	up   float64 // what the hidden units see of a visible one
	down float64 // what the visible units see of a hidden one
}

func conditionalsOf(m *Model) conditionals {
	p := m.parameters
	q := conditionals{up: 1, down: 1}
	switch p.Spec.Doubled {
	case DoubledVisible:
		q.up = 2
	case DoubledHidden:
		q.down = 2
	}
	for i := range p.Visible() {
		q.w = append(q.w, row(p.Weights, i))
		q.b = append(q.b, float64(p.VisibleBiases[i]))
	}
	for _, c := range p.HiddenBiases {
		q.c = append(q.c, float64(c))
	}
	return q
}

// hidden are the inputs of the hidden units, visible those of the visible ones.
func (q conditionals) hidden(v []float64) []float64 {
	a := slices.Clone(q.c)
	for i, x := range v {
		floats.AddScaled(a, q.up*x, q.w[i])
	}
	return a
}

func (q conditionals) visible(h []float64) []float64 {
	a := slices.Clone(q.b)
	for i := range a {
		a[i] += q.down * floats.Dot(q.w[i], h)
	}
	return a
}

func sigmoids(a []float64) []float64 {
	p := make([]float64, len(a))
	for k := range a {
		p[k] = 1 / (1 + math.Exp(-a[k]))
	}
	return p
}

// probability is that of states of independent units that are on with probabilities p.
func probability(p, states []float64) float64 {
	product := 1.0
	for k, on := range states {
		product *= 1 - p[k] + on*(2*p[k]-1)
	}
	return product
}

// statistics are v E[h|v]ᵀ, v and E[h|v].
func (q conditionals) statistics(v []float64) []float64 {
	var t []float64
	h := sigmoids(q.hidden(v))
	for _, x := range v {
		for _, y := range h {
			t = append(t, x*y)
		}
	}
	return slices.Concat(t, v, h)
}

// contrast is the difference of the statistics of data and of those after k sweeps from it, by
// enumeration.
func (q conditionals) contrast(data [][]float64, k int) []float64 {
	visible, hidden := oracle.Binary(len(q.b)), oracle.Binary(len(q.c))
	p := make([]float64, len(visible))
	gradient := make([]float64, len(q.b)*len(q.c)+len(q.b)+len(q.c))
	for _, v := range data {
		floats.AddScaled(gradient, 1/float64(len(data)), q.statistics(v))
		p[slices.IndexFunc(visible, func(s []float64) bool { return floats.Equal(s, v) })] += 1 / float64(len(data))
	}
	for range k {
		next := make([]float64, len(p))
		for from, v := range visible {
			given := sigmoids(q.hidden(v))
			for _, h := range hidden {
				generated := sigmoids(q.visible(h))
				for to, w := range visible {
					next[to] += p[from] * probability(given, h) * probability(generated, w)
				}
			}
		}
		p = next
	}
	for s, v := range visible {
		floats.AddScaled(gradient, -p[s], q.statistics(v))
	}
	return gradient
}

// centered is the step of plain parameters that ascends a gradient in the coordinates of offsets,
// whose inputs are b + d W(h−λ) and c + u Wᵀ(v−μ).
func (q conditionals) centered(gradient []float64, μ, λ []float32) []float64 {
	visible, hidden := len(μ), len(λ)
	step, biases := slices.Clone(gradient), gradient[visible*hidden:]
	for i := range visible {
		for j := range hidden {
			w := gradient[i*hidden+j] - float64(μ[i])*biases[visible+j] - biases[i]*float64(λ[j])
			step[i*hidden+j] = w
			step[visible*hidden+i] -= q.down * w * float64(λ[j])
			step[visible*hidden+visible+j] -= q.up * w * float64(μ[i])
		}
	}
	return step
}

// In expectation, steps of layers for a deep machine take the difference of the statistics
// of the data and of those after sweeps by their conditional probabilities.
func TestDoubledStepsInExpectation(t *testing.T) {
	data := [][]float64{{0, 1, 1}, {1, 1, 1}, {0, 1, 0}, {0, 0, 0}}
	rows := split(slices.Repeat(data, 16))
	for _, doubled := range []Doubled{DoubledVisible, DoubledHidden} {
		m := doubledModel(t, 3, 2, doubled)
		q := conditionalsOf(m)
		plain := q
		plain.up, plain.down = 1, 1
		if d := floats.Distance(q.contrast(data, 1), plain.contrast(data, 1), math.Inf(1)); d < 0.02 {
			t.Errorf("%v: the contrast is only %v from that of a plain machine: nothing is shown", doubled, d)
		}
		for _, method := range []Method{CD(), CD().Steps(2).Centered(false)} {
			method = method.OffsetRate(0)
			tr := training(t, m, method.spec, rows)
			mean, se := meanStep(t, tr, 1500)
			for k, want := range q.centered(q.contrast(data, method.spec.Steps), tr.visibleOffsets, tr.hiddenOffsets) {
				if math.Abs(mean[k]-want) > 4.5*se[k]+1e-6 {
					t.Errorf("%v units doubled, %v: the mean of step %d is %v ± %v, want %v", doubled, method, k, mean[k], se[k], want)
				}
			}
		}
	}
}

// A machine with a side doubled is measured as one of two copies of its units: the free energy
// is that of two equal copies of v, the pseudo-likelihood that of one given the other.
func TestDoubledMeasures(t *testing.T) {
	for _, doubled := range []Doubled{DoubledVisible, DoubledHidden} {
		m := doubledModel(t, 3, 2, doubled)
		p, copies := m.parameters, []int{1, 1}
		copies[doubled-DoubledVisible] = 2
		var weights, b, c []float64
		for i := range 3 * copies[0] {
			for range copies[1] {
				weights = append(weights, row(p.Weights, i%3)...)
			}
			b = append(b, float64(p.VisibleBiases[i%3]))
		}
		for j := range 2 * copies[1] {
			c = append(c, float64(p.HiddenBiases[j%2]))
		}
		exact := oracle.Bipartite(nil, oracle.Binary(len(c)), slices.Concat(weights, b, c))
		for _, v := range oracle.Binary(3) {
			all, states, w := slices.Repeat(v, copies[0]), matrix([][]float64{v}), newProducts(p)
			inputs := kernels.NewMatrix(1, 2)
			w.up(inputs, states)
			var l [1]likelihood
			newMeter(w).measure(l[:], states, inputs, kernels.Matrix{}, place{}, 3)
			if f := exact.FreeEnergy(all); math.Abs(l[0].freeEnergy-f) > 1e-5 {
				t.Errorf("%v units doubled: F(%v) = %v, want %v", doubled, v, l[0].freeEnergy, f)
			}
			want := 0.0
			for i := range v {
				other := slices.Clone(all)
				other[i] = 1 - v[i]
				want -= statistics.Softplus(exact.FreeEnergy(all) - exact.FreeEnergy(other))
			}
			if math.Abs(l[0].objective-want) > 1e-5 {
				t.Errorf("%v units doubled: log PL(%v) = %v, want %v", doubled, v, l[0].objective, want)
			}
		}
	}
}

// composed is a deep machine of random pretrained layers.
func composed(t *testing.T, layers []int) (*Model, []conditionals) {
	t.Helper()
	deep := randomDeepModel(t, layers, 1)
	var s stack
	var each []conditionals
	for l := 1; l < len(layers); l++ {
		doubled := DoubledNeither
		switch l {
		case 1:
			doubled = DoubledVisible
		case len(layers) - 1:
			doubled = DoubledHidden
		}
		m := doubledModel(t, layers[l-1], layers[l], doubled)
		s, each = append(s, m.parameters), append(each, conditionalsOf(m))
	}
	deep.parameters.compose(s)
	return deep, each
}

// By the energy of the composed machine, the input of each unit between two layers is the mean
// of its inputs in the two machines that share it, and at both ends it is that of the one.
func TestDeepMachinesAreComposed(t *testing.T) {
	for _, layers := range depths {
		deep, each := composed(t, layers)
		exact := deepOracle(deep)
		for s, v := range exact.Visible {
			h := exact.Hidden[(7*s+3)%len(exact.Hidden)]
			x := [][]float64{v}
			for rest, l := h, 1; l < len(layers); l++ {
				x, rest = append(x, rest[:layers[l]]), rest[layers[l]:]
			}
			for l := range layers {
				var from [][]float64
				if l > 0 {
					from = append(from, each[l-1].hidden(x[l-1]))
				}
				if l < len(each) {
					from = append(from, each[l].visible(x[l+1]))
				}
				for k := range x[l] {
					want := 0.0
					for _, inputs := range from {
						want += inputs[k] / float64(len(from))
					}
					was, energy := x[l][k], [2]float64{}
					for on := range energy {
						x[l][k] = float64(on)
						energy[on] = -floats.Dot(exact.Parameters, exact.Statistics(v, h))
					}
					x[l][k] = was
					if got := energy[0] - energy[1]; math.Abs(got-want) > 1e-5 {
						t.Errorf("%v: unit %d of layer %d has the input %v, want %v", layers, k, l, got, want)
					}
				}
			}
		}
	}
}

// A deep machine is pretrained layer by layer and trained, is resumed to the same bytes, begins
// at its layers, and needs their runs no more once it has begun.
func TestPretraining(t *testing.T) {
	set, whole, parts := patterns(t), t.TempDir(), t.TempDir()
	machine, m := New(set.Shape()).Hidden(6, 5, 4), short(PCD()).LearningRate(0.05)
	run, err := m.TrainPretrained(t.Context(), machine, set, whole, 2, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	sessions := 0
	for finished := false; !finished; sessions++ {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.TrainPretrained(ctx, machine, set, parts, 2, 0.1, stopper(func(step int) {
			if step%7 == 0 {
				cancel()
			}
		}))
		cancel()
		finished = err == nil
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if sessions < 5 {
		t.Errorf("training took %d sessions, want several", sessions)
	}
	for _, of := range []string{"layer-1", "layer-2", "layer-3", "deep"} {
		a, err := os.ReadFile(filepath.Join(whole, of, "checkpoint.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(parts, of, "checkpoint.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s is another", of)
		}
	}
	first, err := run.Experiment().Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := readSnapshot(first)
	if err != nil {
		t.Fatal(err)
	}
	lowest, err := OpenRun(LayerDir(whole, 1))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.parameters.VisibleBiases[:9], lowest.parameters.VisibleBiases) {
		t.Error("the deep machine does not begin at its lowest layer")
	}
	for l := 1; l <= 3; l++ {
		layer, err := OpenRun(LayerDir(whole, l))
		if err != nil {
			t.Fatal(err)
		}
		_, exact := layer.ExactLogZ(t.Context())
		_, evaluated := layer.Evaluate(t.Context(), set, set.Test(), Annealing{}, nil)
		_, sampled := layer.Means(t.Context(), 1, 1)
		_, inpainted := layer.Inpaint(t.Context(), set.Test(), make(dataset.Mask, 9), 1, 1, nil)
		_, annealed := layer.AIS(t.Context(), set.Train(), Annealing{}, nil)
		_, energy := layer.FreeEnergy(t.Context(), set.Test())
		for _, err := range []error{exact, evaluated, sampled, inpainted, annealed, energy} {
			if err == nil || !strings.Contains(err.Error(), "defines no distribution: give the run of the deep machine") {
				t.Errorf("layer %d is taken for a model: %v", l, err)
			}
		}
		os.RemoveAll(LayerDir(whole, l))
	}
	if run, err = OpenRun(run.Dir()); err != nil {
		t.Fatal(err)
	}
	e, err := run.Evaluate(t.Context(), set, set.Test(), Annealing{}, nil)
	if err != nil || e.LogPErrs != runs.Exact || !(e.LogP < 0) || e.LogP < e.BaselineLogP-2 {
		t.Errorf("log p is %v (%v, %v), baseline %v", e.LogP, e.LogPErrs, err, e.BaselineLogP)
	}
}

// What cannot be pretrained is refused, with the remedy.
func TestPretrainingThatIsRefused(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	machine := New(set.Shape()).Hidden(5, 4)
	if _, err := short(CD()).TrainPretrained(t.Context(), machine, set, dir, 1, 0.1); err != nil {
		t.Fatal(err)
	}
	deep := func(change func(*Experiment)) Experiment {
		e := short(PCD()).Experiment(machine, set)
		e.Pretrained = &Pretrained{Runs: []string{LayerDir(dir, 1), LayerDir(dir, 2)}}
		change(&e)
		return e
	}
	layer := short(PCD()).Experiment(New(set.Shape()).Hidden(5), set)
	layer.Machine.Doubled = DoubledVisible
	wide := short(CD()).Experiment(machine, set)
	wide.Machine.Doubled = DoubledHidden
	for says, e := range map[string]Experiment{
		"is no machine between 9 and 6 units with visible doubled": deep(func(e *Experiment) { e.Machine.Hidden = 6 }),
		"is no machine between 9 and 5 units":                      deep(func(e *Experiment) { slices.Reverse(e.Pretrained.Runs) }),
		"no longer match the experiment":                           deep(func(e *Experiment) { e.Pretrained.Parameters = strings.Repeat("0", 64) }),
		"1 pretrained layers of a machine with 2 hidden layers":    deep(func(e *Experiment) { e.Pretrained.Runs = e.Pretrained.Runs[:1] }),
		"pretrained layers of one hidden layer": deep(func(e *Experiment) {
			e.Machine.Above, e.Pretrained.Runs = nil, e.Pretrained.Runs[:1]
		}),
		"layers of a deep machine are pretrained by plain contrastive divergence; use cd": layer,
		"doubled = hidden: only restricted machines of Bernoulli units":                   wide,
	} {
		if _, err := e.Train(t.Context(), set, filepath.Join(dir, "refused")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
	unborn := filepath.Join(dir, "unborn")
	if _, err := short(PCD()).MaxNorm(2).TrainPretrained(t.Context(), machine, set, unborn, 1, 0.1); err == nil || !strings.Contains(err.Error(), "max_norm = 2 of several hidden layers") {
		t.Errorf("a machine that cannot be is pretrained: %v", err)
	}
	if _, err := os.Stat(unborn); err == nil {
		t.Error("layers are trained for a machine that cannot be")
	}
	if _, err := short(PCD()).TrainPretrained(t.Context(), New(set.Shape()).Hidden(5), set, t.TempDir(), 1, 0.1); err == nil || !strings.Contains(err.Error(), "give more layers") {
		t.Errorf("one layer is pretrained: %v", err)
	}
}
