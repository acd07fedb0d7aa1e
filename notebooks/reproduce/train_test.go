package reproduce_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/deterministic"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// training returns a small training of some epochs that keeps the checkpoint of the second.
func training(epochs int) reproduce.Training {
	e, err := deterministic.Family.Parse(fmt.Appendf(nil, "family = \"deterministic\"\nepochs = %d\nkeep = [2]\n[dataset]\nname = \"3by3\"\nsubset = 64\n[machine]\nlayers = [4]\n[training]\nbatch_size = 16\n", epochs))
	if err != nil {
		panic(err)
	}
	return reproduce.Training{Name: "small", Seeds: 2, Experiment: e}
}

func train(t *testing.T, jobs []reproduce.Job) {
	t.Helper()
	for _, job := range jobs {
		if err := job.Train(t.Context(), &runs.Sets{}); err != nil {
			t.Fatal(err)
		}
		if _, enough, err := job.Done(); !enough || err != nil {
			t.Fatalf("seed %d is trained, and not done (%v)", job.Seed, err)
		}
	}
}

func checkpoint(t *testing.T, job reproduce.Job) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(job.Dir, "checkpoint.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A run of a smaller scale continues to a larger one, and ends like a run that was started there; a
// run of the larger scale serves the smaller one.
func TestScalesShareRuns(t *testing.T) {
	jobs := func(dir string, epochs int) []reproduce.Job {
		return reproduce.Jobs([]reproduce.Training{training(epochs)}, dir, reproduce.Full)
	}
	grown, whole := t.TempDir(), t.TempDir()
	train(t, jobs(grown, 2))
	train(t, jobs(grown, 4))
	train(t, jobs(whole, 4))
	for i, job := range jobs(grown, 4) {
		if !bytes.Equal(checkpoint(t, job), checkpoint(t, jobs(whole, 4)[i])) {
			t.Errorf("seed %d is another where it was begun at a smaller scale", job.Seed)
		}
	}
	for _, job := range jobs(whole, 2) {
		if epochs, enough, err := job.Done(); epochs != 4 || !enough || err != nil {
			t.Errorf("a run of 4 epochs that keeps the second is not enough for 2 (%d, %v)", epochs, err)
		}
	}
	if _, enough, err := jobs(whole, 3)[0].Done(); enough || err == nil {
		t.Errorf("a run that has gone on beyond an epoch that it does not keep is said to be enough, or nothing (%v)", err)
	}
}

// falling is an experiment whose learning rate falls towards its last epoch.
type falling struct{ deterministic.Experiment }

func (f falling) WithHeader(h runs.Header) runs.Experiment {
	return falling{f.Experiment.WithHeader(h).(deterministic.Experiment)}
}

func (f falling) LearningRate(step, stepsPerEpoch int) float64 {
	return f.Settings.Training.LearningRate * (1 - float64(step)/float64(f.Epochs*stepsPerEpoch))
}

// Results that ask for different lengths of a training share the longest, which keeps the epochs at
// which the others end; a training whose end depends on its length cannot be shared.
func TestTrainingServesSeveralLengths(t *testing.T) {
	entry := func(id string, of reproduce.Training) reproduce.Entry {
		return reproduce.Entry{Result: reproduce.Result{ID: id}, Trainings: func(reproduce.Scale) []reproduce.Training { return []reproduce.Training{of} }}
	}
	for _, lengths := range [][]int{{3, 5, 4}, {5, 4, 3}} {
		var c reproduce.Catalog
		for _, epochs := range lengths {
			c = append(c, entry(fmt.Sprint("x/", epochs), training(epochs)))
		}
		all := c.Trainings(reproduce.Full)
		if len(all) != 1 {
			t.Fatalf("%v epochs are %d trainings", lengths, len(all))
		}
		h := all[0].Experiment.Header()
		if h.Epochs != 5 || !slices.Equal(all[0].Needs, []int{3, 4}) || !slices.Equal(h.Keep, []int{2, 3, 4}) {
			t.Errorf("%v epochs: %d, of which %v are needed and %v kept", lengths, h.Epochs, all[0].Needs, h.Keep)
		}
	}

	for name, change := range map[string]func(e deterministic.Experiment) runs.Experiment{
		"the learning rate": func(e deterministic.Experiment) runs.Experiment { return falling{e} },
		"0.02": func(e deterministic.Experiment) runs.Experiment {
			e.Settings.Training.LearningRate = 0.01 * float64(e.Epochs)
			return e
		},
	} {
		var c reproduce.Catalog
		for _, epochs := range []int{1, 2} {
			of := training(epochs)
			of.Experiment = change(of.Experiment.(deterministic.Experiment))
			c = append(c, entry(fmt.Sprint("x/", epochs), of))
		}
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, name) {
					t.Errorf("two trainings of one name: %s, want %s", said, name)
				}
			}()
			c.Trainings(reproduce.Full)
		}()
	}
}

