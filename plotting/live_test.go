package plotting

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// watched returns a recorder with a simulated clock and display.
func watched(clock *time.Time, shown *[]string, syncs *int) *live {
	return &live{
		now:  func() time.Time { return *clock },
		show: func(html string) { *shown = append(*shown, html) },
		sync: func() { *syncs++ },
		seen: func() bool { return true },
	}
}

func TestLiveUpdatesTwiceASecondAtMost(t *testing.T) {
	clock := time.Unix(0, 0)
	var shown []string
	var syncs int
	l := watched(&clock, &shown, &syncs)
	l.Begin(runs.Plan{Name: "a & b", Epochs: 10, StepsPerEpoch: 100})
	for step := 1; step <= 1000; step++ {
		clock = clock.Add(10 * time.Millisecond)
		l.Step(runs.Progress{Epoch: (step + 99) / 100, Step: step, Measures: runs.Measures{"log_p": -3}})
		if step%100 == 0 {
			l.Epoch(runs.Epoch{Epoch: step / 100, Step: step, Train: runs.Measures{"log_p": -3}})
		}
	}
	if len(shown) != 1+20 || syncs != 0 {
		t.Errorf("%d displays and %d syncs before the end of 10 s", len(shown), syncs)
	}
	l.End(nil)
	if len(shown) != 1+20+1 || syncs != 1 {
		t.Errorf("%d displays and %d syncs at the end", len(shown), syncs)
	}
	last := shown[len(shown)-1]
	for _, part := range []string{"a &amp; b", "epoch 10 of 10", "step 1,000 of 1,000", "finished", "100 steps/s", "width:100.0%", "data:image/png;base64,"} {
		if !strings.Contains(last, part) {
			t.Errorf("the last display lacks %q", part)
		}
	}
}

// Updates become rarer in a long run, and if they take long.
func TestLiveUpdatesOfLongRunsAreRare(t *testing.T) {
	for _, c := range []struct {
		name          string
		drawing, from time.Duration
		most          int // updates within a minute
	}{
		{"young", 0, time.Second, 120},
		{"old", 0, 10 * time.Hour, 2},
		{"slow", time.Second, time.Second, 6},
	} {
		clock := time.Unix(0, 0)
		updates := 0
		l := watched(&clock, new([]string), new(int))
		l.show = func(string) {
			updates++
			clock = clock.Add(c.drawing)
		}
		l.Begin(runs.Plan{Epochs: 1, StepsPerEpoch: 1_000_000})
		clock = clock.Add(c.from)
		l.Step(runs.Progress{Step: 1})
		updates = 0
		for end := clock.Add(time.Minute); clock.Before(end); clock = clock.Add(50 * time.Millisecond) {
			l.Step(runs.Progress{Step: 2})
		}
		if updates > c.most || updates < c.most/2 {
			t.Errorf("%s: %d updates within a minute, want about %d", c.name, updates, c.most)
		}
	}
}

func TestLiveTellsWhatIsLeft(t *testing.T) {
	clock := time.Unix(0, 0)
	var shown []string
	var syncs int
	l := watched(&clock, &shown, &syncs)
	l.Begin(runs.Plan{Epochs: 10, StepsPerEpoch: 100, Start: 500, History: runs.History{Measures: hm.Experiment{}.Measures(), Epochs: []runs.Epoch{
		{Epoch: 5, Step: 500, Validation: runs.Measures{"log_p": -7.25, "bound": -9.5, "ess": 0.13}},
	}}})
	if !strings.Contains(shown[0], "epoch 5 of 10, step 500 of 1,000") || strings.Contains(shown[0], "<table") {
		t.Errorf("resumed: %s", shown[0])
	}
	clock = clock.Add(10 * time.Second)
	l.Step(runs.Progress{Epoch: 6, Step: 520, LearningRate: 0.002, Measures: runs.Measures{"log_p": -12.345, "bound": math.NaN(), "ess": 0.4}})
	// 20 steps took 10 s, so the other 480 take four minutes.
	for _, part := range []string{"2.00 steps/s", "4:00 left", "0:10 elapsed", "learning rate 0.002", "−12.3", "unknown", "40 %", "−7.25", "−9.50", "13 %"} {
		if !strings.Contains(shown[1], part) {
			t.Errorf("the display lacks %q: %s", part, shown[1])
		}
	}
	l.End(errors.New("loss is <NaN>"))
	if last := shown[2]; !strings.Contains(last, "stopped: loss is &lt;NaN&gt;") || strings.Contains(last, " left") {
		t.Errorf("stopped: %s", last)
	}
	l.End(&runs.Interruption{Cause: context.Canceled})
	if last := shown[3]; !strings.Contains(last, "stopped with a checkpoint") || strings.Contains(last, "canceled") {
		t.Errorf("interrupted: %s", last)
	}
}

