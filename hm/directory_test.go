package hm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFinishedRunIsReturnedAtOnce(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	first := mustTrain(t, short(NRWS()), set, dir)
	before := contents(t, dir)
	w := &watcher{}
	again := mustTrain(t, short(NRWS()), set, dir, w)
	if len(w.steps) > 0 || len(w.epochs) > 0 {
		t.Errorf("a finished run took %d steps and %d epochs more", len(w.steps), len(w.epochs))
	}
	if again.Epochs() != first.Epochs() || again.Experiment().Hash() != first.Experiment().Hash() {
		t.Error("the run returned is not the one that was trained")
	}
	wantUnchanged(t, dir, before)
}

// A cell that does not name its arithmetic must resume the run of a version that did not write it, in
// float32, and train another seed beside it alike, but a new run in fixed point.
func TestEarlierRunsStayInFloat32(t *testing.T) {
	t.Parallel()
	set, dir, method := patterns(t), t.TempDir(), short(RWS())
	first, whole := runs.SeedDir(dir, method.budget.Seed), t.TempDir()
	trainUntil(t, stepsPerEpoch+2, method.Arithmetic(FloatingPoint), machineFor(set), set, first)
	path := filepath.Join(first, experimentFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^( *arithmetic|# checksum).*\n`).ReplaceAll(text, nil)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	seeds, err := method.TrainSeeds(t.Context(), machineFor(set), set, 2, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range seeds.Runs {
		if got := run.Experiment().Method.Arithmetic; got != FloatingPoint {
			t.Errorf("%v has become %v", run, got)
		}
	}
	float := mustTrain(t, method.Arithmetic(FloatingPoint), set, whole)
	runstest.SameRun(t, whole, first)
	usual, fixed := mustTrain(t, method, set, t.TempDir()), mustTrain(t, method.Arithmetic(FixedPoint), set, t.TempDir())
	if diff := cmp.Diff(fixed.Parameters(), usual.Parameters()); diff != "" || reflect.DeepEqual(float.Parameters(), usual.Parameters()) {
		t.Errorf("a new run is not in fixed point (-fixed +new):\n%s", diff)
	}
}

func TestOtherExperimentIsRefused(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	mustTrain(t, short(RWS()), set, dir)
	before := contents(t, dir)
	unheld, err := dataset.Spec{Name: "3by3", Subset: trainingRows}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		setting string
		method  Method
		machine Machine
		set     *dataset.Set
		says    []string
	}{
		{"preset", short(WS()), machineFor(set), set, []string{`method.preset is "rws" there, "ws" here`, `method.phases is "rws" there, "ws" here`}},
		{"rows held out", short(RWS()), machineFor(set), unheld, []string{"(dataset.validation is 30 there, unset here)"}},
	} {
		t.Run(test.setting, func(t *testing.T) {
			w := &watcher{}
			_, err := test.method.Train(t.Context(), test.machine, test.set, dir, w)
			wantError(t, err, append(test.says, dir, "another experiment", "choose another directory")...)
			if len(w.steps) > 0 {
				t.Error("training took steps before it was refused")
			}
			wantUnchanged(t, dir, before)
		})
	}
}

func TestOtherDataOfTheSameNameAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there, here := shades(t, 0), shades(t, 1)
	mustTrain(t, short(RWS()), there, dir)
	before := contents(t, dir)
	_, err := short(RWS()).Train(t.Context(), machineFor(here), here, dir)
	wantError(t, err, dir, "the data have fingerprint", there.Fingerprint()[:12], here.Fingerprint()[:12])
	wantUnchanged(t, dir, before)
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("years of work"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	set := patterns(t)
	_, err := short(RWS()).Train(t.Context(), machineFor(set), set, dir)
	wantError(t, err, dir, "thesis.tex", "choose another directory")
	wantUnchanged(t, dir, before)
}

func TestDirectoryThatIsAFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	set := patterns(t)
	_, err := short(RWS()).Train(t.Context(), machineFor(set), set, path)
	wantError(t, err, path)
}

func TestDirectoriesAreMade(t *testing.T) {
	t.Parallel()
	mustTrain(t, short(RWS()).Epochs(1), patterns(t), filepath.Join(t.TempDir(), "runs", "of", "today"))
}