// interruption stops training after some steps.
type interruption struct {
	left int
	stop func()
}

func (i *interruption) Begin(runs.Plan)  {}
func (i *interruption) Epoch(runs.Epoch) {}
func (i *interruption) End(error)        {}

func (i *interruption) Step(runs.Progress) {
	if i.left--; i.left == 0 {
		i.stop()
	}
}

// A smaller scale trains an interrupted run of the larger one only as far as it needs, and leaves
// it resumable.
func TestLongerRunIsStopped(t *testing.T) {
	dir := t.TempDir()
	job := func(epochs int) reproduce.Job {
		return reproduce.Jobs([]reproduce.Training{training(epochs)}, dir, reproduce.Full)[0]
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := job(6).Train(ctx, &runs.Sets{}, &interruption{3, stop}); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted training ends with %v", err)
	}
	train(t, []reproduce.Job{job(2)})
	run, err := runs.Open(job(2).Dir)
	if err != nil {
		t.Fatal(err)
	}
	if run.Epochs() != 2 || run.Finished() || run.Experiment().Header().Epochs != 6 {
		t.Errorf("the run has done %d epochs of %d (finished: %t), want 2 of 6", run.Epochs(), run.Experiment().Header().Epochs, run.Finished())
	}
	train(t, []reproduce.Job{job(6)})
}

// An interrupted run of a smaller scale continues to a larger one.
func TestInterruptedRunGrows(t *testing.T) {
	dir := t.TempDir()
	job := func(epochs int) reproduce.Job {
		return reproduce.Jobs([]reproduce.Training{training(epochs)}, dir, reproduce.Full)[0]
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := job(3).Train(ctx, &runs.Sets{}, &interruption{3, stop}); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted training ends with %v", err)
	}
	train(t, []reproduce.Job{job(6)})
}

// Shards together have every job.
func TestJobsAreSharded(t *testing.T) {
	jobs := reproduce.Jobs([]reproduce.Training{training(2)}, "runs", reproduce.Smoke)
	var seeds []uint64
	for i := range 2 {
		for part, job := range jobs {
			if (runs.Shard{Index: i, Count: 2}).Has(part) {
				seeds = append(seeds, job.Seed)
			}
		}
	}
	if slices.Sort(seeds); !slices.Equal(seeds, []uint64{1, 2}) {
		t.Errorf("the shards train the seeds %v, want 1 and 2", seeds)
	}
	if want := filepath.Join("runs", "smoke", "small", "seed-1"); jobs[0].Dir != want {
		t.Errorf("the first job's directory is %s, want %s", jobs[0].Dir, want)
	}
}

// diverging is an experiment whose steps always diverge.
type diverging struct{ deterministic.Experiment }

type divergingLearner struct{ runs.Learner }

func (e diverging) WithHeader(h runs.Header) runs.Experiment {
	return diverging{e.Experiment.WithHeader(h).(deterministic.Experiment)}
}

func (e diverging) Resolve(*dataset.Set) (runs.Experiment, error) { return e, nil }

func (e diverging) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	l, err := e.Experiment.Learner(set, at)
	return divergingLearner{l}, err
}

func (divergingLearner) Steps(context.Context, int, func(int) float64) ([]runs.Measures, error) {
	return nil, runs.ErrDiverged
}

