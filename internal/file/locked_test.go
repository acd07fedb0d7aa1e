package file

import (
	"os"
	"path/filepath"
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

// TestLookingHoldsUpNobody has a directory held while others look.
func TestLookingHoldsUpNobody(t *testing.T) {
	dir := t.TempDir()
	mustHold(t, dir).Release()
	f, err := os.Open(filepath.Join(dir, lock))
	if err != nil {
		t.Fatal(err)
	}
	if err := tryLock(f, false); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- f.Close() }()
	mustHold(t, dir)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
