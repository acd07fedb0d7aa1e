package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// TestLinesOfARunResumedAtTheEndOfAnEpoch reports the epoch of which only the
// validation was left when it was interrupted, and the next one.
func TestLinesOfARunResumedAtTheEndOfAnEpoch(t *testing.T) {
	var out bytes.Buffer
	l := newProgress(&out)
	l.Begin(runs.Plan{Name: "NRWS", Epochs: 3, StepsPerEpoch: 10, Start: 10})
	l.Epoch(runs.Epoch{Epoch: 1, Step: 10, Seconds: 4})
	l.Epoch(runs.Epoch{Epoch: 2, Step: 20, Seconds: 8})
	got := strings.Split(out.String(), "\n")
	if len(got) != 4 || !strings.Contains(got[0], "resumed after 10 steps") {
		t.Fatalf("printed %q", got)
	}
	if !strings.HasPrefix(got[1], "epoch 1/3") || !strings.HasSuffix(got[1], "4 s") {
		t.Errorf("without a step the line is %q, want no estimate", got[1])
	}
	if !strings.HasPrefix(got[2], "epoch 2/3") || !strings.HasSuffix(got[2], " left") {
		t.Errorf("after ten steps the line is %q, want an estimate", got[2])
	}
}
