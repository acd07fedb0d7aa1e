package deterministic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// everyMachine runs a test on machines of one, two and three hidden layers with each activation,
// whose parameters are large enough to have an effect.
func everyMachine(t *testing.T, test func(t *testing.T, m *Machine)) {
	t.Helper()
	for _, activation := range []Activation{Logistic, NoisyOr, PrintedProduct} {
		for _, units := range [][]int{{3, 2}, {3, 2, 2}, {4, 3, 2, 1}} {
			t.Run(fmt.Sprintf("%v %v", activation, units), func(t *testing.T) {
				test(t, shaken(t, activation, units...))
			})
		}
	}
}

// shaken returns a machine with standard normal parameters.
func shaken(t *testing.T, activation Activation, units ...int) *Machine {
	t.Helper()
	m := newMachine(t, activation, 1, units...)
	random := rand.New(philox.NewStream(2, philox.Initialize, 0))
	for i := range m.Flat {
		m.Flat[i] = random.NormFloat64()
	}
	return m
}

func newMachine(t *testing.T, activation Activation, seed uint64, units ...int) *Machine {
	t.Helper()
	m, err := New(activation, seed, units...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func logP(t *testing.T, m *Machine, data ...[]float64) []float64 {
	t.Helper()
	logP, err := m.LogP(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return logP
}

// The free energy is (On Helmholtz Machines, 12), with its sign and its index corrected, term by
// term.
func TestFreeEnergyIsTheSumOfDivergences(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine) {
		for _, x := range binaryStates(m.Units[0]) {
			q := append(m.Recognize(x), nil)
			want := 0.0
			for l := range m.Units {
				for j, p := range m.Generate(l, q[l+1]) {
					want += weighted(q[l][j], q[l][j]/p) + weighted(1-q[l][j], (1-q[l][j])/(1-p))
				}
			}
			wantClose(t, fmt.Sprintf("F(%v)", x), m.FreeEnergy(x), want, 1e-12)
		}
	})
}

// weighted returns q log(ratio), or 0 if q is 0.
func weighted(q, ratio float64) float64 {
	if q == 0 {
		return 0
	}
	return q * math.Log(ratio)
}

func TestGradientsAgreeWithFiniteDifferences(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine) {
		for _, x := range binaryStates(m.Units[0]) {
			g := m.NewGradient()
			wantClose(t, "F beside the gradient", m.AddGradient(g, x), m.FreeEnergy(x), 1e-14)
			for i := range m.Flat {
				want := slope(&m.Flat[i], func() float64 { return m.FreeEnergy(x) })
				wantClose(t, fmt.Sprintf("∂F(%v)/∂ parameter %d", x, i), g.Flat[i], want, 1e-8)
			}
		}
	})
}

func TestGradientsAddUp(t *testing.T) {
	m := shaken(t, NoisyOr, 3, 2, 2)
	x, y := []float64{1, 0, 1}, []float64{0, 0, 1}
	first, second, both := m.NewGradient(), m.NewGradient(), m.NewGradient()
	m.AddGradient(first, x)
	m.AddGradient(second, y)
	m.AddGradient(both, x)
	m.AddGradient(both, y)
	for i := range both.Flat {
		wantClose(t, fmt.Sprintf("parameter %d", i), both.Flat[i], first.Flat[i]+second.Flat[i], 1e-12)
	}
}

// stochasticFreeEnergy returns E_Q[log Q(h) − log p(x, h)] as a sum over all states, where Q draws
// every hidden unit independently with its mean.
func stochasticFreeEnergy(m *Machine, x []float64) float64 {
	q := m.Recognize(x)
	f := 0.0
	for states, logJoint := range joints(m, x) {
		logQ := 0.0
		for l := 1; l < len(states); l++ {
			for j, s := range states[l] {
				logQ += math.Log(s*q[l][j] + (1-s)*(1-q[l][j]))
			}
		}
		f += weighted(math.Exp(logQ), math.Exp(logQ-logJoint))
	}
	return f
}

// The free energy of the stochastic machine is a bound for every activation. With one hidden layer
// the deterministic free energy is not above it if log p and log(1−p) are concave in each parent,
// because the means are inside the logarithms.
func TestFreeEnergyOfTheStochasticMachineIsABound(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine) {
		for _, x := range binaryStates(m.Units[0]) {
			bound := stochasticFreeEnergy(m, x)
			if minus := -logP(t, m, x)[0]; !(bound >= minus) {
				t.Errorf("x = %v: the stochastic free energy %v lies below −log p(x) = %v", x, bound, minus)
			}
			if m.depth() == 1 && m.Activation != PrintedProduct && m.FreeEnergy(x) > bound {
				t.Errorf("x = %v: the deterministic free energy %v lies above the stochastic one, %v", x, m.FreeEnergy(x), bound)
			}
		}
	})
}

// If every mean is 0 or 1, nothing is approximated: F(x) = −log p(x, h).
func TestFreeEnergyOfCertainMeansIsABound(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine) {
		for l, layer := range m.Recognition {
			clear(layer.Weights)
			for j := range layer.Biases {
				layer.Biases[j] = 1000 * float64(1-2*((l+j)%2))
			}
		}
		for _, x := range binaryStates(m.Units[0]) {
			q := m.Recognize(x)
			for states, logJoint := range joints(m, x) {
				if fmt.Sprint(states) == fmt.Sprint(q) {
					wantClose(t, "F", m.FreeEnergy(x), -logJoint, 1e-12)
				}
			}
			if minus := -logP(t, m, x)[0]; m.FreeEnergy(x) <= minus {
				t.Errorf("x = %v: F = %v is not above −log p(x) = %v", x, m.FreeEnergy(x), minus)
			}
		}
	})
}

// A hidden unit that is on half of the time switches two visible units on or off together, almost
// surely. A recognition network without information has q = ½, for which either unit has the mean
// prediction ½: F = 2 log 2, even for a datum in which they differ, which the model almost never
// generates.
func TestFreeEnergyIsNoBoundInGeneral(t *testing.T) {
	m := newMachine(t, Logistic, 1, 2, 1)
	clear(m.Flat)
	for j := range 2 {
		m.Generative[0].Row(j)[0], m.Generative[0].Biases[j] = 20, -10
	}
	x := []float64{1, 0}
	wantClose(t, "F", m.FreeEnergy(x), 2*math.Ln2, 1e-12)
	wantClose(t, "−log p(x)", -logP(t, m, x)[0], statistics.Softplus(10)+statistics.Softplus(-10), 1e-12)
	if m.FreeEnergy(x) > -logP(t, m, x)[0] {
		t.Errorf("F = %v lies above −log p(x) = %v here too", m.FreeEnergy(x), -logP(t, m, x)[0])
	}
}
