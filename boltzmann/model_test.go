package boltzmann

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// randomModel has standard normal parameters.
func randomModel(t *testing.T, visible, hidden int) *Model {
	t.Helper()
	m, err := New(dataset.Shape{Height: 1, Width: visible}).Hidden(hidden).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(visible), uint64(hidden)))
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] = float32(random.NormFloat64())
	}
	return m
}

// exactly is the oracle of a model.
func exactly(m *Model) *oracle.Machine {
	p := m.parameters
	parameters := wide(p)
	states := oracle.Binary(p.Visible() - p.Spec.Classes)
	if each := p.Spec.Categories; each > 0 {
		states = oracle.Categorical((p.Visible()-p.Spec.Classes)/each, each)
	}
	if p.Spec.labelled() {
		var labeled [][]float64
		for _, v := range states {
			for _, y := range oracle.Categorical(1, p.Spec.Classes) {
				labeled = append(labeled, slices.Concat(v, y))
			}
		}
		states = labeled
	}
	hidden := oracle.Binary(p.Hidden())
	if each := p.Spec.HiddenCategories; each > 0 {
		hidden = oracle.Categorical(p.Hidden()/each, each)
	}
	return oracle.Bipartite(states, hidden, parameters)
}

// split has rows of zeros and ones as its values.
func split(states [][]float64) dataset.Split {
	var values []uint8
	for _, x := range slices.Concat(states...) {
		values = append(values, uint8(255*x))
	}
	return dataset.Split{Name: "test", Shape: dataset.Shape{Height: 1, Width: len(states[0])}, Values: dataset.Bytes(len(states[0]), values)}
}

// sizes are those of machines with more visible units, more hidden units, and as many.
var sizes = [][2]int{{6, 3}, {3, 7}, {5, 5}, {1, 1}}

