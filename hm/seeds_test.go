package hm

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// mustTrainSeeds trains 3 seeds, 3 to 5.
func mustTrainSeeds(t *testing.T, m Method, dir string, recorders ...runs.Recorder) *Seeds {
	t.Helper()
	set := patterns(t)
	seeds, err := m.TrainSeeds(t.Context(), machineFor(set), set, 3, dir, recorders...)
	if err != nil {
		t.Fatal(err)
	}
	return seeds
}

// TestSeedsAreOrdinaryRuns compares each seed with a run of that seed alone.
func TestSeedsAreOrdinaryRuns(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), filepath.Join(t.TempDir(), "seeds")
	w := &watcher{}
	seeds := mustTrainSeeds(t, short(RWS()), dir, w)
	if len(seeds.Runs) != 3 || !seeds.Finished() || seeds.Dir() != dir {
		t.Fatalf("%d runs in %s, finished: %v; want 3 in %s", len(seeds.Runs), seeds.Dir(), seeds.Finished(), dir)
	}
	for i, run := range seeds.Runs {
		seed := uint64(3 + i)
		alone := t.TempDir()
		mustTrain(t, short(RWS()).Seed(seed), set, alone)
		wantSameRun(t, alone, run.Dir())
		if name := w.plans[i].Name; !strings.HasSuffix(name, runs.SeedDir("", seed)[len("seed-"):]) {
			t.Errorf("the recorder heard of the seed %d as %q", seed, name)
		}
	}
}

// TestSeedsAreResumedAsAWhole interrupts the second of three seeds.
func TestSeedsAreResumedAsAWhole(t *testing.T) {
	t.Parallel()
	set, dir, whole := patterns(t), filepath.Join(t.TempDir(), "seeds"), filepath.Join(t.TempDir(), "seeds")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &watcher{}
	w.onStep = func(runs.Progress) {
		if len(w.plans) == 2 {
			cancel()
		}
	}
	seeds, err := short(RWS()).TrainSeeds(ctx, machineFor(set), set, 3, dir, w)
	wantError(t, err, "seed 4")
	if !errors.Is(err, context.Canceled) || len(seeds.Runs) != 2 || seeds.Waiting != 1 || seeds.Finished() {
		t.Fatalf("error %v with %d runs and %d waiting; want the cancellation, 2 and 1", err, len(seeds.Runs), seeds.Waiting)
	}
	again := &watcher{}
	resumed := mustTrainSeeds(t, short(RWS()), dir, again)
	if len(again.plans) != 2 || again.plans[0].Start != 1 || !resumed.Finished() {
		t.Errorf("resumed with the plans %+v, want the second seed after its first step, and the third", again.plans)
	}
	for i, run := range mustTrainSeeds(t, short(RWS()), whole).Runs {
		wantSameRun(t, run.Dir(), resumed.Runs[i].Dir())
	}
}

// TestSeedsJoinThoseThere trains seeds 2 and 3 into the directory of 3 to 5.
func TestSeedsJoinThoseThere(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	mustTrainSeeds(t, short(RWS()), dir)
	seeds, err := short(RWS()).Seed(2).TrainSeeds(t.Context(), machineFor(set), set, 2, dir)
	if err != nil {
		t.Fatal(err)
	}
	var of []uint64
	for _, run := range seeds.Runs {
		of = append(of, run.Experiment().Seed)
	}
	if want := []uint64{2, 3, 4, 5}; !slices.Equal(of, want) {
		t.Errorf("the directory holds seeds %v, want %v", of, want)
	}
}

func TestTrainSeedsRefuses(t *testing.T) {
	t.Parallel()
	set, seeds, one, other := patterns(t), t.TempDir(), t.TempDir(), t.TempDir()
	mustTrainSeeds(t, short(RWS()).Epochs(1), seeds)
	mustTrain(t, short(RWS()).Epochs(1), set, one)
	mustTrain(t, short(RWS()).Epochs(1), set, filepath.Join(other, "mnist-rws"))
	before := contents(t, seeds)
	for _, test := range []struct {
		name   string
		method Method
		n      int
		dir    string
		says   []string
	}{
		{"no seeds", short(RWS()), 0, t.TempDir(), []string{"0 seeds", "at least 1"}},
		{"seeds too large", short(RWS()).Seed(math.MaxInt64), 2, t.TempDir(), []string{"seed 9223372036854775808"}},
		{"one run", short(RWS()).Epochs(1), 2, one, []string{one, "the directory of one run"}},
		{"other runs", short(RWS()).Epochs(1), 2, other, []string{other, "mnist-rws", "not the run of a seed"}},
		{"another experiment", short(RWS()).Epochs(2).Seed(9), 2, seeds, []string{runs.SeedDir(seeds, 3), "epochs is 1 there, 2 here"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.method.TrainSeeds(t.Context(), machineFor(set), set, test.n, test.dir)
			wantError(t, err, test.says...)
		})
	}
	wantUnchanged(t, seeds, before)
	_, err := OpenRun(seeds)
	wantError(t, err, seeds, "several seeds", runs.SeedDir(seeds, 3))
	_, err = OpenRun(other)
	wantError(t, err, other, "not the directory of one run", "mnist-rws")
}

func TestOpenSeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trained := mustTrainSeeds(t, short(RWS()).Epochs(1), dir)
	if err := os.WriteFile(filepath.Join(dir, "figure.svg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	opened, err := OpenSeeds(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.Runs) != len(trained.Runs) {
		t.Errorf("opened %d runs, want %d", len(opened.Runs), len(trained.Runs))
	}
	one, err := OpenSeeds(runs.SeedDir(dir, 3))
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Runs) != 1 || !one.Finished() {
		t.Errorf("the directory of one run opens as %d, want that one", len(one.Runs))
	}
	_, err = OpenSeeds(t.TempDir())
	wantError(t, err, "not the directory of a run, nor of several seeds", experimentFile, "seed-1")
	if err := os.Rename(runs.SeedDir(dir, 3), runs.SeedDir(dir, 7)); err != nil {
		t.Fatal(err)
	}
	_, err = OpenSeeds(dir)
	wantError(t, err, runs.SeedDir(dir, 7), "seed 3", "name its directory seed-3")
}
