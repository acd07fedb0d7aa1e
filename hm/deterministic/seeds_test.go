package deterministic

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Runs are compared by their free energy; lower is better.
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
	_, err = c.EvaluateCheckpoint(t.Context(), "last", set.Test(), 10, nil)
	wantError(t, err, "deterministic logistic", "cannot be evaluated with samples")
}
