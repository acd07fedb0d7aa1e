package hm

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// Measurements during training must equal evaluations of the checkpoint of their epoch, and must
// not change training.
func TestMeasurementsAreEvaluationsOfTheirEpochs(t *testing.T) {
	t.Parallel()
	set, watched, plain := patterns(t), t.TempDir(), t.TempDir()
	method := short(BiHM())
	run := mustTrain(t, method.Keep(2, 4).
		Measure(Measurement{Every: 2, Samples: 30, Rows: 8, LogZ2: 200, LogZ2Inner: 3}).
		Measure(Measurement{Name: "held-out", Every: 4, Split: "validation", Samples: 5}), set, watched)
	mustTrain(t, method, set, plain)
	if a, b := contents(t, watched)["/"+checkpointFile], contents(t, plain)["/"+checkpointFile]; a != b {
		t.Error("measurements have changed training")
	}

	for _, e := range run.History().Epochs {
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range e.Measured {
				if !yield(name) {
					return
				}
			}
		})
		want := map[int][]string{2: {"test"}, 4: {"held-out", "test"}, 6: {"test"}}[e.Epoch]
		if !slices.Equal(names, want) {
			t.Errorf("after epoch %d %v are measured, want %v", e.Epoch, names, want)
		}
	}
	if measured := run.History().Epochs[3].Measured["held-out"]; len(measured) == 0 || measured.Of(runs.LogP) == 0 || !math.IsNaN(measured.Of(runs.Measure{Key: "log_p_se"})) {
		t.Errorf("5 samples of each row measure %v, want log p without its standard error", measured)
	}
	for _, epoch := range []int{2, 4, 6} {
		model, err := run.At(epoch)
		if err != nil {
			t.Fatal(err)
		}
		model = model.WithSeed(1)
		of, err := model.Evaluate(t.Context(), model.Subset(set.Test(), 8), 30, nil)
		if err != nil {
			t.Fatal(err)
		}
		z, err := model.LogZ2(t.Context(), 200, 3)
		if err != nil {
			t.Fatal(err)
		}
		of = of.WithLogZ2(z)
		got := run.History().Epochs[epoch-1].Measured["test"]
		want := runs.Measures{
			"log_p": of.LogP, "log_p_se": float64(of.LogPSE), "bound": of.Bound, "bound_se": float64(of.BoundSE),
			"log_p_tilde_star": of.LogPTildeStar, "log_p_tilde_star_se": float64(of.LogPTildeStarSE),
			"log_z2": *of.LogZ2, "log_z2_se": float64(*of.LogZ2SE), "log_p_star": *of.LogPStar, "log_p_star_se": float64(*of.LogPStarSE),
			"ess": of.ESS, "ess_se": float64(of.ESSSE), "ess_star": of.ESSStar, "ess_star_se": float64(of.ESSStarSE),
		}
		for key, size := range of.SampleSizes {
			if size.Few() {
				delete(want, key+"_se")
			}
		}
		if of.SampleSizes["log_p"].Few() {
			delete(want, "ess_se")
		}
		if of.SampleSizes["log_p_tilde_star"].Few() {
			delete(want, "ess_star_se")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("epoch %d (-evaluated +measured):\n%s", epoch, diff)
		}
	}
	_, what, err := run.LogPOfRows(t.Context(), runs.EvaluationOptions{Rows: set.Test(), Samples: 5})
	if want := "by 5 importance samples a row, and too low in expectation; only 5 samples a row; half of them give "; err != nil || !strings.HasPrefix(what, want) {
		t.Errorf("log p of rows is %q (%v), want %q", what, err, want)
	}
	_, err = run.At(3)
	wantError(t, err, "no checkpoint of epoch 3", "[2 4]", "--keep 3")
}

// A run interrupted during measurements must resume to the same record, and may resume with others.
func TestMeasurementsAreResumed(t *testing.T) {
	t.Parallel()
	set, whole, dir := patterns(t), t.TempDir(), t.TempDir()
	method := short(RWS()).Measure(Measurement{Samples: 3}).Keep(1).RecordSteps(4)
	mustTrain(t, method, set, whole)
	trainUntil(t, 9, method, machineFor(set), set, dir)
	mustTrain(t, method, set, dir)
	runstest.SameRun(t, whole, dir)

	again := t.TempDir()
	trainUntil(t, 9, short(RWS()), machineFor(set), set, again)
	run := mustTrain(t, method, set, again)
	if epochs := run.History().Epochs; epochs[0].Measured != nil || epochs[1].Measured == nil {
		t.Error("a run that is resumed with measurements has not measured from then on")
	}
	if differences := runs.Differences(run.Experiment(), method.Experiment(machineFor(set), set).WithHeader(run.Experiment().Header())); len(differences) > 0 {
		t.Errorf("the experiment in the directory is not the one that it was resumed as: %v", differences)
	}
}

