//go:build unix && !linux

package proxy

import "syscall"

// process is a running program.
type process struct {
	pid, parent int
	name        string
}

// Where there is no /proc, what GoNB has started is known by its process group
// alone, which Guard kills, and a compilation cannot be interrupted.

func adoptOrphans()                       {}
func dieWithParent() *syscall.SysProcAttr { return nil }
func dieWithParentFromNow()               {}
func killDescendants()                    {}
func descendants(int) []process           { return nil }
