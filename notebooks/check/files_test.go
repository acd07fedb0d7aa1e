package check

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is that of this repository.
const root = "../.."

// tracked returns the files that git tracks, as paths below root, and false where there is no git to ask.
// Files of one's own are no part of the project, and no test looks at them.
var tracked = sync.OnceValues(func() (map[string]bool, bool) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		return string(out), err
	}
	all, err := git("ls-files", "-z")
	index, failure := git("rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil || failure != nil {
		return nil, false
	}
	_, _ = os.Stat(strings.TrimSpace(index)) // for go test to know what the result depends on
	files := map[string]bool{}
	for path := range strings.SplitSeq(all, "\x00") {
		files[filepath.Join(root, filepath.FromSlash(path))] = true
	}
	return files, true
})

// isOwn reports whether a file of this repository is no part of the project.
func isOwn(path string) bool {
	files, known := tracked()
	return known && !files[filepath.Clean(path)]
}

// filesOf calls do with the path of each file of the project whose name has one of the
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
		case !entry.IsDir() && slices.Contains(endings, filepath.Ext(path)) && !isOwn(path):
			do(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
