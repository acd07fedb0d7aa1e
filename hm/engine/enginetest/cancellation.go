package enginetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// cancellation tests that evaluations stop with the context's error, and report their progress.
func cancellation(t *testing.T, e engine.Engine) {
	p := machine(engine.ZeroOne, 4, 3, 2)
	model, data := newModel(t, e, p), randomRows(300, 4)

	t.Run("progress", func(t *testing.T) {
		var fractions []float64
		if _, err := model.Evaluate(t.Context(), data, 100, seed, func(f float64) { fractions = append(fractions, f) }); err != nil {
			t.Fatal(err)
		}
		wantProgress(t, fractions)
	})

	t.Run("before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var errs [5]error
		_, errs[0] = model.Evaluate(ctx, data, 100, seed, nil)
		_, errs[1] = model.LogWeights(ctx, data, 100, seed)
		_, errs[2] = model.LogZ2(ctx, 0, 100, 1, seed)
		_, errs[3] = model.Generate(ctx, 100, seed)
		_, errs[4] = model.Infer(ctx, data, 10, seed)
		for i, err := range errs {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("call %d in a cancelled context returns the error %v", i, err)
			}
		}
	})

	// The work would take years, so the calls can return only by stopping.
	t.Run("between data", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := model.Evaluate(ctx, constantRows(1_000_000, 4, 0), 100_000, seed, func(float64) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("within a datum", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_, err := model.Evaluate(ctx, constantRows(1, 4, 0), 1<<50, seed, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
}

// wantProgress checks that the reported fractions rise to 1.
func wantProgress(t *testing.T, fractions []float64) {
	t.Helper()
	if len(fractions) == 0 || !slices.IsSorted(fractions) || fractions[0] < 0 || fractions[len(fractions)-1] != 1 {
		t.Errorf("progress goes %v, want a rise to 1", fractions)
	}
}
