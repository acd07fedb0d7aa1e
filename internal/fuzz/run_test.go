package fuzz

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The module below has a target that holds, one that fails, and one that fails for a
// seed before it is fuzzed. All are run, and each failure is printed.
func TestEveryTargetIsRunAndFailuresAreReported(t *testing.T) {
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
	out, err := exec.CommandContext(t.Context(), "sh", script, "300x", "2", "").CombinedOutput()
	if err == nil {
		t.Error("the script succeeds although targets fail")
	}
	for _, want := range []string{
		"small FuzzFails FAILED", "three bytes", "Failing input written to testdata/fuzz/FuzzFails/",
		"small FuzzHolds fuzz: elapsed", "small FuzzSeed FAILED", "small_test.go:5: true",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output does not say %q:\n%s", want, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sh", script, "300x", "2", "Holds$").CombinedOutput(); err != nil || strings.Contains(string(out), "FuzzSeed") {
		t.Errorf("with a pattern: %v\n%s", err, out)
	}
	for _, jobs := range []string{"0", "two"} {
		if out, err := exec.CommandContext(t.Context(), "sh", script, "300x", jobs, "").CombinedOutput(); err == nil || !strings.Contains(string(out), "JOBS="+jobs+": give a number from 1") {
			t.Errorf("%s jobs: %v\n%s", jobs, err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sh", script, "300x", "2", "None").CombinedOutput(); err == nil {
		t.Errorf("a pattern without targets succeeds:\n%s", out)
	}
}