// Training that diverges is not repeated, and results that need it are told; with other settings it
// is tried again, and results of its earlier epochs are made.
func TestDivergedTrainingIsRemembered(t *testing.T) {
	dir := t.TempDir()
	job := func(rate float64, epochs int) reproduce.Job {
		of := training(epochs)
		e := of.Experiment.(deterministic.Experiment)
		e.Settings.Training.LearningRate = rate
		of.Experiment = diverging{e}
		return reproduce.Jobs([]reproduce.Training{of}, dir, reproduce.Full)[0]
	}
	if err := job(0.1, 2).Train(t.Context(), &runs.Sets{}); !errors.Is(err, runs.ErrDiverged) {
		t.Fatalf("training that diverges ends with %v", err)
	}
	if _, enough, err := job(0.1, 2).Done(); !enough || err != nil {
		t.Errorf("training that has diverged is to be tried again (%v)", err)
	}
	base := job(0.1, 2).Training
	tuned := training(2)
	tuned.Name, tuned.From = "tuned", &base
	tuned.Begin = func(e runs.Experiment, _ string, _ int) runs.Experiment { return e }
	if err := reproduce.Jobs([]reproduce.Training{tuned}, dir, reproduce.Full)[0].Train(t.Context(), &runs.Sets{}); !errors.Is(err, runs.ErrDiverged) {
		t.Errorf("training that starts from a run that has diverged ends with %v", err)
	}
	if err := os.RemoveAll(job(0.1, 2).Dir); err != nil {
		t.Fatal(err)
	}
	if _, enough, err := job(0.01, 2).Done(); enough || err != nil {
		t.Errorf("training of other settings is said to have diverged (%v)", err)
	}

	e := reproduce.Entry{
		Result:    reproduce.Result{ID: "x/fig1", Claims: []reproduce.Claim{{Says: "It learns."}}},
		Trainings: func(reproduce.Scale) []reproduce.Training { return []reproduce.Training{job(0.1, 2).Training} },
		Make: func(_ context.Context, w *reproduce.Work) error {
			if _, err := w.Dirs("small", 0); err != nil {
				t.Errorf("an epoch from before it diverged: %v", err)
			}
			_, err := w.Dirs("small", 2)
			return err
		},
	}
	made, err := e.Produce(t.Context(), &reproduce.Work{Scale: reproduce.Full}, dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := made.Verdict(e.Claims[0]); found.Verdict != reproduce.Open || !strings.Contains(found.Evidence, "small, seed 1") {
		t.Errorf("a claim on training that diverged is %+v", found)
	}
}

// Training that diverges while a shorter, interrupted run is finished is not repeated either.
func TestDivergedBeginningIsRemembered(t *testing.T) {
	dir := t.TempDir()
	job := func(epochs int) reproduce.Job {
		of := training(epochs)
		e := of.Experiment.(deterministic.Experiment)
		e.Settings.Training.LearningRate = math.MaxFloat64
		of.Experiment = e
		return reproduce.Jobs([]reproduce.Training{of}, dir, reproduce.Full)[0]
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := job(10).Train(ctx, &runs.Sets{}, &interruption{1, stop}); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted training ends with %v", err)
	}
	if err := job(20).Train(t.Context(), &runs.Sets{}); !errors.Is(err, runs.ErrDiverged) {
		t.Fatalf("training that diverges ends with %v", err)
	}
	if _, enough, err := job(20).Done(); !enough || err != nil {
		t.Errorf("training that has diverged is to be tried again (%v)", err)
	}
}

// A result records the epoch that it asks for, and the checkpoint of this epoch, even if another result has
// trained the run further.
func TestResultsRecordTheirEpoch(t *testing.T) {
	dir := t.TempDir()
	record := func(epochs int) []reproduce.Trained {
		trainings := []reproduce.Training{training(epochs)}
		train(t, reproduce.Jobs(trainings, dir, reproduce.Full))
		e := reproduce.Entry{
			Result:    reproduce.Result{ID: "x/fig1"},
			Trainings: func(reproduce.Scale) []reproduce.Training { return trainings },
			Make:      func(context.Context, *reproduce.Work) error { return nil },
		}
		made, err := e.Produce(t.Context(), &reproduce.Work{Scale: reproduce.Full}, dir, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return made.Runs
	}
	short, long := record(2), record(4)
	if again := record(2); !slices.Equal(again, short) || short[0].Checkpoint == long[0].Checkpoint || long[0].Epochs != 4 {
		t.Errorf("runs of 2 epochs are recorded as %+v, of 4 epochs as %+v, and then those of 2 epochs as %+v", short, long, again)
	}
}

// A run that results cannot use is reported with a remedy, and the others are listed.
func TestUnusableRunsAreNamed(t *testing.T) {
	dir := t.TempDir()
	jobs := func(epochs int) []reproduce.Job {
		return reproduce.Jobs([]reproduce.Training{training(epochs)}, dir, reproduce.Full)
	}
	train(t, jobs(3)[:1])
	if err := jobs(3)[1].Train(t.Context(), &runs.Sets{}); err != nil {
		t.Fatal(err)
	}
	other := training(3)
	e := other.Experiment.(deterministic.Experiment)
	e.Settings.Training.LearningRate = 0.02
	other.Experiment = e
	damaged := reproduce.Jobs([]reproduce.Training{training(3)}, dir, reproduce.Full)[1]
	if err := os.WriteFile(filepath.Join(damaged.Dir, "checkpoint.safetensors"), []byte("no checkpoint"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, job := range map[string]reproduce.Job{
		"of another experiment": reproduce.Jobs([]reproduce.Training{other}, dir, reproduce.Full)[0],
		"damaged":               damaged,
		"without an epoch":      jobs(1)[0],
	} {
		if _, _, err := job.Done(); err == nil || !strings.Contains(err.Error(), "the run in "+job.Dir+" cannot be used") || !strings.Contains(err.Error(), "move it elsewhere") {
			t.Errorf("a run %s: got %v", what, err)
		}
	}

	base, tuned := training(3), training(3)
	tuned.Name, tuned.From = "tuned", &base
	tuned.Begin = func(e runs.Experiment, dir string, epoch int) runs.Experiment { return e }
	first := func(of reproduce.Training) reproduce.Job {
		return reproduce.Jobs([]reproduce.Training{of}, dir, reproduce.Full)[0]
	}
	train(t, []reproduce.Job{first(tuned)})
	tuned.Experiment = e
	if _, _, err := first(tuned).Done(); err == nil || !strings.Contains(err.Error(), "training.learning_rate") {
		t.Errorf("a run that starts from another is used under other settings: %v", err)
	}
	entry := func(id string, of reproduce.Training) reproduce.Entry {
		return reproduce.Entry{
			Result:    reproduce.Result{ID: id},
			Trainings: func(reproduce.Scale) []reproduce.Training { return []reproduce.Training{of} },
			Make:      func(context.Context, *reproduce.Work) error { return nil },
		}
	}
	one := training(3)
	one.Seeds = 1
	var b bytes.Buffer
	if err := (reproduce.Catalog{entry("x/bad", other), entry("x/good", one)}).List(nil, dir, reproduce.Full).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	made := map[string]reproduce.Made{"x/good": {ID: "x/good", Scale: reproduce.Full}}
	if err := (reproduce.Catalog{entry("x/good", one)}).List(made, t.TempDir(), reproduce.Full).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x/good,,3,3,full", "x/bad,,0,6,\"cannot use small, seed 1\"", "x/good,,3,3,not yet"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in the list\n%s", want, &b)
		}
	}
}

// Exactly one of several programs makes a result, and none once it is made.
func TestResultsAreClaimedOnce(t *testing.T) {
	results := t.TempDir()
	e := reproduce.Entry{
		Result: reproduce.Result{ID: "x/fig1"},
		Make:   func(context.Context, *reproduce.Work) error { return nil },
	}
	release, err := e.Claim(results, reproduce.Full)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Claim(results, reproduce.Full); !errors.Is(err, reproduce.ErrMade) {
		t.Errorf("a result that another program makes is claimed (%v)", err)
	}
	if other, err := e.Claim(results, reproduce.Laptop); err != nil {
		t.Error("another scale is not claimed: ", err)
	} else {
		other()
	}
	release()
	if release, err = e.Claim(results, reproduce.Full); err != nil {
		t.Fatal(err)
	}
	e.Trainings = func(reproduce.Scale) []reproduce.Training { return nil }
	if _, err := e.Produce(t.Context(), &reproduce.Work{Scale: reproduce.Full}, t.TempDir(), results); err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := e.Claim(results, reproduce.Full); !errors.Is(err, reproduce.ErrMade) {
		t.Errorf("a result that has been made is claimed (%v)", err)
	}
}
