package runs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// TestLinesOfARunResumedAtTheEndOfAnEpoch reports an epoch of which only the validation was left
// when it was interrupted, and the next one.
func TestLinesOfARunResumedAtTheEndOfAnEpoch(t *testing.T) {
	var out bytes.Buffer
	l := runs.Printer(&out)
	l.Begin(runs.Plan{Name: "NRWS", Epochs: 3, StepsPerEpoch: 10, Start: 10})
	l.Epoch(runs.Epoch{Epoch: 1, Step: 10, Seconds: 4})
	l.Epoch(runs.Epoch{Epoch: 2, Step: 20, Seconds: 8})
	got := strings.Split(out.String(), "\n")
	if len(got) != 4 || !strings.Contains(got[0], "resumed after 10 steps") {
		t.Fatalf("printed %q", got)
	}
	if !strings.HasPrefix(got[1], "epoch 1/3") || !strings.HasSuffix(got[1], "4s") {
		t.Errorf("without a step the line is %q, want no estimate", got[1])
	}
	if !strings.HasPrefix(got[2], "epoch 2/3") || !strings.HasSuffix(got[2], " left") {
		t.Errorf("after ten steps the line is %q, want an estimate", got[2])
	}
}

func TestLateReportsNameNoInterruption(t *testing.T) {
	var out bytes.Buffer
	runs.Printer(&out).Begin(runs.Plan{Name: "RWS, seed 2", Epochs: 1, StepsPerEpoch: 10, Start: 7, Late: true})
	if got, want := out.String(), "RWS, seed 2: 1 epoch of 10 steps, in parallel; 7 steps done\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// Training with Quiet prints nothing, and nor does training whose standard error is not a terminal.
func TestTrainingIsQuietUnlessATerminalListens(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	f, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := os.Stderr
	os.Stderr = f
	defer func() { os.Stderr = before }()
	set := overlapping(t)
	mustTrain(t, brief(set), set, t.TempDir())
	mustTrain(t, brief(set), set, t.TempDir(), runs.Quiet)
	if text, err := os.ReadFile(said); err != nil || len(text) > 0 {
		t.Errorf("said was %q, %v", text, err)
	}
	mustTrain(t, brief(set), set, t.TempDir(), runs.Printer(f))
	if text, err := os.ReadFile(said); err != nil || !strings.Contains(string(text), "epoch 4/4") {
		t.Errorf("said was %q, %v", text, err)
	}
}

// Fractions are in percent, and consecutive measures in the same unit show it once.
func TestMeasuresText(t *testing.T) {
	measures := []runs.Measure{runs.LogP, {Name: "bound", Unit: "nats"}, {Name: "ESS", Fraction: true}}
	values := map[string]float64{"log p": -91.0304, "bound": -93.25, "ESS": 0.312}
	got := runs.MeasuresText(measures, func(m runs.Measure, scale float64, decimals int) string {
		return fmt.Sprintf("%.*f", decimals, scale*values[m.Name])
	})
	if want := "log p -91.030, bound -93.250 nats, ESS 31.2 %"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
}
