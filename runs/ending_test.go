package runs_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// told is a learner whose validation returns given values, epoch by epoch.
type told struct {
	*fit
	validation []float64
}

func (l told) Validate(context.Context, dataset.Split) (runs.Measures, error) {
	return runs.Measures{
		l.mixture.Measures()[0].Key: l.validation[l.step/stepsPerEpoch-1],
		entropy.Key:                 0,
	}, nil
}

func telling(m mixture, validation ...float64) runs.Experiment {
	return altered{m, func(l runs.Learner) runs.Learner { return told{l.(*fit), validation} }}
}

// The best epoch has the largest log p, or the smallest loss; patience ends training a number of
// epochs later. An epoch that only equals the best is not better.
func TestBestEpochsAndPatienceGoByTheDirectionOfTheObjective(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	for _, test := range []struct {
		family       string
		validation   []float64
		best, epochs int
	}{
		{byLikelihood, []float64{1, 2, 3, 4, 5, 6}, 6, 6},
		{byLoss, []float64{1, 2, 3, 4, 5, 6}, 1, 3},
		{byLikelihood, []float64{6, 5, 4, 3, 2, 1}, 1, 3},
		{byLoss, []float64{6, 5, 4, 3, 2, 1}, 6, 6},
		{byLikelihood, []float64{-3, -1, -2, -1, 0, 0}, 2, 4},
		{byLoss, []float64{3, 1, 2, 0.5, 1, 1}, 4, 6},
	} {
		e := brief(set)
		e.Family, e.Epochs, e.Patience = test.family, 6, 2
		dir := t.TempDir()
		run := mustTrain(t, telling(e, test.validation...), set, dir)
		if run.Epochs() != test.epochs || run.BestEpoch() != test.best {
			t.Errorf("%s of %v: training ends after epoch %d, the best being %d; want %d and %d",
				test.family, test.validation, run.Epochs(), run.BestEpoch(), test.epochs, test.best)
		}
		best, err := run.Best()
		if err != nil {
			t.Fatal(err)
		}
		if best.Step != test.best*stepsPerEpoch {
			t.Errorf("%s of %v: the best checkpoint is of step %d, want the last of epoch %d", test.family, test.validation, best.Step, test.best)
		}
		c := mustCompare(t, dir).Experiments[0]
		if c.BestEpoch.Mean != float64(test.best) || c.Best.Mean != test.validation[test.best-1] || c.Validation.Mean != test.validation[test.epochs-1] {
			t.Errorf("%s of %v is compared as %+v", test.family, test.validation, c)
		}
	}
}

// failing is a learner that fails in a given way after some steps.
type failing struct {
	*fit
	after int // steps
	wrong string
}

var errOfStep = errors.New("a matrix is singular")

func (l failing) due() bool { return l.step > l.after }

func (l failing) Steps(ctx context.Context, most int, rate func(int) float64) ([]runs.Measures, error) {
	steps, err := l.fit.Steps(ctx, most, rate)
	if err == nil && l.due() {
		switch l.wrong {
		case "a step":
			steps[0][entropy.Key] = math.Inf(1)
		case "a step with an error":
			steps[0][runs.LogP.Key], err = math.NaN(), errOfStep
		case "an error":
			steps, err = nil, errOfStep
		}
	}
	return steps, err
}

func (l failing) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	m, err := l.fit.Validate(ctx, rows)
	if err == nil && l.due() && l.wrong == "validation" {
		m[runs.LogP.Key] = math.NaN()
	}
	return m, err
}

func (l failing) Norms() (runs.Norms, error) {
	if l.due() && l.wrong == "norms" {
		return runs.Norms{"of means": {{Weights: 1, Gradient: math.Inf(1)}}}, nil
	}
	return l.fit.Norms()
}

func (l failing) Snapshot() (runs.Snapshot, error) {
	s, err := l.fit.Snapshot()
	if err == nil && l.due() && l.wrong == "a parameter" {
		s.Tensors[1].Wide[0] = math.NaN()
	}
	return s, err
}

// Training whose numbers are no longer finite ends with an error, and the earlier checkpoint stays;
// training can resume from it.
func TestDivergenceKeepsTheEarlierCheckpoint(t *testing.T) {
	t.Parallel()
	set, whole, stopped := overlapping(t), t.TempDir(), t.TempDir()
	mustTrain(t, brief(set), set, whole)
	trainUntilEpoch(t, brief(set), set, stopped, 2)
	for _, test := range []struct {
		wrong string
		want  error
		says  string
	}{
		{"a step", runs.ErrDiverged, "step 2 of epoch 3"},
		{"a step with an error", runs.ErrDiverged, "step 2 of epoch 3"},
		{"an error", errOfStep, "step 2 of epoch 3"},
		{"validation", runs.ErrDiverged, ""},
		{"norms", runs.ErrDiverged, ""},
		{"a parameter", runs.ErrDiverged, ""},
	} {
		t.Run(test.wrong, func(t *testing.T) {
			t.Parallel()
			dir, w := t.TempDir(), &watcher{}
			run, err := runs.Train(t.Context(), altered{brief(set), func(l runs.Learner) runs.Learner {
				return failing{l.(*fit), 2*stepsPerEpoch + 1, test.wrong}
			}}, set, dir, w)
			if !errors.Is(err, test.want) {
				t.Fatalf("training ends with the error %v, want %v", err, test.want)
			}
			wantError(t, err, test.says)
			if len(w.ends) != 1 || w.ends[0] != err {
				t.Errorf("the recorder heard of the ends %v", w.ends)
			}
			if run.Finished() || run.Epochs() != 2 {
				t.Errorf("the run is left at epoch %d, finished: %v", run.Epochs(), run.Finished())
			}
			if diff := cmp.Diff(contents(t, stopped), contents(t, dir)); diff != "" {
				t.Errorf("(-stopped after epoch 2 +diverged in epoch 3):\n%s", diff)
			}
			mustTrain(t, brief(set), set, dir)
			runstest.SameRun(t, whole, dir)
		})
	}
}

