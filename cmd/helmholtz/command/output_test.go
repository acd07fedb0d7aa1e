package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// closing is a pipe that is closed after some bytes.
type closing struct{ left int }

func (c *closing) Write(b []byte) (int, error) {
	if c.left < len(b) {
		return c.left, io.ErrClosedPipe
	}
	c.left -= len(b)
	return len(b), nil
}

// Whatever is printed, a command whose output is cut short says so.
func TestCutOutputIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "seeds")
	succeed(t, seedsOf(dir)...)
	one := filepath.Join(dir, "seed-1")
	for _, command := range []string{
		"eval " + one, "eval " + one + " --json", "eval " + one + " --format text", "eval " + dir, "eval " + dir + " --format parquet",
		"compare " + dir, "compare " + dir + " --json", "compare " + dir + " --format markdown",
		"history " + dir, "history " + dir + " --format csv", "version", "data list", "history --help", "doctor",
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
			code := run(t.Context(), args, &closing{left}, &stderr)
			if want := "the output is cut short: " + io.ErrClosedPipe.Error() + "\n"; code != exitFailed || !strings.HasSuffix(stderr.String(), want) {
				t.Errorf("helmholtz %s with a pipe for %d bytes ended with %d and said %q", command, left, code, stderr.String())
			}
		}
	}
}

// A file that cannot be made is refused before the work, and one that cannot be written after
// all keeps no result from being printed.
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
		if code, _, errOut := helmholtz(t, t.Context(), args...); code != exitUsage || !strings.Contains(errOut, "no file can be made in "+file) {
			t.Errorf("helmholtz %q ended with %d and said %q", args, code, errOut)
		}
	}
	table := filepath.Join(here, strings.Repeat("a", 255)+".csv") // too long a name
	for _, command := range []string{"eval " + seeds + " --samples 2 --log-z2 0", "eval " + rbm, "compare " + seeds} {
		code, out, errOut := helmholtz(t, t.Context(), append(strings.Fields(command), "--table", table)...)
		if code != exitFailed || !strings.Contains(out, "log p") || !strings.Contains(errOut, "name too long") {
			t.Errorf("helmholtz %s ended with %d, printed %q and said %q", command, code, out, errOut)
		}
	}
}
