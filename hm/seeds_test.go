package hm

import (
	"fmt"
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

// TestSeedsJoinThoseThere trains seeds 2 and 3 into the directory of 3 to 5.
func TestSeedsJoinThoseThere(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	mustTrainSeeds(t, short(RWS()), dir)
	seeds, err := short(RWS()).Seed(2).TrainSeeds(t.Context(), machineFor(set), set, 2, dir)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(seeds); !strings.Contains(text, "RWS, η = 0.05") || !strings.Contains(text, "4 seeds in "+dir) || !strings.Contains(text, "log p −") && !strings.Contains(text, "log p -") || strings.Contains(text, "0x") {
		t.Errorf("seeds are printed as %s", text)
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
		{"no seeds", short(RWS()), 0, t.TempDir(), []string{"0 seeds", "from 1 to"}},
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
	wantError(t, err, runs.SeedDir(dir, 7), "seed 3", "rename its directory to seed-3")
}
