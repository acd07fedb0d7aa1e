package deterministic

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// stopped trains until a step and returns the run's directory.
func stopped(t *testing.T, e Experiment, set *dataset.Set, step int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := e.Train(ctx, set, dir, &runstest.Watcher{OnStep: func(p runs.Progress) {
		if p.Step == step {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want the cancellation", err)
	}
	return dir
}

func TestOpenRunReturnsTheMachine(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	e := short(set, NoisyOr)
	e.Keep = []int{2}
	trained := mustTrain(t, e, set, dir)
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run.Model().Activation != NoisyOr || !slices.Equal(run.Model().Units, []int{9, 4, 2}) || !slices.Equal(run.Model().Flat, trained.Model().Flat) {
		t.Errorf("the machine that was opened is %+v, trained was %+v", run.Model(), trained.Model())
	}
	if run.Experiment().Hash() != e.Hash() || !run.Finished() {
		t.Errorf("the run that was opened is of %v, finished: %v", run.Experiment(), run.Finished())
	}
	kept, err := run.At(2)
	if err != nil {
		t.Fatal(err)
	}
	wantClose(t, "free energy after epoch 2", meanFreeEnergy(kept, set.Validation()), run.History().Epochs[1].Validation["free_energy"], 1e-12)
	_, err = run.At(3)
	wantError(t, err, "keeps no checkpoint of epoch 3", "keep = [3]")
	_, err = OpenRun(t.TempDir())
	wantError(t, err, "not the directory of a run")
}

// TestDamagedFilesAreRefused damages the files of an unfinished run.
func TestDamagedFilesAreRefused(t *testing.T) {
	set := patterns(t)
	e := short(set, NoisyOr)
	dir := stopped(t, e, set, 8)
	other := e
	other.Settings.Machine.Layers = []int{4}
	files, foreign := runstest.Files(t, dir), runstest.Files(t, stopped(t, other, set, 8))
	flipped := func(text string, i int) string {
		b := []byte(text)
		b[i] ^= 1
		return string(b)
	}
	checkpoint, metrics, experiment := files["checkpoint.safetensors"], files["metrics.jsonl"], files["experiment.toml"]
	settings, _, _ := strings.Cut(experiment, "# checksum:")
	for name, test := range map[string]struct {
		file, content string
		says          []string
	}{
		"torn checkpoint":                  {"checkpoint.safetensors", checkpoint[:len(checkpoint)/2], []string{"torn"}},
		"checkpoint with another bit":      {"checkpoint.safetensors", flipped(checkpoint, len(checkpoint)-5), []string{"checksum"}},
		"checkpoint of another experiment": {"checkpoint.safetensors", foreign["checkpoint.safetensors"], []string{"another experiment"}},
		"metrics with another digit":       {"metrics.jsonl", flipped(metrics, 40), []string{"line 1"}},
		"metrics that lack epochs":         {"metrics.jsonl", "", []string{"0 epochs", "has seen 1"}},
		"another setting":                  {"experiment.toml", strings.Replace(experiment, "seed = ", "seed = 1", 1), []string{"checksum", "remove its line"}},
		"unknown setting":                  {"experiment.toml", settings + "momentum = 0.9\n", []string{`unknown setting "training.momentum"`}},
		"unknown family":                   {"experiment.toml", "family = \"nosuch\"\n", []string{`family "nosuch"`, "it has deterministic"}},
		"a file of hm":                     {"experiment.toml", "[method]\npreset = \"rws\"\n", []string{`family "hm"`, "import the package"}},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(damaged, test.file)
			if err := os.WriteFile(path, []byte(test.content), 0o644); err != nil {
				t.Fatal(err)
			}
			before, w := runstest.Files(t, damaged), &runstest.Watcher{}
			_, err := e.Train(t.Context(), set, damaged, w)
			wantError(t, err, append(test.says, path)...)
			if len(w.Plans) > 0 {
				t.Error("training began")
			}
			if diff := cmp.Diff(before, runstest.Files(t, damaged)); diff != "" {
				t.Errorf("the files of the directory have changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestSnapshotsOfOtherMachinesAreRefused changes one property of a good snapshot at a time.
func TestSnapshotsOfOtherMachinesAreRefused(t *testing.T) {
	set := patterns(t)
	e := short(set, NoisyOr)
	for name, test := range map[string]struct {
		change func(s *runs.Snapshot)
		says   []string
	}{
		"no header":          {func(s *runs.Snapshot) { s.Header = json.RawMessage(`[]`) }, []string{"the description of the machine"}},
		"unknown activation": {func(s *runs.Snapshot) { s.Header = json.RawMessage(`{"activation":"or"}`) }, []string{"unknown activation"}},
		"another activation": {func(s *runs.Snapshot) { s.Header = json.RawMessage(`{"activation":"logistic","units":[9,4,2]}`) },
			[]string{"another machine (logistic, hidden layers of [4 2] units)", "(noisy-or, [4 2])"}},
		"no units": {func(s *runs.Snapshot) { s.Header = json.RawMessage(`{"activation":"noisy-or"}`) }, []string{"at least one hidden layer"}},
		"gigantic layers": {func(s *runs.Snapshot) {
			s.Header = json.RawMessage(`{"activation":"noisy-or","units":[200000,200000]}`)
		}, []string{"another machine (noisy-or, hidden layers of [200000] units)"}},
		"other units": {func(s *runs.Snapshot) { s.Header = json.RawMessage(`{"activation":"noisy-or","units":[9,4,3]}`) }, []string{"hidden layers of [4 3] units", "(noisy-or, [4 2])"}},
		"other data": {func(s *runs.Snapshot) {
			wide := e
			wide.Dataset.Name = "miniglyphs"
			*s = begun(t, wide)
		}, []string{"model for images of 14×14", "the rows of 3by3 have 3×3"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, e)
			test.change(&s)
			_, err := e.Learner(set, s)
			wantError(t, err, test.says...)
		})
	}
}

// begun returns the snapshot before the first step.
func begun(t *testing.T, e Experiment) runs.Snapshot {
	t.Helper()
	set, err := e.Dataset.Open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A snapshot must not change when training continues.
func TestSnapshotsStay(t *testing.T) {
	set := patterns(t)
	e := short(set, Logistic)
	l, err := e.Learner(set, begun(t, e))
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Steps(t.Context(), 1, func(int) float64 { return 0.1 }); err != nil {
		t.Fatal(err)
	}
	if first := begun(t, e); s.Step != 0 || !slices.Equal(s.Tensors[0].Wide, first.Tensors[0].Wide) {
		t.Error("the snapshot has changed with the step after it")
	}
}
