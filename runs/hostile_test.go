package runs_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file/filetest"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Whatever replaces a file of a run, it is refused by name before it takes time or memory.
func TestHostileFilesOfARunAreRefused(t *testing.T) {
	set, dir := overlapping(t), t.TempDir()
	e := brief(set)
	e.Keep, e.RecordSteps = []int{1}, 1
	run := mustTrain(t, e, set, dir)
	open := func() error { _, err := runs.Open(dir); return err }
	train := func() error { _, err := runs.Train(t.Context(), e, set, dir); return err }
	for name, reads := range map[string][]func() error{
		"experiment.toml":        {open, train},
		"checkpoint.safetensors": {open, train},
		"best.safetensors":       {func() error { _, err := run.Best(); return err }},
		"epoch-1.safetensors":    {func() error { _, err := run.At(1); return err }},
		"metrics.jsonl":          {history(dir), train},
		"steps.jsonl":            {func() error { _, err := run.Steps(); return err }},
		"sessions.jsonl":         {func() error { _, err := run.Provenance(); return err }},
		"dataset.bin":            {func() error { _, err := run.Dataset(); return err }},
	} {
		for _, read := range reads {
			filetest.Refused(t, filepath.Join(dir, name), read)
		}
	}
	if err := open(); err != nil {
		t.Error(err)
	}
}

func TestHostilePlansOfSweepsAreRefused(t *testing.T) {
	s, dir := mustReadSweep(t, sweepText), t.TempDir()
	if err := s.Claim(dir); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func() error{
		func() error { return s.Claim(dir) },
		func() error { _, err := runs.OpenSweep(dir); return err },
	} {
		filetest.Refused(t, filepath.Join(dir, "sweep.toml"), read)
	}
}

// history returns a function that reads the history of the run in a directory.
func history(dir string) func() error {
	return func() error {
		run, err := runs.Open(dir)
		if err != nil {
			return err
		}
		return run.History().Err
	}
}

// A line of metrics cannot claim more layers than it has norms for, nor nest deeper than any
// version does.
func TestLinesOfMetricsTakeWhatTheyAre(t *testing.T) {
	for name, line := range map[string]string{
		"layer 2":  `{"epoch":1,"norms.p.2.weights":1}`,
		"layer -1": `{"epoch":1,"norms.p.-1.weights":1}`,
		"deep":     `{"epoch":1,"a":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9001),
		"wide":     `{"epoch":1` + strings.Repeat(`,"a":1`, 200_000) + "}",
	} {
		set, dir := overlapping(t), t.TempDir()
		mustTrain(t, brief(set), set, dir)
		path := filepath.Join(dir, "metrics.jsonl")
		if err := os.WriteFile(path, []byte(line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		var err error
		if took := filetest.Allocated(func() { err = history(dir)() }); took > filetest.Most {
			t.Errorf("%s: %d bytes were taken", name, took)
		}
		wantError(t, err, path, "restore")
	}
}

// Experiments with many lines and large numbers are read; endlessly nested ones are refused before
// the parser descends into them.
func TestNestedExperimentsAreRefused(t *testing.T) {
	whole := string(brief(overlapping(t)).TOML())
	if _, err := runs.ParseExperiment([]byte(whole + "# [[[[" + strings.Repeat("[", 100) + "\n")); err != nil {
		t.Errorf("with brackets in a comment: %v", err)
	}
	const n = 900_000
	deep := strings.Repeat("[", n)
	for name, text := range map[string]string{
		"two million brackets":        "a = " + strings.Repeat("[", 2_000_000),
		"arrays":                      "a = " + deep,
		"inline tables":               strings.Repeat("a={", n/3),
		"a key of many parts":         strings.Repeat("a.", n/2) + "a = 1",
		"a table of many parts":       "[" + strings.Repeat("a . ", n/4) + "a]",
		"behind a string":             `a = "\"#'" ` + "\nb = " + deep,
		"behind a literal string":     `a = '\' ` + "\nb = " + deep,
		"behind a long string":        `a = """ "" \""" x""""` + "\nb = " + deep,
		"behind a long literal":       "a = ''' \" # ''\\'''''\nb = " + deep,
		"behind a comment":            "# \" '\nb = " + deep,
		"behind brackets that closed": strings.Repeat("[a]\n", 100) + "b = " + deep,
	} {
		path := filepath.Join(t.TempDir(), "deep.toml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var err error
		if took := filetest.Allocated(func() { _, err = runs.ReadExperiment(path) }); took > filetest.Most {
			t.Errorf("%s: %d bytes were taken", name, took)
		}
		wantError(t, err, path, "than", "give")
	}
}

// A number of seeds that would make endless directories is refused.
func TestTooManySeedsAreRefused(t *testing.T) {
	set, dir := overlapping(t), filepath.Join(t.TempDir(), "seeds")
	for _, n := range []int{0, 10_001, math.MaxInt} {
		_, err := runs.TrainSeeds(t.Context(), brief(set), set, n, dir)
		wantError(t, err, fmt.Sprint(n), "from 1 to 10000")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there (%v)", err)
	}
}

// Long but shallow texts are read: brackets in strings, a list of thousands of numbers, a path with
// many dots.
func TestDecodeTOMLReadsWhatIsLong(t *testing.T) {
	list := "[" + strings.Repeat("1.5, ", 100_000) + "2]"
	var read struct {
		Name string    `toml:"name"`
		Path string    `toml:"path"`
		List []float64 `toml:"list"`
		In   struct {
			Side struct {
				Out int `toml:"out"`
			} `toml:"side"`
		} `toml:"in"`
	}
	text := "name = \"\"\"a \"quoted\" [[[" + strings.Repeat("[", 99) + "\"\"\"\npath = '" + strings.Repeat("../", 99) + "'\nlist = " + list + "\nin.side.out = 3 # ..."
	if err := runs.DecodeTOML([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.List) != 100_001 || read.In.Side.Out != 3 || !strings.Contains(read.Name, `"quoted"`) || len(read.Path) != 297 {
		t.Errorf("read is %.100v", read)
	}
}

// There may be many short lines.
func TestLongHistoriesAreRead(t *testing.T) {
	set, dir := overlapping(t), t.TempDir()
	mustTrain(t, brief(set), set, dir)
	path := filepath.Join(dir, "metrics.jsonl")
	line := `{"epoch":1,"step":1,"seconds":0.1,"learning_rate":0.1,"train":{"log_p":-6.25}}` + "\n"
	replaceFile(t, path, func(b []byte) []byte { return append(b, slices.Repeat([]byte(line), 100_000)...) })
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if h := run.History(); h.Err != nil || len(h.Epochs) != run.Epochs() {
		t.Errorf("%d epochs, %v", len(h.Epochs), h.Err)
	}
}
