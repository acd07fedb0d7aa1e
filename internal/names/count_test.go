package names

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 epochs", 1: "1 epoch", 2: "2 epochs"} {
		if got := Count(n, "epoch"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
