package hm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
