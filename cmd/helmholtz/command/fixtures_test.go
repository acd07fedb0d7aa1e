package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
	"github.com/helmholtz-go/helmholtz/runs"
)

// fixtures has run directories as earlier versions of this program wrote them, one folder per
// version of the format. For each case, half is a run that was stopped within an epoch, and whole
// the same run at its end; seeds has several seeds, the last of which was stopped. made.json
// records what they were made with, and evaluations.json what eval printed for each whole run.
const fixtures = "testdata/runs"

// newest is the folder of the current format.
const newest = "v3"

var renew = flag.Bool("renew", false, "write the run directories of the present format anew")

// made records what the fixtures of a version were made with.
type made struct {
	InstructionSet string `json:"instruction_set"`
	// Recomputed lists the cases that later versions deliberately compute differently. Since
	// version 2, the diagonal metric of gaussian is summed in another order and its samples without
	// weight are left out of gradients, and the first steps of convolution are rounded differently.
	// convolution are rounded otherwise since version 2.
	Recomputed []string `json:"recomputed,omitempty"`
}

// fixtureCases are experiments as flags of train; they cover everything that a checkpoint can
// contain.
var fixtureCases = []struct {
	name  string
	stop  int // the step after which half was stopped
	flags []string
}{
	{"nrws", 25, []string{"--dataset", "3by3", "--subset", "320", "--validation", "40", "--algorithm", "nrws", "--layers", "6,3",
		"--lr", "0.05", "--damping", "0.05", "--kstep", "7", "--epochs", "4"}},
	{"bihm-adam-later", 14, []string{"--dataset", "3by3", "--subset", "320", "--validation", "40", "--algorithm", "bihm", "--layers", "5,4,3",
		"--coding", "01", "--weight-init", "bihm-uniform", "--optimizer", "adam", "--batch", "50", "--samples", "4", "--l1", "1e-4",
		"--later-samples", "12", "--later-samples-after", "2", "--lr", "0.01", "--epochs", "4"}},
	{"labels", 9, []string{"--dataset", "miniglyphs", "--subset", "120", "--validation", "20", "--labels", "60", "--algorithm", "bihm",
		"--layers", "8,4", "--label-layer", "lower", "--classes", "10", "--label-weight", "20", "--batch", "20", "--epochs", "3"}},
	{"convolution", 9, []string{"--dataset", "miniglyphs", "--subset", "120", "--validation", "20", "--binarization", "stochastic", "--algorithm", "rws",
		"--conv", "2@4x4/2", "--layers", "6", "--batch", "20", "--schedule", "cosine", "--lr", "0.01", "--epochs", "3"}},
	{"gaussian", 9, []string{"--dataset", "miniglyphs", "--subset", "120", "--validation", "20", "--binarization", "grey", "--units", "gaussian,bernoulli,bernoulli",
		"--layers", "8,4", "--algorithm", "dnrws", "--optimizer", "nesterov", "--l2", "0.001", "--warmup", "2", "--lr", "0.001", "--batch", "20", "--epochs", "3"}},
	{"rows", 5, nil}, // data that the program made
}

// stopAt is a recorder that ends training after a step.
type stopAt struct {
	step int
	stop context.CancelFunc
}

func (s stopAt) Begin(runs.Plan) {}
func (s stopAt) Step(p runs.Progress) {
	if p.Step == s.step {
		s.stop()
	}
}
func (s stopAt) Epoch(runs.Epoch) {}
func (s stopAt) End(error)        {}

// rowsExperiment returns the experiment of the case rows.
func rowsExperiment(t *testing.T) (hm.Experiment, *dataset.Set) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float64, 60)
	for i := range rows {
		rows[i] = make([]float64, 12)
		for j := range rows[i] {
			rows[i][j] = float64(random.IntN(4)) / 3
		}
	}
	set, err := dataset.FromRows("noise", dataset.Shape{Height: 3, Width: 4}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hm.WS().BatchSize(8).Epochs(2).Seed(7).Experiment(hm.New(set.Shape()).Dense(5, 3), set), set
}

