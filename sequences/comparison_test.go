package sequences

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The difference of two models of sequences is per step, and so is its standard error over sequences.
func TestDifferencesOfSequencesArePerStep(t *testing.T) {
	set, dir := singing(t), t.TempDir()
	var dirs []string
	var models []*Belief
	for i, rate := range []float64{0.03, 0.003} {
		e := Beliefs.Experiment(set)
		e.Settings.Hidden, e.Settings.Natural, e.Settings.LearningRate, e.Epochs = 0, false, rate, 2
		dirs = append(dirs, filepath.Join(dir, fmt.Sprint(i)))
		run, err := e.Train(t.Context(), set, dirs[i], runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, run.Model())
	}
	c := evaluated(t, dirs...)
	rows := few(set)
	var differences []float64
	for i := range models {
		e, err := models[i].LogP(t.Context(), rows, 10, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			differences = e.LogP
			continue
		}
		for row, logP := range e.LogP {
			differences[row] = logP - differences[row]
		}
	}
	want := PerStep(rows.Lengths, differences)
	if got := *c.Experiments[1].Difference; !near(got.Value, want.Value) || !near(got.SE, want.SE) {
		t.Errorf("the difference is %v, want %v", got, want)
	}
}

// The estimates of log p of sequences are labelled as values per step even if training improves another measure.
func TestComparisonsLabelLogPPerStep(t *testing.T) {
	set, dir := singing(t), t.TempDir()
	e := RNNRBMs.Experiment(set)
	e.Settings.Hidden, e.Settings.Recurrent, e.Epochs = 2, 2, 1
	if _, err := e.Train(t.Context(), set, dir, runs.Quiet); err != nil {
		t.Fatal(err)
	}
	if text := evaluated(t, dir).String(); !strings.Contains(text, "\nlog p per step, test") {
		t.Errorf("the evaluation is not per step:\n%s", text)
	}
}

func few(set *dataset.Set) dataset.Split { return set.Test().Subset(5, 1) }

func near(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

func evaluated(t *testing.T, dirs ...string) runs.Comparison {
	t.Helper()
	c, err := runs.Compare(dirs...)
	if err == nil {
		c, err = c.EvaluateCheckpoint(t.Context(), "last", few(singing(t)), 2, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}
