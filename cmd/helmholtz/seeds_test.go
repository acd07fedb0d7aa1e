package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// seedsOf are the flags of a small experiment with three seeds.
func seedsOf(dir string, more ...string) []string {
	return append([]string{"train", "--dataset", "3by3", "--subset", "320", "--validation", "40", "--layers", "3",
		"--epochs", "2", "--seeds", "3", "--out", dir}, more...)
}

// TestSeedsAreInterruptedAndResumed interrupts the training of three seeds in
// the second.
func TestSeedsAreInterruptedAndResumed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &watched{seen: "seed 2: 2 epochs of", do: cancel}
	if code := run(ctx, seedsOf(dir), stderr, stderr); code != exitInterrupted || !strings.Contains(stderr.String(), "--resume "+dir) {
		t.Fatalf("ended with %d and said %q", code, stderr.String())
	}
	code, out, errOut := helmholtz(t, t.Context(), "train", "--resume", dir)
	if code != 0 || strings.Contains(errOut, "seed 1:") || !strings.Contains(errOut, "seed 2:") || !strings.Contains(errOut, "seed 3:") {
		t.Errorf("resuming ended with %d and said %q, want seeds 2 and 3 alone", code, errOut)
	}
	for _, want := range []string{"3 seeds in " + dir, "validation of the last epoch", "log p -"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary %q lacks %q", out, want)
		}
	}
	if n := strings.Count(out, " ± "); n != 4 { // the heading's and three measures'
		t.Errorf("the summary %q has %d deviations", out, n)
	}
	if again := succeed(t, seedsOf(dir)...); again != out {
		t.Errorf("finished seeds say %q, then %q", out, again)
	}
}
