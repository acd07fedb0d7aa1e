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

// AtOnce returns a context in which TrainSeeds trains n seeds in parallel. By default, the number is 1
// for a Soloist whose Solo returns true, and Workers decides for all other experiments.
func AtOnce(ctx context.Context, n int) context.Context { return context.WithValue(ctx, atOnce{}, n) }

// Workers returns how many runs should train in parallel: one per thread of this program, or fewer if
// memory does not suffice. bytes is the memory that each run takes; 0 means unknown.
func Workers(bytes int64) int {
	n := runtime.GOMAXPROCS(0)
	if available, _ := memory.Limit(); bytes > 0 {
		n = min(n, int(available/bytes))
	}
	return max(1, n)
}

// workers returns how many runs of e should train on set in parallel. The number from AtOnce, if ctx
// has one, decides.
func workers(ctx context.Context, e Experiment, set *dataset.Set) (int, error) {
	if n, given := ctx.Value(atOnce{}).(int); given {
		return max(1, n), nil
	}
	if of, is := e.(Soloist); is && of.Solo() {
		return 1, nil
	}
	of, known := e.(Measurer)
	if !known {
		return Workers(0), nil
	}
	bytes, err := of.Memory(set)
	return Workers(bytes), err
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

// Wait tells the recorders that the run waits.
func (t *turn) Wait(e *TakenError) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, r := range t.recorders {
		if r, ok := r.(Waiter); ok {
			r.Wait(e)
		}
	}
}
