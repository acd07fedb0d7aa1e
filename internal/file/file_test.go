package file

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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
		wantText(t, path, text)
	}
	if err := WriteAside(filepath.Join(dir, "no", "folder"), nil); err == nil {
		t.Error("a file in a folder that is not there is written")
	}
	blocked := filepath.Join(dir, "blocked")
	if err := os.MkdirAll(filepath.Join(blocked, "deeper"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{blocked: blocked + ": there is a directory", link: link + ": there is a link"} {
		if err := WriteAside(path, []byte("x")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("where %s lies a file is written with the error %v", says, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("%d files are left, want the three (%v)", len(entries), err)
	}
}

// The name of a directory is the same from wherever it is named.
func TestName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some", "run")
	if err := MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, want := range map[string]string{".": "run", "./": "run", "..": "some", "a/b/": "b", dir: "run", "a/..": "run"} {
		if name := Name(path); name != want {
			t.Errorf("the name of %s is %q, want %q", path, name, want)
		}
	}
}

func wantText(t *testing.T, path, text string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != text {
		t.Errorf("%s holds %q (%v), want %q", path, b, err, text)
	}
}

func TestMkdirAll(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "a", "b", "c")
	for range 2 { // those that are there stay
		if err := MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("there is no directory (%v)", err)
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(filepath.Join(file, "below")); err == nil {
		t.Error("a directory is made below a file")
	}
	if _, err := Hold(file, ".lock"); err == nil {
		t.Error("a file is held as a directory")
	}
}

func TestLeftover(t *testing.T) {
	for name, want := range map[string]string{
		"f.txt.123.tmp": "f.txt", "f.123.tmp": "f", "f.tmp": "", "f.12": "", "f.x1.tmp": "", ".123.tmp": "", "123.tmp": "",
	} {
		if of, is := Leftover(name); is != (want != "") || is && of != want {
			t.Errorf("%s is said to be of %q: %v", name, of, is)
		}
	}
}

const lock = ".lock"

func mustHold(t *testing.T, dir string) *Held {
	t.Helper()
	h, err := Hold(dir, lock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	return h
}

// A file that is written piece by piece replaces the old one if all of it was written, and else leaves it as it was.
func TestFillAside(t *testing.T) {
	dir, broken := t.TempDir(), errors.New("broken")
	h := mustHold(t, dir)
	for _, of := range []error{nil, broken} {
		err := h.FillAside("f", func(w io.Writer) error {
			for range 3 {
				if _, err := w.Write(make([]byte, 1<<19)); err != nil {
					return err
				}
			}
			return of
		})
		if !errors.Is(err, of) {
			t.Errorf("got %v, want %v", err, of)
		}
		entries, _ := os.ReadDir(dir)
		if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Size() != 3<<19 || len(entries) != 2 {
			t.Errorf("after %v, the folder has %v (%v)", of, entries, err)
		}
	}
}

// A directory is held once, until it is released, and made where there is none.
func TestHold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "directory")
	h := mustHold(t, dir)
	if _, err := Hold(dir, lock); !errors.Is(err, ErrLocked) {
		t.Errorf("held a second time, it ends with %v", err)
	}
	h.Release()
	mustHold(t, dir)
}

func TestHeldIsWrittenInto(t *testing.T) {
	dir := t.TempDir()
	h := mustHold(t, dir)
	path := filepath.Join(dir, "f")
	if err := errors.Join(h.WriteAside("f", []byte("a\n")), h.Append("f", []byte("b\n"))); err != nil {
		t.Fatal(err)
	}
	wantText(t, path, "a\nb\n")
	for _, name := range []string{"f.1.tmp", "g.2.tmp", "f.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.RemoveLeftovers(func(name string) bool { return name == "f" }); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) != 2 {
		t.Errorf("%v are left of what was written aside (%v), want the two that are not of f", left, err)
	}
}

// Nothing is written into a directory, nor into another at its path, once it has lost
// its lock: it was removed, or its files were, and perhaps made anew.
func TestLostDirectoryIsNotWrittenInto(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, dir string) (left []string){
		"removed": func(t *testing.T, dir string) []string {
			remove(t, dir)
			return nil
		},
		"made anew": func(t *testing.T, dir string) []string {
			remove(t, dir)
			mustHold(t, dir)
			return []string{lock}
		},
		"emptied": func(t *testing.T, dir string) []string {
			remove(t, filepath.Join(dir, "f"))
			remove(t, filepath.Join(dir, lock))
			return []string{}
		},
		"locked anew": func(t *testing.T, dir string) []string {
			remove(t, filepath.Join(dir, lock))
			mustHold(t, dir)
			return []string{lock, "f"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			h := mustHold(t, dir)
			if err := h.WriteAside("f", nil); err != nil {
				t.Fatal(err)
			}
			want := lose(t, dir)
			for what, err := range map[string]error{"replaced": h.WriteAside("f", []byte("x")), "appended to": h.Append("f", []byte("x"))} {
				if !errors.Is(err, ErrLost) {
					t.Errorf("a file is %s with the error %v", what, err)
				}
			}
			entries, err := os.ReadDir(dir)
			if (err == nil) != (want != nil) || len(entries) != len(want) {
				t.Errorf("there are %v (%v), want %v", entries, err, want)
			}
			for _, entry := range entries {
				wantText(t, filepath.Join(dir, entry.Name()), "")
			}
		})
	}
}

// A file that is gone is not begun anew by what was to follow in it.
func TestAppendMakesNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := mustHold(t, dir).Append("f", nil); !errors.Is(err, ErrLost) {
		t.Errorf("a file that is not there is appended to with the error %v", err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// A file does not pass for the directory that was to be made.
func TestMkdirAllRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{path, filepath.Join(path, "below")} {
		if err := MkdirAll(dir); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "is a file") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
