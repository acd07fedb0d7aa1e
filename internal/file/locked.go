package file

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Locked reports whether a program holds a directory by a lock on a file in it.
func Locked(path, name string) bool {
	f, err := openToRead(filepath.Join(path, name))
	if err != nil {
		return false
	}
	defer unlock(f) // the shared lock does not conflict with other calls of Locked
	return errors.Is(tryLock(f, false), ErrLocked)
}

// lockAlone locks a file exclusively, or returns ErrLocked if another program holds it exclusively.
// It waits for the shared locks of Locked.
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

// unlock unlocks a file and closes it. Closing alone would leave it locked while a program that is
// just being started also has it open.
func unlock(f *os.File) {
	_ = endLock(f) // closing does the same, but later
	f.Close()
}
