package hm

import (
	"context"
	"errors"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Tune returns the run with the best validation log p, and continues an interrupted search.
func TestTune(t *testing.T) {
	set, err := dataset.Spec{Name: "3by3", Validation: new(20)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	machine, dir := New(set.Shape()).Dense(4), t.TempDir()
	tune := func(ctx context.Context, recorders ...runs.Recorder) (*Run, error) {
		return short(RWS()).Schedule(runs.ConstantRate).Tune(ctx, machine, set, 16, dir, recorders...)
	}
	ctx, stop := context.WithCancel(t.Context())
	w := &watcher{onEpoch: func(runs.Epoch) { stop() }}
	if _, err := tune(ctx, w); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted search returned the error %v", err)
	}
	stopped := len(w.epochs)
	w.onEpoch = func(runs.Epoch) {}
	best, err := tune(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if all := len(w.epochs); stopped != 1 || all != 16 { // four runs of two epochs, and then two of four more
		t.Errorf("%d epochs before the interruption, and %d in all", stopped, all)
	}
	for _, e := range w.epochs {
		if e.Epoch == best.Epochs() && e.Validation[runs.LogP.Key] > best.History().Epochs[best.Epochs()-1].Validation[runs.LogP.Key] {
			t.Errorf("after %d epochs another run has log p %v", e.Epoch, e.Validation[runs.LogP.Key])
		}
	}
}
