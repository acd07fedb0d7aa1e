package torture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// Call is a system call that changes a file or a directory.
type Call struct {
	Name string // as in the manual, such as renameat
	Path string // of the changed file, relative to the watched directory
	Size int    // bytes that a write writes
}

// Fault is a failure of a program at a system call. The zero Fault is none.
type Fault struct {
	// At is the number of the call, counted from 1, among the calls of all threads and processes of
	// the program that change the watched directory.
	At int
	// Any counts system calls of any kind.
	Any bool
	// Errno is the error that the call returns without being executed. If it is 0, the program is
	// killed before the call, with all processes that it has started.
	Errno syscall.Errno
	// Onward makes all later calls that change the watched directory fail as well.
	Onward bool
	// Torn makes a write write only half of its bytes. The fault strikes the following call, which,
	// for a program that writes the rest, is the write of the rest.
	Torn bool
}

// Trace records what a program did.
type Trace struct {
	Calls  []Call // calls that changed the watched directory, or would have
	All    int    // number of system calls of any kind
	Struck bool   // whether the fault occurred
	Status syscall.WaitStatus
	Usage  syscall.Rusage
}

// Tracer runs programs under a fault. It watches a directory and everything in it.
type Tracer struct {
	Dir   string
	Fault Fault
	// Before, if not nil, is called before each call that changes the watched directory, while the
	// calling thread is stopped.
	Before func(Call)
}

// Run starts a program and returns once the program and all processes that it started have ended.
// It returns an error if it cannot trace the program. Several calls may run at the same time. Other
// processes that are started meanwhile need their own thread, by runtime.LockOSThread, until they
// have been waited for: Run waits for all processes of its thread.
func (t Tracer) Run(program *exec.Cmd) (*Trace, error) {
	dir, err := filepath.EvalSymlinks(t.Dir)
	if err != nil {
		return nil, err
	}
	if t.Dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	// The kernel reports to the thread that starts the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	program.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := program.Start(); err != nil {
		return nil, err
	}
	s := &session{Tracer: t, main: program.Process.Pid, seen: map[int]bool{}, failing: map[int]bool{}}
	err = s.follow()
	if err != nil {
		_ = program.Process.Kill()
	}
	// The program has been waited for above: only its output remains to be copied.
	if wait := program.Wait(); !errors.Is(wait, syscall.ECHILD) {
		err = errors.Join(err, wait)
	}
	return &s.trace, err
}

type session struct {
	Tracer
	trace   Trace
	main    int          // process
	seen    map[int]bool // threads seen so far
	failing map[int]bool // threads within a failing call
	dead    bool         // whether the program was killed
}

// options make the kernel report new threads and processes, and kill them with the tracer.
const options = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK |
	syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACEEXEC | exitKill

// exitKill is PTRACE_O_EXITKILL.
const exitKill = 1 << 20

func (s *session) follow() error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.main, &status, syscall.WALL, nil); err != nil {
		return fmt.Errorf("the program did not stop to be traced: %w", err)
	}
	s.seen[s.main] = true
	if err := syscall.PtraceSetOptions(s.main, options); err != nil {
		return fmt.Errorf("the program cannot be traced: %w", err)
	}
	if err := syscall.PtraceSyscall(s.main, 0); err != nil {
		return err
	}
	for {
		var usage syscall.Rusage
		thread, err := syscall.Wait4(-1, &status, syscall.WALL|syscall.WNOTHREAD, &usage)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.ECHILD:
			return nil
		case err != nil:
			return err
		case !status.Stopped():
			if thread == s.main {
				s.trace.Status, s.trace.Usage = status, usage
			}
			continue
		}
		pass := 0
		switch signal := status.StopSignal(); {
		case signal == syscall.SIGTRAP|0x80:
			if err := s.atCall(thread); err != nil && err != syscall.ESRCH {
				return err
			}
		case signal == syscall.SIGTRAP && status.TrapCause() > 0: // a thread or process was started
		case signal == syscall.SIGSTOP && !s.seen[thread]: // the new thread's first stop
		default:
			pass = int(signal)
		}
		s.seen[thread] = true
		if err := syscall.PtraceSyscall(thread, pass); err != nil && err != syscall.ESRCH { // it may have been killed
			return err
		}
	}
}

func (s *session) atCall(thread int) error {
	info, err := callOf(thread)
	if err != nil {
		return err
	}
	if !info.enters() {
		if s.failing[thread] {
			delete(s.failing, thread)
			return change(thread, func(r *syscall.PtraceRegs) { r.Rax = uint64(-int64(s.Fault.Errno)) })
		}
		return nil
	}
	s.trace.All++
	call, changes, err := s.describe(thread, info)
	if err != nil {
		return err
	}
	if changes {
		if s.Before != nil && !s.dead {
			s.Before(call)
		}
		s.trace.Calls = append(s.trace.Calls, call)
	}
	number := len(s.trace.Calls)
	if s.Fault.Any {
		number, changes = s.trace.All, true
	}
	at := s.Fault.At
	if at > 0 && s.Fault.Torn {
		if changes && number == at && call.Size > 1 {
			return change(thread, func(r *syscall.PtraceRegs) { r.Rdx = uint64(call.Size / 2) })
		}
		at++
	}
	if at == 0 || !changes || number != at && !(s.Fault.Onward && number > at) {
		return nil
	}
	s.trace.Struck = true
	if s.Fault.Errno == 0 {
		return s.kill()
	}
	s.failing[thread] = true
	return change(thread, func(r *syscall.PtraceRegs) { r.Orig_rax = ^uint64(0) }) // no call
}

