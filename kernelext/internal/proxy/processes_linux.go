package proxy

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// adoptOrphans makes this process the parent of the orphans among its
// descendants.
func adoptOrphans() {
	const setChildSubreaper = 36
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// dieWithParent is the attribute of a process that ends with the thread that has
// started it.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// killDescendants kills what this process has started, and what that has, and
// buries those of them whose parent it is.
func killDescendants() {
	for range 100 {
		found := descendants(os.Getpid())
		for _, p := range found {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
		if len(found) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
		for _, p := range found {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// process is a running program.
type process struct {
	pid, parent int
	name        string // as the system knows it, 15 bytes at most
}

// descendants returns the processes that a process has started and those that
// they have, parents first.
func descendants(of int) []process {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]process{}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name stands in brackets and may hold some itself.
		first, last := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		if first < 0 || last < first {
			continue
		}
		fields := strings.Fields(string(b[last+1:]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:first])))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], process{pid, parent, string(b[first+1 : last])})
	}
	found := children[of]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found
}
