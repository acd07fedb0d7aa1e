//go:build unix

package file

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPipeIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteAside(path, []byte("x")); err == nil || !strings.Contains(err.Error(), path+": there is a pipe") {
		t.Errorf("where a pipe lies a file is written with the error %v", err)
	}
}

// A pipe that nobody writes into holds up neither who looks nor who would hold: it is no
// lock.
func TestPipeIsNoLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, lock)
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if Locked(dir, lock) {
		t.Error("a pipe is locked")
	}
	if _, err := Hold(dir, lock); err == nil || !strings.Contains(err.Error(), path+" is a pipe") {
		t.Errorf("held by a pipe, it ends with %v", err)
	}
}

// TestReleaseFreesAtOnce has the lock's file open a second time, as a program has that is
// just being started.
func TestReleaseFreesAtOnce(t *testing.T) {
	dir := t.TempDir()
	h := mustHold(t, dir)
	inherited, err := syscall.Dup(int(h.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	h.Release()
	if Locked(dir, lock) {
		t.Error("a directory that was released is locked")
	}
	mustHold(t, dir).Release()
}