// blind is a learner that cannot observe.
type blind struct{ runs.Learner }

func (blind) Observe(context.Context, int) (map[string]runs.Measures, error) {
	return nil, errOfStep
}

// odd is a learner that observes a name that is not valid in keys of metrics.
type odd struct{ runs.Learner }

func (odd) Observe(context.Context, int) (map[string]runs.Measures, error) {
	return map[string]runs.Measures{"test": {"free energy": 1}}, nil
}

// unvalidated is a learner that cannot validate.
type unvalidated struct{ runs.Learner }

func (unvalidated) Validate(context.Context, dataset.Split) (runs.Measures, error) {
	return nil, errors.New("no room for the validation rows")
}

// If a validation or an observation fails, the steps of the epoch are not lost.
func TestFailedMeasurementKeepsTheSteps(t *testing.T) {
	t.Parallel()
	for says, failing := range map[string]func(runs.Learner) runs.Learner{
		errOfStep.Error():    func(l runs.Learner) runs.Learner { return blind{l} },
		`"test.free energy"`: func(l runs.Learner) runs.Learner { return odd{l} },
		"no room":            func(l runs.Learner) runs.Learner { return unvalidated{l} },
	} {
		set, whole, dir := overlapping(t), t.TempDir(), t.TempDir()
		mustTrain(t, brief(set), set, whole)
		run, err := runs.Train(t.Context(), altered{brief(set), failing}, set, dir)
		wantError(t, err, says)
		if run == nil || run.Snapshot().Step != stepsPerEpoch || run.Epochs() != 0 {
			t.Fatalf("after the error %v the run is %v", err, run)
		}
		mustTrain(t, brief(set), set, dir)
		runstest.SameRun(t, whole, dir)
	}
}

// strange is a learner that breaks the contract of Learner.
type strange struct {
	runs.Learner
	steps    func([]runs.Measures) []runs.Measures
	validate func(runs.Measures)
	snapshot func(*runs.Snapshot)
}

func (s strange) Steps(ctx context.Context, most int, rate func(int) float64) ([]runs.Measures, error) {
	all, err := s.Learner.Steps(ctx, most, rate)
	if s.steps != nil {
		all = s.steps(all)
	}
	return all, err
}

func (s strange) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	m, err := s.Learner.Validate(ctx, rows)
	if s.validate != nil {
		s.validate(m)
	}
	return m, err
}

func (s strange) Snapshot() (runs.Snapshot, error) {
	of, err := s.Learner.Snapshot()
	if s.snapshot != nil {
		s.snapshot(&of)
	}
	return of, err
}

// A family that breaks the contract of Learner gets an error instead of endless training.
func TestLearnersAreHeldToTheirWord(t *testing.T) {
	t.Parallel()
	for says, of := range map[string]strange{
		"took 0 steps":        {steps: func([]runs.Measures) []runs.Measures { return nil }},
		"but Steps must":      {steps: func(all []runs.Measures) []runs.Measures { return slices.Repeat(all, 1000) }},
		"in a step":           {steps: func(all []runs.Measures) []runs.Measures { delete(all[0], runs.LogP.Key); return all }},
		"did not measure log": {validate: func(m runs.Measures) { delete(m, runs.LogP.Key) }},
		"a snapshot of":       {snapshot: func(s *runs.Snapshot) { s.Step++ }},
	} {
		set := overlapping(t)
		_, err := runs.Train(t.Context(), altered{brief(set), func(l runs.Learner) runs.Learner { of.Learner = l; return of }}, set, t.TempDir())
		wantError(t, err, says)
	}
}

// miswritten is an experiment whose TOML is read as another experiment.
type miswritten struct {
	runs.Experiment
	right, wrong string
}

func (m miswritten) TOML() []byte {
	return bytes.Replace(m.Experiment.TOML(), []byte(m.right), []byte(m.wrong), 1)
}

func (m miswritten) WithHeader(h runs.Header) runs.Experiment {
	m.Experiment = m.Experiment.WithHeader(h)
	return m
}

