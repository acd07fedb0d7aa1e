package hm

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// remote is an engine that keeps the state of training elsewhere, as one on a
// device does: what it gives back is a copy. It counts how often it has to.
type remote struct {
	engine.Engine
	fetched int
}

type remoteTrainer struct {
	engine.Trainer
	engine *remote
}

var distant = &remote{Engine: cpuEngine()}

func init() {
	engine.Register("remote", func() (engine.Engine, error) { return distant, nil })
}

func (r *remote) NewTrainer(job engine.Job, state *engine.State) (engine.Trainer, error) {
	t, err := r.Engine.NewTrainer(job, cloned(state))
	return &remoteTrainer{t, r}, err
}

func (t *remoteTrainer) State() (*engine.State, error) {
	t.engine.fetched++
	s, err := t.Trainer.State()
	if err != nil {
		return nil, err
	}
	return cloned(s), nil
}

// cloned is a copy of a state that shares nothing with it.
func cloned(s *engine.State) *engine.State {
	c := *s
	c.Parameters, c.Moments = s.Parameters.Clone(), nil
	for _, m := range s.Moments {
		c.Moments = append(c.Moments, m.Clone())
	}
	if s.RefreshParameters != nil {
		c.RefreshParameters = s.RefreshParameters.Clone()
	}
	return &c
}

// A state that an engine keeps elsewhere is fetched where it is needed, at the
// end of an epoch and for a checkpoint, and a run is what it is with any engine.
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
	wantSameRun(t, whole, dir)
}
