//go:build unix

package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// startTime is how long GoNB may take to start and answer.
const startTime = 30 * time.Second

// stopTime is how long the guard may take to end GoNB.
const stopTime = 3 * time.Second

// ourIdentity is this kernel's identity towards GoNB, and the session of its own requests. GoNB
// answers control requests on its shell socket, so all sockets have the same identity.
const ourIdentity = "helmholtz"

// child is GoNB, running under its guard.
type child struct {
	guard                        *exec.Cmd
	alive                        io.Closer // the guard ends when this pipe is closed
	gonb                         int       // process id of GoNB, or 0 without /proc
	shell, control, stdin, iopub *wire
	ended                        chan struct{}
	passing                      sync.WaitGroup // goroutines that read from GoNB
}

// start starts GoNB with its sockets in the directory dir. guard is a command line that calls Guard
// with the arguments that start appends: a directory and a program.
func start(guard, gonb []string, env []string, dir string, c connection) (*child, error) {
	c.Transport, c.IP = "ipc", filepath.Join(dir, "gonb")
	c.Shell, c.Control, c.Stdin, c.IOPub, c.Heartbeat = 1, 2, 3, 4, 5
	for port := c.Shell; port <= c.Heartbeat; port++ {
		_ = os.Remove(c.socket(port)) // left by an earlier GoNB
	}
	path := filepath.Join(dir, filepath.Base(c.path))
	if err := os.WriteFile(path, encode(c), 0o600); err != nil {
		return nil, err
	}
	line := append(append([]string{}, guard...), dir)
	line = append(append(line, gonb[0], "--kernel", path), gonb[1:]...)
	command := exec.Command(line[0], line[1:]...)
	command.Env = env
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", line[0], err)
	}
	g := &child{guard: command, alive: alive, ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(g.ended)
	}()
	if err := g.connect(c); err != nil {
		g.stop()
		return nil, err
	}
	if all := descendants(command.Process.Pid); len(all) > 0 {
		g.gonb = all[0].pid // there is no other process yet
	}
	return g, nil
}

func (g *child) connect(c connection) (err error) {
	for _, s := range []struct {
		wire *(*wire)
		kind string
		port int
	}{{&g.shell, "DEALER", c.Shell}, {&g.control, "DEALER", c.Control}, {&g.stdin, "DEALER", c.Stdin}, {&g.iopub, "SUB", c.IOPub}} {
		err := g.await(5*time.Millisecond, func() bool {
			connected, err := net.Dial("unix", c.socket(s.port))
			if err == nil {
				*s.wire = newWire(connected, largestOutput)
			}
			return err == nil
		})
		if err != nil {
			return err
		}
		if err = (*s.wire).open(s.kind, ourIdentity); err != nil {
			return fmt.Errorf("gonb: %w", err)
		}
	}
	return g.iopub.send([][]byte{{1}}) // subscribe to all messages
}

// await tries something again and again until it succeeds.
func (g *child) await(interval time.Duration, try func() bool) error {
	for began := time.Now(); !try(); {
		select {
		case <-g.ended:
			return errors.New("gonb ended while starting; the lines above give the reason")
		case <-time.After(interval):
		}
		if time.Since(began) > startTime {
			return fmt.Errorf("gonb did not answer within %v", startTime)
		}
	}
	return nil
}

// stop ends GoNB, the processes that it has started, and its guard.
func (g *child) stop() {
	g.alive.Close()
	select {
	case <-g.ended:
	case <-time.After(stopTime):
	}
	g.kill()
	<-g.ended
	killDescendants() // this process adopted them if the guard was killed
}

func (g *child) kill() { _ = syscall.Kill(-g.guard.Process.Pid, syscall.SIGKILL) }

// Guard runs a program. When the program or standard input ends, Guard kills the processes that the
// program has started and ends this process. If standard input ended, it also removes the directory
// dir.
//
// Guard runs in a separate process, which leads a process group. Its standard input is a pipe whose
// other end the kernel keeps open, so that not even a killed kernel leaves processes or files
// behind. If the guard is killed, Linux kills the program too, and the kernel adopts the other
// processes that the guard leaves.
func Guard(dir string, program []string) error {
	// Catch the signals: if they were ignored, the program would inherit that.
	signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	adoptOrphans()
	runtime.LockOSThread() // the program ends with the thread that starts it
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

// Leash replaces this process by a program that is killed when its parent dies, if the system
// supports this. GoNB starts the language server with it; otherwise nothing would end the server
// when both the kernel and the guard are killed.
func Leash(program []string) error {
	runtime.LockOSThread() // the marked thread becomes the program
	dieWithParentFromNow()
	return fmt.Errorf("cannot start %s: %w", program[0], syscall.Exec(program[0], program, os.Environ()))
}

// waitFor returns when a child has ended. It reaps the orphans of the child as they end.
func waitFor(child int) {
	for {
		pid, err := syscall.Wait4(-1, nil, 0, nil)
		if pid == child || err != nil && err != syscall.EINTR {
			return
		}
	}
}
