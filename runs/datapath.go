package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// dataOfFile returns the data set that an experiment file names, with paths that this program can open.
// path and text are the path and the contents of the file. Paths of data are relative to the folder of
// the file. In the file of a run, which training wrote, they are relative to the current folder, as during
// training, if the data exist there. In any other file, they are relative to the current folder if the
// data exist there but not in the folder of the file, as in earlier versions; a note on standard error
// reports this once.
func dataOfFile(of dataset.Spec, path string, text []byte) dataset.Spec {
	for _, name := range of.Paths() {
		*name = dataPath(*name, path, text)
	}
	return of
}

// dataPath resolves one path for dataOfFile.
func dataPath(name, path string, text []byte) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	beside := filepath.Join(filepath.Dir(path), name)
	here, err := os.Stat(name)
	there, failure := os.Stat(beside)
	switch {
	case err == nil && failure == nil && os.SameFile(here, there):
		return name
	case err == nil && (failure != nil || isSealed(text)):
		if !isSealed(text) {
			elsewhere.Do(func() {
				fmt.Fprintf(os.Stderr, "%s names %s, which is in the current folder (as in earlier versions) and not beside the file: paths in an experiment file are relative to the folder of the file (shown once)\n", path, name)
			})
		}
		return name
	case failure == nil || !isSealed(text) && (dataset.Spec{Name: name}).IsFile():
		return beside
	}
	return name
}

var elsewhere sync.Once

// isSealed reports whether a text has the checksum that training writes into the file of a run.
func isSealed(text []byte) bool { return bytes.Contains(text, []byte("\n"+textSeal)) }

// ExplainMissing returns err, the error of reading a file, or another error if err is about a missing file that the file
// at path names, or the base of a sweep at path. It says which file names the missing one, and where it was looked for.
func ExplainMissing(path string, err error) error {
	failure, is := errors.AsType[*fs.PathError](err)
	text, unread := file.Read(path, file.Small)
	if !is || !errors.Is(err, fs.ErrNotExist) || unread != nil {
		return err
	}
	var table map[string]any
	_, _ = decodeTOML(text, &table) // an earlier read returned the error
	folder := filepath.Dir(path)
	for key, value := range names.Flat("", table) {
		name, is := value.(string)
		if key == "base" && filepath.IsAbs(name) {
			err = ExplainMissing(name, err)
		}
		if !is || filepath.IsAbs(name) {
			continue // an absolute path says where it leads
		}
		if of, _, is := strings.Cut(name, "#"); is && !strings.Contains(failure.Path, "#") {
			name = of // the file of an array
		}
		here, _ := filepath.Abs(name)
		missing, _ := filepath.Abs(failure.Path)
		beside, _ := filepath.Abs(filepath.Join(folder, name))
		if key == "base" {
			err, here = ExplainMissing(filepath.Join(folder, name), err), beside
		}
		if missing != here && missing != beside {
			continue
		}
		places := beside
		if here != beside {
			places += " or " + here
		}
		_, hint, _ := strings.Cut(err.Error(), failure.Error())
		if !strings.HasPrefix(hint, " (did you mean") {
			hint = ""
		}
		return fmt.Errorf("%s names %q: %w at %s%s: correct the path in %[1]s, which starts at the folder of that file", path, name, failure.Err, places, hint)
	}
	return err
}
