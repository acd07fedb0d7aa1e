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
	model, data := newModel(t, e, machine(engine.ZeroOne, 4, 3, 2)), randomRows(300, 4)
	evaluate := func(rows, samples int) call {
		return func(ctx context.Context, progress func(float64)) error {
			_, err := model.Evaluate(ctx, constantRows(rows, 4, 0), samples, seed, progress)
			return err
		}
	}
	wantProgress(t, evaluate(300, 100))
	wantStop(t, evaluate(1_000_000, 100_000)) // between data
	wantStop(t, evaluate(1, 1<<50))           // within a datum

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
}

// chainsStop tests that chains report their progress, and stop with the context's error.
func chainsStop(t *testing.T, e engine.Engine) {
	model := newChains(t, e, machine(engine.ZeroOne, 4, 3, 2))
	for _, known := range [][]bool{nil, {true, false, false, false}} {
		chains := func(g engine.Gibbs) call {
			return func(ctx context.Context, progress func(float64)) (err error) {
				if known == nil {
					_, err = model.Gibbs(ctx, 300, g, seed, progress)
				} else {
					_, err = model.Inpaint(ctx, randomRows(3, 4), known, 100, g, seed, progress)
				}
				return err
			}
		}
		wantProgress(t, chains(engine.Gibbs{Sweeps: 5, Candidates: 3, Inner: 2}))
		wantStop(t, chains(engine.Gibbs{Sweeps: 1 << 40, Candidates: 3, Inner: 2})) // between sweeps
		wantStop(t, chains(engine.Gibbs{Sweeps: 1, Candidates: 1 << 40, Inner: 2})) // within the first sweep
	}
}

// A call does some work of a model.
type call func(ctx context.Context, progress func(float64)) error

// wantProgress checks that the reported fractions rise to 1.
func wantProgress(t *testing.T, run call) {
	t.Helper()
	var fractions []float64
	if err := run(t.Context(), func(f float64) { fractions = append(fractions, f) }); err != nil {
		t.Fatal(err)
	}
	if len(fractions) == 0 || !slices.IsSorted(fractions) || fractions[0] < 0 || fractions[len(fractions)-1] != 1 {
		t.Errorf("progress goes %v, want a rise to 1", fractions)
	}
}

// wantStop checks that work that would take years stops with the context's error.
func wantStop(t *testing.T, run call) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("in a cancelled context the error is %v", err)
	}
}