func TestMeasurementsThatCannotBeMade(t *testing.T) {
	set := patterns(t)
	without, err := dataset.Spec{Name: "3by3", Validation: new(0)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for want, test := range map[string]struct {
		method Method
		set    *dataset.Set
	}{
		`split "tests": use train`:                     {RWS().Measure(Measurement{Split: "tests"}), set},
		"has no validation rows":                       {RWS().Measure(Measurement{Split: "validation"}), without},
		"every = -1":                                   {RWS().Measure(Measurement{Every: -1}), set},
		"samples = -3":                                 {RWS().Measure(Measurement{Samples: -3}), set},
		"at least 10 outer and 1 inner sample":         {RWS().Measure(Measurement{LogZ2: 9}), set},
		`measurement "train" has an invalid name: use`: {RWS().Measure(Measurement{Name: "train"}), set},
		`measurement "a.b" has an invalid name: use`:   {RWS().Measure(Measurement{Name: "a.b"}), set},
		"two measurements are called test":             {RWS().Measure(Measurement{}).Measure(Measurement{Every: 2}), set},
		"keep = [0]":                                   {RWS().Keep(0), set},
		"record_steps = -1":                            {RWS().RecordSteps(-1), set},
		"start without a run":                          {RWS().From(" ", "last"), set},
		"nowhere is not the directory of a r":          {RWS().From("nowhere", "last"), set},
	} {
		_, err := test.method.BatchSize(8).Train(t.Context(), New(test.set.Shape()).Dense(3), test.set, t.TempDir())
		wantError(t, err, want)
	}
}

// ParseMeasurement reads every key.
func TestMeasurementsAsText(t *testing.T) {
	want := Measurement{Name: "é_1", Every: 5, Split: "train", Rows: 7, Samples: 11, LogZ2: 99, LogZ2Inner: 2}
	if m, err := ParseMeasurement("name= é_1,every=5 ,split=train,rows=7,samples=11,log-z2=99,log-z2-inner=2"); err != nil || m != want {
		t.Errorf("the measurement is %+v (%v), want %+v", m, err, want)
	}
	_, err := ParseMeasurement("each=10")
	wantError(t, err, `"each"`, "every")
	_, err = ParseMeasurement("every=ten")
	wantError(t, err, "every=ten", "whole number")
	for _, key := range []string{"every", "samples", "log-z2-inner"} {
		_, err = ParseMeasurement("rows=0,log-z2=0," + key + "=0")
		wantError(t, err, key+"=0", "at least 1, or omit it")
	}
	for text, says := range map[string]string{
		"every=-1":        "every = -1",
		"rows=-1":         "rows = -1: use positive numbers, or rows = 0 for all",
		"samples=-3":      "samples = -3",
		"split=dev":       `split "dev": use train, validation or test`,
		"log-z2=9":        "at least 10 outer",
		"name=train":      "invalid name",
		"every=5,every=7": "every is given twice: omit one",
	} {
		_, err = ParseMeasurement(text)
		wantError(t, err, says)
	}
}

// Fine-tuning starts at the parameters of another run with new moments and Fisher blocks, and must
// resume like any run.
func TestFineTuning(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	first := filepath.Join(t.TempDir(), "first")
	source := mustTrain(t, short(BiHM()).Optimizer(Adam).Keep(2), set, first)
	for _, checkpoint := range []string{"last", "best", "2"} {
		tuned := short(BiHM()).Optimizer(Adam).LearningRate(1e-3).Samples(9).Epochs(3).From(first, checkpoint)
		e := tuned.Experiment(machineFor(set), set)
		s, err := e.Begin(set)
		if err != nil {
			t.Fatal(err)
		}
		state, _, err := readSnapshot(s)
		if err != nil {
			t.Fatal(err)
		}
		model, err := source.Checkpoint(checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(state.Parameters.Flat, model.parameters.Flat) || state.Step != 0 {
			t.Errorf("%s: training starts at other parameters", checkpoint)
		}
		for _, m := range state.Moments {
			if slices.ContainsFunc(m.Flat, func(x float32) bool { return x != 0 }) {
				t.Errorf("%s: a moment is not 0 at the start", checkpoint)
			}
		}
	}

	tuned := short(BiHM()).LearningRate(1e-3).From(first, "best")
	whole, dir := t.TempDir(), t.TempDir()
	run := mustTrain(t, tuned, set, whole)
	best, err := source.Best()
	if err != nil {
		t.Fatal(err)
	}
	if start := run.Experiment().Start; start.Run != first || start.Parameters != checksum(best.parameters) {
		t.Errorf("the experiment says that it starts from %+v", start)
	}
	// Once it has begun, it does not need its source.
	trainUntil(t, 9, tuned, machineFor(set), set, dir)
	e, err := readExperiment(filepath.Join(dir, experimentFile))
	if err != nil {
		t.Fatal(err)
	}
	other := mustTrain(t, short(BiHM()).Seed(8), set, t.TempDir())
	e.Start.Run = other.Dir()
	if _, err := e.Train(t.Context(), set, dir); err != nil {
		t.Fatal(err)
	}
	if a, b := contents(t, whole)["/"+checkpointFile], contents(t, dir)["/"+checkpointFile]; a != b {
		t.Error("the fine-tuning that was interrupted ends in other bytes")
	}
	// Elsewhere it needs the source, and notices that its parameters have changed.
	_, err = e.Train(t.Context(), set, t.TempDir())
	wantError(t, err, other.Dir(), "no longer match the experiment")
	_, err = tuned.Train(t.Context(), machineFor(set).Dense(2), set, t.TempDir())
	wantError(t, err, first, "another machine", "same machine")
}

// A finished run that is extended must produce the bytes of a run planned with as many epochs.
func TestExtendedRuns(t *testing.T) {
	t.Parallel()
	set, whole, dir := patterns(t), t.TempDir(), t.TempDir()
	method := short(NRWS()).Optimizer(Adam).StepDecay(2, 0.5)
	mustTrain(t, method.Epochs(6), set, whole)
	mustTrain(t, method.Epochs(3), set, dir)
	e, err := runs.Extend(dir, 6)
	if err != nil {
		t.Fatal(err)
	}
	if run, err := OpenRun(dir); err != nil || run.Finished() || run.Epochs() != 3 {
		t.Errorf("a run that is to go on is finished after %d epochs (%v)", run.Epochs(), err)
	}
	if _, err := e.(Experiment).Train(t.Context(), set, dir); err != nil {
		t.Fatal(err)
	}
	runstest.SameRun(t, whole, dir)

	falling := t.TempDir()
	mustTrain(t, short(RWS()).Epochs(2).Schedule(CosineDecay), set, falling)
	_, err = runs.Extend(falling, 4)
	wantError(t, err, falling, "learning rate", "from its parameters")
	_, err = runs.Extend(whole, 5)
	wantError(t, err, "has done 6 epochs")
	unfinished := t.TempDir()
	trainUntil(t, 9, method, machineFor(set), set, unfinished)
	_, err = runs.Extend(unfinished, 9)
	wantError(t, err, "not finished")
}

// Each changed measurement must be noticed, and the experiment of a finished run must stay as it
// was trained.
func TestChangedMeasurementsAreWritten(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	method := func(every int) Method {
		return short(RWS()).Measure(Measurement{Name: "a", Every: every, Samples: 2}).Measure(Measurement{Name: "b", Every: 1, Samples: 2})
	}
	trainUntil(t, 9, method(1), machineFor(set), set, dir)
	trainUntil(t, 15, method(2), machineFor(set), set, dir)
	for _, want := range []int{2, 2} { // for the unfinished run, and for the finished one
		e, err := readExperiment(filepath.Join(dir, experimentFile))
		if err != nil || e.Measurements[0].Every != want {
			t.Errorf("the experiment measures every %d epochs, want %d (%v)", e.Measurements[0].Every, want, err)
		}
		mustTrain(t, method(2), set, dir)
		mustTrain(t, method(3), set, dir)
	}
}

// The file of an experiment may name its family.
func TestExperimentOfTheFamily(t *testing.T) {
	for text, says := range map[string]string{
		"family = \"hm\"\n[method]\npreset = \"rws\"\n":    "",
		"family = \"other\"\n[method]\npreset = \"rws\"\n": "not an experiment of this package",
	} {
		_, err := ParseExperiment([]byte(text))
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
}

// FuzzParseMeasurement checks that a parsed measurement is valid.
func FuzzParseMeasurement(f *testing.F) {
	for _, text := range []string{"every=5,samples=100,rows=500,log-z2=10000", "name= a=b ,split=train", "log-z2-inner=-1", "rows=1,rows=2", "every", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMeasurement(text)
		if err != nil {
			return
		}
		if err := m.WithDefaults().check(); err != nil {
			t.Errorf("%q is read as %+v: %v", text, m, err)
		}
	})
}
