package energies

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// small opens a few miniature glyphs.
func small(t *testing.T, b dataset.Binarization) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: b, Subset: 30, Validation: new(8)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestConvolutionalFamily(t *testing.T) {
	set := small(t, dataset.Fixed)
	e := ConvolutionalRBM.Experiment(set)
	e.Epochs, e.Settings.Machine, e.Settings.Training = 2, Convolution{Filters: 2, Window: 11, Pool: 2, Activity: 0.1, Sparsity: 1, Above: 3, AboveWindow: 2}, Training{LearningRate: 0.01, BatchSize: 10, Chains: 3, Steps: 1}
	runstest.Family(t, runstest.Case[Experiment[Convolution], *Model]{
		Experiment: e, Set: set, Kind: ConvolutionalRBM.Kind(), Impossible: map[string]float64{"second_moments": -1},
		Refused: []runstest.Refusal[Experiment[Convolution]]{
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Filters = 0 }, "filters = 0", "at least 1"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Window = 15 }, "window = 15", "at most 14"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Pool = 3 }, "pool = 3 does not divide", "give a pool of 1, 2, 4, or a window of 3, 6, 9, 12"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.AboveWindow = 3 }, "the machine above: window = 3 for images of 2×2", "at most 2"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Activity = 0 }, "activity = 0", "such as 0.03"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Training.Steps = 0 }, "steps = 0", "at least 1"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Dataset.Binarization = dataset.Gray }, "binarization = grey", "use fixed or drawn"),
		},
	})
}

// Runs of each other kind resume byte for byte, and settings that cannot be trained are refused by name.
func TestFamiliesResume(t *testing.T) {
	binary, grey := small(t, dataset.Fixed), realRows(t)
	other := func(t *testing.T, e runs.Experiment, set *dataset.Set, says ...string) {
		t.Helper()
		err := e.Check(set)
		for _, text := range says {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("the error is %v, want one with %q", err, text)
			}
		}
	}
	brief := Training{LearningRate: 0.01, BatchSize: 10, Chains: 3, Steps: 1}
	t.Run("spike-and-slab", func(t *testing.T) {
		e := SpikeAndSlabRBM.Experiment(grey)
		e.Epochs, e.Settings = 2, Settings[SpikeAndSlab]{SpikeAndSlab{3}, brief}
		runstest.Resume(t, e, grey)
		other(t, SpikeAndSlabRBM.Experiment(binary), binary, "binarization = fixed", "use grey, or real")
		constant := small(t, dataset.Gray)
		other(t, SpikeAndSlabRBM.Experiment(constant), constant, "cannot be whitened", "leave out constant units")
		e.Settings.Machine.Hidden = 0
		other(t, e, grey, "hidden = 0", "at least 1")
	})
	t.Run("Student-t", func(t *testing.T) {
		e := StudentT.Experiment(grey)
		e.Epochs, e.Settings = 2, Settings[MeanCovariance]{MeanCovariance{2, 3}, brief}
		runstest.Resume(t, e, grey)
		e.Settings.Machine.Factors = -1
		other(t, e, grey, "factors = -1", "0 or more")
	})
	brief.Chains = 0
	t.Run("conditional", func(t *testing.T) {
		e := ConditionalGaussianRBM.Experiment(grey)
		e.Epochs, e.Settings = 2, Settings[Conditional]{Conditional{3, "left"}, brief}
		runstest.Resume(t, e, grey)
		e.Settings.Machine.Hidden = 1 << 40
		other(t, e, grey, "numbers of the machine and its chains take", "use fewer")
		e.Settings.Machine.Hidden, e.Settings.Training.Chains = 3, 100
		other(t, e, grey, "chains = 100", "persistent chains belong to the given units of one row")
		e.Settings.Training.Chains, e.Settings.Machine.Predict = 0, "middle"
		other(t, e, grey, "predict: mask \"middle\"", "use left, right")
	})
	t.Run("gated", func(t *testing.T) {
		e := GatedRBM.Experiment(grey)
		e.Epochs, e.Settings = 2, Settings[Gated]{Gated{3, 4, "bottom"}, brief}
		runstest.Resume(t, e, grey)
		e.Settings.Machine.Factors = 0
		other(t, e, grey, "factors = 0", "at least 1")
	})
}

