//go:build unix

package file

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nonblocking is the flag that prevents opening a pipe from blocking.
const nonblocking = syscall.O_NONBLOCK

// openToRead opens a file without blocking on a pipe.
func openToRead(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|nonblocking, 0) }

// rename renames a file, and replaces an existing one.
func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

// tryLock locks an open file, exclusively or shared. It does not wait: if another program's lock
// conflicts, the error is ErrLocked.
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

func endLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// Maps reports whether Map leaves the content of a file on disk.
const Maps = true

// Map returns the content of a file, which must have bytes, and a function that gives it up. The system reads its pages when
// they are used, and may forget them.
func Map(f *os.File, size int) (content []byte, release func() error, err error) {
	content, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return content, func() error { return syscall.Munmap(content) }, err
}

// Scatter tells the system that parts of a mapped file are used in no order, so that it reads no more than them.
func Scatter(content []byte) { _ = unix.Madvise(pages(content), unix.MADV_RANDOM) }

// Expect tells the system that part of a mapped file is used soon, so that it begins to read it.
func Expect(part []byte) { _ = unix.Madvise(pages(part), unix.MADV_WILLNEED) }

// pages returns part from the beginning of its first page.
func pages(part []byte) []byte {
	first := unsafe.Pointer(unsafe.SliceData(part))
	before := int(uintptr(first) % uintptr(os.Getpagesize()))
	return unsafe.Slice((*byte)(unsafe.Add(first, -before)), before+len(part))
}
