package check

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the root of this repository.
const root = "../.."

// tracked returns the files that git tracks, as paths below root, or false without git. A reader's
// own files are not part of the project, and no test checks them.
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
	_, _ = os.Stat(strings.TrimSpace(index)) // tells go test that the result depends on this file
	files := map[string]bool{}
	for path := range strings.SplitSeq(all, "\x00") {
		files[filepath.Join(root, filepath.FromSlash(path))] = true
	}
	return files, true
})

// isOwn reports whether a file in this repository is not part of the project.
func isOwn(path string) bool {
	files, known := tracked()
	return known && !files[filepath.Clean(path)]
}

// filesOf calls do with the path of each project file with one of the extensions, except files that
// are built, run or made by others.
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

// JupyterLab asks no question about news before the first notebook opens, and the settings that jupyter.sh writes are
// JSON.
func TestSettingsOfJupyterLab(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "../jupyter.sh"), "overrides.json\" <<-END\n")
	text, _, found := strings.Cut(rest, "\tEND\n")
	var settings map[string]map[string]any
	if err := json.Unmarshal([]byte(text), &settings); err != nil || !found {
		t.Fatalf("jupyter.sh has no settings: %v\n%s", err, text)
	}
	if news := settings["@jupyterlab/apputils-extension:notification"]; news["fetchNews"] != "false" || news["checkForUpdates"] != false {
		t.Errorf("the settings for notifications are %v", news)
	}
}
