package runs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// read is everything that can be read from a directory of runs.
type read struct {
	Waiting    int
	Experiment []string // of each seed, as TOML
	Position   [][4]int
	Finished   []bool
	Models     []map[string]runs.Snapshot
	Epochs     []runs.History
	Steps      []runs.History
	Sessions   [][]runs.Provenance
	Data       []dataset.Split
}

// readAll reads everything, or returns the first error.
func readAll(dir string, kept ...int) (all read, err error) {
	seeds, err := runs.OpenSeeds(dir)
	if err != nil {
		return all, err
	}
	all.Waiting = seeds.Waiting
	for _, run := range seeds.Runs {
		models := map[string]runs.Snapshot{"last": run.Snapshot()}
		best, failure := run.Best()
		models["best"], err = best, errors.Join(err, failure)
		for _, epoch := range kept {
			at, failure := run.At(epoch)
			models["epoch"], err = at, errors.Join(err, failure)
		}
		history := run.History()
		steps, failure := run.Steps()
		sessions, other := run.Provenance()
		set, another := run.Dataset()
		if err = errors.Join(err, history.Err, failure, other, another); err != nil {
			return all, err
		}
		all.Experiment = append(all.Experiment, string(run.Experiment().TOML()))
		all.Position = append(all.Position, [4]int{run.Epochs(), run.BestEpoch(), run.Snapshot().Step})
		all.Finished = append(all.Finished, run.Finished())
		all.Models, all.Epochs, all.Steps = append(all.Models, models), append(all.Epochs, history), append(all.Steps, steps)
		all.Sessions = append(all.Sessions, sessions)
		all.Data = append(all.Data, set.Train(), set.Validation(), set.Test())
	}
	return all, nil
}

// flipped calls check with one bit of a file flipped: at each of its first and last bytes, and at
// about the given number of bytes between them.
func flipped(t *testing.T, path string, between int, check func(place int)) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for place := range whole {
		if min(place, len(whole)-1-place) > 10 && random.IntN(len(whole)) > between {
			continue
		}
		damaged := bytes.Clone(whole)
		damaged[place] ^= 1 << random.IntN(8)
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		check(place)
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
}

// No flipped bit in any file of a directory of runs silently changes the result of reading: the
// file is refused by name, or nothing changes.
func TestNoFlippedBitIsReadSilently(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	e := brief(set)
	e.Keep, e.RecordSteps = []int{1}, 2
	for range 2 { // sessions
		if _, err := runs.TrainSeeds(t.Context(), e, set, 1, dir); err != nil {
			t.Fatal(err)
		}
		e.Seed++
	}
	// A third seed is planned.
	e.Seed--
	if _, err := runs.TrainSeeds(t.Context(), e, set, 2, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(runs.SeedDir(dir, e.Seed+1)); err != nil {
		t.Fatal(err)
	}
	want, err := readAll(dir, 1)
	if err != nil || want.Waiting != 1 || len(want.Finished) != 2 {
		t.Fatalf("%d runs and %d to come are read with the error %v", len(want.Finished), want.Waiting, err)
	}
	for _, name := range []string{
		"experiment.toml", "checkpoint.safetensors", "best.safetensors", "epoch-1.safetensors", "metrics.jsonl", "steps.jsonl",
		"sessions.jsonl", "dataset.bin", "../seeds.json",
	} {
		path, refused := filepath.Join(runs.SeedDir(dir, 5), name), 0
		flipped(t, path, 60, func(place int) {
			got, err := readAll(dir, 1)
			if err != nil {
				if refused++; !strings.Contains(err.Error(), path) {
					t.Errorf("byte %d of %s is refused without its name: %v", place, name, err)
				}
			} else if diff := cmp.Diff(want, got, cmp.AllowUnexported(dataset.Split{}, dataset.Values{})); diff != "" {
				t.Errorf("byte %d of %s (-whole +damaged):\n%s", place, name, diff)
			}
		})
		if refused < 40 {
			t.Errorf("%d flipped bits of %s are refused", refused, name)
		}
	}
}

// No flipped bit of a schema is read, nor the schema of other data.
func TestDamagedSchemas(t *testing.T) {
	t.Parallel()
	table := filepath.Join(t.TempDir(), "table.csv")
	text := "a,b,c,d\n" + strings.Repeat("0,1,1,0\n1,0,1,0\n1,1,0,1\n", 10)
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: table, Binarization: dataset.Gray}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	run := mustTrain(t, brief(set), set, t.TempDir())
	if blank, err := run.Blank(); err != nil || blank.Shape() != set.Shape() {
		t.Fatalf("%v, %v", blank, err)
	}
	var model bytes.Buffer
	if err := run.SaveModel(&model); err != nil {
		t.Fatal(err)
	}
	if blank, err := runs.BlankOfModel(&model); err != nil || blank.Shape() != set.Shape() || !cmp.Equal(blank.Columns(), set.Columns()) {
		t.Errorf("of the model file: %v, %v", blank, err)
	}
	path := filepath.Join(run.Dir(), "schema.toml")
	flipped(t, path, 100, func(place int) {
		if blank, err := run.Blank(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("with byte %d of the schema: %v, %v", place, blank, err)
		}
	})
	other, err := dataset.Spec{Name: table, Seed: 7, Binarization: dataset.Gray}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile(filepath.Join(mustTrain(t, brief(other), other, t.TempDir()).Dir(), "schema.toml"))
	if err == nil {
		err = os.WriteFile(path, schema, 0o600)
	}
	if blank, other := run.Blank(); err != nil || other == nil || !strings.Contains(other.Error(), "describes data with fingerprint") {
		t.Errorf("with the schema of another run: %v, %v, %v", blank, other, err)
	}
}

// Nor does a flipped bit silently change the result of resumed training, with or without a
// checkpoint.
func TestNoFlippedBitIsTrainedSilently(t *testing.T) {
	t.Parallel()
	set, whole := overlapping(t), t.TempDir()
	e := brief(set)
	e.RecordSteps = 2
	mustTrain(t, e, set, whole)
	begun, waiting := t.TempDir(), t.TempDir()
	trainUntil(t, e, set, begun, atStep(2*stepsPerEpoch+1))
	if err := runs.Claim(e, set, waiting); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		filepath.Join(begun, "experiment.toml"), filepath.Join(begun, "checkpoint.safetensors"), filepath.Join(begun, "metrics.jsonl"),
		filepath.Join(begun, "steps.jsonl"), filepath.Join(begun, "clock.json"), filepath.Join(begun, "sessions.jsonl"),
		filepath.Join(begun, "dataset.bin"), filepath.Join(waiting, "experiment.toml"), filepath.Join(waiting, "dataset.bin"),
	} {
		dir, name := filepath.Split(path)
		refused := 0
		flipped(t, path, 20, func(place int) {
			resumed := t.TempDir()
			if err := os.CopyFS(resumed, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			there, err := runs.ExperimentIn(resumed)
			var data *dataset.Set
			if err == nil {
				data, err = runs.OpenDataset(there, resumed)
			}
			if err == nil {
				_, err = runs.Train(t.Context(), there, data, resumed)
			}
			if err == nil {
				runstest.SameRun(t, whole, resumed)
			} else if refused++; !strings.Contains(err.Error(), filepath.Join(resumed, name)) {
				t.Errorf("byte %d of %s is refused without its name: %v", place, name, err)
			}
		})
		if refused < 25 {
			t.Errorf("%d flipped bits of %s are refused", refused, name)
		}
	}
}
