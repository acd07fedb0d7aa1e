package reproduce_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/deterministic"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// training is a small one of some epochs that keeps the checkpoint of the second.
func training(epochs int) reproduce.Training {
	return reproduce.Training{Name: "small", Seeds: 2, Experiment: deterministic.Experiment{
		Dataset: dataset.Spec{Name: "3by3", Subset: 64}, Machine: deterministic.MachineSpec{Layers: []int{4}},
		Training: deterministic.TrainingSpec{LearningRate: 0.01, BatchSize: 16}, Epochs: epochs, Seed: 1, Keep: []int{2},
	}}
}

func train(t *testing.T, jobs []reproduce.Job) {
	t.Helper()
	for _, job := range jobs {
		if err := job.Train(t.Context(), &reproduce.Sets{}); err != nil {
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

// A run of a smaller scale goes on to a larger one, and ends as one that was begun
// there; one of the larger scale serves the smaller.
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

// A smaller scale trains a run of the larger one that was interrupted only as far as
// it needs, and leaves it to go on.
func TestLongerRunIsStopped(t *testing.T) {
	dir := t.TempDir()
	job := func(epochs int) reproduce.Job {
		return reproduce.Jobs([]reproduce.Training{training(epochs)}, dir, reproduce.Full)[0]
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := job(6).Train(ctx, &reproduce.Sets{}, &interruption{3, stop}); !errors.Is(err, context.Canceled) {
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

// A run of a smaller scale that was interrupted goes on to a larger one.
func TestInterruptedRunGrows(t *testing.T) {
	dir := t.TempDir()
	job := func(epochs int) reproduce.Job {
		return reproduce.Jobs([]reproduce.Training{training(epochs)}, dir, reproduce.Full)[0]
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := job(3).Train(ctx, &reproduce.Sets{}, &interruption{3, stop}); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted training ends with %v", err)
	}
	train(t, []reproduce.Job{job(6)})
}

// Shards have every job between them.
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
