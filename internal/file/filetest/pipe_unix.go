//go:build unix

package filetest

import "syscall"

func init() { refused["a pipe"] = func(path string) error { return syscall.Mkfifo(path, 0o644) } }
