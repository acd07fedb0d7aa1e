// Package file writes files that are whole whenever the program or the machine
// stops, and locks directories.
package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Temporary is the ending of files that are being written.
const Temporary = ".tmp"

// WriteAside writes a file so that path holds either what it held before or
// all of b, whenever the program or the machine stops.
func WriteAside(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+Temporary)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails where the rename has succeeded
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	// The new name lasts once its directory is written.
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Append adds bytes to the end of a file, which it makes where there is none, and
// returns when they last.
func Append(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// ErrLocked is the error of a lock that another program holds.
var ErrLocked = errors.New("locked by another program")

// Lock holds a file lock, which ends with the program however it ends.
func Lock(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s cannot be locked (%w): choose a directory on a file system that has locks", path, err)
		}
		return nil, ErrLocked
	}
	return func() { f.Close() }, nil
}
