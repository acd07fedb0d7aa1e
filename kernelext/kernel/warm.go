//go:build unix

package kernel

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// warmTime is how long gopls may take to start and to answer.
const warmTime = time.Minute

// warm makes GoNB's gopls, whose folders are in temporary, check a program with the imports of typical cells: otherwise
// a cell's first completion would wait for it, which takes seconds. This is a separate session of gopls, which delays
// no cell; gopls shares what it has checked between sessions.
func warm(ctx context.Context, t Tools, temporary string) error {
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	dir := filepath.Join(temporary, "warm")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := workspace(t, dir, module+"/hm", module+"/dataset", module+"/kernelext", module+"/plotting"); err != nil {
		return err
	}
	socket, err := goplsSocket(ctx, temporary)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, t.GoPLS, "-remote=unix;"+socket, "check", "main.go")
	c.Dir, c.Env = dir, environment(t)
	return c.Run()
}

// goplsSocket waits until gopls listens.
func goplsSocket(ctx context.Context, temporary string) (string, error) {
	for ctx.Err() == nil {
		if found, _ := filepath.Glob(filepath.Join(temporary, "gonb_*", "gopls_socket")); len(found) > 0 {
			return found[0], nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return "", ctx.Err()
}
