package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Environment is the environment variable that names the folder of the data.
const Environment = "HELMHOLTZ_DATA"

// Folders returns the folders that are searched for named sets, in this order: the folder in HELMHOLTZ_DATA, if
// it is set, and "helmholtz" in the user's cache directory.
func Folders() ([]string, error) {
	var folders []string
	if own := os.Getenv(Environment); own != "" {
		folders = append(folders, own)
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		folders = append(folders, filepath.Join(cache, "helmholtz"))
	}
	if len(folders) == 0 {
		return nil, fmt.Errorf("no folder to look for data in: set %s to one (%w)", Environment, err)
	}
	return folders, nil
}

// Info describes a named set.
type Info struct {
	Name, Description string
	Shape             Shape
	// Train, Validation and Test are the numbers of rows of the splits that Open returns.
	Train, Validation, Test int
	Files                   []File // none if the program makes the set
	Offered                 bool   // whether Get can fetch the files
}

// File is a file of a named set.
type File struct {
	Path    string // where it was found, or where it is expected
	Present bool
}

// Ready reports whether all files of the set are present.
func (i Info) Ready() bool {
	return !slices.ContainsFunc(i.Files, func(f File) bool { return !f.Present })
}

// List describes all named sets.
func List() []Info {
	var list []Info
	for _, c := range collections() {
		info := Info{
			Name: c.name, Description: c.description, Shape: c.shape,
			Train: c.train - c.holdOut, Validation: c.validation + c.holdOut, Test: c.test,
			Offered: c.address != "",
		}
		if c.test == 0 { // divide draws the test rows from the training rows
			info.Test = c.train / 10
			info.Train -= info.Test
		}
		for _, f := range c.files {
			path, err := c.locate(f)
			if missing, is := errors.AsType[*missingError](err); is {
				path = missing.paths[0]
			}
			info.Files = append(info.Files, File{Path: path, Present: err == nil})
		}
		list = append(list, info)
	}
	return list
}

// locate finds a file of the set, compressed by gzip or not.
func (c collection) locate(f file) (string, error) {
	folders, err := Folders()
	if err != nil {
		return "", err
	}
	missing := &missingError{set: c}
	for _, folder := range folders {
		path := filepath.Join(folder, c.folder, f.name)
		for _, variant := range []string{path, otherCompression(path)} {
			_, err := os.Stat(variant)
			if err == nil {
				return variant, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
		missing.paths = append(missing.paths, path)
	}
	return "", missing
}

func otherCompression(path string) string {
	if plain, compressed := strings.CutSuffix(path, ".gz"); compressed {
		return plain
	}
	return path + ".gz"
}

// missingError names the paths where a file was expected, and says how to get it.
type missingError struct {
	set   collection
	paths []string // one for each folder
}

func (e *missingError) Error() string {
	remedy := "put it there"
	if e.set.address != "" {
		remedy = fmt.Sprintf("run %q", "helmholtz data get "+e.set.name)
	}
	return fmt.Sprintf("there is no file %s: %s, or set %s to the folder that has %s", strings.Join(e.paths, ", nor "), remedy,
		Environment, filepath.Join(e.set.folder, filepath.Base(e.paths[0])))
}

func (e *missingError) Unwrap() error { return fs.ErrNotExist }