// TestRenewFixtures writes the run directories of the current format if the flag -renew is given.
func TestRenewFixtures(t *testing.T) {
	if !*renew {
		t.Skip("the fixtures stay as they are without -renew")
	}
	home := filepath.Join(fixtures, newest)
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	evaluations := map[string]json.RawMessage{}
	for _, c := range fixtureCases {
		whole, half := filepath.Join(home, c.name, "whole"), filepath.Join(home, c.name, "half")
		var e hm.Experiment
		var set *dataset.Set
		var err error
		if c.flags == nil {
			e, set = rowsExperiment(t)
			_, err = e.Train(t.Context(), set, whole)
		} else {
			succeed(t, append([]string{"train", "--out", whole}, c.flags...)...)
			if e, err = readMachine(filepath.Join(whole, "experiment.toml")); err == nil {
				set, err = runs.OpenDataset(e, whole)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		if _, err := e.Train(ctx, set, half, stopAt{c.stop, stop}); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: training ended with %v before step %d", c.name, err, c.stop)
		}
		evaluations[c.name] = json.RawMessage(evalOf(t, whole))
	}

	seeds := filepath.Join(home, "seeds")
	succeed(t, append([]string{"train", "--out", seeds, "--seeds", "2"}, fixtureCases[0].flags...)...)
	last := filepath.Join(seeds, "seed-2")
	if err := os.RemoveAll(last); err != nil {
		t.Fatal(err)
	}
	e, err := readMachine(filepath.Join(seeds, "seed-1", "experiment.toml"))
	if err != nil {
		t.Fatal(err)
	}
	e.Seed = 2
	set, err := runs.OpenDataset(e, last)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	if _, err := e.Train(ctx, set, last, stopAt{12, stop}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"made.json": made{InstructionSet: kernels.InstructionSet()}, "evaluations.json": evaluations} {
		text, err := json.MarshalIndent(value, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// evalOf returns the estimates of a run with few samples, with keys that name the evaluation.
func evalOf(t *testing.T, dir string) []byte {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal([]byte(succeed(t, "eval", dir, "--json", "--samples", "20", "--log-z2", "2000")), &values); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"seconds", "seed", "epochs"} {
		delete(values, key)
	}
	of := map[string]any{"run": dir, "split": "test", "checkpoint": "last", "draw_seed": 1.0, "finished": true, "version": runs.Version()}
	for key, want := range of {
		if values[key] != want {
			t.Errorf("eval --json has %q for %s, not %q", values[key], key, want)
		}
		delete(values, key)
	}
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRunsOfEarlierVersions opens, resumes, evaluates, compares and draws the runs of each version
// of the format.
func TestRunsOfEarlierVersions(t *testing.T) {
	versions, err := filepath.Glob(filepath.Join(fixtures, "v*"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("no fixtures in %s (%v)", fixtures, err)
	}
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) {
			var by made
			readJSON(t, filepath.Join(version, "made.json"), &by)
			same := by.InstructionSet == kernels.InstructionSet()
			var evaluations map[string]map[string]any
			readJSON(t, filepath.Join(version, "evaluations.json"), &evaluations)
			for _, c := range fixtureCases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					testFixture(t, version, c.name, same, same && !slices.Contains(by.Recomputed, c.name), evaluations[c.name])
				})
			}
			t.Run("seeds", func(t *testing.T) { testSeedsFixture(t, version) })
		})
	}
}

