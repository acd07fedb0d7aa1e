package command

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/runs"
)

// closing is a pipe that is closed after some bytes.
type closing struct {
	left int
	err  error
}

func (c *closing) Write(b []byte) (int, error) {
	if c.left < len(b) {
		return c.left, c.err
	}
	c.left -= len(b)
	return len(b), nil
}

// Every command whose output is cut short reports an error, unless the reader has closed the pipe: then it ends quietly.
func TestCutOutputIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "seeds")
	succeed(t, seedsOf(dir)...)
	one := filepath.Join(dir, "seed-1")
	for _, command := range []string{
		"eval " + one, "eval " + one + " --json", "eval " + one + " --format text", "eval " + dir, "eval " + dir + " --format parquet",
		"compare " + dir, "compare " + dir + " --json", "compare " + dir + " --format markdown",
		"history " + dir, "history " + dir + " --format csv", "version", "data list", "history --help", "doctor", "pretrained list",
		"train --resume " + dir, "sample " + one + " --n 1 --out " + filepath.Join(dir, "sample.png"),
		"bench train --dataset 3by3 --layers 3 --steps 1 --json",
	} {
		args := strings.Fields(command)
		if args[0] == "eval" {
			args = append(args, "--samples", "2", "--log-z2", "0")
		}
		whole := succeed(t, args...)
		for _, left := range []int{0, len(whole) / 2} {
			var stderr bytes.Buffer
			code := run(t.Context(), args, &closing{left, io.ErrClosedPipe}, &stderr)
			if want := "the output is cut short: " + io.ErrClosedPipe.Error() + "\n"; code != exitFailed || !strings.HasSuffix(stderr.String(), want) {
				t.Errorf("helmholtz %s with a pipe for %d bytes ended with %d and said %q", command, left, code, stderr.String())
			}
			stderr.Reset()
			code = run(t.Context(), args, &closing{left, &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE}}, &stderr)
			if code != exitClosedPipe || strings.Contains(stderr.String(), "helmholtz: ") {
				t.Errorf("helmholtz %s | head -c %d ended with %d and said %q", command, left, code, stderr.String())
			}
		}
	}
}

// A file that cannot be created is refused before the work begins, and a failure to write it
// afterwards does not prevent the result from being printed.
func TestUnwritableFiles(t *testing.T) {
	here := t.TempDir()
	seeds, rbm, file := filepath.Join(here, "seeds"), filepath.Join(here, "rbm"), filepath.Join(here, "file")
	succeed(t, seedsOf(seeds)...)
	succeed(t, onPatterns("--algorithm", "pcd", "--layers", "5", "--out", rbm)...)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"eval nowhere --table %s.csv", "compare nowhere --table %s.csv", "history nowhere --table %s.csv", "compare nowhere --out %s.png",
		"sample nowhere --out %s.png", "inpaint nowhere --mask left --out %s.png", "report nowhere --out %s.html", "plot nowhere --out %s",
		"bench train --dataset glyphs --layers 5 --profile %s",
	} {
		args := strings.Fields(fmt.Sprintf(command, filepath.Join(file, "within", "x")))
		if code, _, errOut := helmholtz(t, t.Context(), args...); code != exitUsage || !strings.Contains(errOut, "cannot create a file in "+file) {
			t.Errorf("helmholtz %q ended with %d and said %q", args, code, errOut)
		}
	}
	table := filepath.Join(here, strings.Repeat("a", 255)+".csv") // the name is too long
	for _, command := range []string{"eval " + seeds + " --samples 2 --log-z2 0", "eval " + rbm, "compare " + seeds} {
		code, out, errOut := helmholtz(t, t.Context(), append(strings.Fields(command), "--table", table)...)
		if code != exitFailed || !strings.Contains(out, "log p") || !strings.Contains(errOut, "name too long") {
			t.Errorf("helmholtz %s ended with %d, printed %q and said %q", command, code, out, errOut)
		}
	}
}