func TestExactQuantitiesAreThoseOfTheOracle(t *testing.T) {
	for _, units := range sizes {
		m := randomModel(t, units[0], units[1])
		want := exactly(m)
		logZ, err := m.ExactLogZ(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(logZ-want.LogZ()) > 1e-12 {
			t.Errorf("%v: log Z = %v, want %v", units, logZ, want.LogZ())
		}
		energies, err := m.FreeEnergy(t.Context(), split(want.Visible))
		if err != nil {
			t.Fatal(err)
		}
		logP, err := m.ExactLogP(t.Context(), split(want.Visible))
		if err != nil {
			t.Fatal(err)
		}
		for s, v := range want.Visible {
			if f := want.FreeEnergy(v); math.Abs(energies[s]-f) > 1e-12 {
				t.Errorf("%v: F(%v) = %v, want %v", units, v, energies[s], f)
			}
			if l := want.LogP(v); math.Abs(logP[s]-l) > 1e-12 {
				t.Errorf("%v: log p(%v) = %v, want %v", units, v, logP[s], l)
			}
		}
	}
}

// Where states are summed in several parts, log Z is still the sum of e^(−F).
func TestLogZInParts(t *testing.T) {
	for _, units := range [][2]int{{12, 13}, {13, 12}} {
		m := randomModel(t, units[0], units[1])
		energies, err := m.FreeEnergy(t.Context(), split(oracle.Binary(units[0])))
		if err != nil {
			t.Fatal(err)
		}
		floats.Scale(-1, energies)
		logZ, err := m.ExactLogZ(t.Context())
		if want := floats.LogSumExp(energies); err != nil || math.Abs(logZ-want) > 1e-10 {
			t.Errorf("%v: log Z = %v (%v), want %v", units, logZ, err, want)
		}
	}
}

// Inputs of units of any size neither overflow nor vanish.
func TestLogPartitionOfExtremeInputs(t *testing.T) {
	for _, c := range []struct {
		inputs []float64
		want   float64
	}{
		{[]float64{1000, -1000}, 1000},
		{[]float64{-1e300}, 0},
		{make([]float64, 5000), 5000 * math.Ln2},
		{nil, 0},
	} {
		if got := (bernoulli{}).partition(c.inputs); math.Abs(got-c.want) > 1e-9*(1+c.want) {
			t.Errorf("%d inputs: %v, want %v", len(c.inputs), got, c.want)
		}
	}
}

// matrix holds states as rows.
func matrix(states [][]float64) kernels.Matrix {
	m := kernels.NewMatrix(len(states), len(states[0]))
	for r, state := range states {
		for j, x := range state {
			kernels.Row(m, r)[j] = float32(x)
		}
	}
	return m
}

// The inputs of units are the logits of their probabilities given the other side.
func TestInputsAreThoseOfTheConditionals(t *testing.T) {
	for _, units := range sizes {
		m := randomModel(t, units[0], units[1])
		want, w := exactly(m), newProducts(m.parameters)
		inputs := kernels.NewMatrix(len(want.Visible), units[1])
		w.up(inputs, matrix(want.Visible))
		for r, v := range want.Visible {
			for _, h := range want.Hidden {
				if got, logP := logProbability(kernels.Row(inputs, r), h), want.LogPHidden(h, v); math.Abs(got-logP) > 1e-5 {
					t.Errorf("log p(%v|%v) = %v, want %v", h, v, got, logP)
				}
			}
		}
		inputs = kernels.NewMatrix(len(want.Hidden), units[0])
		w.down(inputs, matrix(want.Hidden))
		for r, h := range want.Hidden {
			for _, v := range want.Visible {
				if got, logP := logProbability(kernels.Row(inputs, r), v), want.LogPVisible(v, h); math.Abs(got-logP) > 1e-5 {
					t.Errorf("log p(%v|%v) = %v, want %v", v, h, got, logP)
				}
			}
		}
	}
}

// logProbability is that of states of Bernoulli units with inputs.
func logProbability(inputs []float32, states []float64) float64 {
	sum := 0.0
	for j, a := range inputs {
		sum += states[j]*float64(a) - math.Log1p(math.Exp(float64(a)))
	}
	return sum
}

// Products by many rows and units are what they are row by row.
func TestProductsOfManyRows(t *testing.T) {
	const rows, visible, hidden = 70, 101, 53
	m := randomModel(t, visible, hidden)
	w, c := newProducts(m.parameters), newChains(rows, m.parameters)
	c.start(1)
	copy(c.visible.Data, c.hidden.Data) // any states
	w.up(c.hiddenInputs, c.visible)
	w.down(c.visibleInputs, c.hidden)
	check := func(name string, got, from kernels.Matrix, biases []float32, weight func(to, from int) float32) {
		for r := range rows {
			for j, bias := range biases {
				want := float64(bias)
				for i, x := range kernels.Row(from, r) {
					want += float64(x) * float64(weight(j, i))
				}
				if got := float64(kernels.Row(got, r)[j]); math.Abs(got-want) > 1e-4 {
					t.Fatalf("row %d: the input of %s unit %d is %v, want %v", r, name, j, got, want)
				}
			}
		}
	}
	p := m.parameters
	check("hidden", c.hiddenInputs, c.visible, p.HiddenBiases, func(j, i int) float32 { return kernels.Row(p.Weights, i)[j] })
	check("visible", c.visibleInputs, c.hidden, p.VisibleBiases, func(i, j int) float32 { return kernels.Row(p.Weights, i)[j] })
}

// The same seed draws the same images, whatever the number of processors.
func TestSamplesDependOnTheSeedAlone(t *testing.T) {
	m := randomModel(t, 20, 10)
	sample := func(m *Model) dataset.Sheet {
		sheet, err := m.Means(t.Context(), 100, 5)
		if err != nil {
			t.Fatal(err)
		}
		return sheet
	}
	want := sample(m)
	oneProcessor(func() {
		if !reflect.DeepEqual(sample(m), want) {
			t.Error("one processor draws other images than several")
		}
	})
	if reflect.DeepEqual(sample(m.WithSeed(2)), want) {
		t.Error("another seed draws the same images")
	}
}

// oneProcessor calls f where there is but one processor.
func oneProcessor(f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f()
}

// Stochastic rows are drawn with the probabilities that their values are.
func TestStochasticRows(t *testing.T) {
	const n = 10_000
	m := randomModel(t, 4, 1)
	m.encoding.binarization = dataset.Stochastic
	rows := dataset.Split{Shape: dataset.Shape{Height: 1, Width: 4}, Values: dataset.Bytes(4, slices.Repeat([]uint8{0, 51, 204, 255}, n))}
	states, err := m.states(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []float64{0, 0.2, 0.8, 1} {
		on := 0.0
		for r := range n {
			on += float64(kernels.Row(states, r)[i])
		}
		if math.Abs(on-n*p) > 4*math.Sqrt(n*p*(1-p)) {
			t.Errorf("unit %d is on in %v of %d rows, want %v", i, on, n, n*p)
		}
	}
}

func TestModelsSayWhatTheyCannotDo(t *testing.T) {
	m := randomModel(t, 30, 26)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	rows := split(oracle.Binary(3))
	for _, c := range []struct {
		name, says string
		err        error
	}{
		{"too many states", "use at most 25", second(m.ExactLogZ(t.Context()))},
		{"too many states", "use at most 25", second(m.ExactLogP(t.Context(), rows))},
		{"other rows", "the model has 30 visible units, but the test rows have 3", second(m.FreeEnergy(t.Context(), rows))},
		{"no rows", "has no rows", second(m.FreeEnergy(t.Context(), dataset.Split{Shape: dataset.Shape{Height: 1, Width: 30}}))},
		{"too few values", "give 30", second(m.FreeEnergy(t.Context(), dataset.Split{Values: dataset.Bytes(29, make([]uint8, 29)), Shape: dataset.Shape{Height: 1, Width: 30}}))},
		{"no chains", "give at least 1 chain", second(m.Means(t.Context(), 0, 1))},
		{"no sweeps", "0 to 2³²−1 sweeps", second(m.Means(t.Context(), 1, -1))},
		{"no room", "use fewer", second(m.Means(t.Context(), 1<<40, 1))},
		{"cancelled", "cancel", second(m.Means(canceled, 1, 1))},
		{"cancelled", "cancel", second(randomModel(t, 3, 2).ExactLogP(canceled, rows))},
		{"no hidden units", "give between 1", second(New(dataset.Shape{Height: 1, Width: 3}).Hidden(0).Model(1))},
		{"no visible units", "give rows of 1 to", second(New(dataset.Shape{}).Model(1))},
		{"no room", "use fewer hidden units", second(New(dataset.Shape{Height: 1, Width: mostUnits}).Hidden(mostUnits).Model(1))},
		{"no deviation", "0.01 is usual", second(New(dataset.Shape{Height: 1, Width: 3}).Deviation(math.NaN()).Model(1))},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.name, c.err, c.says)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A change of a copy of the parameters leaves the model as it is.
func TestParametersAreACopy(t *testing.T) {
	m := randomModel(t, 3, 2)
	p := m.Parameters()
	if !reflect.DeepEqual(p, m.parameters) {
		t.Fatal("the copy is not the same")
	}
	p.Weights.Data[0]++
	p.HiddenBiases[1]++
	if reflect.DeepEqual(p, m.parameters) {
		t.Error("the copy shares memory with the model")
	}
}

// Values say what they are when they are printed, and none prints its insides.
func TestValuesSayWhatTheyAre(t *testing.T) {
	visible := dataset.Shape{Height: 2, Width: 3}
	for _, c := range []struct {
		value any
		want  string
	}{
		{New(visible).Hidden(4), "a restricted Boltzmann machine of 6–4 units, bernoulli and bernoulli"},
		{New(visible).Hidden(4, 2), "a deep Boltzmann machine of 6–4–2 units, bernoulli and bernoulli"},
		{New(visible).Hidden(4).Visible(Gaussian).Labels(3), "a restricted Boltzmann machine of 6–4 units, gaussian and bernoulli, with a label of 3 classes"},
		{PCD().LearningRate(0.5).Epochs(7).Seed(3), "PCD-1, η = 0.5; 7 epochs, seed 3"},
		{randomModel(t, 6, 4), "a restricted Boltzmann machine of 6–4 units, bernoulli and bernoulli, with 34 parameters"},
	} {
		if got := fmt.Sprint(c.value); got != c.want {
			t.Errorf("%T is printed as %q, want %q", c.value, got, c.want)
		}
	}
}
