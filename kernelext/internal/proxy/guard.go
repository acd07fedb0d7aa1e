package proxy

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Guard runs a program and, once it has ended or standard input has, kills what
// it has started, removes the directory dir and ends this process.
//
// It is a process of its own, started as the leader of a process group with a
// pipe for standard input of which the kernel holds the other end, so that not
// even a kernel that is killed leaves processes or files behind.
func Guard(dir string, program []string) error {
	// To ignore signals would make the program ignore them, too.
	signal.Reset(syscall.SIGINT, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	adoptOrphans()
	c := exec.Command(program[0], program[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		os.RemoveAll(dir)
		return fmt.Errorf("cannot start %s: %w", program[0], err)
	}
	ended := make(chan struct{}, 2)
	go func() {
		waitFor(c.Process.Pid)
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		ended <- struct{}{}
	}()
	<-ended
	killDescendants()
	os.RemoveAll(dir)
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
