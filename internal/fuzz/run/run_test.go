package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseList(t *testing.T) {
	list := `{"Action":"start","Package":"github.com/helmholtz-go/helmholtz/dataset"}
{"Action":"output","Package":"github.com/helmholtz-go/helmholtz/dataset","Output":"FuzzLoad\n"}
{"Action":"output","Package":"github.com/helmholtz-go/helmholtz/dataset","Output":"FuzzReadText\n"}
{"Action":"output","Package":"github.com/helmholtz-go/helmholtz/dataset","Output":"ok  \tgithub.com/helmholtz-go/helmholtz/dataset\t0.02s\n"}
{"Action":"output","Package":"github.com/helmholtz-go/helmholtz/hm/engine","Output":"FuzzLoad\n"}
`
	got, err := parseList(strings.NewReader(list), regexp.MustCompile("Load$"))
	if want := []target{{"dataset", "FuzzLoad"}, {"hm/engine", "FuzzLoad"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// The module below has a target that holds, one that fails, and one that fails for a
// seed before it is fuzzed. Each is run, and the one that fails says for which file.
func TestEveryTargetIsRunAndFailuresAreReported(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "") // those of the project are for its own module
	t.Setenv("GOWORK", "off")
	for name, text := range map[string]string{
		"go.mod": "module " + strings.TrimSuffix(module, "/") + "\n",
		"small/small_test.go": `package small
import "testing"
func FuzzFails(f *testing.F) { f.Add([]byte("ab")); f.Fuzz(func(t *testing.T, b []byte) { if len(b) > 2 { t.Error("three bytes") } }) }
func FuzzHolds(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }
func FuzzSeed(f *testing.F) { f.Add(true); f.Fuzz(func(t *testing.T, b bool) { if b { t.Error("true") } }) }
`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	targets, err := find(t.Context(), []string{"./..."}, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	results := runAll(t.Context(), targets, 2, func(target target) result { return target.run(t.Context(), "300x", 1) })
	if len(results) != 3 {
		t.Fatalf("%d targets are run, want 3: %v", len(results), results)
	}
	fails, holds, seed := results[0], results[1], results[2]
	if !fails.failed || !strings.Contains(fails.output, "three bytes") {
		t.Errorf("a target that fails gives %+v", fails)
	}
	if _, err := os.Stat(fails.input); err != nil {
		t.Errorf("the input that fails is not where the result says: %v", err)
	}
	if holds.failed || holds.executions < 300 {
		t.Errorf("a target that holds gives %+v", holds)
	}
	if !seed.failed || seed.input != "" {
		t.Errorf("a target whose seed fails gives %+v", seed)
	}
	var text bytes.Buffer
	if report(&text, results) {
		t.Error("the report says that nothing failed")
	}
	for _, want := range []string{"FuzzHolds", fails.input, "small FuzzSeed failed", "three bytes"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, &text)
		}
	}
	if !report(&text, []result{holds}) {
		t.Error("the report of a target that holds says that it failed")
	}
}

func TestParseOutput(t *testing.T) {
	got := parseOutput(`fuzz: elapsed: 0s, gathering baseline coverage: 0/88 completed
fuzz: elapsed: 3s, execs: 115352 (38442/sec), new interesting: 4 (total: 92)
fuzz: elapsed: 1m4s, execs: 115400 (10/sec), new interesting: 5 (total: 93)
    Failing input written to testdata/fuzz/FuzzLoad/0a1b
`)
	got.output = ""
	if want := (result{executions: 115400, found: 5, inputs: 93, seconds: 64, input: "testdata/fuzz/FuzzLoad/0a1b"}); !cmp.Equal(got, want, cmp.AllowUnexported(result{})) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
