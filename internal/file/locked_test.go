package file

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	if Locked(dir, lock) || Locked(filepath.Join(dir, "none"), lock) {
		t.Error("a directory is locked that nobody has held")
	}
	h := mustHold(t, dir)
	if !Locked(dir, lock) {
		t.Error("a directory that is held is not locked")
	}
	h.Release()
	if Locked(dir, lock) {
		t.Error("a directory that was released is locked")
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

// TestLookingHoldsUpNobody has a directory held while others look.
func TestLookingHoldsUpNobody(t *testing.T) {
	dir := t.TempDir()
	mustHold(t, dir).Release()
	f, err := os.Open(filepath.Join(dir, lock))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- f.Close() }()
	mustHold(t, dir)
	if err := <-closed; err != nil {
		t.Error(err)
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
