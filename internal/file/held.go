package file

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Held is a locked directory, into which only its holder writes. The lock belongs to the directory
// that was opened, even if another one now has its path.
type Held struct {
	path, name string // of the directory and of the locked file in it
	root       *os.Root
	lock       *os.File
	leased     *leased // nil without a lease
}

// ErrLocked is the error for a directory that another program holds.
var ErrLocked = errors.New("locked by another program")

// ErrNoLocks is the error for a directory on a file system without locks.
var ErrNoLocks = errors.New("cannot be locked")

// ErrLost is the error for writing into a held directory after someone has removed the directory,
// its lock or the file to append to.
var ErrLost = errors.New("the directory, or a file in it, was removed while it was held")

// Hold locks a directory by a file in it, and creates the directory if necessary. The lock lasts
// until it is released or the program ends in any way. If the directory or the file cannot be
// created or written, the error is a WriteError.
func Hold(path, name string) (*Held, error) {
	if err := MkdirAll(path); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &WriteError{path, withoutPaths(err)}
	}
	h := &Held{path: path, name: name, root: root}
	if err = before("open", root, name); err == nil {
		h.lock, err = root.OpenFile(name, os.O_CREATE|os.O_RDWR|nonblocking, 0o644)
	}
	if err != nil {
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
	// The file may have been removed and recreated by another program since it was opened.
	if err := h.check(); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// HoldShared is like Hold for a directory that programs on other machines may hold, on a file
// system whose locks may not reach them. In addition to the lock it takes a lease, which is renewed
// until the directory is released. While a program on another machine may hold the directory, the
// error is a LeasedError.
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

// Path returns the path of a file in the directory.
func (h *Held) Path(name string) string { return filepath.Join(h.path, name) }

// Release releases the directory.
func (h *Held) Release() {
	if h.leased != nil {
		h.leased.end(h.root)
	}
	unlock(h.lock)
	h.root.Close()
}

// check refuses a directory that has lost its lock file.
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

// failed wraps the error of an operation on a file in a WriteError, or returns nil if there is no
// error.
func (h *Held) failed(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrLost
	}
	if err != nil {
		err = &WriteError{h.Path(name), withoutPaths(err)}
	}
	return err
}

// WriteAside writes a file in the directory, like the function WriteAside.
func (h *Held) WriteAside(name string, b []byte) error {
	return h.FillAside(name, contents(b))
}

// FillAside is like WriteAside, for a file that fill writes, which need not fit into memory.
func (h *Held) FillAside(name string, fill func(io.Writer) error) error {
	if err := h.check(); err != nil {
		return err
	}
	return h.failed(name, writeAside(h.root, name, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		if err := fill(b); err != nil {
			return err
		}
		return b.Flush()
	}))
}

// Append appends bytes to an existing file, and returns once they are durable.
func (h *Held) Append(name string, b []byte) error {
	if err := h.check(); err != nil {
		return err
	}
	if err := before("open", h.root, name); err != nil {
		return h.failed(name, err)
	}
	f, err := h.root.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return h.failed(name, err)
	}
	return h.failed(name, errors.Join(write(f, b), flush(f), f.Close()))
}

// RemoveLeftovers removes the temporary files that killed programs left, for the files whose names
// of accepts.
func (h *Held) RemoveLeftovers(of func(name string) bool) error {
	if err := h.check(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(h.root.FS(), ".")
	for _, entry := range entries {
		if name, left := Leftover(entry.Name()); left && of(name) {
			err = errors.Join(err, unlink(h.root, entry.Name()))
		}
	}
	return h.failed(".", err)
}