func TestSecondTrainerIsRefused(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	tried := false
	mustTrain(t, short(RWS()), set, dir, &watcher{onEpoch: func(e runs.Epoch) {
		if e.Epoch != 2 {
			return
		}
		tried = true
		before := contents(t, dir)
		_, err := short(RWS()).Train(t.Context(), machineFor(set), set, dir)
		wantError(t, err, dir, "another program trains")
		wantUnchanged(t, dir, before)
	}})
	if !tried {
		t.Fatal("there was no second trainer")
	}
	mustTrain(t, short(RWS()), set, dir) // the lock has been released
}

// TestForeignFilesAreRefused puts foreign files into the directory of an unfinished run.
func TestForeignFilesAreRefused(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	deeper, other := t.TempDir(), t.TempDir()
	if _, err := short(NRWS()).Train(t.Context(), machineFor(set).Dense(2), set, deeper); err != nil {
		t.Fatal(err)
	}
	mustTrain(t, short(NRWS()).Seed(8), set, other)
	valid := t.TempDir()
	trainUntil(t, 9, short(NRWS()), machineFor(set), set, valid)
	checkpoint := contents(t, valid)["/"+checkpointFile]

	for _, test := range []struct {
		name, file, content string
		opens               bool // the history is damaged, the model can be evaluated
		says                []string
	}{
		{"torn checkpoint", checkpointFile, checkpoint[:len(checkpoint)/2], false, []string{"torn"}},
		{"checkpoint of a torn header", checkpointFile, checkpoint[:40], false, []string{"torn"}},
		{"checkpoint without its last byte", checkpointFile, checkpoint[:len(checkpoint)-1], false, []string{"damaged checkpoint"}},
		{"checkpoint with bytes left over", checkpointFile, checkpoint + "\x00", false, []string{"damaged checkpoint, or not a checkpoint"}},
		{"empty checkpoint", checkpointFile, "", false, []string{"damaged checkpoint, or not a checkpoint"}},
		{"text as checkpoint", checkpointFile, "not tensors at all", false, []string{"damaged checkpoint, or not a checkpoint"}},
		{"checkpoint of another architecture", checkpointFile, contents(t, deeper)["/"+checkpointFile], false, []string{"another"}},
		{"checkpoint of another seed", checkpointFile, contents(t, other)["/"+checkpointFile], false, []string{"another experiment"}},
		{"torn metrics", metricsFile, "{\n", true, []string{"line 1"}},
		{"metrics that lack epochs", metricsFile, "", true, []string{"0 epochs", "has seen 1"}},
		{"torn experiment", experimentFile, "[method]\npreset = ", false, nil},
		{"experiment with an unknown setting", experimentFile, "[method]\npreset = \"rws\"\nmomenta = 0.9\n", false, []string{"method.momenta"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(valid)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, test.file)
			if err := os.WriteFile(path, []byte(test.content), 0o644); err != nil {
				t.Fatal(err)
			}
			before := contents(t, dir)
			w := &watcher{}
			_, err := short(NRWS()).Train(t.Context(), machineFor(set), set, dir, w)
			wantError(t, err, append(test.says, path)...)
			if len(w.plans) > 0 {
				t.Error("training began")
			}
			run, err := OpenRun(dir)
			switch {
			case !test.opens:
				wantError(t, err, path)
			case err != nil:
				t.Error(err)
			default:
				wantError(t, run.History().Err, append(test.says, path)...)
			}
			wantUnchanged(t, dir, before)
		})
	}
}

func TestOpenRunWithoutRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := OpenRun(dir)
	wantError(t, err, dir, "has no "+experimentFile)
}

func TestBestWithoutValidation(t *testing.T) {
	t.Parallel()
	set, err := dataset.Spec{Name: "3by3", Subset: trainingRows}.Open()
	if err != nil {
		t.Fatal(err)
	}
	run := mustTrain(t, short(RWS()).Epochs(1), set, t.TempDir())
	_, err = run.Best()
	wantError(t, err, run.Dir(), "no validation rows")
	if run.BestEpoch() != 0 {
		t.Errorf("epoch %d is the best by a validation that there was not", run.BestEpoch())
	}
}

