package deterministic

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// patterns returns 40 training and 12 validation rows of 3by3: five minibatches per epoch, four of
// nine rows and the last of four.
func patterns(t testing.TB) *dataset.Set {
	t.Helper()
	validation := 12
	set, err := dataset.Spec{Name: "3by3", Subset: 40, Validation: &validation}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// short returns an experiment on patterns that trains quickly.
func short(set *dataset.Set, activation Activation) Experiment {
	e := NewExperiment(set, activation, 4, 2)
	e.Settings.Training = TrainingSpec{LearningRate: 0.05, BatchSize: 9}
	e.Epochs, e.Seed = 4, 3
	return e
}

// distribution returns the 18 rows that make up the distribution of 3by3, for training and for
// testing.
func distribution(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for i := range set.Test().Rows {
		rows = append(rows, Binary(set.Test().Row(i)))
	}
	if set, err = dataset.FromRows("lines", set.Shape(), rows, rows); err != nil {
		t.Fatal(err)
	}
	return set
}

func mustTrain(t *testing.T, e Experiment, set *dataset.Set, dir string, recorders ...runs.Recorder) *Run {
	t.Helper()
	run, err := e.Train(t.Context(), set, dir, recorders...)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Finished() {
		t.Fatal("training has returned without an error, but the run is not finished")
	}
	return run
}

// wantError checks that an error contains some texts.
func wantError(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", says)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q does not say %q", err, text)
		}
	}
}
