package file

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Locked says whether a program holds a directory by a file in it.
func Locked(path, name string) bool {
	f, err := openToRead(filepath.Join(path, name))
	if err != nil {
		return false
	}
	defer unlock(f) // until then it is locked together with others who look
	return errors.Is(tryLock(f, false), ErrLocked)
}

// lockAlone locks a file, unless another program has locked it alone: then the error is
// ErrLocked. It waits until those who look (Locked) have done so.
func lockAlone(f *os.File) error {
	for {
		if err := tryLock(f, true); !errors.Is(err, ErrLocked) {
			return err
		}
		if err := tryLock(f, false); err != nil {
			return err
		}
		if err := endLock(f); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// unlock ends the lock of a file and closes it: closed alone, it would stay locked while a
// program that is just being started has it open, too.
func unlock(f *os.File) {
	_ = endLock(f) // closing does the same, if later
	f.Close()
}
