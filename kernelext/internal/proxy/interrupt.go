//go:build unix

package proxy

import (
	"encoding/json"
	"slices"
	"syscall"
	"time"
)

// GoNB passes an interrupt to the program of the cell, and kills the program if it has not ended
// after 5 s; before there is a program, GoNB does nothing. So this kernel interrupts the tools that
// build the program.

// tools are the programs that GoNB runs before the cell's program.
var tools = map[string]bool{"go": true, "goimports": true}

const (
	// compileTime is how long the kernel keeps interrupting the tools that build an interrupted
	// cell.
	compileTime = 5 * time.Second
	// orphanTime is how long an interrupted cell may keep running after its tools and its program
	// have ended. Then its orphans are killed, because GoNB waits while they hold the output of the
	// cell open.
	orphanTime = 2 * time.Second
	// endTime is how long such a cell may keep running until GoNB itself is considered hung.
	endTime = 10 * time.Second
	// watchTime is how long an interrupted cell is watched.
	watchTime = 30 * time.Second
)

// interrupt ends a cell that is being compiled or whose program has left processes behind. It also
// ends a hung GoNB.
func (k *Kernel) interrupt() {
	k.gonb.RLock()
	g := k.child
	k.gonb.RUnlock()
	k.order.Lock()
	ahead := k.ahead
	k.order.Unlock()
	k.mu.Lock()
	if ahead != nil {
		ahead.cell.interrupted = true
		ahead.cell.end(errInterrupted)
	}
	if k.givenUp != "" {
		g.kill()
	}
	k.mu.Unlock()
	if ahead == nil {
		return
	}
	began := time.Now()
	for last := began; time.Since(began) < watchTime; { // last is when something last ran
		now, known := g.look()
		switch idle := time.Since(last); {
		case !known:
			return
		case len(now.tools) > 0:
			last = time.Now()
			if time.Since(began) < compileTime {
				kill(now.tools, syscall.SIGINT)
			}
		case now.program:
			last = time.Now()
			// GoNB passes on the first interrupt that arrives once it listens for them, some time after
			// the program begins.
			k.ask(g.control, "interrupt_request")
		case idle > endTime:
			g.kill()
			return
		case idle > orphanTime:
			kill(now.orphans, syscall.SIGKILL)
		}
		select {
		case <-ahead.cell.done:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// repeatsEnd reports whether a message is GoNB's additional output about the end of an interrupted
// program.
func (k *Kernel) repeatsEnd(m *message, c *cell) bool {
	var written struct{ Name, Text string }
	k.mu.Lock()
	defer k.mu.Unlock()
	return c.interrupted && m.Header.Type == "stream" && json.Unmarshal(m.content, &written) == nil &&
		written.Name == "stderr" && exitStatus.MatchString(written.Text)
}

func kill(all []process, by syscall.Signal) {
	for _, p := range all {
		_ = syscall.Kill(p.pid, by)
	}
}

// work is the set of processes that run for GoNB.
type work struct {
	tools   []process // running tools, with the processes that they have started
	orphans []process // processes that programs have left, adopted by the guard
	program bool      // whether the program of a cell runs
}

// look returns the processes that run for GoNB, and reports whether they are known.
func (g *child) look() (now work, known bool) {
	all := descendants(g.guard.Process.Pid)
	gonb := slices.IndexFunc(all, func(p process) bool { return p.pid == g.gonb })
	if gonb < 0 {
		return now, false
	}
	ofTool := map[int]bool{}
	for _, p := range all {
		switch {
		case ofTool[p.parent] || p.parent == g.gonb && tools[p.name]:
			ofTool[p.pid] = true
			now.tools = append(now.tools, p)
		case p.parent == g.gonb && p.name != "gopls":
			now.program = true
		case p.parent == g.guard.Process.Pid && p.pid != g.gonb:
			now.orphans = append(now.orphans, p)
		}
	}
	return now, true
}
