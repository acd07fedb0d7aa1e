package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// estimates returns the output of eval --json without the time it took.
func estimates(t *testing.T, text string) map[string]any {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	delete(e, "seconds")
	return e
}

// TestEvaluationInParts evaluates a run in shares by the tasks of a job; together they print what a
// single program prints.
func TestEvaluationInParts(t *testing.T) {
	here := t.TempDir()
	dir, parts := filepath.Join(here, "run"), filepath.Join(here, "parts")
	succeed(t, "train", "--dataset", "3by3", "--subset", "320", "--layers", "5", "--epochs", "1", "--out", dir)
	evaluation := []string{"--samples=262144", "--rows=18", "--seed=3", "--split=train"} // in two parts
	alone := estimates(t, succeed(t, append([]string{"eval", dir, "--json"}, evaluation...)...))

	for says, args := range map[string][]string{
		"a share prints no result":   {"eval", dir, "--parts", parts, "--shard", "0/2", "--json"},
		"run contains checkpoint":    {"eval", dir, "--parts", dir},
		"contains run, which is not": {"eval", dir, "--parts", here},
		"seeds contains seeds.json":  {"eval", dir, "--parts", "testdata/runs/v3/seeds"},
	} {
		if code, _, text := helmholtz(t, t.Context(), args...); code != exitUsage || !strings.Contains(text, says) {
			t.Errorf("%v ends with %d: %s", args, code, text)
		}
	}
	t.Setenv("HELMHOLTZ_SHARDS", "2")
	for _, index := range []string{"0", "1"} {
		t.Setenv("JOB_COMPLETION_INDEX", index)
		succeed(t, append([]string{"eval", dir, "--shard", "auto", "--parts", parts}, evaluation...)...)
	}
	merged := estimates(t, succeed(t, append([]string{"eval", dir, "--json", "--parts", parts}, evaluation...)...))
	if difference := cmp.Diff(alone, merged); difference != "" {
		t.Errorf("parts together and one program alone differ: %s", difference)
	}
}
