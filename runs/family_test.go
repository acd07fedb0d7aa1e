package runs_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

var mixtures = runs.Kind[mixture, parameters]{Noun: "a mixture", Parse: parseMixture, Model: mixture.model}

func TestFamily(t *testing.T) {
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	runstest.Family(t, runstest.Case[mixture, parameters]{
		Experiment: brief(set), Set: set, Kind: mixtures,
		Refused: []runstest.Refusal[mixture]{
			runstest.Refuse(func(m *mixture) { m.Components = 0 }, "0 components", "at least 1"),
			runstest.Refuse(func(m *mixture) { m.Components = 41 }, "41 components of 40 rows"),
			runstest.Refuse(func(m *mixture) { m.Rate = 1.5 }, "learning rate 1.5", "from 0 to 1"),
		},
	})
}

// The runs of seeds and of sweeps are the runs that training one by one gives.
func TestSeedsAndSweepsAreRuns(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	alone := func(e runs.Experiment) string {
		run, err := runs.Train(t.Context(), e, set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		return run.Dir()
	}
	for _, run := range mustTrainSeeds(t, t.TempDir()).Runs {
		runstest.SameRun(t, alone(brief(set).WithHeader(run.Experiment().Header())), run.Dir())
	}
	named, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	set = named
	s := &runs.Sweep{Base: brief(set).TOML(), Axes: []runs.Axis{{Keys: []string{"components"}, Values: [][]any{{2}, {3}}}}, Seeds: 1}
	dir := filepath.Join(t.TempDir(), "sweep")
	if _, err := s.Train(t.Context(), dir, runs.Shard{}, func(runs.Job) []runs.Recorder { return []runs.Recorder{runs.Quiet} }); err != nil {
		t.Fatal(err)
	}
	jobs, err := s.Jobs(dir)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("the sweep has %d runs, error %v", len(jobs), err)
	}
	for i, job := range jobs {
		e := brief(set)
		e.Components = 2 + i
		runstest.SameRun(t, alone(e), job.Dir)
	}
}

type foreign struct{ runs.Experiment }

// A model file is read as it was written, or refused: by another family, and if it is cut short or damaged.
func TestModelFilesAreRefused(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	run, err := runs.Train(t.Context(), brief(set), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	other := runs.Kind[foreign, parameters]{Noun: "a foreign model"}
	_, err = other.Opened(run, nil)
	wantError(t, err, run.Dir(), "not of a foreign model: open it with the package of its family")
	var file bytes.Buffer
	if err := run.SaveModel(&file); err != nil {
		t.Fatal(err)
	}
	_, err = other.LoadModel(bytes.NewReader(file.Bytes()))
	wantError(t, err, "not of a foreign model: load it with the package of its family")
	want, err := mixtures.LoadModel(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{0, 7, file.Len() / 2, file.Len() - 1} {
		_, err := mixtures.LoadModel(bytes.NewReader(file.Bytes()[:length]))
		wantError(t, err, "damaged model file, or not a model file")
	}
	for place := range file.Len() {
		damaged := bytes.Clone(file.Bytes())
		damaged[place] ^= 1 << (place % 8)
		if m, err := mixtures.LoadModel(bytes.NewReader(damaged)); err == nil && !reflect.DeepEqual(m, want) {
			t.Errorf("with a flipped bit in byte %d of %d another model is read", place, file.Len())
		}
	}
	checkpoint, err := os.Open(filepath.Join(run.Dir(), "checkpoint.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer checkpoint.Close()
	_, err = mixtures.LoadModel(checkpoint)
	wantError(t, err, checkpoint.Name(), "open a checkpoint by its directory", "restore the file")
}

// Check refuses what no experiment can have.
func TestHeadersAreRefused(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	rows := set.Train().Rows
	for _, c := range []struct {
		change func(h *runs.Header)
		says   []string
	}{
		{func(h *runs.Header) { h.Epochs = 0 }, []string{"0 epochs", "at least 1"}},
		{func(h *runs.Header) { h.Epochs = math.MaxInt }, []string{strconv.Itoa(math.MaxInt), "lower the number of epochs"}},
		{func(h *runs.Header) { h.BatchSize = 0 }, []string{"batch", "0", "at least 1"}},
		{func(h *runs.Header) { h.BatchSize = rows + 1 }, []string{"batch", strconv.Itoa(rows + 1), fmt.Sprint("the ", rows, " training rows"), "lower it"}},
		{func(h *runs.Header) { h.Patience = -1 }, []string{"patience of -1", "give 0"}},
		{func(h *runs.Header) { h.Keep = []int{0} }, []string{"keep = [0]", "from 1"}},
		{func(h *runs.Header) { h.RecordSteps = -1 }, []string{"record_steps = -1", "or 0"}},
		{func(h *runs.Header) { h.Seed = math.MaxUint64 }, []string{"seed 18446744073709551615", "give a number from 0"}},
		{func(h *runs.Header) { h.Dataset.Seed = math.MaxUint64 }, []string{"seed 18446744073709551615", "give a number from 0"}},
	} {
		h := brief(set).Header()
		c.change(&h)
		wantError(t, brief(set).WithHeader(h).Check(set), c.says...)
	}
}
