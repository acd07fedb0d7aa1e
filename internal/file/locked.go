package file

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Locked says whether a program holds a directory by a file in it.
func Locked(path, name string) bool {
	f, err := os.OpenFile(filepath.Join(path, name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe holds nobody up
	if err != nil {
		return false
	}
	defer unlock(f) // until then it is locked together with others who look
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}

// lockAlone locks a file, unless another program has locked it alone. It waits until
// those who look (Locked) have done so.
func lockAlone(f *os.File) error {
	lock := func(how int) error { return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB) }
	for {
		if err := lock(syscall.LOCK_EX); err != syscall.EWOULDBLOCK {
			return err
		}
		if err := lock(syscall.LOCK_SH); err != nil {
			return err
		}
		if err := lock(syscall.LOCK_UN); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// unlock ends the lock of a file and closes it: closed alone, it would stay locked while a
// program that is just being started has it open, too.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing does the same, if later
	f.Close()
}