// Control characters in names of data sets and directories do not reach the terminal, neither in
// output nor in errors. A table that a program reads has them unchanged.
func TestNamesDoNotCommandTheTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	rows, dir := "rows\x1b[31m.txt", "run\x1b]0;title\a"
	if err := os.WriteFile(rows, []byte(strings.Repeat("0 1 1\n1 0 0\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"train", "--dataset", rows, "--algorithm", "rws", "--layers", "2", "--epochs", "1", "--batch", "9", "--out", dir},
		{"runs", "."}, {"history", dir}, {"history", dir, "--format", "text"}, {"eval", dir, "--samples", "2", "--log-z2", "0"},
		{"eval", dir + "\x9b", "--samples", "2"}, {"train", "--dataset", rows + "\r", "--out", "other"}, {"new", dir + ".toml", "--dataset", rows, "--batch", "9"},
	} {
		_, out, errOut := helmholtz(t, t.Context(), args...)
		if text := out + errOut; strings.ContainsAny(text, "\x1b\a\r") || (args[0] == "train" || args[0] == "new") && !strings.Contains(text, `\x1b`) {
			t.Errorf("helmholtz %q prints %q", args, text)
		}
	}
	text, err := os.ReadFile(dir + ".toml")
	if err != nil || bytes.ContainsAny(text, "\x1b\a") {
		t.Errorf("new writes %q (%v)", text, err)
	}
	if out := succeed(t, "runs", ".", "--format", "csv"); !strings.Contains(out, "\x1b") {
		t.Errorf("a table for programs names another directory: %q", out)
	}
}

// A character split between two writes is printed whole.
func TestDividedCharactersAreWhole(t *testing.T) {
	var b bytes.Buffer
	o := &output{w: &b}
	for _, part := range []string{"η = 0.1, \xce", "\xb1 = 0.2\xe2\x80", "\x93 ", "\r\x1b[2K\rbar\x1b[0K", "\xff"} {
		if n, err := io.WriteString(o, part); n != len(part) || err != nil {
			t.Errorf("%q: %d bytes are written (%v)", part, n, err)
		}
	}
	if want := "η = 0.1, α = 0.2– \r\x1b[2K\rbar\x1b[0K\\xff"; b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
}

// A table and a page may go into folders that do not exist yet.
func TestFilesInNewFolders(t *testing.T) {
	dir := t.TempDir()
	trained, results := filepath.Join(dir, "run"), filepath.Join(dir, "results")
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--algorithm", "rws", "--layers", "3", "--epochs", "1", "--out", trained)
	if err := os.Mkdir(results, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, args := range map[string][]string{
		"draws.csv": {"sample", trained, "--n", "2"},
		"table.csv": {"history", trained},
		"page.md":   {"reproduce", "report", "--results", results},
	} {
		path, flag := filepath.Join(dir, "new "+file, "folder", file), "--out"
		if args[0] == "history" {
			flag = "--table"
		}
		succeed(t, append(args, flag, path)...)
		if text, err := os.ReadFile(path); err != nil || len(text) == 0 {
			t.Errorf("%s wrote %d bytes (%v)", args[0], len(text), err)
		}
	}
}

// A page that cannot be written is refused before the pages beside it are written.
func TestPagesAreWrittenTogether(t *testing.T) {
	dir := t.TempDir()
	code, _, says := helmholtz(t, t.Context(), "reproduce", "report", "--results", dir, "--out", dir)
	if written, err := os.ReadDir(dir); code != exitUsage || !strings.Contains(says, "--out "+dir) || len(written) > 0 || err != nil {
		t.Errorf("the command ends with %d and leaves %d files (%v): %s", code, len(written), err, says)
	}
}

// In a log, a sweep reports its overall progress and the remaining time.
func TestSweepsSayHowFarTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rates.toml", []byte("base = {epochs = 1, dataset = {name = \"3by3\", subset = 64}, machine = {layers = [3]}, method = {preset = \"ws\"}}\n[grid]\nmethod.learning_rate = [0.1, 0.2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, says := helmholtz(t, t.Context(), "sweep", "run", "rates.toml", "--workers", "1"); code != 0 || !strings.HasPrefix(says, "0 of 2 runs finished\n") {
		t.Errorf("the sweep ends with %d and says %s", code, says)
	}
	var said bytes.Buffer
	states := map[runs.State]int{runs.Waiting: 2, runs.Finished: 1, runs.Failed: 1}
	w := wholeSweep{Recorder: runs.Quiet, w: &said, states: func() (map[runs.State]int, error) { return states, nil }, begun: time.Now().Add(-time.Hour)}
	w.Begin(runs.Plan{})
	states[runs.Waiting], states[runs.Finished] = 1, 2
	w.next = time.Now().Add(-time.Second)
	w.Begin(runs.Plan{})
	if want := "1 of 4 runs finished, 1 failed\n2 of 4 runs finished, 1 failed, about 1h0m left\n"; said.String() != want {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
}
