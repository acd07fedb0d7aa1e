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

// target is a fuzz target of a package, whose path is that of its folder.
type target struct{ Package, Name string }

// result is what came of fuzzing a target.
type result struct {
	target
	executions int
	found      int     // inputs that reached new code
	inputs     int     // all that are known to
	seconds    float64 // without those that building took
	failed     bool
	input      string // the file of the input that failed, where there is one
	output     string // what go test wrote
}

// rate is the number of executions a second.
func (r result) rate() float64 { return float64(r.executions) / max(r.seconds, 1e-3) }

// parseList reads what go test -json -list writes.
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

// run fuzzes the target by some processes for a time, little of which an input that
// reaches new code takes to be made smaller: a minute of it is usual, uncounted.
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

// parseOutput reads what go test -fuzz writes, whose last line of progress counts.
func parseOutput(text string) result {
	r := result{output: text}
	for line := range strings.Lines(text) {
		if m := progress.FindStringSubmatch(line); m != nil {
			elapsed, _ := time.ParseDuration(m[1]) // as go test has written it
			r.seconds, r.executions, r.found, r.inputs = elapsed.Seconds(), number(m[2]), number(m[3]), number(m[4])
		}
		if m := failing.FindStringSubmatch(line); m != nil {
			r.input = m[1]
		}
	}
	return r
}

// number reads digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // too many for an int are 0
	return n
}
