package boltzmann

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann/oracle"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
)

// categoricalModel has random parameters and 3 variables of 3 categories; exactly what it is
// the oracle says.
func categoricalModel(t *testing.T) (*Model, *oracle.Machine) {
	t.Helper()
	m, err := New(dataset.Shape{Height: 1, Width: 9}).Hidden(2).Categorical(3).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(8, 9))
	for k := range m.parameters.Flat {
		m.parameters.Flat[k] = float32(random.NormFloat64())
	}
	return m, exactly(m)
}

// Enumeration gives the same free energies and pseudo-likelihood of categorical units.
func TestCategoricalUnitsAreExact(t *testing.T) {
	m, exact := categoricalModel(t)
	energies, err := m.FreeEnergy(t.Context(), split(exact.Visible))
	if err != nil {
		t.Fatal(err)
	}
	w := newProducts(m.parameters)
	states, hidden := matrix(exact.Visible), kernels.NewMatrix(len(exact.Visible), 2)
	w.up(hidden, states)
	measured := make([]likelihood, len(exact.Visible))
	newMeter(w).measure(measured, states, hidden, kernels.Matrix{}, place{}, 3)
	for s, v := range exact.Visible {
		want := exact.FreeEnergy(v)
		if math.Abs(energies[s]-want) > 1e-10 || math.Abs(measured[s].freeEnergy-want) > 1e-5 {
			t.Errorf("F(%v) = %v and %v, want %v", v, energies[s], measured[s].freeEnergy, want)
		}
		pseudo := 0.0
		for g := range 3 {
			var terms []float64
			for c := range 3 {
				other := slices.Clone(v)
				clear(other[3*g : 3*g+3])
				other[3*g+c] = 1
				terms = append(terms, -exact.FreeEnergy(other))
			}
			pseudo -= want + floats.LogSumExp(terms)
		}
		if math.Abs(measured[s].objective-pseudo) > 1e-5 {
			t.Errorf("log PL(%v) = %v, want %v", v, measured[s].objective, pseudo)
		}
	}
}

// agreeing are rows of three variables of three categories, the first two of which agree. The label is their category.
func agreeing(t *testing.T) *dataset.Set {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	rows, labels := make([][]float64, 300), make([]uint8, 300)
	for r := range rows {
		rows[r] = make([]float64, 9)
		both := random.IntN(3)
		labels[r] = uint8(both)
		rows[r][both], rows[r][3+both], rows[r][6+random.IntN(3)] = 1, 1, 1
	}
	set, err := dataset.Spec{Name: "agreeing"}.FromLabeledRows(dataset.Shape{Height: 1, Width: 9}, rows[:200], rows[200:], labels[:200], labels[200:])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Training finds that two variables agree, by each algorithm, and comes near the entropy of
// what is left, 2 log 3; independent units have 3 log 3.
func TestCategoricalUnitsLearn(t *testing.T) {
	set := agreeing(t)
	for _, method := range []Method{CD(), PCD(), PT().Temperatures(3)} {
		run, err := method.Schedule(runs.ConstantRate).BatchSize(20).Epochs(60).Train(t.Context(), New(set.Shape()).Hidden(6).Categorical(3), set, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		logP, err := run.ExactLogP(t.Context(), set.Test())
		if err != nil {
			t.Fatal(err)
		}
		if mean := floats.Sum(logP) / float64(len(logP)); !(mean > -2*math.Log(3)-0.3) {
			t.Errorf("%v: log p is %v, want near %v", method.spec, mean, -2*math.Log(3))
		}
		if base := run.History().Baseline.Factorized.Value; math.Abs(base+3*math.Log(3)) > 0.1 {
			t.Errorf("%v: the baseline is %v, want about %v", method.spec, base, -3*math.Log(3))
		}
	}
}

// Rows of which not exactly one unit of a variable is on are refused, and numbers of
// categories that do not divide the units.
func TestRowsOfOtherCategoriesAreRefused(t *testing.T) {
	set := agreeing(t)
	for says, machine := range map[string]Machine{
		"give at least 2, a divisor of the 9":         New(set.Shape()).Categorical(2),
		"categories = 1":                              New(set.Shape()).Categorical(1),
		"it is in exactly one category":               New(set.Shape()).Categorical(9),
		"only categorical ones have categories":       New(set.Shape()).Categorical(3).Visible(Bernoulli),
		"categories = 0 of categorical visible units": New(set.Shape()).Visible(Categorical),
		"the machine is for images of 1×6, the d":     New(dataset.Shape{Height: 1, Width: 6}).Categorical(3),
	} {
		if _, err := PCD().BatchSize(20).Train(t.Context(), machine, set, t.TempDir()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}

// A model refuses rows that its variables cannot be, and inpainting only where the mask does not hide them.
func TestModelsRefuseImpossibleRows(t *testing.T) {
	m, _ := categoricalModel(t)
	set := agreeing(t)
	for says, state := range map[string][]float64{
		"row 2 of test has a variable in 2 categories": {0, 1, 0, 1, 1, 0, 0, 0, 1},
		"row 2 of test has a variable in 0 categories": {0, 1, 0, 0, 0, 0, 0, 0, 1},
	} {
		rows := split([][]float64{{1, 0, 0, 1, 0, 0, 1, 0, 0}, state})
		hiding := func(g int) error {
			mask := make(dataset.Mask, 9)
			copy(mask[3*g:], dataset.Mask{true, true, true})
			return second(m.Inpaint(t.Context(), rows, mask, 1, 1, nil))
		}
		for name, err := range map[string]error{
			"free energies": second(m.FreeEnergy(t.Context(), rows)), "log p": second(m.ExactLogP(t.Context(), rows)), "features": second(m.Features(t.Context(), rows)),
			"evaluation": second(m.Evaluate(t.Context(), set, rows, Annealing{}, nil)), "inpainting": hiding(0),
		} {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: error %v, want one that says %q", name, err, says)
			}
		}
		if err := hiding(1); err != nil {
			t.Error(err)
		}
	}
}
