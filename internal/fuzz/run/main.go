// Run runs all fuzz targets of the module, each for a limited time, and prints the results:
//
//	go run ./internal/fuzz/run [-fuzztime 1m] [-jobs 1] [-run PATTERN] [PACKAGE]...
//
// A failing target does not prevent the others from running. Inputs that reach new code stay in
// Go's cache, and the next run continues with them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"sync"
	"text/tabwriter"
)

func main() {
	fuzzTime := flag.String("fuzztime", "1m", "run each target for this `duration`, or for a number of executions (1000x)")
	jobs := flag.Int("jobs", 1, "run `N` targets at once, sharing the processors")
	pattern := flag.String("run", "", "run only targets whose names the `pattern` matches")
	flag.Parse()
	chosen, err := regexp.Compile(*pattern)
	if err != nil || *jobs < 1 {
		fmt.Fprintln(os.Stderr, "fuzz: give a regular expression as pattern, and at least one job:", err)
		os.Exit(2)
	}
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	targets, err := find(ctx, packages, chosen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
	results := runAll(ctx, targets, *jobs, func(t target) result {
		return t.run(ctx, *fuzzTime, max(1, runtime.GOMAXPROCS(0) / *jobs))
	})
	if !report(os.Stdout, results) {
		os.Exit(1)
	}
}

// find lists the fuzz targets of packages whose names match chosen.
func find(ctx context.Context, packages []string, chosen *regexp.Regexp) ([]target, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-list", "^Fuzz"}, packages...)...)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	targets, err := parseList(out, chosen)
	if err := command.Wait(); err != nil {
		return nil, fmt.Errorf("listing the targets: %w: build the tests of all packages first", err)
	}
	switch {
	case err != nil:
		return nil, err
	case len(targets) == 0:
		return nil, fmt.Errorf("no fuzz target of %v is called %q", packages, chosen)
	}
	return targets, nil
}

// runAll runs the targets, several in parallel, and returns their results in order.
func runAll(ctx context.Context, targets []target, jobs int, run func(target) result) []result {
	results := make([]result, len(targets))
	next := make(chan int)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for i := range next {
				fmt.Printf("%s %s\n", targets[i].Package, targets[i].Name)
				results[i] = run(targets[i])
			}
		})
	}
	for i := range targets {
		if ctx.Err() != nil {
			results = results[:i]
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

// report prints a table of results, followed by the failures. It reports whether there were no
// failures.
func report(w io.Writer, results []result) bool {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nexecutions\ta second\tnew inputs\tinputs\tseconds\tfailed\t target\n")
	good := true
	for _, r := range results {
		failed := "-"
		if r.failed {
			failed, good = "FAILED", false
		}
		fmt.Fprintf(table, "%d\t%.0f\t%d\t%d\t%.0f\t%s\t %s %s\n", r.executions, r.rate(), r.found, r.inputs, r.seconds, failed, r.Package, r.Name)
	}
	table.Flush()
	for _, r := range results {
		if r.failed {
			fmt.Fprintf(w, "\n%s %s failed", r.Package, r.Name)
			if r.input != "" {
				fmt.Fprintf(w, " for %s, which repeats it from now on in go test", r.input)
			}
			fmt.Fprintf(w, ":\n%s", r.output)
		}
	}
	return good
}
