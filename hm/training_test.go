package hm

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// These are the files of a run.
const (
	experimentFile = "experiment.toml"
	checkpointFile = "checkpoint.safetensors"
	metricsFile    = "metrics.jsonl"
	datasetFile    = "dataset.bin"
	clockFile      = "clock.json"
	sessionsFile   = "sessions.jsonl"
	stepsFile      = "steps.jsonl"
)

// Most tests train on this set: an epoch has 6 minibatches, five of 16 rows and one of 10.
const (
	trainingRows   = 90
	validationRows = 30
	batchSize      = 16
	stepsPerEpoch  = 6
)

// patterns returns rows of 3by3, some of them held out for validation.
func patterns(t testing.TB) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "3by3", Subset: trainingRows, Validation: new(validationRows)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// shades returns rows of grey values that each step binarises anew; two sets of them differ only in
// their values.
func shades(t testing.TB, which int) *dataset.Set {
	t.Helper()
	return shadesAs(t, dataset.Stochastic, which)
}

func shadesAs(t testing.TB, b dataset.Binarization, which int) *dataset.Set {
	t.Helper()
	rows := make([][]float64, trainingRows+validationRows)
	for i := range rows {
		for j := range 9 {
			rows[i] = append(rows[i], float64((which+i+3*j)%11)/10)
		}
	}
	return rowsOf(t, dataset.Spec{
		Name: "shades", Validation: new(validationRows), Binarization: b,
	}, rows)
}

// grays returns shades that are values, not probabilities.
func grays(t testing.TB) *dataset.Set {
	t.Helper()
	var rows [][]float64
	for i := range trainingRows + validationRows {
		var row []float64
		for j := range 9 {
			row = append(row, float64((i*j+i)%11)/10)
		}
		rows = append(rows, row)
	}
	return rowsOf(t, dataset.Spec{Name: "greys", Validation: new(validationRows), Binarization: dataset.Gray}, rows)
}

// rowsOf returns a set of images of 3×3 pixels.
func rowsOf(t testing.TB, spec dataset.Spec, rows [][]float64) *dataset.Set {
	t.Helper()
	set, err := spec.FromRows(shape(3, 3), rows, rows[:10])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// machineFor returns a machine of two hidden layers: with a label for data that keep some, at the
// top or lower by their seed; with tanh layers and groups for tables; with a convolution below and layers of Gaussian units for data that
// keep their grey levels.
func machineFor(set *dataset.Set) Machine {
	m := New(set.Shape()).Dense(4, 3)
	if set.Columns() != nil {
		return m.Groups(Groups{}).Tanh(4, 3)
	}
	if set.Spec().Binarization == dataset.Gray {
		return m.Convolve(Convolution{Channels: 2, Height: 2, Width: 2, Stride: 1}).Units(Gaussian, Bernoulli, Gaussian, Bernoulli)
	}
	if spec := set.Spec(); spec.Labels > 0 {
		return m.Labels([]LabelLayer{TopLabels, LowerLabels, HiddenLabels}[spec.Seed], 10)
	}
	return m
}

// short sets the settings with which tests train. K = 7 is neither a multiple nor a divisor of an
// epoch's 6 steps.
func short(m Method) Method {
	return m.LearningRate(0.05).RefreshEvery(7).Samples(4).BatchSize(batchSize).Epochs(6).Seed(3)
}

// watcher is a recorder that keeps what it is told, and then calls hooks.
type watcher struct {
	plans  []runs.Plan
	steps  []runs.Progress
	epochs []runs.Epoch
	ends   []error

	onStep  func(runs.Progress)
	onEpoch func(runs.Epoch)
}

func (w *watcher) Begin(p runs.Plan) { w.plans = append(w.plans, p) }

func (w *watcher) Step(p runs.Progress) {
	w.steps = append(w.steps, p)
	if w.onStep != nil {
		w.onStep(p)
	}
}

func (w *watcher) Epoch(e runs.Epoch) {
	w.epochs = append(w.epochs, e)
	if w.onEpoch != nil {
		w.onEpoch(e)
	}
}

func (w *watcher) End(err error) { w.ends = append(w.ends, err) }

func mustTrain(t *testing.T, m Method, set *dataset.Set, dir string, recorders ...runs.Recorder) *Run {
	t.Helper()
	run, err := m.Train(t.Context(), machineFor(set), set, dir, recorders...)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Finished() {
		t.Fatal("training has returned without an error, but the run is not finished")
	}
	return run
}

// trainUntil trains until a step is done, and no further.
func trainUntil(t *testing.T, step int, m Method, machine Machine, set *dataset.Set, dir string) *Run {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, err := m.Train(ctx, machine, set, dir, &watcher{onStep: func(p runs.Progress) {
		if p.Step == step {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("training that was cancelled after step %d ended with error %v", step, err)
	}
	return run
}

// contents returns the bytes of all files of a directory by name, except the record of its
// sessions.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if entry.Name() == sessionsFile {
			return nil // it tells of sessions, not of the run
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// wantUnchanged checks that a directory has the same contents as before.
func wantUnchanged(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("the files of the directory have changed (-before +after):\n%s", diff)
	}
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

func shape(height, width int) dataset.Shape { return dataset.Shape{Height: height, Width: width} }

// The norms of an epoch must be computed from its final parameters.
func TestNormsAreRecorded(t *testing.T) {
	run := mustTrain(t, short(NRWS()), patterns(t), t.TempDir())
	epochs := run.History().Epochs
	for _, e := range epochs {
		if e.Norms == nil || e.Norms[Generative][0].Gradient == 0 || e.Norms[Recognition][1].Direction == 0 {
			t.Fatalf("epoch %d has norms %+v", e.Epoch, e.Norms)
		}
	}
	last := epochs[len(epochs)-1].Norms
	for i := range 2 {
		if got, want := last[Generative][i].Weights, run.parameters.Generative[i].WeightNorm(); got != want {
			t.Errorf("the weights of layer %d of p have norm %v, recorded is %v", i, want, got)
		}
		if got, want := last[Recognition][i].Weights, run.parameters.Recognition[i+1].WeightNorm(); got != want {
			t.Errorf("the weights of layer %d of q have norm %v, recorded is %v", i+1, want, got)
		}
	}
}
