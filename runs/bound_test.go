package runs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// boundFiles lists the files whose lines are bound to a run.
var boundFiles = []string{"metrics.jsonl", "steps.jsonl", "sessions.jsonl", "clock.json"}

// withoutChecksums matches the checksums of lines.
var withoutChecksums = regexp.MustCompile(`,"checksum":"[0-9a-f]*"`)

// recording is brief with recorded steps.
func recording(t *testing.T, dir string, seed uint64) runs.Experiment {
	set := overlapping(t)
	e := brief(set)
	e.Seed, e.RecordSteps = seed, 1
	mustTrain(t, e, set, dir)
	return e
}

// whole reads all files that are bound to a run, as reading and training do.
func whole(t *testing.T, dir string) error {
	run, err := runs.Open(dir)
	if err != nil {
		return err
	}
	if err := run.History().Err; err != nil {
		return err
	}
	if _, err := run.Steps(); err != nil {
		return err
	}
	_, err = run.Provenance()
	return err
}

func replaceFile(t *testing.T, path string, by func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, by(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Files of a run are refused beside the checkpoint of another run, even of another seed of the same
// experiment, and under each other's names.
func TestFilesOfAnotherRunAreRefused(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	e := recording(t, one, 1)
	recording(t, two, 2)
	for _, name := range boundFiles {
		for _, from := range []string{filepath.Join(two, name), filepath.Join(one, "steps.jsonl")} {
			if from == filepath.Join(one, name) {
				continue
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(one)); err != nil {
				t.Fatal(err)
			}
			foreign, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			replaceFile(t, filepath.Join(dir, name), func([]byte) []byte { return foreign })
			wantError(t, whole(t, dir), name, "checksum")
			if _, err := runs.Train(t.Context(), e, overlapping(t), dir); name == "metrics.jsonl" {
				wantError(t, err, name, "checksum")
			}
		}
	}
}

// Text after a checksum, or removing the checksums of all lines, does not disable the check.
func TestLinesDoNotLoseTheirChecksums(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	recording(t, dir, 1)
	for _, name := range boundFiles {
		for what, change := range map[string]func([]byte) []byte{
			"carriage returns": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
			"spaces":           func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(" \n")) },
			"no checksums":     func(b []byte) []byte { return withoutChecksums.ReplaceAll(b, nil) },
		} {
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			replaceFile(t, filepath.Join(copied, name), change)
			if err := whole(t, copied); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s with %s: %v", name, what, err)
			}
		}
	}
}

// An extended run can be read before, during and after its further training.
func TestExtendedRunsStayBound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	recording(t, dir, 1)
	longer, err := runs.Extend(dir, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []func() *runs.Run{
		func() *runs.Run { return mustOpen(t, dir) },
		func() *runs.Run { return trainUntil(t, longer, overlapping(t), dir, atStep(14)) },
		func() *runs.Run { return mustTrain(t, longer, overlapping(t), dir) },
	} {
		stop()
		if err := whole(t, dir); err != nil {
			t.Error(err)
		}
		if list, passed, err := runs.List(dir); err != nil || len(passed) > 0 || len(list.Rows()) != 1 {
			t.Errorf("%v, %v, %v", list, passed, err)
		}
	}
}
