package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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

	job := succeed(t, append([]string{"eval", "submit", dir, "--parts", parts, "--kubernetes", "--image", "i", "--claim", "c", "--tasks", "2", "--only-write", "--backend", "cpu"}, evaluation...)...)
	if help := succeed(t, "eval", "submit", "--help"); strings.Contains(help, "FILE") {
		t.Errorf("tasks cannot share the rows of a file, but help offers it: %s", help)
	}
	if !strings.Contains(job, "2 tasks with 2 cores") {
		t.Errorf("the job is said to be: %s", job)
	}
	text, err := os.ReadFile(filepath.Join(parts, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var task []string
	for line := range strings.Lines(string(text)) {
		if words, is := strings.CutPrefix(strings.TrimSpace(line), "command: "); is {
			if err := json.Unmarshal([]byte(words), &task); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := append([]string{"helmholtz", "eval", dir, "--shard", "auto", "--parts", parts}, slices.Sorted(slices.Values(evaluation))...)
	want = append(want, "--backend", "cpu")
	if difference := cmp.Diff(want, task); difference != "" {
		t.Fatalf("a task is %s", difference)
	}
	for says, args := range map[string][]string{
		"cannot share the rows of a file": {"eval", "submit", dir, "--parts", parts, "--slurm", "--only-write", "--rows", "evalparts_test.go"},
		"a share prints no result":        {"eval", dir, "--parts", parts, "--shard", "0/2", "--json"},
		"run contains checkpoint":         {"eval", dir, "--parts", dir},
		"contains parts, which is not":    {"eval", "submit", dir, "--parts", here, "--slurm", "--only-write"},
		"seeds contains seeds.json":       {"eval", dir, "--parts", "testdata/runs/v3/seeds"},
	} {
		if code, _, text := helmholtz(t, t.Context(), args...); code != exitUsage || !strings.Contains(text, says) {
			t.Errorf("%v ends with %d: %s", args, code, text)
		}
	}
	t.Setenv("HELMHOLTZ_SHARDS", "2")
	for _, index := range []string{"0", "1"} {
		t.Setenv("JOB_COMPLETION_INDEX", index)
		succeed(t, task[1:]...)
	}
	merged := estimates(t, succeed(t, append([]string{"eval", dir, "--json", "--parts", parts}, evaluation...)...))
	if difference := cmp.Diff(alone, merged); difference != "" {
		t.Errorf("parts together and one program alone differ: %s", difference)
	}
}
