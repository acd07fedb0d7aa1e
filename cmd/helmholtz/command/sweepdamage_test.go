package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Listings name a run whose metrics were cut short.
func TestListingsNameDamagedRuns(t *testing.T) {
	dir := t.TempDir()
	text := `base = {epochs = 3, dataset = {name = "3by3", subset = 64, validation = 18}, machine = {layers = [4]}, method = {preset = "rws", samples = 3}}
grid.method.learning_rate = [0.01, 0.02]
`
	file, swept := filepath.Join(dir, "rates.toml"), filepath.Join(dir, "swept")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "sweep", "run", file, "--workers", "1", "--out", swept)
	path := filepath.Join(swept, "learning_rate=0.01", "seed-1", "metrics.jsonl")
	metrics, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Join(bytes.SplitAfter(metrics, []byte("\n"))[:2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"runs", swept}, {"sweep", "status", swept}, {"sweep", "report", swept}} {
		code, out, errOut := helmholtz(t, t.Context(), args...)
		if code != 0 || !strings.Contains(out+errOut, path+" has 2 epochs, but the checkpoint beside it has seen 3") {
			t.Errorf("%v ended with %d and said %s%s", args, code, out, errOut)
		}
	}
}

// Tables of runs remark on those whose training diverged, and huge numbers have few digits.
func TestListingsNameDivergedRuns(t *testing.T) {
	dir := t.TempDir()
	text := `base = {epochs = 3, dataset = {name = "3by3", subset = 64, validation = 18}, machine = {layers = [4]}, method = {preset = "rws", samples = 3}}
grid.method.learning_rate = [0.01, 1e30]
`
	file, swept, tuned := filepath.Join(dir, "rates.toml"), filepath.Join(dir, "swept"), filepath.Join(dir, "tuned")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, errOut := helmholtz(t, t.Context(), "sweep", "run", file, "--workers", "1", "--out", swept); strings.Contains(errOut, "00000") || !strings.Contains(errOut, "e+30, bound -") {
		t.Errorf("training says %s", errOut)
	}
	for _, args := range [][]string{{"runs", swept}, {"sweep", "report", swept}, {"tune", file, "--workers", "1", "--epochs", "6", "--out", tuned}} {
		if out := succeed(t, args...); !strings.Contains(out, "diverged") || strings.Contains(out, "00000") {
			t.Errorf("%v prints %s", args, out)
		}
	}
}
