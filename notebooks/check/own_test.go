package check

import (
	"os"
	"path/filepath"
	"testing"
)

// The tests ignore a reader's own notebook, wherever it is.
func TestNotebooksOfOnesOwnAreNotChecked(t *testing.T) {
	if _, known := tracked(); !known {
		t.Skip("no git tells which files are the project's")
	}
	f, err := os.CreateTemp("..", "own-*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(f.Name()) })
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	filesOf(t, []string{".ipynb"}, func(path string) {
		if filepath.Base(path) == filepath.Base(f.Name()) {
			t.Errorf("%s is checked", path)
		}
	})
	n := 0
	for path := range notebooksIn(t, "..") { // it cannot be read as a notebook
		if n++; filepath.Base(path) == filepath.Base(f.Name()) {
			t.Errorf("%s is checked", path)
		}
	}
	if n == 0 {
		t.Error("no notebook is checked")
	}
}