func testFixture(t *testing.T, version, name string, same, exact bool, evaluation map[string]any) {
	home := t.TempDir()
	whole, half := filepath.Join(home, "whole"), filepath.Join(home, "half")
	for _, dir := range []string{whole, half} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(version, name, filepath.Base(dir)))); err != nil {
			t.Fatal(err)
		}
	}

	var now map[string]any
	if err := json.Unmarshal(evalOf(t, whole), &now); err != nil {
		t.Fatal(err)
	}
	compareValues(t, "eval", evaluation, now, map[bool]float64{true: 0, false: 1e-4}[same])
	succeed(t, "eval", whole, "--samples", "20", "--log-z2", "0", "--checkpoint", "last")

	succeed(t, "train", "--resume", half)
	after := checkpointBytes(t, half)
	if exact && !bytes.Equal(after, checkpointBytes(t, filepath.Join(fixtures, newest, name, "whole"))) {
		t.Errorf("the run that was stopped ends in other bytes than the one that was not")
	}
	if exact && !reflect.DeepEqual(tensorsOf(t, after), tensorsOf(t, checkpointBytes(t, whole))) {
		t.Errorf("the run that was stopped ends in other tensors than the one that was not")
	}
	resumed, err := hm.OpenRun(half)
	if err != nil {
		t.Fatal(err)
	}
	finished, err := hm.OpenRun(whole)
	if err != nil {
		t.Fatal(err)
	}
	if !resumed.Finished() || !finished.Finished() || resumed.Epochs() != finished.Epochs() {
		t.Errorf("resumed to epoch %d of %d", resumed.Epochs(), finished.Epochs())
	}
	for i, e := range finished.History().Epochs {
		was := resumed.History().Epochs[i]
		if e.Epoch != was.Epoch || e.Step != was.Step || e.LearningRate != was.LearningRate {
			t.Errorf("epoch %d is recorded as %+v, and as %+v", i+1, e, was)
		}
		if exact && !maps.Equal(e.Train, was.Train) {
			t.Errorf("epoch %d measured %+v, and resumed %+v", i+1, e.Train, was.Train)
		}
	}

	// A finished run is not trained again: its hash still matches its experiment.
	checkpoint := checkpointBytes(t, whole)
	succeed(t, "train", "--resume", whole)
	if !bytes.Equal(checkpoint, checkpointBytes(t, whole)) {
		t.Error("training a finished run has changed its checkpoint")
	}

	if text := succeed(t, "compare", whole, half, "--samples", "5", "--out", filepath.Join(home, "compare.png")); !strings.Contains(text, "log p, test, K = 5") {
		t.Errorf("compare says %q", text)
	}
	succeed(t, "plot", whole, "--out", filepath.Join(home, "figures"), "--samples", "20", "--log-z2", "100")
	succeed(t, "sample", whole, "--n", "4", "--out", filepath.Join(home, "samples.png"))
}

func testSeedsFixture(t *testing.T, version string) {
	seeds := filepath.Join(t.TempDir(), "seeds")
	if err := os.CopyFS(seeds, os.DirFS(filepath.Join(version, "seeds"))); err != nil {
		t.Fatal(err)
	}
	if text := succeed(t, "compare", seeds); !strings.Contains(text, "unfinished") {
		t.Errorf("compare says %q of seeds that are unfinished", text)
	}
	succeed(t, "train", "--resume", seeds)
	if text := succeed(t, "compare", seeds); strings.Contains(text, "unfinished") || !strings.Contains(text, "1–2") {
		t.Errorf("compare says %q of finished seeds", text)
	}
}

// compareValues compares numbers of JSON objects with a relative tolerance.
func compareValues(t *testing.T, what string, want, got map[string]any, tolerance float64) {
	t.Helper()
	_, few := got["sample_size"]
	for key, w := range want {
		switch w := w.(type) {
		case float64:
			if few && strings.HasSuffix(key, "_se") && got[key] == nil {
				continue // too few samples are effective for a standard error
			}
			if g, ok := got[key].(float64); !ok || !(math.Abs(g-w) <= tolerance*math.Abs(w)) {
				t.Errorf("%s: %s is %v, was %v", what, key, got[key], w)
			}
		case map[string]any:
			g, _ := got[key].(map[string]any)
			compareValues(t, what+"."+key, w, g, tolerance)
		}
	}
}

func checkpointBytes(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "checkpoint.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tensorsOf returns the tensors of a checkpoint of any version.
func tensorsOf(t *testing.T, checkpoint []byte) []safetensors.Tensor {
	t.Helper()
	f, err := safetensors.Unmarshal(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	return f.Tensors
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
