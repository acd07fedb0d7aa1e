//go:build unix

package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

func TestPipeIsNoLockOfARun(t *testing.T) {
	set, dir := overlapping(t), t.TempDir()
	e := brief(set)
	mustTrain(t, e, set, dir)
	lock := filepath.Join(dir, ".lock")
	if err := errors.Join(os.Remove(lock), syscall.Mkfifo(lock, 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err := runs.Train(t.Context(), e, set, dir)
	wantError(t, err, lock+" is a pipe")
	if err := runs.Taken(dir); err != nil {
		t.Error(err)
	}
}
