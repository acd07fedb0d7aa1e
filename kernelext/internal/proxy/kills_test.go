//go:build unix

package proxy

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// begin is a cell that starts a run in the background, and sleeps one that a kill or an
// interrupt ends.
const (
	begin = `import (
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/kernelext"
)

%%%%
set, err := dataset.Spec{Name: "3by3", Subset: 256}.Open()
if err != nil {
	panic(err)
}
experiment := hm.RWS().Epochs(%d).BatchSize(2).Experiment(hm.New(set.Shape()).Dense(6, 4), set)
if err := kernelext.Open().Start(%q, experiment).Err(); err != nil {
	panic(err)
}
`
	sleeps = "!sleep 1000 & sleep 1000"
)

// TestKills kills the kernel, its guard, both at once, GoNB, a cell, or closes the kernel's
// terminal, at moments that are drawn, while a run trains in the background. No process may be
// left, but programs of cells where both were killed, nor a directory that the next kernel does
// not remove, and the run goes on to the bytes of one that was never interrupted.
func TestKills(t *testing.T) {
	needProcesses(t)
	n, draw := trials(t)
	const epochs = 400
	helmholtz, folder := program(t), t.TempDir()
	t.Setenv("TMPDIR", must(os.MkdirTemp("/tmp", "kills-"))(t))
	t.Cleanup(func() { os.RemoveAll(os.Getenv("TMPDIR")) })
	checkpoint := func(run string) []byte {
		t.Helper()
		return must(os.ReadFile(filepath.Join(folder, "runs", run, "checkpoint.safetensors")))(t)
	}

	k := startReal(t, helmholtz, folder)
	k.printed(fmt.Sprintf(begin, epochs, "whole"))
	within(t, 5*patience, "the run that nobody interrupts ends", func() bool { return strings.Contains(k.printed("%hm runs"), "finished") })
	whole := checkpoint("whole")

	run, killed := 0, map[string]int{}
	for i := range n {
		name := fmt.Sprintf("run-%d", run)
		if strings.Contains(k.printed("%hm runs"), name+" ") {
			k.printed("%hm resume " + name)
		} else {
			k.printed(fmt.Sprintf(begin, epochs, name))
		}
		busy := draw.IntN(2) == 0
		if busy {
			k.request(k.shell, "execute_request", code(sleeps))
			k.receive(k.iopub, "execute_input")
		}
		time.Sleep(time.Duration(draw.IntN(300)) * time.Millisecond)
		all := descendants(k.Process.Pid)
		const both = "kernel and guard"
		members := map[string]int{"kernel": k.Process.Pid, "terminal": k.Process.Pid, both: k.Process.Pid}
		for _, p := range all {
			switch {
			case p.parent == k.Process.Pid:
				members["guard"] = p.pid
			case p.parent == members["guard"] && p.name == "gonb": // not an orphan of a cell
				members["gonb"] = p.pid
			case p.parent == members["gonb"]:
				members["cell or gopls"] = p.pid
			}
		}
		there := slices.Sorted(maps.Keys(members)) // gopls comes late
		victim := there[draw.IntN(len(there))]
		killed[victim]++
		signal := syscall.SIGKILL
		if victim == "terminal" {
			signal = syscall.SIGHUP
		}
		if err := syscall.Kill(members[victim], signal); err != nil {
			t.Fatalf("trial %d: the %s cannot be killed: %v", i, victim, err)
		}
		if victim == both {
			if err := syscall.Kill(members["guard"], syscall.SIGKILL); err != nil {
				t.Fatalf("trial %d: the guard cannot be killed: %v", i, err)
			}
			programs := slices.DeleteFunc(slices.Clone(all), func(p process) bool { return p.name == "gonb" || p.name == "gopls" || p.pid == members["guard"] })
			kill(programs, syscall.SIGKILL)
		}
		describe := fmt.Sprintf("trial %d, %s", i, victim)
		t.Logf("%s, during a cell: %v", describe, busy)
		if victim == "kernel" || victim == "terminal" || victim == both {
			_ = k.Wait()
			if victim == "terminal" && k.ProcessState.ExitCode() != 0 {
				t.Errorf("%s: the kernel ends with %v", describe, k.ProcessState)
			}
			gone(t, describe, all)
			k = startReal(t, helmholtz, folder)
		} else if victim != "cell or gopls" {
			gone(t, describe, all)
		}
		if victim == "cell or gopls" && busy { // what a cell has started it may leave
			k.request(k.control, "interrupt_request", struct{}{})
		}
		// A cell that was sent before the kernel noticed may be answered by an error.
		within(t, patience, describe+": a cell runs", func() bool { return k.printed(fmt.Sprintf("!echo %d", i)) == fmt.Sprintln(i) })
		if dirs := must(filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*helmholtz-kernel-*")))(t); len(dirs) != 1 {
			t.Errorf("%s: there are %v", describe, dirs)
		}
		if strings.Contains(k.printed("%hm runs"), name+"  finished") {
			if !bytes.Equal(checkpoint(name), whole) {
				t.Fatalf("%s: %s is not as a run that was never interrupted", describe, name)
			}
			run++
		}
	}
	t.Logf("killed were %v; %d runs ended, each in the same bytes", killed, run)
}

// gone waits until processes have ended.
func gone(t *testing.T, after string, all []process) {
	t.Helper()
	for _, p := range all {
		within(t, patience, fmt.Sprintf("%s: process %d (%s, of %d) ends", after, p.pid, p.name, p.parent), func() bool { return !alive(p.pid) })
	}
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
