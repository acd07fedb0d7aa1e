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

// interrupt ends a cell that is being compiled.
func (k *Kernel) interrupt() {
	compiling, cell := false, k.runningCell()
	for deadline := time.Now().Add(compileTime); time.Now().Before(deadline) && cell != "" && k.runningCell() == cell; time.Sleep(50 * time.Millisecond) {
		running, program := k.child.tools()
		for _, p := range running {
			_ = syscall.Kill(p.pid, syscall.SIGINT)
		}
		if len(running) == 0 {
			if compiling && program { // it began while its compilation was interrupted
				k.ask(k.child.control, "interrupt_request")
			}
			if !compiling || program {
				return
			}
		}
		compiling = true
	}
}

// tools returns the tools that GoNB has started, with what they have started,
// and whether the program of a cell runs.
func (g *child) tools() (running []process, program bool) {
	all := descendants(g.guard.Process.Pid)
	if len(all) == 0 {
		return nil, false
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
	return running, program
}

func (k *Kernel) runningCell() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}
