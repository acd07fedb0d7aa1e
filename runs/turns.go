package runs

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// atOnce is the context key for the number of runs that train in parallel.
type atOnce struct{}

// AtOnce returns a context in which TrainSeeds trains n seeds in parallel. Otherwise, Workers decides.
func AtOnce(ctx context.Context, n int) context.Context { return context.WithValue(ctx, atOnce{}, n) }

// Workers returns how many runs of e should train on set in parallel: as many as their device trains well
// together if e is a Planner that names a number, and otherwise one per thread of this program, or fewer if
// memory does not suffice. onDevice reports whether they train on such a device.
func Workers(e Experiment, set *dataset.Set) (n int, onDevice bool, err error) {
	n = runtime.GOMAXPROCS(0)
	if e, known := e.(Planner); known {
		if n, err := e.AtOnce(set); n > 0 || err != nil {
			return n, true, err
		}
		bytes, err := e.Memory(set)
		if err != nil {
			return 0, false, err
		}
		if available, _ := memory.Limit(); bytes > 0 {
			n = min(n, int(available/bytes))
		}
	}
	return max(1, n), false, nil
}

// turns passes the reports of parallel runs to the recorders, one run at a time: a run keeps its turn
// until it ends. If a run gets its turn late, its report begins at its current step.
type turns struct {
	recorders []Recorder

	mutex   sync.Mutex
	current *turn
	ended   []*turn // runs that ended before their turn
}

// turn is the recorder of one run.
type turn struct {
	*turns
	plan Plan // plan with the current step and history
	err  error
}

// each reports whether it is this run's turn, and if so, calls tell for every recorder. If no run has
// the turn, this run takes it.
func (t *turn) each(tell func(Recorder)) bool {
	if t.current == nil {
		t.current = t
		for _, r := range t.recorders {
			r.Begin(t.plan)
		}
	}
	if t.current == t {
		for _, r := range t.recorders {
			tell(r)
		}
	}
	return t.current == t
}

func (t *turn) Begin(p Plan) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.plan = p
	t.each(func(Recorder) {})
}

func (t *turn) Step(p Progress) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.each(func(r Recorder) { r.Step(p) }) {
		t.plan.Start, t.plan.Late = p.Step, true
	}
}

func (t *turn) Epoch(e Epoch) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.each(func(r Recorder) { r.Epoch(e) }) {
		t.plan.History.Epochs = append(slices.Clip(t.plan.History.Epochs), e)
	}
}

func (t *turn) End(err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.err = err; !t.each(func(r Recorder) { r.End(err) }) {
		t.ended = append(t.ended, t)
		return
	}
	t.current = nil
	for _, other := range t.ended {
		other.each(func(r Recorder) { r.End(other.err) })
		t.current = nil
	}
	t.ended = nil
}

// CheckpointWanted reports whether a recorder asks for a checkpoint. It is false unless it is this run's
// turn.
func (t *turn) CheckpointWanted() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.current == t && checkpointWanted(t.recorders)
}

// waiter is a recorder with the method Wait.
type waiter interface{ Wait(*TakenError) }

// Wait tells the recorders that the run waits.
func (t *turn) Wait(e *TakenError) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, r := range t.recorders {
		if r, ok := r.(waiter); ok {
			r.Wait(e)
		}
	}
}