// A family that cannot read what it writes gets an error before anything is trained or written to a
// directory, which could not be opened.
func TestExperimentsThatAreNotReadBackAreRefused(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	for says, e := range map[string]miswritten{
		`with family = "hm"`:                 {brief(set), `family = "mixture"`, ""},
		`the experiment's family "mixtures"`: {brief(set), `family = "mixture"`, `family = "mixtures"`},
		"lacks a setting":                    {brief(set), "batch_size = ", "batch_size = 1"},
		"is not an experiment":               {brief(set), "batch_size = ", "batch_size = ="},
	} {
		dir := t.TempDir()
		_, err := runs.Train(t.Context(), e, set, dir)
		wantError(t, err, "miswritten", says)
		if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
			t.Errorf("%q: %v lie in the directory (%v)", says, there, err)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	none := func(int) ([]runs.Tensor, error) { return nil, nil }
	for says, parts := range map[string]runs.Parts{
		"the number of parts is -1": {Dir: t.TempDir(), Count: -1},
		"directory is empty":        {Count: 1},
		"part 0 has no tensors":     {Dir: t.TempDir(), Count: 1, Work: "{}"},
	} {
		_, err := parts.Do(t.Context(), runs.Shard{}, none, nil)
		wantError(t, err, says)
	}
	shared := runs.Parts{Dir: t.TempDir(), Count: 1, Work: "{}"}
	_, _ = shared.Do(t.Context(), runs.Shard{}, func(int) ([]runs.Tensor, error) {
		_, err := shared.Do(t.Context(), runs.Shard{}, none, nil)
		wantError(t, err, "another program computes 1 of 1 parts: repeat this command when it has ended")
		return nil, nil
	}, nil)
}

// A part without a checksum may be damaged, so it is not merged.
func TestPartsWithoutAChecksumAreRefused(t *testing.T) {
	t.Parallel()
	parts := runs.Parts{Dir: t.TempDir(), Count: 1, Work: "{}"}
	do := func(int) ([]runs.Tensor, error) { return []runs.Tensor{{Name: "x", Data: []float32{1}}}, nil }
	if _, err := parts.Do(t.Context(), runs.Shard{}, do, nil); err != nil {
		t.Fatal(err)
	}
	bare, err := safetensors.Marshal(&safetensors.File{Metadata: map[string]string{"work": "{}"}, Tensors: []runs.Tensor{{Name: "x", Data: []float32{2}}}})
	path := filepath.Join(parts.Dir, "part-0", "part.safetensors")
	if err := errors.Join(err, os.WriteFile(path, bare, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err = parts.Do(t.Context(), runs.Shard{}, do, nil)
	wantError(t, err, path, "no checksum", "remove the file and repeat the command")
}

// A repeated or misplaced epoch to keep leaves no trace in the experiment of the run.
func TestEpochsToKeepAreSortedOnce(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	e := brief(set)
	e.Epochs, e.Keep = 3, []int{3, 1, 3}
	mustTrain(t, e, set, dir)
	there, err := runs.ExperimentIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	if keep := there.Header().Keep; !slices.Equal(keep, []int{1, 3}) {
		t.Errorf("the run keeps epochs %v, want 1 and 3", keep)
	}
}

func TestNamelessDirectoriesAndNoRecorders(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	_, err := runs.Train(t.Context(), brief(set), set, "")
	wantError(t, err, "directory is empty")
	_, err = runs.Open("")
	wantError(t, err, "directory is empty")
	_, err = runs.OpenSeeds("")
	wantError(t, err, "directory is empty")
	run, err := runs.Train(t.Context(), brief(set), set, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.At(1)
	wantError(t, err, "no checkpoint of epoch 1", "train again in another directory")
	_, err = run.At(0)
	wantError(t, err, "numbered from 1")
}

// unnamed is a mixture with a measure whose key is not valid in metrics.
type unnamed struct{ mixture }

func (u unnamed) WithHeader(h runs.Header) runs.Experiment {
	return unnamed{u.mixture.WithHeader(h).(mixture)}
}

func (u unnamed) Measures() []runs.Measure {
	return append(u.mixture.Measures(), runs.Measure{Key: "free energy"})
}

func TestMeasuresThatHaveNoKeyAreRefusedBeforeTraining(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	_, err := runs.Train(t.Context(), unnamed{brief(set)}, set, dir)
	wantError(t, err, `"free energy"`, "use letters")
	mustTrain(t, brief(set), set, dir)
}

// infinite is a learner that observes a value that metrics cannot hold.
type infinite struct{ runs.Learner }

func (infinite) Observe(context.Context, int) (map[string]runs.Measures, error) {
	return map[string]runs.Measures{"test": {runs.LogP.Key: math.Inf(-1), "entropy": 2}}, nil
}

// Observations never change training: values that are not finite are left out of the record.
func TestObservedInfinitiesAreLeftOut(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	run, err := runs.Train(t.Context(), altered{brief(set), func(l runs.Learner) runs.Learner { return infinite{l} }}, set, dir)
	if err != nil || !run.Finished() {
		t.Fatalf("training ends with the error %v", err)
	}
	want := map[string]runs.Measures{"test": {"entropy": 2}}
	if diff := cmp.Diff(want, run.History().Epochs[0].Measured); diff != "" {
		t.Errorf("(-want +recorded):\n%s", diff)
	}
}
