package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// ReadNamed is like Read, for a path that a user wrote: the error for a file that does not exist has the Remedy.
func ReadNamed(path string, most int64) ([]byte, error) {
	b, err := Read(path, most)
	if err != nil {
		err = fmt.Errorf("%w%s", err, Remedy(err, path))
	}
	return b, err
}

// Remedy returns a remedy for a path if err says that it does not exist: the closest name in the deepest folder of the path that exists,
// whatever the extensions are, or else the folder from which relative paths start.
func Remedy(err error, path string) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
		entries, err = os.ReadDir(filepath.Dir(path))
	}
	stem := func(name string) string {
		before, _, _ := strings.Cut(name, ".")
		return before
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { // short names are close to anything, and a link may lead nowhere
		return len(stem(e.Name())) <= 2 || e.Name() == filepath.Base(path)
	})
	var stems []string
	for _, e := range entries {
		stems = append(stems, stem(e.Name()))
	}
	best, meant := names.Closest(stem(filepath.Base(path)), stems...), ""
	for _, e := range entries {
		if best != "" && stem(e.Name()) == best && (meant == "" || filepath.Ext(e.Name()) == filepath.Ext(path)) {
			meant = e.Name()
		}
	}
	if meant != "" {
		return fmt.Sprintf(" (did you mean %q?)", filepath.Join(filepath.Dir(path), meant))
	}
	start, _ := os.Getwd()
	return fmt.Sprintf(": give the whole path of a file, or its path from the folder %s", start)
}
