package main

import (
	"bytes"
	"io"
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
