// Package file writes files and directories durably: they are complete even if the program or the
// machine stops at any moment.
package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// temporary is the extension of files being written.
const temporary = ".tmp"

// Leftover returns the file that a killed program was writing, given the name of its temporary file:
// the file's name, followed by a number and the extension .tmp.
func Leftover(name string) (of string, is bool) {
	of, is = strings.CutSuffix(name, temporary)
	number := filepath.Ext(of)
	of = strings.TrimSuffix(of, number)
	_, err := strconv.ParseUint(strings.TrimPrefix(number, "."), 10, 64)
	return of, is && of != "" && err == nil
}

// Name returns the last element of a path, even of a path without its own name, such as a dot.
func Name(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return filepath.Base(path)
}

// WriteAside writes a file so that path holds either its previous contents or all of b, even if the
// program or the machine stops at any moment. It replaces only what MayReplace allows.
func WriteAside(path string, b []byte) error {
	if err := MayReplace(path); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return &WriteError{path, withoutPaths(err)}
	}
	defer root.Close()
	if err := writeAside(root, filepath.Base(path), contents(b)); err != nil {
		return &WriteError{path, withoutPaths(err)}
	}
	return nil
}

// MayReplace refuses a path at which there is something other than a regular file, such as a device
// or a link. The error is a WriteError.
func MayReplace(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return &WriteError{path, fmt.Errorf("there is %s, which a file cannot replace: name another place", kind(info.Mode()))}
	}
	return nil
}

// A WriteError is the error for a file that could not be written, or a directory that could not be
// created.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *WriteError) Unwrap() error { return e.Err }

// withoutPaths removes file names, such as the temporary file's, from an error.
func withoutPaths(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	if link, is := errors.AsType[*os.LinkError](err); is {
		return fmt.Errorf("%s: %w", link.Op, link.Err)
	}
	return err
}

// asideOf returns a unique name of a temporary file, whose Leftover is name.
func asideOf(name string) string {
	return name + "." + strconv.FormatUint(rand.Uint64(), 10) + temporary
}

// contents returns a function that writes b.
func contents(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

func writeAside(root *os.Root, name string, fill func(io.Writer) error) error {
	aside := asideOf(name)
	f, err := create(root, aside)
	if err != nil {
		return err
	}
	if err = fill(writer{f}); err == nil {
		err = flush(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = move(root, aside, name)
	}
	if err != nil {
		_ = unlink(root, aside) // report the first error
		return err
	}
	return syncNames(root) // the new name is durable once its directory is written
}

// syncNames returns once the names in a directory are durable.
func syncNames(root *os.Root) error {
	if runtime.GOOS == "windows" { // Windows flushes only files
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(flush(dir), dir.Close())
}

// MkdirAll creates a directory with its missing parents, and returns once they are durable.
func MkdirAll(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(path)
	if above != path {
		if err := MkdirAll(above); err != nil {
			return err
		}
	}
	err := Before(Change{Call: "mkdir", Path: path})
	if err == nil {
		err = os.Mkdir(path, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return &WriteError{path, errors.New("it is a file, not a directory")}
		}
		return nil // another program has created it
	} else if err != nil {
		return &WriteError{path, withoutPaths(err)}
	}
	root, err := os.OpenRoot(above)
	if err != nil {
		return err
	}
	if err := errors.Join(syncNames(root), root.Close()); err != nil {
		return &WriteError{path, withoutPaths(err)}
	}
	return nil
}