// Fractions are shown in percent, and other measures without a unit are not.
func TestLiveTellsFractionsFromScores(t *testing.T) {
	var last string
	l := LiveHTML(func() bool { return false }, func(html string) { last = html })
	e := boltzmann.NewExperiment(boltzmann.Contrastive)
	e.Machine.Visible = boltzmann.Gaussian
	l.Begin(runs.Plan{Epochs: 3, StepsPerEpoch: 1, History: runs.History{Measures: e.Measures()}})
	l.Step(runs.Progress{Epoch: 1, Step: 1, Measures: runs.Measures{"score": -140.45, "reconstruction_error": 107.66}})
	l.End(nil)
	if !strings.Contains(last, ">−140.45<") || !strings.Contains(last, ">107.66<") {
		t.Errorf("a score and an error of reconstruction are shown as %s", last)
	}
}

func TestLiveDrawsCurvesForThoseWhoSeeThem(t *testing.T) {
	seen := false
	var last string
	l := LiveHTML(func() bool { return seen }, func(html string) { last = html })
	l.Begin(runs.Plan{Epochs: 3, StepsPerEpoch: 1, History: runs.History{Epochs: []runs.Epoch{{Epoch: 1, Step: 1, Train: runs.Measures{"log_p": -2}}}}})
	if !strings.Contains(last, "epoch 1 of 3") || strings.Contains(last, "<img") {
		t.Errorf("for nobody: %s", last)
	}
	seen = true
	l.End(nil)
	if !strings.Contains(last, "<img") {
		t.Errorf("no curves: %s", last)
	}
}

func TestLiveOutsideANotebookPrints(t *testing.T) {
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	before := os.Stderr
	os.Stderr = said
	l := Live()
	os.Stderr = before
	l.Begin(runs.Plan{Name: "RWS", Epochs: 1, StepsPerEpoch: 1})
	l.Step(runs.Progress{Epoch: 1, Step: 1})
	l.Epoch(runs.Epoch{Epoch: 1, Step: 1, Train: runs.Measures{"log_p": -1}})
	l.End(nil)
	if text, err := os.ReadFile(said.Name()); err != nil || !strings.Contains(string(text), "RWS: 1 epoch of") || !strings.Contains(string(text), "epoch 1/1") {
		t.Errorf("said was %q, %v", text, err)
	}
}

// The baseline is shown below the measures, and divergence is reported during training and instead
// of a normal end.
func TestLiveSaysThatTrainingHasDiverged(t *testing.T) {
	var last string
	begin := func() runs.Recorder {
		l := LiveHTML(func() bool { return false }, func(html string) { last = html })
		l.Begin(runs.Plan{Epochs: 2, StepsPerEpoch: 1, History: runs.History{
			Measures: hm.Experiment{}.Measures(),
			Baseline: &runs.Baseline{Factorized: runs.Estimate{Value: -206.91, SE: 0.6}, Limit: -1630},
		}})
		return l
	}
	const warning = "log p -2e+06 is far worse than a factorised model reaches (-206.9)"
	for logP, diverged := range map[float64]bool{-300: false, -2e6: true} {
		l := begin()
		measured := runs.Measures{"log_p": logP, "ess": 0.5}
		l.Step(runs.Progress{Epoch: 1, Step: 1, Measures: measured})
		l.Epoch(runs.Epoch{Epoch: 1, Step: 1, Train: measured})
		l.End(errors.New("an interrupt"))
		if strings.Contains(last, warning) != diverged || !strings.Contains(last, "<td>baseline (factorised)</td><td>−206.91</td><td>–</td>") {
			t.Errorf("with log p = %v the display is %s", logP, last)
		}
		l = begin()
		l.Step(runs.Progress{Epoch: 1, Step: 1, Measures: measured})
		l.Epoch(runs.Epoch{Epoch: 1, Step: 1, Train: measured})
		l.End(nil)
		if strings.Contains(last, warning) != diverged || strings.Contains(last, "finished") == diverged {
			t.Errorf("with log p = %v the last display is %s", logP, last)
		}
	}
}

// A family's own names are text, not HTML.
func TestLiveEscapesNames(t *testing.T) {
	var last string
	l := LiveHTML(func() bool { return false }, func(html string) { last = html })
	l.Begin(runs.Plan{Name: "<i>", Epochs: 1, StepsPerEpoch: 1, History: runs.History{
		Measures: []runs.Measure{{Key: "log_p", Name: "<i>", Label: "<i>", Unit: "<i>"}},
		Baseline: &runs.Baseline{Model: "<i>"},
	}})
	l.Step(runs.Progress{Epoch: 1, Step: 1, Measures: runs.Measures{"log_p": -1}})
	l.End(nil)
	if strings.Contains(last, "<i>") || !strings.Contains(last, "<td>baseline (&lt;i&gt;)</td>") {
		t.Errorf("the display is %s", last)
	}
}
