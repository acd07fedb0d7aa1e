package check

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// notebooksIn returns the notebooks of a folder with their paths, in order.
func notebooksIn(t *testing.T, folder string) iter.Seq2[string, *Notebook] {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return isOwn(filepath.Join(root, "notebooks", "check", path)) })
	return func(yield func(string, *Notebook) bool) {
		for _, path := range paths {
			notebook, err := Parse([]byte(read(t, path)))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if !yield(path, notebook) {
				return
			}
		}
	}
}

// TestNotebooks checks the committed notebooks, including the course's, or, if HELMHOLTZ_NOTEBOOKS
// names a folder, the freshly executed ones there.
func TestNotebooks(t *testing.T) {
	folder := os.Getenv("HELMHOLTZ_NOTEBOOKS")
	if folder == "" {
		folder = ".."
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	course, err := filepath.Glob(filepath.Join(folder, "course", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, course...)
	if folder == ".." {
		paths = slices.DeleteFunc(paths, func(path string) bool { return isOwn(filepath.Join(root, "notebooks", "check", path)) })
	}
	if len(paths) == 0 {
		t.Fatalf("no notebook in %s", folder)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			notebook, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			if err := notebook.Check(machineFolders(t)...); err != nil {
				t.Error(err)
			}
		})
	}
}

// machineFolders returns the checkout, the home directory and the folder of the data.
func machineFolders(t *testing.T) []string {
	t.Helper()
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folders := []string{checkout}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		folders = append(folders, home)
	}
	if data := os.Getenv("HELMHOLTZ_DATA"); data != "" {
		folders = append(folders, data)
	}
	return folders
}
