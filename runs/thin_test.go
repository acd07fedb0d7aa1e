package runs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A thinned history consists of epochs of the whole one, in order: the first, the last and the
// best, and at most as many as asked for; a short history stays whole. Both have the same end and
// warning.
func TestThinnedHistories(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	e := brief(set)
	e.Epochs = 60
	run := mustTrain(t, e, set, t.TempDir())
	whole := run.History()
	for _, most := range []int{3, 7, 20, 59, 60, 1000} {
		thin := run.ThinHistory(most)
		if thin.Err != nil {
			t.Fatal(thin.Err)
		}
		seen := map[int]bool{}
		for i, e := range thin.Epochs {
			if i > 0 && e.Epoch <= thin.Epochs[i-1].Epoch {
				t.Fatalf("epoch %d after epoch %d", e.Epoch, thin.Epochs[i-1].Epoch)
			}
			seen[e.Epoch] = true
			if diff := cmp.Diff(whole.Epochs[e.Epoch-1], e); diff != "" {
				t.Fatal(diff)
			}
		}
		for _, epoch := range []int{1, run.BestEpoch(), run.Epochs()} {
			if !seen[epoch] {
				t.Errorf("epoch %d is not among %d of 60", epoch, most)
			}
		}
		if n := len(thin.Epochs); n > most || n < min(most, 60)/2 {
			t.Errorf("%d of 60 epochs are left of at most %d", n, most)
		}
	}
	if diff := cmp.Diff(whole.Epochs[len(whole.Epochs)-1], run.Last()); diff != "" {
		t.Error(diff)
	}
	if run.Warning() != whole.LastWarning() || run.Shortfall() != whole.Shortfall(run.Last()) {
		t.Errorf("the run is told %q and %q, its history %q and %q", run.Warning(), run.Shortfall(), whole.LastWarning(), whole.Shortfall(run.Last()))
	}
}
