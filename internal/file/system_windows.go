package file

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// nonblocking is no flag: Windows has no pipes among its files.
const nonblocking = 0

// openToRead opens a file so that another program may replace or remove it meanwhile, which os.Open
// prevents.
func openToRead(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	// FILE_FLAG_BACKUP_SEMANTICS also opens directories.
	handle, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// rename renames a file, and replaces an existing one. Windows refuses that while another program,
// such as a virus scanner, has the existing file open, so it retries for a second.
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

// tryLock locks an open file, exclusively or shared. It does not wait: if another program's lock
// conflicts, the error is ErrLocked.
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

func endLock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

// lockedByte returns the position of the one locked byte. Windows prevents reading locked bytes, so
// it lies far beyond the end of any file.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
