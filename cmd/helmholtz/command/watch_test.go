package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// TestMeasuredKeptExtendedAndTuned follows a long training: measured along the way, with kept
// epochs, extended, and fine-tuned.
func TestMeasuredKeptExtendedAndTuned(t *testing.T) {
	home := t.TempDir()
	dir, tuned := filepath.Join(home, "first"), filepath.Join(home, "tuned")
	code, out, progress := helmholtz(t, t.Context(), "train", "--dataset", "3by3", "--subset", "320", "--validation", "40", "--algorithm", "bihm", "--layers", "4,3",
		"--epochs", "4", "--keep", "2", "--record-steps", "5", "--measure", "every=2,samples=20,log-z2=100", "--measure", "split=validation,every=4,samples=5", "--out", dir)
	if code != 0 {
		t.Fatalf("%s%s", out, progress)
	}
	for _, want := range []string{"; test: log p -", "log p* -", "log Z² -", "; validation_rows: log p -"} {
		if !strings.Contains(progress, want) {
			t.Errorf("the progress lacks %q:\n%s", want, progress)
		}
	}

	evaluated := func(args ...string) (logP float64) {
		var e struct {
			LogP float64 `json:"log_p"`
		}
		if err := json.Unmarshal([]byte(succeed(t, append([]string{"eval", dir, "--json", "--log-z2", "0", "--samples", "20"}, args...)...)), &e); err != nil {
			t.Fatal(err)
		}
		return e.LogP
	}
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	epochs := run.History().Epochs
	if got, want := evaluated("--checkpoint", "2"), epochs[1].Measured["test"]["log_p"]; got != want {
		t.Errorf("eval --checkpoint 2 says %v, training measured %v", got, want)
	}
	if got, want := evaluated(), epochs[3].Measured["test"]["log_p"]; got != want {
		t.Errorf("eval says %v, training measured %v", got, want)
	}
	if text := succeed(t, "compare", dir, "--samples", "5", "--checkpoint", "2"); !strings.Contains(text, "K = 5, epoch 2") {
		t.Errorf("compare says %q", text)
	}
	figures := filepath.Join(home, "figures")
	succeed(t, "plot", dir, "--out", figures, "--samples", "20", "--log-z2", "100")
	for _, name := range []string{"first-measured-test.png", "first-measured-validation_rows.png", "first-steps.png"} {
		if _, err := os.Stat(filepath.Join(figures, name)); err != nil {
			t.Error(err)
		}
	}

	succeed(t, "train", "--resume", dir, "--epochs", "6")
	if run, err = runs.Open(dir); err != nil || run.Epochs() != 6 || !run.Finished() {
		t.Errorf("the run went on to epoch %d (%v)", run.Epochs(), err)
	}
	if _, ok := run.History().Epochs[5].Measured["test"]; !ok {
		t.Error("the run that went on measured nothing")
	}

	succeed(t, "train", "--config", filepath.Join(dir, "experiment.toml"), "--from", dir, "--from-checkpoint", "best", "--lr", "0.0001", "--samples", "30",
		"--epochs", "2", "--keep", "1", "--out", tuned)
	text, err := os.ReadFile(filepath.Join(tuned, "experiment.toml"))
	if err != nil || !strings.Contains(string(text), "[start]") || !strings.Contains(string(text), "parameters = \"") {
		t.Errorf("the experiment of the fine-tuning is %s (%v)", text, err)
	}
	succeed(t, "compare", dir, tuned)
}

// TestSeedsGoOn extends finished seeds, even after that was interrupted.
func TestSeedsGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	succeed(t, seedsOf(dir)...)
	if _, err := runs.Extend(runs.SeedDir(dir, 2), 3); err != nil {
		t.Fatal(err)
	}
	succeed(t, "train", "--resume", dir, "--epochs", "3")
	seeds, err := runs.OpenSeeds(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range seeds.Runs {
		if run.Epochs() != 3 || !run.Finished() {
			t.Errorf("%s is at epoch %d", run.Dir(), run.Epochs())
		}
	}
}

func TestWatchedTrainingIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	small := []string{"train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1", "--out", dir}
	for want, args := range map[string][]string{
		"is none of every":                        append(small, "--measure", "often"),
		"has no validation rows":                  append(small, "--measure", "split=validation"),
		"--from-checkpoint has no effect":         append(small, "--from-checkpoint", "best"),
		"nowhere is not the directory":            append(small, "--from", "nowhere"),
		"epochs are numbered from 1":              append(small, "--keep", "0"),
		"use last, best, or the number":           {"eval", dir, "--checkpoint", "first"},
		"except for a larger number of --epochs:": {"train", "--resume", dir, "--lr", "1"},
	} {
		code, _, errOut := helmholtz(t, t.Context(), args...)
		if code == 0 || !strings.Contains(errOut, want) {
			t.Errorf("%v ended with %d and said %q, want %q", args, code, errOut, want)
		}
	}
}

// If one seed cannot be extended, none is.
func TestSeedsGoOnTogetherOrNot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	succeed(t, seedsOf(dir)...)
	if err := os.Remove(filepath.Join(runs.SeedDir(dir, 2), "checkpoint.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Extend(dir, 3); err == nil || !strings.Contains(err.Error(), "the file is missing") {
		t.Errorf("the error is %v", err)
	}
	seeds, err := runs.ReadSeeds(dir)
	if err != nil || seeds[0].Header().Epochs != 2 {
		t.Errorf("the first seed has become another experiment (%v)", err)
	}
}

// Settings that act only after the last epoch are reported before the first, for either family, and
// nothing else is.
func TestLaterSettingsAreSaid(t *testing.T) {
	for _, test := range []struct{ flags, says string }{
		{"--layers 3 --keep 2,500 --measure every=100,samples=2 --record-steps 50 --patience 2 --later-samples 9 --later-samples-after 2 --schedule step --step-epochs 2 --l2 0.1 --warmup 3",
			"without full effect within 2 epochs: --keep 500, --record-steps 50, --patience 2, --measure every=100, --step-epochs 2, --later-samples-after 2, --warmup 3\n"},
		{"--layers 3 --algorithm pcd --keep 3 --schedule step", "without full effect within 2 epochs: --keep 3, --step-epochs 100\n"},
		{"--layers 3 --keep 1,2 --measure every=2,samples=2 --record-steps 2 --patience 1 --later-samples 9 --later-samples-after 1 --schedule step --step-epochs 1 --l2 0.1 --warmup 2", ""},
	} {
		args := onPatterns(append(strings.Fields(test.flags), "--out", t.TempDir())...)
		code, _, errOut := helmholtz(t, t.Context(), args...)
		if code != 0 || !strings.Contains(errOut, test.says) || strings.Contains(errOut, "full effect") != (test.says != "") {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(args, " "), code, errOut, test.says)
		}
	}
}
