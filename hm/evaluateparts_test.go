package hm

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Several programs that share the parts of an evaluation must get the evaluation of a single
// program, bit for bit, for any number of rows and samples that go through the networks together.
func TestEvaluateParts(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 6, 5, 3)
	split := everyRow(6)
	for _, c := range []struct{ samples, rows int }{{1, 25}, {30, 7}, {100, 12}, {600, 16}} {
		alone, err := m.Evaluate(t.Context(), split, c.samples, nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		share := func(s runs.Shard) (Evaluation, error) {
			return m.evaluateParts(t.Context(), split, c.samples, c.rows, dir, s, nil)
		}
		var all sync.WaitGroup
		for _, s := range []runs.Shard{{Index: 0, Count: 2}, {Index: 1, Count: 2}, {}} {
			all.Go(func() {
				var unfinished *runs.UnfinishedError
				if _, err := share(s); err != nil && !errors.As(err, &unfinished) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		merged, err := share(runs.Shard{})
		if err != nil {
			t.Fatal(err)
		}
		merged.Seconds = alone.Seconds
		if c.samples == 1 { // half of a sample gives NaN, which equals nothing
			merged.SampleSizes, alone.SampleSizes = nil, nil
		}
		if !reflect.DeepEqual(merged, alone) {
			t.Errorf("%d samples in parts of %d rows: %v, alone %v", c.samples, c.rows, merged, alone)
		}
	}
}

// A single share is not an evaluation; parts finished before an interruption are not repeated; and
// parts of one evaluation do not count for another.
func TestPartsOfAnEvaluation(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 4, 3)
	split, dir := everyRow(4), t.TempDir()
	var unfinished *runs.UnfinishedError
	if _, err := m.evaluateParts(t.Context(), split, 50, 4, dir, runs.Shard{Index: 1, Count: 4}, nil); !errors.As(err, &unfinished) || *unfinished != (runs.UnfinishedError{Left: 4, Of: 6}) {
		t.Errorf("a share of a quarter: %v, want 4 of 6 parts left", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	if _, err := m.evaluateParts(ctx, split, 50, 4, dir, runs.Shard{}, func(float64) { stop() }); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped after a part: %v", err)
	}
	var fractions []float64
	if _, err := m.evaluateParts(t.Context(), split, 50, 4, dir, runs.Shard{}, func(f float64) { fractions = append(fractions, f) }); err != nil || !slices.Equal(fractions, []float64{1. / 3, 2. / 3, 1}) {
		t.Errorf("after the other three parts: %v, with progress %v of the three that were left", err, fractions)
	}
	_, err := m.WithSeed(5).evaluateParts(t.Context(), split, 60, 4, dir, runs.Shard{}, nil)
	wantError(t, err, "belongs to other work, where samples is 50 there, 60 here, where seed is", "5 here")
	_, err = m.evaluateParts(t.Context(), split, 50, 5, dir, runs.Shard{}, nil)
	wantError(t, err, "where rows a part is 4 there, 5 here")
}
