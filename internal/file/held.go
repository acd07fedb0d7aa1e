package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Held is a directory that is locked: it is written into by who holds it alone.
// The lock is one of the very directory that is written into, whatever has come
// to lie at its path since.
type Held struct {
	path, name string // of the directory, and of the file in it that is locked
	root       *os.Root
	lock       *os.File
	leased     *leased // nil where there is none
}

// ErrLocked is the error of a directory that another program holds.
var ErrLocked = errors.New("locked by another program")

// ErrNoLocks is the error of a directory on a file system without locks.
var ErrNoLocks = errors.New("cannot be locked")

// ErrLost is the error of writing into a held directory that was removed, or whose
// lock or file to append to was.
var ErrLost = errors.New("the directory, or a file in it, was removed while it was held")

// Hold locks a directory, which it makes where there is none, by a file in it. It is
// held until it is released or the program ends, however it ends. Where neither can be
// made or written, the error is a WriteError.
func Hold(path, name string) (*Held, error) {
	if err := MkdirAll(path); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &WriteError{path, withoutPaths(err)}
	}
	h := &Held{path: path, name: name, root: root}
	if h.lock, err = root.OpenFile(name, os.O_CREATE|os.O_RDWR|nonblocking, 0o644); err != nil {
		root.Close()
		return nil, &WriteError{h.Path(name), withoutPaths(err)}
	}
	if _, err := regular(h.lock, h.Path(name)); err != nil {
		h.Release()
		return nil, err
	}
	if err := lockAlone(h.lock); err != nil {
		h.Release()
		if !errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("%s %w (%w): choose a directory on a file system that has locks", h.Path(name), ErrNoLocks, err)
		}
		return nil, ErrLocked
	}
	// Since the file was opened it may have been removed, and made anew by another.
	if err := h.check(); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// HoldShared is Hold of a directory that other machines may hold, too, on a file system
// whose locks may not reach them: by a lease beside the lock, which is renewed until the
// directory is released. While a program on another machine may hold it the error is a
// LeasedError.
func HoldShared(path, name string) (*Held, error) {
	h, err := Hold(path, name)
	if err != nil {
		return nil, err
	}
	if h.leased, err = newLeased(h); err != nil {
		h.Release()
		return nil, h.failed(LeaseFile, err)
	}
	return h, nil
}

// Path is that of a file in the directory.
func (h *Held) Path(name string) string { return filepath.Join(h.path, name) }

// Release gives the directory free.
func (h *Held) Release() {
	if h.leased != nil {
		h.leased.end(h.root)
	}
	unlock(h.lock)
	h.root.Close()
}

// check refuses a directory that has lost the file that is locked.
func (h *Held) check() error {
	held, err := h.lock.Stat()
	if err != nil {
		return err
	}
	there, err := h.root.Lstat(h.name)
	if err == nil && !os.SameFile(held, there) {
		err = ErrLost
	}
	if err == nil && h.leased != nil {
		err = h.leased.mine(h.root)
	}
	return h.failed(h.name, err)
}

// failed is the error of what was done with a file, nil if none.
func (h *Held) failed(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrLost
	}
	if err != nil {
		err = &WriteError{h.Path(name), withoutPaths(err)}
	}
	return err
}

// WriteAside writes a file as the function of this name does.
func (h *Held) WriteAside(name string, b []byte) error {
	if err := h.check(); err != nil {
		return err
	}
	return h.failed(name, writeAside(h.root, name, b))
}

// Append adds bytes to the end of a file that is there, and returns when they last.
func (h *Held) Append(name string, b []byte) error {
	if err := h.check(); err != nil {
		return err
	}
	f, err := h.root.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return h.failed(name, err)
	}
	_, err = f.Write(b)
	return h.failed(name, errors.Join(err, f.Sync(), f.Close()))
}

// RemoveLeftovers removes what killed programs wrote aside of some files.
func (h *Held) RemoveLeftovers(of func(name string) bool) error {
	if err := h.check(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(h.root.FS(), ".")
	for _, entry := range entries {
		if name, left := Leftover(entry.Name()); left && of(name) {
			err = errors.Join(err, h.root.Remove(entry.Name()))
		}
	}
	return h.failed(".", err)
}
