//go:build unix && !linux

package proxy

import "syscall"

type process struct {
	pid, parent int
	name        string
}

// Without /proc, the processes that GoNB has started are known only by their process group, which
// Guard kills, and a compilation cannot be interrupted.

func adoptOrphans()                       {}
func dieWithParent() *syscall.SysProcAttr { return nil }
func dieWithParentFromNow()               {}
func killDescendants()                    {}
func descendants(int) []process           { return nil }
