package deterministic

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Each of several seeds is an ordinary run, also where training was interrupted.
func TestSeedsAreOrdinaryRuns(t *testing.T) {
	set, dir := patterns(t), filepath.Join(t.TempDir(), "seeds")
	e := short(set, NoisyOr)
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{}
	w.onStep = func(p runs.Progress) {
		if len(w.plans) == 2 && p.Step == 7 {
			cancel()
		}
	}
	seeds, err := runs.TrainSeeds(ctx, e, set, 3, dir, w)
	wantError(t, err, "seed 4")
	if !errors.Is(err, context.Canceled) || len(seeds.Runs) != 2 || seeds.Waiting != 1 {
		t.Fatalf("error %v with %d runs and %d waiting; want the cancellation, 2 and 1", err, len(seeds.Runs), seeds.Waiting)
	}
	if seeds, err = runs.TrainSeeds(t.Context(), e, set, 3, dir); err != nil {
		t.Fatal(err)
	}
	if len(seeds.Runs) != 3 || !seeds.Finished() {
		t.Fatalf("%d runs, finished: %v; want 3", len(seeds.Runs), seeds.Finished())
	}
	var machines [][]float64
	for i, run := range seeds.Runs {
		alone, single := t.TempDir(), e
		single.Seed = uint64(3 + i)
		mustTrain(t, single, set, alone)
		wantSameRun(t, alone, run.Dir())
		opened, err := OpenRun(run.Dir())
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, opened.Flat)
	}
	if slices.Equal(machines[0], machines[1]) {
		t.Error("two seeds have the same parameters")
	}
}

// Runs are compared by their free energy, the lower the better.
func TestRunsAreComparedByFreeEnergy(t *testing.T) {
	set, here := patterns(t), t.TempDir()
	one, several := filepath.Join(here, "one"), filepath.Join(here, "several")
	mustTrain(t, short(set, Logistic), set, one)
	seeds, err := runs.TrainSeeds(t.Context(), short(set, NoisyOr), set, 2, several)
	if err != nil {
		t.Fatal(err)
	}
	c, err := runs.Compare(one, several)
	if err != nil {
		t.Fatal(err)
	}
	if c.Objective.Key != "free_energy" || !slices.Equal(c.Settings, []string{"machine.activation"}) {
		t.Errorf("compared by %v of different %v", c.Objective, c.Settings)
	}
	mean, best := 0.0, 0.0
	for _, run := range seeds.Runs {
		epochs := run.History().Epochs
		mean += epochs[len(epochs)-1].Train["free_energy"] / 2
		lowest := epochs[0].Validation["free_energy"]
		for _, e := range epochs {
			lowest = min(lowest, e.Validation["free_energy"])
		}
		best += lowest / 2
	}
	wantClose(t, "mean over the seeds", c.Experiments[1].Train.Mean, mean, 1e-12)
	wantClose(t, "mean of the best", c.Experiments[1].Best.Mean, best, 1e-12)
	for _, want := range []string{"logistic", "noisy-or", "free energy, training", "free energy, best validation", "free energy in nats"} {
		if !strings.Contains(c.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, c)
		}
	}
	_, err = c.Evaluate(t.Context(), set.Test(), 10, nil)
	wantError(t, err, "deterministic logistic", "not evaluated by samples")
}
