package file

import (
	"os"
	"path/filepath"
)

// A Change is a change of a file or a directory that this package is about to make.
type Change struct {
	Call string // what it does: create, open, write, sync, mkdir, rename, link or remove
	Path string // the changed path
	File *os.File
	Text []byte // the bytes of a write, which File gets
}

// Before is called before each change and refuses it if it returns an error. Tests set it to end
// programs between changes and to make changes fail. Calls may overlap.
var Before = func(Change) error { return nil }

func before(call string, root *os.Root, name string) error {
	return Before(Change{Call: call, Path: filepath.Join(root.Name(), name)})
}

// create opens a new file to write, or fails with fs.ErrExist.
func create(root *os.Root, name string) (*os.File, error) {
	if err := before("create", root, name); err != nil {
		return nil, err
	}
	return root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
}

func write(f *os.File, b []byte) error {
	if err := Before(Change{"write", f.Name(), f, b}); err != nil {
		return err
	}
	_, err := f.Write(b)
	return err
}

// writer writes to a file, each time as a change.
type writer struct{ f *os.File }

func (w writer) Write(b []byte) (int, error) {
	if err := write(w.f, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func flush(f *os.File) error {
	if err := Before(Change{Call: "sync", Path: f.Name()}); err != nil {
		return err
	}
	return f.Sync()
}

func move(root *os.Root, from, to string) error {
	if err := before("rename", root, to); err != nil {
		return err
	}
	return rename(root, from, to)
}

func link(root *os.Root, from, to string) error {
	if err := before("link", root, to); err != nil {
		return err
	}
	return root.Link(from, to)
}

func unlink(root *os.Root, name string) error {
	if err := before("remove", root, name); err != nil {
		return err
	}
	return root.Remove(name)
}
