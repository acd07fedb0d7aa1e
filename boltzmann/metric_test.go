package boltzmann

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// countable is the model of a machine of 3 visible and 2 hidden units whose states have probabilities in
// proportion to whole numbers, and chains that are in each state as often.
func countable(t *testing.T, machine Machine) (m *Model, visible, hidden [][]float64) {
	t.Helper()
	m, err := machine.Model(1)
	if err != nil {
		t.Fatal(err)
	}
	for k, odds := range []float64{2, 1, 3, 2, 1, 4, 2, 1, 1, 3, 1} {
		m.parameters.Flat[k] = float32(math.Log(odds))
	}
	exact := exactly(m)
	for _, v := range exact.Visible {
		for _, h := range exact.Hidden {
			for range int(math.Round(math.Exp(floats.Dot(exact.Parameters, exact.Statistics(v, h))))) {
				visible, hidden = append(visible, v), append(hidden, h)
			}
		}
	}
	if off := math.Abs(math.Log(float64(len(visible))) - exact.LogZ()); off > 1e-6 {
		t.Fatalf("the number of states is %v from Z", off)
	}
	return m, visible, hidden
}

// natural is (1+α)(αI + JFJᵀ)⁻¹Jg, as a step of the plain parameters, where J turns their
// gradients into those of parameters centred by μ and λ.
func natural(fisher [][]float64, gradient []float64, μ, λ []float32, α float64) []float64 {
	n, visible, hidden := len(gradient), len(μ), len(λ)
	j := mat.NewDense(n, n, nil)
	for k := range n {
		j.Set(k, k, 1)
	}
	for i := range visible {
		for k := range hidden {
			j.Set(i*hidden+k, visible*hidden+visible+k, -float64(μ[i]))
			j.Set(i*hidden+k, visible*hidden+i, -float64(λ[k]))
		}
	}
	f := mat.NewDense(n, n, nil)
	for k, row := range fisher {
		f.SetRow(k, row)
	}
	var centered, damped mat.Dense
	damped.Product(j, f, j.T())
	for k := range n {
		damped.Set(k, k, damped.At(k, k)+α)
	}
	centered.Mul(j, mat.NewDense(n, 1, gradient))
	var direction, step mat.Dense
	if err := direction.Solve(&damped, &centered); err != nil {
		panic(err)
	}
	step.Mul(j.T(), &direction)
	return floats.ScaleTo(make([]float64, n), 1+α, mat.Col(nil, 0, &step))
}

// Where chains are in each state as often as its probability says, a step is the natural
// gradient of log p in the metric of its name, which is the Fisher matrix by enumeration.
func TestNaturalStepsByEnumeration(t *testing.T) {
	three := dataset.Shape{Height: 1, Width: 3}
	for name, machine := range map[string]Machine{
		"bernoulli": New(three).Hidden(2), "categorical": New(three).Hidden(2).HiddenCategorical(2),
		"labelled": New(dataset.Shape{Height: 1, Width: 1}).Hidden(2).Labels(2),
	} {
		t.Run(name, func(t *testing.T) { naturalSteps(t, machine) })
	}
}

func naturalSteps(t *testing.T, machine Machine) {
	m, visible, hidden := countable(t, machine)
	exact := exactly(m)
	data := exact.Visible[1 : len(exact.Visible)-1]
	rows, order := split(data), make([]int, len(data))
	if classes := m.parameters.Spec.Classes; classes > 0 {
		rows = splitLabeled(data, classes)
	}
	for r := range order {
		order[r] = r
	}
	gradient := make([]float64, len(exact.Parameters))
	for _, v := range data {
		floats.AddScaled(gradient, 1/float64(len(data)), exact.Gradient(v))
	}
	for _, α := range []float64{0.01, 0.3, 100} {
		for _, centered := range []bool{false, true} {
			steps := map[Metric][]float64{}
			for metric, fisher := range map[Metric][][]float64{Joint: exact.JointFisher(), Marginal: exact.Fisher()} {
				method := PCD().Chains(len(visible)).Natural(metric, α).Centered(centered)
				tr := training(t, m, method.spec, rows)
				for r := range visible {
					for i, x := range visible[r] {
						kernels.Row(tr.chains.visible, r)[i] = float32(x)
					}
					for k, x := range hidden[r] {
						kernels.Row(tr.metric.hidden, r)[k] = float32(x)
					}
				}
				tr.products.up(tr.chains.hiddenInputs, tr.chains.visible)
				for r := range visible {
					m.parameters.hiddenUnits().sumOut(kernels.Row(tr.chains.hiddenInputs, r), make([]float32, 2))
				}
				before := wide(tr.parameters)
				tr.positive(order)
				tr.center(len(data), len(visible))
				if err := tr.naturalise(len(data), len(visible)); err != nil {
					t.Fatal(err)
				}
				tr.optimizer.begin(1, 1)
				tr.update(len(data), len(visible))
				got := floats.SubTo(make([]float64, len(before)), wide(tr.parameters), before)
				want := natural(fisher, gradient, tr.visibleOffsets, tr.hiddenOffsets, α)
				if d := floats.Distance(got, want, math.Inf(1)); d > 5e-5*(1+α)/α { // (1+α)/α enlarges the errors of single precision and of fixed point
					t.Errorf("%v metric, α = %v, centred %v: the step is %v, want %v", metric, α, centered, got, want)
				}
				steps[metric] = got
			}
			if d := floats.Distance(steps[Joint], steps[Marginal], math.Inf(1)); α < 1 && d < 0.03*floats.Norm(steps[Joint], math.Inf(1)) {
				t.Errorf("α = %v: steps in both metrics differ by no more than %v: nothing is shown", α, d)
			}
		}
	}
}

// A natural step tends to the plain one as the damping grows, with chains of any kind, and the
// chains' draws are those of plain steps.
func TestNaturalStepsTendToPlainOnes(t *testing.T) {
	m := randomModel(t, 6, 4)
	rows := split(oracle.Binary(6)[10:43])
	for _, method := range []Method{PCD().Chains(40), PCD().Chains(7).Steps(3), PT().Chains(11).Temperatures(3)} {
		after := func(method Method) []float64 {
			tr := training(t, m, method.spec, rows)
			for range 3 {
				if _, err := tr.take(t.Context(), 0.1); err != nil {
					t.Fatal(err)
				}
			}
			return wide(tr.parameters)
		}
		plain := after(method)
		for _, metric := range []Metric{Joint, Marginal} {
			if got := after(method.Natural(metric, 1e5)); !floats.EqualApprox(got, plain, 1e-4) {
				t.Errorf("%v: the parameters are %v, of plain steps %v", method.Natural(metric, 1e5).spec, got, plain)
			}
			if got := after(method.Natural(metric, 0.1)); floats.EqualApprox(got, plain, 1e-2) {
				t.Errorf("%v: the parameters are those of plain steps: nothing is shown", method.Natural(metric, 0.1).spec)
			}
		}
	}
}

// Training that has diverged ends with an error that says so, and not with parameters that are
// no numbers.
func TestMetricsOfNoNumbers(t *testing.T) {
	m := randomModel(t, 6, 4)
	m.parameters.HiddenBiases[0] = float32(math.NaN())
	tr := training(t, m, PCD().Chains(9).Natural(Marginal, 0.1).spec, split(oracle.Binary(6)))
	if _, err := tr.take(t.Context(), 0.1); err == nil || !strings.Contains(err.Error(), "raise the damping, or lower the learning rate") {
		t.Errorf("the step returns the error %v", err)
	}
}
