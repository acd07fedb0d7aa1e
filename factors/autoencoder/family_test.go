package autoencoder

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// small returns a few rows of miniglyphs, and an experiment on them.
func small(t testing.TB, b dataset.Binarization) (Experiment, *dataset.Set) {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: b, Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := Family.Experiment(set)
	e.Epochs = 2
	e.Settings.Hidden, e.Settings.Code, e.Settings.Samples, e.Settings.BatchSize = []int{6}, 3, 2, 9
	return e, set
}

func TestFamily(t *testing.T) {
	e, set := small(t, dataset.Stochastic)
	e.Settings.Latent, e.Settings.Bound = GumbelSoftmax, IWAE
	runstest.Family(t, runstest.Case[Experiment, *Model]{
		Experiment: e, Set: set, Kind: Family.Kind(),
		Refused: []runstest.Refusal[Experiment]{
			runstest.Refuse(func(e *Experiment) { e.Settings.Hidden = []int{3, 0} }, "hidden = [3 0]", "such as [200], or an empty list (--hidden \"\")"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Code = 0 }, "code = 0", "between 1"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Hidden = []int{mostUnits, mostUnits} }, "the networks", "use fewer units"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Temperature = 0.01 }, "temperature = 0.01", "between 0.1"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Samples = 0 }, "samples = 0", "at least 1"),
			runstest.Refuse(func(e *Experiment) { e.Settings.LearningRate = math.Inf(1) }, "learning_rate = +Inf", "finite"),
			runstest.Refuse(func(e *Experiment) { e.Dataset.Binarization = dataset.Gray }, "binarization = grey with decoder = bernoulli", "use stochastic"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Decoder = Normal }, "binarization = stochastic with decoder = normal", "use grey"),
		},
	})
}

// An autoencoder of grey values is resumed exactly, too.
func TestResumeIsExact(t *testing.T) {
	e, set := small(t, dataset.Gray)
	e.Settings.Decoder = Normal
	runstest.Resume(t, e, set)
}

// Models draw and reconstruct images: as many as are asked for, of values that rows have.
func TestDrawings(t *testing.T) {
	for _, b := range []dataset.Binarization{dataset.Fixed, dataset.Gray} {
		e, set := small(t, b)
		if b == dataset.Gray {
			e.Settings.Decoder = Normal
		}
		run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Model().Drawings()[0].Draw(t.Context(), runs.Sampling{N: 1 << 40}); err == nil || !strings.Contains(err.Error(), "1099511627776 samples take") {
			t.Errorf("the error of a trillion samples is %v", err)
		}
		for _, d := range run.Model().Drawings() {
			sheets, err := d.Draw(t.Context(), runs.Sampling{N: 3, Seed: 1, Rows: set.Validation()})
			if err != nil {
				t.Fatal(err)
			}
			images := 3
			if d.Kind == "reconstructions" {
				images = 6 // each beside its row
			}
			if len(sheets) != 1 || len(sheets[0].Values) != images || len(sheets[0].Values[0]) != 196 {
				t.Fatalf("%s have %d sheets, want one of %d images", d.Kind, len(sheets), images)
			}
			binary := true
			for _, v := range sheets[0].Values[0] {
				binary = binary && (v == 0 || v == 1)
			}
			if want := b == dataset.Fixed && d.Kind != "means"; binary != want {
				t.Errorf("that values of the first of %s are 0 or 1 is %v, want %v", d.Kind, binary, want)
			}
		}
	}
}

// A model refuses rows that its encoder cannot read, and reconstructs nothing if there are no rows.
func TestRowsOfOtherDataAreRefused(t *testing.T) {
	e, set := small(t, dataset.Fixed)
	m := newModel(e.Settings, dataset.Fixed, set.Shape())
	narrow, reals, none := repeated(2, 1, 0, 1), set.Test(), set.Test()
	reals.Values = dataset.Reals(reals.Units, make([]float32, reals.Rows*reals.Units))
	none.Values, none.Labels = dataset.Values{}, nil
	if x, means := m.Reconstruct(none, 1); len(x) != 0 || len(means) != 0 {
		t.Errorf("no rows have %d reconstructions", len(x))
	}
	for says, rows := range map[string]dataset.Split{"the model has 196 visible units": narrow, "rows have real numbers": reals} {
		if _, err := m.Estimate(t.Context(), rows, 1, 1, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q in it", err, says)
		}
		func() {
			defer func() {
				if panicked := fmt.Sprint(recover()); !strings.HasPrefix(panicked, "autoencoder: ") || !strings.Contains(panicked, says) {
					t.Errorf("the panic is %v, want %q in it", panicked, says)
				}
			}()
			m.Reconstruct(rows, 1)
		}()
	}
}

// The limit of log p, below which training has diverged, is far below the baseline of each decoder.
func TestBaseline(t *testing.T) {
	for _, b := range []dataset.Binarization{dataset.Fixed, dataset.Gray} {
		e, set := small(t, b)
		if b == dataset.Gray {
			e.Settings.Decoder = Normal
		}
		of := e.Baseline(set, set.Validation())
		if !(of.Limit < of.Factorized.Value) || (of.Factorized.Value > 0) != (b == dataset.Gray) {
			t.Errorf("of %v rows the baseline is %+v", b, of)
		}
	}
}

// A missing list of hidden layers is an empty list: experiments with either are the same.
func TestNoHiddenLayers(t *testing.T) {
	e, set := small(t, dataset.Fixed)
	other := e
	e.Settings.Hidden, other.Settings.Hidden = nil, []int{}
	if err := e.Check(set); err != nil || e.Hash() != other.Hash() {
		t.Errorf("without a list the hash is %s, and with an empty list %s (%v)", e.Hash(), other.Hash(), err)
	}
}

// Rows whose standard deviation is near the smallest of a normal decoder are refused when training begins.
func TestSmallRowsAreRefused(t *testing.T) {
	for scale, refused := range map[float64]bool{1: false, 1e-3: true} {
		rows := make([][]float64, 20)
		for i := range rows {
			rows[i] = []float64{scale * float64(i%2), scale * float64(i%3)}
		}
		set, err := dataset.Spec{Name: "small", Binarization: dataset.Real}.FromRows(dataset.Shape{Height: 1, Width: 2}, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := Family.Experiment(set)
		e.Settings.Decoder = Normal
		if _, err := e.Begin(set); refused != (err != nil && strings.Contains(err.Error(), "need at least 0.01: scale the values")) {
			t.Errorf("at the scale %v, the error is %v", scale, err)
		}
	}
}
