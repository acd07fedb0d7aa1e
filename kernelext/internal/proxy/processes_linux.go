package proxy

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// adoptOrphans makes this process the parent of its descendants' orphans.
func adoptOrphans() {
	const setChildSubreaper = 36
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// dieWithParent returns the attribute of a process that ends with the thread that started it.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// dieWithParentFromNow makes this thread's process, and the program that it becomes, end with the
// thread that started it.
func dieWithParentFromNow() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
}

// killDescendants kills all descendants of this process, and reaps its own children among them.
func killDescendants() {
	for range 100 {
		found, left := family(os.Getpid()), false
		for _, p := range found {
			if !p.ended {
				left = true
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
		if !left {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// process is a running program, or one that has ended and is not reaped yet.
type process struct {
	pid, parent int
	name        string // the system's name for it, at most 15 bytes
	ended       bool
}

// descendants returns the running descendants of a process, parents first.
func descendants(of int) []process {
	return slices.DeleteFunc(family(of), func(p process) bool { return p.ended })
}

// family returns all descendants of a process, parents first. It includes processes that have
// ended, because their children may have been read before the parents ended.
func family(of int) []process {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]process{}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// The name is in brackets and may itself contain brackets.
		first, last := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		if first < 0 || last < first {
			continue
		}
		fields := strings.Fields(string(b[last+1:]))
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:first])))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], process{pid, parent, string(b[first+1 : last]), fields[0] == "Z" || fields[0] == "X"})
	}
	found := children[of]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found
}
