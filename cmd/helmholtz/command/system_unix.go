//go:build unix

package command

import (
	"os"
	"runtime"
	"syscall"
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
