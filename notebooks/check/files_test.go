package check

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

// root is that of this repository.
const root = "../.."

// filesOf calls do with the path of each file of this repository whose name has one of the
// endings, those aside that are built, run or made by others.
func filesOf(t *testing.T, endings []string, do func(path string)) {
	t.Helper()
	aside := []string{".git", ".ipynb_checkpoints", ".venv", "build", "testdata", "runs"}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(aside, entry.Name()) && path != filepath.Join(root, "runs"):
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains(endings, filepath.Ext(path)):
			do(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
