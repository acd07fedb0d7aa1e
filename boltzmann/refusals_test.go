package boltzmann

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

func realNumbers(t *testing.T) *dataset.Set {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 0))
	rows := make([][]float64, 60)
	for r := range rows {
		for range 4 {
			rows[r] = append(rows[r], 10*random.NormFloat64())
		}
	}
	set, err := dataset.Spec{Name: "numbers", Binarization: dataset.Real}.FromRows(dataset.Shape{Height: 1, Width: 4}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Annealing estimates log Z of a Gaussian machine of real numbers, too, and binary machines refuse such rows.
func TestRowsOfRealNumbers(t *testing.T) {
	set := realNumbers(t)
	run, err := CD().Epochs(1).BatchSize(20).Train(t.Context(), New(set.Shape()).Hidden(5).Visible(Gaussian), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	exact, err := run.ExactLogZ(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	annealed, err := run.AIS(t.Context(), set.Train(), Annealing{Schedule: Even(300), Chains: 100}, nil)
	if err != nil || math.Abs(float64(annealed.Value)-exact) > 0.1 {
		t.Errorf("log Z is %v by annealing, error %v, and %v exactly", annealed.Value, err, exact)
	}
	m, err := New(set.Shape()).Hidden(3).Model(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.ExactLogP(t.Context(), set.Test()); err == nil || !strings.Contains(err.Error(), "real numbers") {
		t.Errorf("a binary machine reads real numbers: error %v", err)
	}
}

// A run below keeps its second pathway. Up-down would join the two, and natural gradients need all weights: both
// refuse it.
func TestSecondPathwaysAreKeptOrRefused(t *testing.T) {
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	short := func(m Method) Method { return m.Epochs(1).BatchSize(10) }
	machine, dir := New(set.Shape()).Hidden(20, 15).Beside(3, 10, 5), t.TempDir()
	run, err := short(CD()).TrainBelief(t.Context(), machine, set, dir)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := OpenRun(run.Dir()); err != nil || !slices.Equal(again.below[0].Spec.Beside, []int{3, 10}) {
		t.Errorf("the machine below has lost its pathway, error %v", err)
	}
	if _, _, err := run.Prior("last", CD().Spec(), 1); err == nil || !strings.Contains(err.Error(), "second pathway") {
		t.Errorf("up-down joins the pathways: error %v", err)
	}
	_, err = short(PCD().Natural(Joint, 0.1)).Train(t.Context(), New(set.Shape()).Hidden(4).Beside(4, 2), set, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "second pathway") {
		t.Errorf("natural gradients of two pathways: error %v", err)
	}
	_, err = short(PL().Steps(30)).On(filepath.Join(dir, "layer-1"), "last").Train(t.Context(), New(set.Shape()).Hidden(5), set, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "rows of 20 units") {
		t.Errorf("30 flips of the 20 units below: error %v", err)
	}
}

// A prior has the offsets of its own method, not of the method that trained the network.
func TestOffsetsOfPriors(t *testing.T) {
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	run, err := CD().Epochs(1).BatchSize(10).TrainBelief(t.Context(), New(set.Shape()).Hidden(5, 4), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for want, method := range map[float32]Method{0: CD().Centered(false), 0.5: CD().Spins(true)} {
		p, _, err := run.Prior("last", method.Spec(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if s := p.trainer; s.visibleOffsets[2] != want || s.hiddenOffsets[3] != want {
			t.Errorf("offsets %v and %v, want %v", s.visibleOffsets, s.hiddenOffsets, want)
		}
	}
}

// A machine that loses its density has diverged.
func TestImproperMachinesHaveDiverged(t *testing.T) {
	set := grays(t)
	_, err := CD().BatchSize(20).LearningRate(1000).Epochs(3).Train(t.Context(), gaussianHidden(New(set.Shape())).Visible(Gaussian), set, t.TempDir())
	if !errors.Is(err, runs.ErrDiverged) {
		t.Errorf("the error %v is not ErrDiverged", err)
	}
}
