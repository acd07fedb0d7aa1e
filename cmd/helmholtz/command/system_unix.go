//go:build unix

package command

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// preemptions are the signals that schedulers send to preempt a program.
var preemptions = []os.Signal{syscall.SIGTERM, syscall.SIGUSR1}

func peakMemory() int64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10 // Linux counts in kilobytes
}

// isReady reports whether a connection waits to be accepted, or data to be read.
func isReady(c syscall.Conn) (ready bool) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			ready = err == nil && n > 0
		})
	}
	return ready
}