// realRows are rows of six correlated real numbers.
func realRows(t *testing.T) *dataset.Set {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	var rows strings.Builder
	for range 50 {
		x := r.NormFloat64()
		for i := range 6 {
			fmt.Fprintf(&rows, "%v ", 3+x*float64(i)+r.NormFloat64())
		}
		fmt.Fprintln(&rows)
	}
	path := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(path, []byte(rows.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, Binarization: dataset.Real, Shape: "2x3", Validation: new(8)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The density of rows is |M| times the density of the whitened rows: without hidden units it is the Gaussian of
// the rows' covariance.
func TestDensityIsOfTheRowsThemselves(t *testing.T) {
	set := realRows(t)
	e := MeanCovarianceRBM.Experiment(set)
	e.Settings.Machine = MeanCovariance{1, 0}
	m, err := meanCovarianceKind("", "", false).model(e, set.Shape())
	if err != nil {
		t.Fatal(err)
	}
	rows := set.Train().Floats()
	if err := m.scale(rows); err != nil {
		t.Fatal(err)
	}
	got, err := m.Estimate(t.Context(), set.Test(), 0, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var covariance mat.SymDense
	flat := mat.NewDense(len(rows), 6, slices.Concat(rows...))
	stat.CovarianceMatrix(&covariance, flat, nil)
	covariance.ScaleSym(float64(len(rows)-1)/float64(len(rows)), &covariance)
	means := make([]float64, 6)
	for i := range means {
		means[i] = stat.Mean(mat.Col(nil, i, flat), nil)
	}
	normal, ok := distmv.NewNormal(means, &covariance, nil)
	if !ok {
		t.Fatal("the covariance is not positive definite")
	}
	want := 0.0
	for _, x := range set.Test().Floats() {
		want += normal.LogProb(x) / float64(set.Test().Rows)
	}
	near(t, "log p", got[runs.LogP.Key].Value, want, 1e-6)
}

// Standardised rows have the variance 1 at any scale. Only units without any variation are constant.
func TestUnitsAreStandardisedAtAnyScale(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	scales := []float64{1, 1e-8, 1e8, 0}
	rows := make([][]float64, 1000)
	for i := range rows {
		for _, scale := range scales {
			rows[i] = append(rows[i], 0.1+scale*r.NormFloat64())
		}
		rows[i][1] -= 0.1
	}
	s := newScaling(4)
	if err := s.standardize(rows, []int{0, 1, 2}); err != nil {
		t.Fatal(err)
	}
	for i, scale := range scales {
		if got := s.matrix[i*4+i]; scale > 0 && math.Abs(got*scale-1) > 0.1 || scale == 0 && got != 1 {
			t.Errorf("a unit of the scale %v is multiplied by %v", scale, got)
		}
	}
	if err := s.standardize(rows, []int{3}); err == nil || !strings.Contains(err.Error(), "unit 4 is constant") {
		t.Errorf("the error of a constant unit is %v", err)
	}
	if err := newScaling(2).whiten([][]float64{{1, 1e-8}, {2, -1e-8}, {-1, 3e-8}}); err == nil || !strings.Contains(err.Error(), "bring the units to one scale") {
		t.Errorf("the error of units of two scales is %v", err)
	}
	if err := newScaling(1).whiten([][]float64{{1e200}, {-1e200}}); err == nil || !strings.Contains(err.Error(), "the covariance of the training rows is +Inf in row 1 and column 1") {
		t.Errorf("the error of a variance beyond the range of numbers is %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if err := (&scaling{make([]float64, 1), []float64{v}, nil}).back([][]float64{{1}}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the tensor scaling is %v in row 1", v)) {
			t.Errorf("the error of a scale of %v is %v", v, err)
		}
		if logZ := gaussian([]float64{0}, mat.NewSymDense(1, []float64{v})); !math.IsNaN(logZ) {
			t.Errorf("the integral of a Gaussian of the precision %v is e^%v", v, logZ)
		}
	}
}

// Chains that reject most of their steps for a hundred gradients are an error, and step sizes follow acceptances.
func TestRejectionsEndTraining(t *testing.T) {
	h := newMeanCovariance(MeanCovariance{}, 1, false)
	if err := h.adapt(0.95); err != nil || math.Abs(h.step[0]-0.102) > 1e-15 {
		t.Errorf("after an acceptance of 0.95 the step size is %v (%v)", h.step[0], err)
	}
	for range 99 {
		if err := h.adapt(0.4); err != nil {
			t.Fatal(err)
		}
	}
	err := h.adapt(0.3)
	if !errors.Is(err, runs.ErrDiverged) || !strings.Contains(err.Error(), "less than half of their steps for 100 gradients in a row, 30 % of the last") {
		t.Errorf("the error is %v", err)
	}
}

// Whatever the parameters, the precision of v given the spikes is positive definite.
func TestSpikeAndSlabIsADensity(t *testing.T) {
	for seed := range uint64(20) {
		e := newSpikeAndSlab(5, 4)
		random(e, 3, seed)
		if math.IsNaN(e.LogZ(nil)) {
			t.Errorf("seed %d: a precision is not positive definite", seed)
		}
	}
}
