package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file is replaced whole, and nothing is left beside it; where it cannot be, it
// stays as it was.
func TestWriteAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"first", "", "another"} {
		if err := WriteAside(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("the file holds %q (%v), want %q", b, err, text)
		}
	}
	if err := WriteAside(filepath.Join(dir, "no", "folder"), nil); err == nil {
		t.Error("a file in a folder that is not there is written")
	}
	blocked := filepath.Join(dir, "blocked")
	if err := os.MkdirAll(filepath.Join(blocked, "deeper"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteAside(blocked, []byte("x")); err == nil {
		t.Error("a directory is replaced by a file")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files are left, want the two (%v)", len(entries), err)
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(Append(path, []byte("a\n")), Append(path, []byte("b\n"))); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "a\nb\n" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
}

// A lock is held once, until it is released.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock ends with %v", err)
	}
	release()
	if release, err = Lock(path); err != nil {
		t.Fatal(err)
	}
	release()
}
