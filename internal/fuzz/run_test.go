package fuzz

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inModule goes to a module with a target that holds, one that fails, and one that fails for a seed before it is fuzzed. It returns
// a function that runs the script of make fuzz there.
func inModule(t *testing.T) func(args ...string) (string, error) {
	t.Helper()
	script, err := filepath.Abs("run.sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "") // those of the project are for its own module
	t.Setenv("GOWORK", "off")
	for name, text := range map[string]string{
		"go.mod": "module small\n",
		"small_test.go": `package small
import "testing"
func FuzzFails(f *testing.F) { f.Add([]byte("ab")); f.Fuzz(func(t *testing.T, b []byte) { if len(b) > 2 { t.Error("three bytes") } }) }
func FuzzHolds(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }
func FuzzSeed(f *testing.F) { f.Add(true); f.Fuzz(func(t *testing.T, b bool) { if b { t.Error("true") } }) }
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "sh", append([]string{script}, args...)...).CombinedOutput()
		return string(out), err
	}
}

// Fuzzing compiles the standard library with counters, which takes a minute of an idle processor.
func TestEveryTargetIsRunAndFailuresAreReported(t *testing.T) {
	if os.Getenv("HELMHOLTZ_FUZZ_TESTS") == "" {
		t.Skip("make fuzz runs this test")
	}
	run := inModule(t)
	out, err := run("300x", "2", "")
	if err == nil {
		t.Error("the script succeeds although targets fail")
	}
	for _, want := range []string{
		"small FuzzFails FAILED", "three bytes", "Failing input written to testdata/fuzz/FuzzFails/",
		"small FuzzHolds fuzz: elapsed", "small FuzzSeed FAILED", "small_test.go:5: true",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not say %q:\n%s", want, out)
		}
	}
	if out, err := run("300x", "2", "Holds$"); err != nil || strings.Contains(out, "FuzzSeed") {
		t.Errorf("with a pattern: %v\n%s", err, out)
	}
}

func TestFuzzingWithoutTargetsOrJobsIsRefused(t *testing.T) {
	run := inModule(t)
	for _, jobs := range []string{"0", "two"} {
		if out, err := run("300x", jobs, ""); err == nil || !strings.Contains(out, "JOBS="+jobs+": give a number from 1") {
			t.Errorf("%s jobs: %v\n%s", jobs, err, out)
		}
	}
	if out, err := run("300x", "2", "None"); err == nil || !strings.Contains(out, `is called "None"`) {
		t.Errorf("a pattern without targets: %v\n%s", err, out)
	}
}
