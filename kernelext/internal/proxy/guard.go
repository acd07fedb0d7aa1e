//go:build unix

package proxy

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// Guard runs a program and, once it has ended or standard input has, kills what
// it has started and ends this process. If standard input has ended, it removes the
// directory dir.
//
// It is a process of its own, started as the leader of a process group with a
// pipe for standard input of which the kernel holds the other end, so that not
// even a kernel that is killed leaves processes or files behind. The program is killed
// with the guard, as far as the system can do it, and the kernel adopts what else the
// guard leaves.
func Guard(dir string, program []string) error {
	// To ignore signals would make the program ignore them, too.
	signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	adoptOrphans()
	runtime.LockOSThread() // the program goes with the thread that starts it
	c := exec.Command(program[0], program[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = dieWithParent()
	if err := c.Start(); err != nil {
		return fmt.Errorf("cannot start %s: %w", program[0], err)
	}
	programEnded, kernelEnded := make(chan struct{}), make(chan struct{})
	go func() {
		waitFor(c.Process.Pid)
		close(programEnded)
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(kernelEnded)
	}()
	select {
	case <-programEnded:
		killDescendants()
	case <-kernelEnded:
		killDescendants()
		os.RemoveAll(dir)
	}
	return syscall.Kill(0, syscall.SIGKILL)
}

// waitFor returns when a child has ended. It buries the orphans of the child as
// they end.
func waitFor(child int) {
	for {
		pid, err := syscall.Wait4(-1, nil, 0, nil)
		if pid == child || err != nil && err != syscall.EINTR {
			return
		}
	}
}