// kill kills all processes. The kernel skips the call that a thread was about to make.
func (s *session) kill() error {
	s.dead = true
	for thread := range s.seen {
		if err := syscall.Kill(thread, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			return err
		}
	}
	return nil
}

func change(thread int, do func(*syscall.PtraceRegs)) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &r); err != nil {
		return err
	}
	do(&r)
	return syscall.PtraceSetRegs(thread, &r)
}

// callInfo is the kernel's struct ptrace_syscall_info.
type callInfo struct {
	op     uint8
	_      [3]uint8
	_      uint32
	_, _   uint64
	number uint64
	args   [6]uint64
}

// enters reports whether the thread is about to make a call, rather than returning from it.
func (c *callInfo) enters() bool { return c.op == 1 }

func callOf(thread int) (*callInfo, error) {
	const getSyscallInfo = 0x420e
	info := &callInfo{}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(thread), unsafe.Sizeof(*info), uintptr(unsafe.Pointer(info)), 0, 0)
	if errno != 0 {
		return nil, errno
	}
	return info, nil
}

// changing lists the system calls that change files, as programs in Go make them.
// path is the argument that points to the path, and the argument before it is the
// directory that the path is relative to. If path is negative, file is the argument
// with the open file.
var changing = map[uint64]struct {
	name       string
	file, path int
}{
	syscall.SYS_WRITE:     {"write", 0, -1},
	syscall.SYS_PWRITE64:  {"pwrite64", 0, -1},
	syscall.SYS_WRITEV:    {"writev", 0, -1},
	syscall.SYS_FSYNC:     {"fsync", 0, -1},
	syscall.SYS_FDATASYNC: {"fdatasync", 0, -1},
	syscall.SYS_FTRUNCATE: {"ftruncate", 0, -1},
	syscall.SYS_FALLOCATE: {"fallocate", 0, -1},
	syscall.SYS_FCHMOD:    {"fchmod", 0, -1},
	syscall.SYS_SENDFILE:  {"sendfile", 0, -1},
	syscall.SYS_SPLICE:    {"splice", 2, -1},
	sysCopyFileRange:      {"copy_file_range", 2, -1},
	syscall.SYS_TRUNCATE:  {"truncate", -1, 0},
	syscall.SYS_OPENAT:    {"openat", -1, 1},
	syscall.SYS_MKDIRAT:   {"mkdirat", -1, 1},
	syscall.SYS_UNLINKAT:  {"unlinkat", -1, 1},
	syscall.SYS_FCHMODAT:  {"fchmodat", -1, 1},
	syscall.SYS_UTIMENSAT: {"utimensat", -1, 1},
	syscall.SYS_SYMLINKAT: {"symlinkat", -1, 2},
	syscall.SYS_RENAMEAT:  {"renameat", -1, 3},
	sysRenameat2:          {"renameat2", -1, 3},
	syscall.SYS_LINKAT:    {"linkat", -1, 3},
}

// Calls that package syscall does not know.
const (
	sysRenameat2     = 316
	sysCopyFileRange = 326
)

// describe returns the change that a call is about to make, and whether the change is in the
// watched directory.
func (s *session) describe(thread int, info *callInfo) (call Call, changes bool, err error) {
	kind, known := changing[info.number]
	if !known {
		return Call{}, false, nil
	}
	call.Name = kind.name
	path := ""
	if kind.path < 0 {
		path = linkOf(thread, fmt.Sprintf("fd/%d", int32(info.args[kind.file])))
	} else {
		if path, err = textAt(thread, info.args[kind.path]); err != nil {
			return Call{}, false, err
		}
		if !filepath.IsAbs(path) {
			base := "cwd"
			if dir := int32(info.args[max(0, kind.path-1)]); kind.path > 0 && dir != atWorkingDirectory {
				base = fmt.Sprintf("fd/%d", dir)
			}
			path = filepath.Join(linkOf(thread, base), path)
		}
	}
	switch info.number {
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64:
		call.Size = int(info.args[2])
	case syscall.SYS_OPENAT:
		if info.args[2]&(syscall.O_WRONLY|syscall.O_RDWR|syscall.O_CREAT|syscall.O_TRUNC) == 0 {
			return Call{}, false, nil
		}
	}
	call.Path, err = filepath.Rel(s.Dir, path)
	return call, err == nil && call.Path != ".." && !strings.HasPrefix(call.Path, "../"), nil
}

// atWorkingDirectory is AT_FDCWD.
const atWorkingDirectory = -100

// linkOf returns the target of a link in a thread's folder of /proc, or "" if the link is missing.
func linkOf(thread int, name string) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/%s", thread, name))
	return path
}

func textAt(thread int, address uint64) (string, error) {
	const longest = 4096
	var text []byte
	for len(text) < longest {
		var b [64]byte
		n, err := syscall.PtracePeekData(thread, uintptr(address)+uintptr(len(text)), b[:])
		if end := bytes.IndexByte(b[:n], 0); end >= 0 {
			return string(append(text, b[:end]...)), nil
		}
		if err != nil {
			return "", err
		}
		text = append(text, b[:n]...)
	}
	return "", fmt.Errorf("a path of more than %d bytes", longest)
}
