// Package filetest replaces files by things that their readers must refuse.
package filetest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Most is the memory, in bytes, that a reader may allocate before it refuses a file.
const Most = 200 << 20

// refused has the functions with which Refused replaces a file, by the name of what they put at the path.
var refused = map[string]func(path string) error{
	"a directory": func(path string) error { return os.Mkdir(path, 0o755) },
	"zeros":       func(path string) error { return Zeros(path, nil, 3<<30) },
}

// Refused replaces the file at the path by a directory, by three gigabytes of zeros, which take no
// space on disk, and, if the system has pipes, by a pipe without a writer. It checks that read
// refuses each of these with an error that names the path, and allocates at most Most bytes. It
// restores the file.
func Refused(t *testing.T, path string, read func() error) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(path, aside); err != nil {
		t.Fatal(err)
	}
	for name, put := range refused {
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		var err error
		if took := Allocated(func() { err = read() }); took > Most {
			t.Errorf("%s at %s: %d bytes were taken", name, filepath.Base(path), took)
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s at %s: the error is %v, want one that names it", name, filepath.Base(path), err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
}

// Zeros writes a file that starts with some bytes, followed by zeros up to a size.
func Zeros(path string, start []byte, size int64) error {
	if err := os.WriteFile(path, start, 0o644); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

// Allocated returns how many bytes f allocates, including freed ones.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
