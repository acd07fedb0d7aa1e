package runs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// All planned seeds are trained, wherever the program was killed: before the first seed began,
// while one was created, or between two.
func TestSeedsThatWereKilledAreAllTrained(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	whole := mustTrainSeeds(t, t.TempDir())
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, made := range []int{0, 1, 2, 3} { // number of seeds created
		dir := t.TempDir()
		if _, err := runs.TrainSeeds(canceled, brief(set), set, 3, dir); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for seed := made; seed < 3; seed++ {
			if err := os.RemoveAll(runs.SeedDir(dir, uint64(5+seed))); err != nil {
				t.Fatal(err)
			}
		}
		if made < 3 { // a directory without its experiment
			if err := os.Mkdir(runs.SeedDir(dir, uint64(5+made)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		there, err := runs.ReadSeeds(dir)
		n := 1 // --resume asks for the first existing seed
		if made == 0 {
			wantError(t, err, dir, "3 seeds", "repeat the command that started it")
			_, err = runs.OpenSeeds(dir)
			wantError(t, err, dir, "3 seeds")
			n = 3
		} else if err != nil || len(there) != made {
			t.Fatalf("of %d seeds that were made %d are read (%v)", made, len(there), err)
		}
		seeds, err := runs.TrainSeeds(t.Context(), brief(set), set, n, dir)
		if err != nil || len(seeds.Runs) != 3 || !seeds.Finished() {
			t.Fatalf("killed with %d of 3 seeds made, training goes on to %d (%v)", made, len(seeds.Runs), err)
		}
		for i, run := range whole.Runs {
			runstest.SameRun(t, run.Dir(), seeds.Runs[i].Dir())
		}
	}
}

// Seeds that do not exist yet are known as planned, and seeds trained before there was a plan are
// included.
func TestSeedsToCome(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	mustTrainSeeds(t, dir)
	if err := os.Remove(filepath.Join(dir, "seeds.json")); err != nil {
		t.Fatal(err)
	}
	later := brief(set)
	later.Seed = 9
	if seeds, err := runs.TrainSeeds(t.Context(), later, set, 1, dir); err != nil || len(seeds.Runs) != 4 {
		t.Fatal(err)
	}
	for _, seed := range []uint64{6, 9} {
		if err := os.RemoveAll(runs.SeedDir(dir, seed)); err != nil {
			t.Fatal(err)
		}
	}
	seeds, err := runs.OpenSeeds(dir)
	if err != nil || len(seeds.Runs) != 2 || seeds.Waiting != 2 || seeds.Finished() {
		t.Errorf("%d seeds are there and %d to come (%v), want 2 and 2", len(seeds.Runs), seeds.Waiting, err)
	}
}

// Seeds are extended one after the other. If the program is killed between two, an error says so,
// and repeating the command extends all.
func TestSeedsThatWereKilledAsTheyWereExtended(t *testing.T) {
	t.Parallel()
	set, dir, long := overlapping(t), t.TempDir(), t.TempDir()
	mustTrainSeeds(t, dir)
	path := filepath.Join(runs.SeedDir(dir, 6), "experiment.toml")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Extend(dir, 6); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, before, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func() error{
		func() error { _, err := runs.ReadSeeds(dir); return err },
		func() error { _, err := runs.OpenSeeds(dir); return err },
		func() error { _, err := runs.TrainSeeds(t.Context(), brief(set), set, 3, dir); return err },
	} {
		wantError(t, read(), dir, "4 in seed-6, 6 elsewhere", "train --resume "+dir+" --epochs 6")
	}
	e, err := runs.Extend(dir, 6)
	if err != nil {
		t.Fatal(err)
	}
	seeds, err := runs.TrainSeeds(t.Context(), e, set, 1, dir)
	if err != nil || len(seeds.Runs) != 3 || !seeds.Finished() {
		t.Fatalf("%d seeds are trained, finished: %v (%v)", len(seeds.Runs), seeds.Finished(), err)
	}
	planned := brief(set)
	planned.Epochs = 6
	all, err := runs.TrainSeeds(t.Context(), planned, set, 3, long)
	if err != nil {
		t.Fatal(err)
	}
	for i, run := range all.Runs {
		if contents(t, run.Dir())["checkpoint.safetensors"] != contents(t, seeds.Runs[i].Dir())["checkpoint.safetensors"] {
			t.Errorf("%s differs from that of a run of 6 epochs", seeds.Runs[i].Dir())
		}
	}
}

// Seeds that train at once and fail at once are all named: the first to end hides no other.
func TestEverySeedThatFailsIsNamed(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	var both sync.WaitGroup
	both.Add(2)
	together := func(all []runs.Measures) []runs.Measures {
		both.Done()
		both.Wait()
		return nil
	}
	e := altered{brief(set), func(l runs.Learner) runs.Learner { return strange{Learner: l, steps: together} }}
	_, err := runs.TrainSeeds(runs.AtOnce(t.Context(), 2), e, set, 2, t.TempDir())
	wantError(t, err, "seed 5", "seed 6", "took 0 steps")
}
