package runs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// page returns FORMAT.md and the one program in it.
func page(t *testing.T) (text, program string) {
	t.Helper()
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(b, -1)
	if len(blocks) != 1 {
		t.Fatalf("FORMAT.md has %d programs, want 1", len(blocks))
	}
	return string(b), string(blocks[0][1])
}

// each runs a program, its first argument, on each of the other arguments, and writes a line with
// the outcome.
const each = `
import runpy, sys
program, *directories = sys.argv[1:]
for directory in directories:
    sys.argv = [program, directory]
    try:
        runpy.run_path(program)
        print("whole")
    except Exception as error:
        print(type(error).__name__, error)
`

// verified returns the outcome of FORMAT.md's program for each of some directories: "whole", or its
// error.
func verified(t *testing.T, dirs ...string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("the program of FORMAT.md needs Python: %v", err)
	}
	_, program := page(t)
	path := filepath.Join(t.TempDir(), "verify.py")
	if err := os.WriteFile(path, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, append([]string{"-c", each, path}, dirs...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(dirs) {
		t.Fatalf("the program says of %d directories:\n%s", len(dirs), out)
	}
	return lines
}

// written has run directories of an earlier version.
const written = "../cmd/helmholtz/command/testdata/runs/v2"

// FORMAT.md describes checksums correctly: a program written from the page alone finds runs whole.
func TestProgramOfTheFormatFindsRunsWhole(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	mustTrain(t, resumable(set)["kept epochs and recorded steps"], set, dir) // this run has files of every kind
	dirs, err := filepath.Glob(filepath.Join(written, "*", "*", "experiment.toml"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no runs in %s (%v)", written, err)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	seeds := t.TempDir()
	mustTrainSeeds(t, seeds)
	dirs = append(dirs, dir, seeds, runs.SeedDir(seeds, 5), "../pretrained/glyphs-nrws")
	for i, says := range verified(t, dirs...) {
		if says != "whole" {
			t.Errorf("%s: %s", dirs[i], says)
		}
	}
}

// The program names the damaged file if a bit is flipped, a file is cut short, or a line is lost or
// moved.
func TestProgramOfTheFormatFindsDamage(t *testing.T) {
	t.Parallel()
	flip := func(before string) func([]byte) []byte { // the lowest bit of the next byte
		return func(b []byte) []byte {
			at := bytes.Index(b, []byte(before))
			if at < 0 {
				t.Fatalf("there is no %s", before)
			}
			b[at+len(before)] ^= 1
			return b
		}
	}
	lines := func(order ...int) func([]byte) []byte {
		return func(b []byte) []byte {
			var some []byte
			for _, i := range order {
				some = append(some, bytes.SplitAfter(b, []byte("\n"))[i]...)
			}
			return some
		}
	}
	set, own := overlapping(t), t.TempDir()
	trainUntil(t, brief(set), set, own, atStep(2))
	mustTrain(t, brief(set), set, own)
	earlier := filepath.Join(written, "nrws", "whole")
	damages := []struct {
		name, dir, file string
		damage          func([]byte) []byte
	}{
		{"an element", earlier, "checkpoint.safetensors", func(b []byte) []byte { b[len(b)-3] ^= 4; return b }},
		{"the place in training", earlier, "checkpoint.safetensors", flip(`\"step\":`)},
		{"the name of a tensor", earlier, "best.safetensors", flip(`"generative.`)},
		{"the end", earlier, "best.safetensors", func(b []byte) []byte { return b[:len(b)-1] }},
		{"a number", earlier, "metrics.jsonl", flip(`"train.log_p":-`)},
		{"a line", earlier, "metrics.jsonl", lines(0, 2, 3)},
		{"the order of lines", earlier, "metrics.jsonl", lines(0, 2, 1, 3)},
		{"a setting", own, "experiment.toml", flip("epochs = ")},
		{"the line after the checksum", own, "experiment.toml", func(b []byte) []byte { return append(b, "epochs = 7\n"...) }},
		{"the time", own, "clock.json", flip(`"seconds":0.`)},
		{"the first session", own, "sessions.jsonl", lines(1)},
		{"what computed", own, "sessions.jsonl", flip(`"version":"`)},
		{"a value", own, "dataset.bin", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		{"the number of rows", own, "dataset.bin", flip(`"rows":`)},
	}
	var dirs []string
	for _, d := range damages {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(d.dir)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, d.file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d.file), d.damage(b), 0o644); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	for i, says := range verified(t, dirs...) {
		if want := "AssertionError " + filepath.Join(dirs[i], damages[i].file); says != want {
			t.Errorf("damaged in %s: the program says %q, want %q", damages[i].name, says, want)
		}
	}
}

// FORMAT.md names every file of a run, and every key of its objects.
func TestFormatNamesEveryFileAndKey(t *testing.T) {
	t.Parallel()
	text, _ := page(t)
	set, dir := overlapping(t), t.TempDir()
	if _, err := runs.TrainSeeds(t.Context(), resumable(set)["kept epochs and recorded steps"], set, 1, dir); err != nil {
		t.Fatal(err)
	}
	dir = runs.SeedDir(dir, 5)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := regexp.MustCompile(`epoch-\d+`).ReplaceAllString(entry.Name(), "epoch-N")
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("%s is not among the files", name)
		}
	}

	read := func(file string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	header := read("checkpoint.safetensors")[8:]
	var checkpoint struct {
		Texts map[string]string `json:"__metadata__"`
	}
	if err := json.NewDecoder(bytes.NewReader(header)).Decode(&checkpoint); err != nil {
		t.Fatal(err)
	}
	_, data, _ := bytes.Cut(read("dataset.bin"), []byte("\n"))
	for what, object := range map[string][]byte{
		"run":            []byte(checkpoint.Texts["run"]),
		"metrics.jsonl":  read("metrics.jsonl"),
		"steps.jsonl":    read("steps.jsonl"),
		"sessions.jsonl": read("sessions.jsonl"),
		"clock.json":     read("clock.json"),
		"seeds.json":     read("../seeds.json"),
		"dataset.bin":    data,
	} {
		var keys map[string]any
		if err := json.NewDecoder(bytes.NewReader(object)).Decode(&keys); err != nil {
			t.Fatal(err)
		}
		for key := range keys {
			if group, _, dotted := strings.Cut(key, "."); dotted {
				key = group + ".KEY"
			}
			if !strings.Contains(text, "`"+key+"`") {
				t.Errorf("the key %s of %s is not on the page", key, what)
			}
		}
	}
	for key := range checkpoint.Texts {
		if !strings.Contains(text, "`"+key+"` is ") {
			t.Errorf("the text %s of checkpoints is not on the page", key)
		}
	}
}
