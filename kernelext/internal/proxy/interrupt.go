package proxy

import (
	"syscall"
	"time"
)

// GoNB passes an interrupt to the program of the cell, and kills it when that
// does not help for 5 s; before there is a program, it does nothing. So this
// kernel interrupts the tools that make the program.

// tools are the programs that GoNB runs before that of the cell.
var tools = map[string]bool{"go": true, "goimports": true}

// compileTime is how long an interrupted cell is watched for the next tool.
const compileTime = 5 * time.Second

// endTime is how long a cell may go on after an interrupt with neither a tool nor a
// program that runs, until GoNB itself is taken to hang.
const endTime = 10 * time.Second

// interrupt ends a cell that is being compiled, and a GoNB that hangs.
func (k *Kernel) interrupt() {
	k.gonb.RLock()
	g := k.child
	k.gonb.RUnlock()
	k.mu.Lock()
	cell, givenUp := k.running, k.givenUp
	k.mu.Unlock()
	k.endHang(givenUp, g)
	compiling, last := false, time.Now() // when something ran
	for began := last; cell != "" && k.runningCell() == cell; time.Sleep(50 * time.Millisecond) {
		running, program, known := g.tools()
		switch {
		case len(running) > 0 && time.Since(began) < compileTime:
			compiling, last = true, time.Now()
			for _, p := range running {
				_ = syscall.Kill(p.pid, syscall.SIGINT)
			}
		case program && compiling: // it began while its compilation was interrupted
			k.ask(g.control, "interrupt_request")
			return
		case program || len(running) > 0 || !known:
			return
		case time.Since(last) > endTime:
			g.kill()
			return
		}
	}
}

// tools returns the tools that GoNB has started, with what they have started,
// whether the program of a cell runs, and whether any of this is known.
func (g *child) tools() (running []process, program, known bool) {
	all := descendants(g.guard.Process.Pid)
	if len(all) == 0 {
		return nil, false, false
	}
	gonb := all[0].pid
	ofTool := map[int]bool{}
	for _, p := range all {
		switch {
		case ofTool[p.parent] || p.parent == gonb && tools[p.name]:
			ofTool[p.pid] = true
			running = append(running, p)
		case p.parent == gonb && p.name != "gopls":
			program = true
		}
	}
	return running, program, true
}

func (k *Kernel) runningCell() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}
