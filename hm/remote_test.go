package hm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// remote is an engine that keeps the state of training elsewhere, like an engine on a device: of
// the state that it returns, only the number of steps advances by itself. It counts how often it
// has to return the state.
type remote struct {
	engine.Engine
	fetched int
}

type remoteTrainer struct {
	engine.Trainer
	engine *remote
	given  *engine.State
}

var distant = &remote{Engine: cpuEngine()}

func init() {
	engine.Register("remote", func() (engine.Engine, error) { return distant, nil })
}

func (r *remote) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	t, err := r.Engine.NewTrainer(job, state.Clone())
	return &remoteTrainer{t, r, state}, err
}

func (t *remoteTrainer) Steps(ctx context.Context, learningRates []float64) ([]engine.Report, error) {
	t.given.Step++
	return t.Trainer.Steps(ctx, learningRates[:1])
}

func (t *remoteTrainer) State() (*engine.State, error) {
	t.engine.fetched++
	s, err := t.Trainer.State()
	if err != nil {
		return nil, err
	}
	*t.given = *s.Clone()
	return t.given, nil
}

// several is an engine that takes several steps in one call, and records how many.
type several struct {
	*remote
	sizes []int
	stop  func() // if not nil, called after the first of several steps
}

type severalTrainer struct {
	engine.Trainer
	engine *several
}

var together = &several{remote: &remote{Engine: cpuEngine()}}

func init() {
	engine.Register("several", func() (engine.Engine, error) { return together, nil })
}

func (s *several) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	t, err := s.remote.NewTrainer(job, state)
	return &severalTrainer{t, s}, err
}

func (t *severalTrainer) Steps(ctx context.Context, learningRates []float64) (reports []engine.Report, err error) {
	t.engine.sizes = append(t.engine.sizes, len(learningRates))
	for _, rate := range learningRates {
		if t.engine.stop != nil && len(reports) == 1 {
			t.engine.stop()
		}
		if err := ctx.Err(); err != nil {
			return reports, err
		}
		r, err := t.Trainer.Steps(ctx, []float64{rate})
		reports = append(reports, r...)
		if err != nil {
			return reports, err
		}
	}
	return reports, nil
}

// A state that an engine keeps elsewhere must be fetched when it is needed, at the end of an epoch
// and for a checkpoint, and the run must be the same as with any engine.
func TestStateIsFetchedWhereItIsNeeded(t *testing.T) {
	set := patterns(t)
	method := short(NRWS()).Optimizer(Adam)
	whole, dir := t.TempDir(), t.TempDir()
	useBackend(t, "cpu")
	mustTrain(t, method, set, whole)

	useBackend(t, "remote")
	distant.fetched = 0
	trainUntil(t, 9, method, machineFor(set), set, dir)
	if distant.fetched != 2 {
		t.Errorf("the state was fetched %d times in an epoch and a half, want 2", distant.fetched)
	}
	mustTrain(t, method, set, dir)
	if want := 2 + 5; distant.fetched != want {
		t.Errorf("the state was fetched %d times, want %d: at the end of each of 6 epochs and at an interruption", distant.fetched, want)
	}
	runstest.SameRun(t, whole, dir)
}

// Several steps in one call must produce the same run, interrupted or not, and recorders must be
// told of each. An epoch ends with the last of them.
func TestStepsAtOnce(t *testing.T) {
	set := patterns(t)
	method := short(NRWS()).Schedule(CosineDecay)
	whole, dir := t.TempDir(), t.TempDir()
	useBackend(t, "cpu")
	one := &watcher{}
	mustTrain(t, method, set, whole, one)

	useBackend(t, "several")
	together.sizes = nil
	at := &watcher{}
	mustTrain(t, method, set, dir, at)
	runstest.SameRun(t, whole, dir)
	if diff := cmp.Diff(one.steps, at.steps); diff != "" {
		t.Errorf("recorders hear of other steps (-one by one +at once):\n%s", diff)
	}
	sum := 0
	for _, n := range together.sizes {
		if sum%stepsPerEpoch+n > stepsPerEpoch {
			t.Errorf("steps were taken in %v: an epoch of %d is overrun", together.sizes, stepsPerEpoch)
		}
		sum += n
	}
	if sum != len(one.steps) || slices.Max(together.sizes) == 1 {
		t.Errorf("steps were taken in %v, want several at once and %d in all", together.sizes, len(one.steps))
	}

	interrupted := t.TempDir()
	trainUntil(t, 9, method, machineFor(set), set, interrupted)
	mustTrain(t, method, set, interrupted)
	runstest.SameRun(t, whole, interrupted)

	stopped := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	together.stop = cancel
	run, err := method.Train(ctx, machineFor(set), set, stopped)
	together.stop = nil
	// The first call takes one step; the second call takes the first of two.
	if !errors.Is(err, context.Canceled) || run.Snapshot().Step != 2 {
		t.Errorf("cancelled among several steps, training stopped after %d with the error %v", run.Snapshot().Step, err)
	}
	mustTrain(t, method, set, stopped)
	runstest.SameRun(t, whole, stopped)

	if _, err := method.Experiment(machineFor(set), set).Benchmark(t.Context(), set, 20, nil); err != nil {
		t.Error(err)
	}
}

// If one of several steps diverges, training must end as if they were taken one by one, and
// recorders must be told of the earlier steps.
func TestDivergenceAmongStepsAtOnce(t *testing.T) {
	set := patterns(t)
	method := short(RWS()).LearningRate(1e300)
	steps := func(backend string) int {
		t.Helper()
		useBackend(t, backend)
		w := &watcher{}
		_, err := method.Train(t.Context(), machineFor(set), set, t.TempDir(), w)
		if !errors.Is(err, runs.ErrDiverged) {
			t.Errorf("%s: error %v, want %v", backend, err, runs.ErrDiverged)
		}
		wantError(t, err, fmt.Sprintf("step %d of epoch 1", len(w.steps)+1))
		return len(w.steps)
	}
	if one, at := steps("cpu"), steps("several"); one != at {
		t.Errorf("training diverges after %d steps one by one, after %d at once", one, at)
	}
}