// enlarge sets all parameters of a checkpoint to 3·10³⁸.
func enlarge(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range f.Tensors {
		if strings.HasPrefix(tensor.Name, Generative) || strings.HasPrefix(tensor.Name, Recognition) {
			for i := range tensor.Data {
				tensor.Data[i] = 3e38
			}
		}
	}
	f.Seal()
	if b, err = safetensors.Marshal(f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDivergence resumes a run whose parameters are so large that the logits overflow in any order
// of addition: in the next step, and in the validation at the end of an epoch.
func TestDivergence(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	machine := machineFor(set).Coding(ZeroOne)
	for _, name := range Presets() {
		for _, stop := range []int{1, stepsPerEpoch} {
			t.Run(fmt.Sprintf("%s after step %d", name, stop), func(t *testing.T) {
				dir := t.TempDir()
				method := short(preset(name)).RefreshEvery(1)
				trainUntil(t, stop, method, machine, set, dir)
				path := filepath.Join(dir, checkpointFile)
				enlarge(t, path)

				before := contents(t, dir)
				w := &watcher{}
				run, err := method.Train(t.Context(), machine, set, dir, w)
				if !errors.Is(err, runs.ErrDiverged) {
					t.Fatalf("error %v, want %v", err, runs.ErrDiverged)
				}
				wantError(t, err, "diverged", "lower the learning rate", "earlier checkpoint is kept")
				if len(w.ends) != 1 || !errors.Is(w.ends[0], runs.ErrDiverged) {
					t.Errorf("the recorder heard of the ends %v, want one, that training has diverged", w.ends)
				}
				wantUnchanged(t, dir, before)
				if run == nil || run.Snapshot().Step != stop {
					t.Fatal("the last good checkpoint does not come with the error")
				}
				if _, err := OpenRun(dir); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestLearningRateThatOverflows makes the parameters overflow in the only step of an epoch.
func TestLearningRateThatOverflows(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	_, err := short(RWS()).LearningRate(1e300).BatchSize(trainingRows).Train(t.Context(), machineFor(set), set, dir)
	if !errors.Is(err, runs.ErrDiverged) {
		t.Fatalf("error %v, want %v", err, runs.ErrDiverged)
	}
	for name := range contents(t, dir) {
		if strings.HasSuffix(name, ".safetensors") {
			t.Errorf("%s holds parameters that are not finite", name)
		}
	}
}

// TestRowsOfOnesOwnStayWithTheirRun opens the data of a run, which have no name that dataset.Open
// knows, and trains on them to the same bytes as with the original set.
func TestRowsOfOnesOwnStayWithTheirRun(t *testing.T) {
	t.Parallel()
	set, whole, dir := shades(t, 0), t.TempDir(), t.TempDir()
	mustTrain(t, short(RWS()), set, whole)

	trainUntil(t, 5, short(RWS()), machineFor(set), set, dir)
	there, err := readExperiment(filepath.Join(dir, experimentFile))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := runs.OpenDataset(there, dir)
	if err != nil {
		t.Fatal(err)
	}
	run, err := there.Train(t.Context(), stored, dir)
	if err != nil {
		t.Fatal(err)
	}
	runstest.SameRun(t, whole, dir)
	got, err := run.Dataset()
	if err != nil {
		t.Fatal(err)
	}
	if got.Fingerprint() != set.Fingerprint() || !got.MadeFromRows() {
		t.Errorf("the data of the run have fingerprint %s, not %s", got.Fingerprint(), set.Fingerprint())
	}

	path := filepath.Join(dir, datasetFile)
	for _, c := range []struct {
		other *dataset.Set
		want  string
	}{
		{shades(t, 1), "not the experiment's data"},
		{patterns(t), "no set has this name"},
	} {
		var b bytes.Buffer
		if err := errors.Join(c.other.Save(&b), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		_, err = run.Dataset()
		wantError(t, err, "shades", c.want)
	}
	if err := os.WriteFile(path, []byte("rows"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = run.Dataset()
	wantError(t, err, path, "restore the file")
}

// TestDataWithoutExperimentAreNoRun trains in a directory in which a program has died between
// storing the data and storing the experiment.
func TestDataWithoutExperimentAreNoRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rows bytes.Buffer
	if err := errors.Join(shades(t, 1).Save(&rows), os.WriteFile(filepath.Join(dir, datasetFile), rows.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	set := shades(t, 0)
	run := mustTrain(t, short(RWS()), set, dir)
	if got, err := run.Dataset(); err != nil || got.Fingerprint() != set.Fingerprint() {
		t.Errorf("the run has other data: %v", err)
	}
}

// If Fisher blocks cannot be inverted although all numbers are finite, the error must report this
// as the cause of the divergence.
func TestSingularBlocksAreDivergence(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	_, err := short(NRWS()).Damping(1e-9).RefreshEvery(1).Train(t.Context(), machineFor(set), set, t.TempDir())
	if !errors.Is(err, runs.ErrDiverged) {
		t.Errorf("error %v, want %v", err, runs.ErrDiverged)
	}
	wantError(t, err, "step 1 of epoch 1", "cannot be inverted at damping 1e-09", "raise the damping")
}
