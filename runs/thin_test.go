package runs_test

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// A thinned history has the first epoch, the last and the best, in their order, and no more than
// asked for; a short one stays as it is.
func TestThinnedHistories(t *testing.T) {
	h := runs.History{}
	for n := range 100_000 {
		value := -2.0
		if n+1 == 77_777 {
			value = -1
		}
		h.Epochs = append(h.Epochs, runs.Epoch{Epoch: n + 1, Validation: runs.Measures{"log_p": value}})
	}
	thin := h.Thinned(1000).Epochs
	seen := map[int]bool{}
	for i, e := range thin {
		if i > 0 && e.Epoch <= thin[i-1].Epoch {
			t.Fatalf("epoch %d after epoch %d", e.Epoch, thin[i-1].Epoch)
		}
		seen[e.Epoch] = true
	}
	if len(thin) > 1000 || len(thin) < 900 || !seen[1] || !seen[77_777] || !seen[100_000] {
		t.Errorf("%d epochs are left, the first: %v, the best: %v, the last: %v", len(thin), seen[1], seen[77_777], seen[100_000])
	}
	if n := len(h.Thinned(100_000).Epochs); n != 100_000 {
		t.Errorf("%d of 100000 epochs are left where all may be", n)
	}
}
