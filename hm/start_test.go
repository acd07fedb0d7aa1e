package hm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A flipped bit, in the run from which fine-tuning starts or in the plan of it, must never change
// the result silently.
func TestNoFlippedBitOfAStartIsTrainedSilently(t *testing.T) {
	t.Parallel()
	set, parent, planned, whole := patterns(t), t.TempDir(), t.TempDir(), t.TempDir()
	mustTrain(t, short(RWS()).Epochs(1), set, parent)
	tuned := short(RWS()).Epochs(1).From(parent, "best")
	mustTrain(t, tuned, set, whole)
	if err := runs.Claim(tuned.Experiment(machineFor(set), set), set, planned); err != nil {
		t.Fatal(err)
	}
	want := contents(t, whole)["/"+checkpointFile]
	for _, path := range []string{
		filepath.Join(parent, "best.safetensors"), filepath.Join(parent, experimentFile), filepath.Join(planned, experimentFile),
	} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for place := 0; place < len(file); place += 1 + len(file)/40 {
			damaged := bytes.Clone(file)
			damaged[place] ^= 1 << (place % 8)
			dir := t.TempDir()
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(dir, os.DirFS(planned)); err != nil {
				t.Fatal(err)
			}
			e, err := runs.ExperimentIn(dir)
			if err == nil {
				_, err = runs.Train(t.Context(), e, set, dir)
			}
			named := strings.Replace(path, planned, dir, 1)
			if err != nil {
				if refused++; !strings.Contains(err.Error(), named) {
					t.Errorf("byte %d of %s is refused without its name: %v", place, path, err)
				}
			} else if contents(t, dir)["/"+checkpointFile] != want {
				t.Errorf("byte %d of %s damaged, training ends in other bytes", place, path)
			}
		}
		if refused < 20 {
			t.Errorf("%d of 40 damaged bytes of %s are refused", refused, path)
		}
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A sweep may vary the checkpoint although its base is the experiment of a run that starts from one.
func TestSweepsOverTheStart(t *testing.T) {
	t.Parallel()
	set, parent := patterns(t), t.TempDir()
	mustTrain(t, short(RWS()).Epochs(1), set, parent)
	e, err := runs.Resolve(short(RWS()).From(parent, "best").Experiment(machineFor(set), set), set, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &runs.Sweep{Base: e.TOML(), Axes: []runs.Axis{{Keys: []string{"start.checkpoint"}, Values: [][]any{{"best"}, {"last"}}}}, Seeds: 1}
	settings, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range settings {
		if _, err := runs.Resolve(setting.Experiment, set, ""); err != nil {
			t.Errorf("%s: %v", setting.Name, err)
		}
	}
}

// A model trained on standardised numbers must not read others, nor start training on them.
func TestStandardisedRunsReadStandardisedRows(t *testing.T) {
	t.Parallel()
	var rows [][]float64
	for r := range 40 {
		rows = append(rows, []float64{float64(r % 7), float64(r % 3)})
	}
	spec := dataset.Spec{Name: "numbers", Binarization: dataset.Real, Validation: new(8)}
	raw, err := spec.FromRows(dataset.Shape{Height: 1, Width: 2}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec.Standardize = true
	set, err := spec.FromRows(dataset.Shape{Height: 1, Width: 2}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, machine := t.TempDir(), New(set.Shape()).Dense(2).Units(Gaussian, Bernoulli)
	method := short(RWS()).LearningRate(1e-4).Epochs(1)
	run, err := method.Train(t.Context(), machine, set, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Complete(t.Context(), Evaluation{Samples: 3}, set, set.Test(), nil); err != nil {
		t.Error(err)
	}
	_, err = run.Complete(t.Context(), Evaluation{Samples: 3}, raw, raw.Test(), nil)
	wantError(t, err, "standardize = false", "trained with true")
	_, err = method.From(dir, "last").Train(t.Context(), machine, raw, t.TempDir())
	wantError(t, err, "trained with standardize = true")
}
