package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tune trains four candidates of an experiment's file in two rungs and draws them. It refuses a small budget, and
// names failed candidates until it retries them.
func TestTune(t *testing.T) {
	t.Chdir(t.TempDir())
	text := `epochs = 100
dataset = {name = "3by3", subset = 64, validation = 18}
machine = {layers = [4]}
method = {preset = "rws", samples = 3, learning_rate = 0.1}
`
	if err := os.WriteFile("small.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, says := helmholtz(t, t.Context(), "tune", "small.toml", "--epochs", "7"); code == 0 || !strings.Contains(says, "give at least 8") {
		t.Errorf("a budget of 7 epochs ended with %d: %s", code, says)
	}
	if code, _, says := helmholtz(t, t.Context(), "tune", "small.toml", "--epochs", "16", "--out", "small.toml"); code != exitUsage || !strings.Contains(says, "small.toml is a file: name a directory") {
		t.Errorf("tuning in a file ended with %d: %s", code, says)
	}
	if err := os.WriteFile("step.toml", []byte(strings.Replace(text, "method = {", `method = {schedule = "step", step_epochs = 0, `, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, says := helmholtz(t, t.Context(), "tune", "step.toml", "--epochs", "16"); code == 0 || !strings.Contains(says, "step_epochs") {
		t.Errorf("steps of 0 epochs ended with %d: %s", code, says)
	}
	code, out, says := helmholtz(t, t.Context(), "tune", "small.toml", "--epochs", "16", "--workers", "1")
	if code != 0 || !strings.Contains(out, "4 to epoch 2, 2 to epoch 6") || strings.Count(out, "stopped") != 3 || !strings.Contains(says, "at the edge of the search: method.learning_rate = 0.3;") {
		t.Errorf("tune ended with %d and wrote\n%s%s", code, out, says)
	}
	_, best, _ := strings.Cut(strings.TrimSpace(says), "helmholtz eval ")
	if _, err := os.Stat(filepath.Join(best, "best.safetensors")); err != nil {
		t.Errorf("the best run: %v", err)
	}
	failed := filepath.Join("runs", "small-tuned", "learning_rate=0.01", "seed-1")
	if err := errors.Join(os.RemoveAll(failed), os.WriteFile(failed+".failed", []byte("no memory\nno disk"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--retry"}} {
		code, _, says := helmholtz(t, t.Context(), append([]string{"tune", "small.toml", "--epochs", "16", "--workers", "1"}, flags...)...)
		if code != 0 || strings.Contains(says, "failed: no memory\nfailed: no disk\n") != (flags == nil) {
			t.Errorf("tune %v after a failure ended with %d: %s", flags, code, says)
		}
	}
}
