package file

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// nonblocking stands for no flag: no pipe lies among the files of Windows.
const nonblocking = 0

// openToRead opens what lies at a path so that another program may replace or remove it
// meanwhile, which os.Open does not let it do.
func openToRead(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	// A directory is opened, too, by FILE_FLAG_BACKUP_SEMANTICS.
	handle, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// rename gives a file another name, in the place of what has that. Windows refuses it while
// another program, such as a virus scanner, has that open, so it tries again for a second.
func rename(root *os.Root, from, to string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := root.Rename(from, to)
		refused := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !refused || wait > time.Second/2 {
			return err
		}
		time.Sleep(wait)
	}
}

// tryLock locks an open file, alone or together with others. It does not wait: where
// another program stands against it, the error is ErrLocked.
func tryLock(f *os.File, alone bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// endLock ends the lock of an open file.
func endLock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

// lockedByte is the place of the one byte that is locked. Windows lets nobody read what
// is locked, so it lies far behind the end of any file.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
