package mixture

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func faces(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestFamily(t *testing.T) {
	set := faces(t)
	e := Family.Experiment(set)
	e.Epochs, e.Settings = 3, Settings{Components: 3, LearningRate: 0.5, BatchSize: 9}
	runstest.Family(t, runstest.Case[Experiment, *Model]{
		Experiment: e, Set: set, Kind: Family.Kind(),
		Refused: []runstest.Refusal[Experiment]{
			runstest.Refuse(func(e *Experiment) { e.Settings.Components = 0 }, "components = 0", "at least 1"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Components = 41 }, "components = 41 of 40 rows"),
			runstest.Refuse(func(e *Experiment) { e.Settings.LearningRate = 1.5 }, "learning_rate = 1.5"),
		},
	})
}

// EM on all rows never lowers their likelihood.
func TestEMClimbs(t *testing.T) {
	rows := faces(t).Train().Floats()
	m := newModel(4, dataset.Shape{Height: 1, Width: len(rows[0])})
	m.begin(rows, 1)
	before := math.Inf(-1)
	for step := range 30 {
		if logP := m.step(rows, 1); logP < before-1e-9 {
			t.Fatalf("step %d lowers log p from %v to %v", step, before, logP)
		} else {
			before = logP
		}
	}
}

// One Gaussian after one step of EM has the mean and the variance of the rows, by which log p is known
// in closed form.
func TestOneGaussianIsExact(t *testing.T) {
	rows := faces(t).Train().Floats()
	units := len(rows[0])
	m := newModel(1, dataset.Shape{Height: 1, Width: units})
	m.begin(rows, 1)
	m.step(rows, 1)
	mean, variance, n := make([]float64, units), 0.0, float64(len(rows))
	for _, x := range rows {
		for i, v := range x {
			mean[i] += v / n
		}
	}
	for _, x := range rows {
		for i, v := range x {
			variance += (v - mean[i]) * (v - mean[i]) / n / float64(units)
		}
	}
	want := -float64(units) / 2 * (math.Log(2*math.Pi*variance) + 1)
	if got := m.step(rows, 1); math.Abs(got-want) > 1e-8 {
		t.Errorf("log p of the rows is %v, want %v", got, want)
	}
}

// An evaluation is exact, so it uses no samples and mentions none.
func TestEvaluationDrawsNoSamples(t *testing.T) {
	set := faces(t)
	e := Family.Experiment(set)
	e.Epochs, e.Settings = 1, Settings{Components: 3, LearningRate: 0.5, BatchSize: 9}
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	of, err := run.Evaluation(run.Model())
	if err != nil || len(of.Uses) != 0 {
		t.Fatalf("an evaluation uses %v (%v)", of.Uses, err)
	}
	got, err := of.Evaluate(t.Context(), runs.EvaluationOptions{Set: set, Rows: set.Test()})
	if err != nil || strings.Contains(got.String(), "sample") {
		t.Errorf("the evaluation is %v (%v)", got, err)
	}
}

// TENSORS.md of package runs describes the tensors.
func TestPageDescribesTheTensors(t *testing.T) {
	page, err := os.ReadFile("../../runs/TENSORS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "the family `mixture`")
	section, _, _ = strings.Cut(section, "\n## ")
	snapshot, err := Family.Experiment(faces(t)).Begin(faces(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range snapshot.Tensors {
		if !strings.Contains(section, "| `"+tensor.Name+"` |") {
			t.Errorf("the page does not describe the tensor %s", tensor.Name)
		}
	}
}
