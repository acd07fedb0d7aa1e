//go:build unix

package file

import (
	"os"
	"syscall"
)

// nonblocking is the flag with which a pipe that is opened holds nobody up.
const nonblocking = syscall.O_NONBLOCK

// openToRead opens what lies at a path.
func openToRead(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|nonblocking, 0) }

// rename gives a file another name, in the place of what has that.
func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

// tryLock locks an open file, alone or together with others. It does not wait: where
// another program stands against it, the error is ErrLocked.
func tryLock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return ErrLocked
	}
	return err
}

// endLock ends the lock of an open file.
func endLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
