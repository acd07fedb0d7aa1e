package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// module begins the import path of each package.
const module = "github.com/helmholtz-go/helmholtz/"

// target is a fuzz target of a package, given by its folder.
type target struct{ Package, Name string }

// result is the result of fuzzing a target.
type result struct {
	target
	executions int
	found      int     // inputs that reached new code
	inputs     int     // all known inputs that reach new code
	seconds    float64 // without building
	failed     bool
	input      string // file of the failing input, if any
	output     string // output of go test
}

// rate returns the number of executions per second.
func (r result) rate() float64 { return float64(r.executions) / max(r.seconds, 1e-3) }

// parseList reads the output of go test -json -list.
func parseList(r io.Reader, chosen *regexp.Regexp) (targets []target, err error) {
	decoder := json.NewDecoder(r)
	for {
		var event struct{ Action, Package, Output string }
		switch err := decoder.Decode(&event); {
		case errors.Is(err, io.EOF):
			return targets, nil
		case err != nil:
			return nil, err
		}
		name := strings.TrimSpace(event.Output)
		if event.Action == "output" && strings.HasPrefix(name, "Fuzz") && chosen.MatchString(name) {
			targets = append(targets, target{strings.TrimPrefix(event.Package, module), name})
		}
	}
}

// run fuzzes the target for a time, in some processes. It limits the minimisation of new inputs,
// which by default takes up to an additional minute per input.
func (t target) run(ctx context.Context, fuzzTime string, processes int) result {
	command := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+t.Name+"$", "-fuzztime="+fuzzTime,
		"-fuzzminimizetime=200x", "-parallel="+strconv.Itoa(processes), "./"+t.Package)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	r := parseOutput(out.String())
	r.target, r.failed = t, err != nil && ctx.Err() == nil
	if r.input != "" {
		r.input = path.Join(t.Package, r.input)
	}
	return r
}

var (
	progress = regexp.MustCompile(`^fuzz: elapsed: (\S+), execs: (\d+) .*new interesting: (\d+) \(total: (\d+)\)`)
	failing  = regexp.MustCompile(`^\s*Failing input written to (\S+)`)
)

// parseOutput reads the output of go test -fuzz, using its last line of progress.
func parseOutput(text string) result {
	r := result{output: text}
	for line := range strings.Lines(text) {
		if m := progress.FindStringSubmatch(line); m != nil {
			elapsed, _ := time.ParseDuration(m[1]) // go test wrote it
			r.seconds, r.executions, r.found, r.inputs = elapsed.Seconds(), number(m[2]), number(m[3]), number(m[4])
		}
		if m := failing.FindStringSubmatch(line); m != nil {
			r.input = m[1]
		}
	}
	return r
}

// number parses digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // 0 if they overflow an int
	return n
}
