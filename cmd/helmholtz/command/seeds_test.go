package command

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// seedsOf returns the flags of a small experiment with three seeds.
func seedsOf(dir string, more ...string) []string {
	return append([]string{"train", "--dataset", "3by3", "--subset", "320", "--validation", "40", "--layers", "3",
		"--epochs", "2", "--seeds", "3", "--workers", "1", "--out", dir}, more...)
}

// TestSeedsAreInterruptedAndResumed interrupts the training of three seeds in the second.
func TestSeedsAreInterruptedAndResumed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &watched{seen: "seed 2: 2 epochs of", do: cancel}
	if code := run(ctx, seedsOf(dir), stderr, stderr); code != exitInterrupted || !strings.Contains(stderr.String(), "--resume "+dir) {
		t.Fatalf("ended with %d and said %q", code, stderr.String())
	}
	one := runs.SeedDir(dir, 1)
	code, _, errOut := helmholtz(t, t.Context(), "train", "--resume", one, "--epochs", "3", "--workers", "1")
	if run, err := runs.Open(one); code != exitUsage || !strings.Contains(errOut, "omit it") || err != nil || run.Experiment().Header().Epochs != 2 {
		t.Errorf("resumed with workers, one seed ends with %d, %v and says %q", code, err, errOut)
	}
	code, out, errOut := helmholtz(t, t.Context(), "train", "--resume", dir, "--workers", "1")
	if code != 0 || strings.Contains(errOut, "seed 1:") || !strings.Contains(errOut, "seed 2:") || !strings.Contains(errOut, "seed 3:") {
		t.Errorf("resuming ended with %d and said %q, want seeds 2 and 3 alone", code, errOut)
	}
	for _, want := range []string{"3 seeds in " + dir, "validation of the last epoch", "log p -"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary %q lacks %q", out, want)
		}
	}
	if n := strings.Count(out, " ± "); n != 4 { // the heading's and three measures'
		t.Errorf("the summary %q has %d deviations", out, n)
	}
	if again := succeed(t, seedsOf(dir)...); again != out {
		t.Errorf("finished seeds say %q, then %q", out, again)
	}
}

// TestEvalOfSeeds compares the evaluation of a directory of seeds with the evaluations of its runs.
func TestEvalOfSeeds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	succeed(t, seedsOf(dir)...)
	type evaluation struct {
		Seed     uint64
		Finished bool
		LogP     float64 `json:"log_p"`
		KL       float64 `json:"kl_exact"`
	}
	var all struct {
		Seeds []evaluation
		Over  struct {
			LogP runs.Spread  `json:"log_p"`
			Z    *runs.Spread `json:"log_z2"`
			KL   runs.Spread  `json:"kl_exact"`
		} `json:"over_seeds"`
	}
	read := func(into any, args ...string) {
		t.Helper()
		if err := json.Unmarshal([]byte(succeed(t, args...)), into); err != nil {
			t.Fatal(err)
		}
	}
	read(&all, "eval", dir, "--samples", "20", "--log-z2", "0", "--json")
	if len(all.Seeds) != 3 || all.Over.Z != nil {
		t.Fatalf("%d seeds, log Z² %v; want 3 and none", len(all.Seeds), all.Over.Z)
	}
	var sum, squares float64
	for i, e := range all.Seeds {
		var one evaluation
		read(&one, "eval", filepath.Join(dir, fmt.Sprintf("seed-%d", i+1)), "--samples", "20", "--log-z2", "0", "--json")
		if e.LogP != one.LogP || e.KL != one.KL || e.Seed != uint64(i+1) || !e.Finished {
			t.Errorf("seed %d is %+v among the others, %+v alone", i+1, e, one)
		}
		sum += e.LogP
		squares += e.LogP * e.LogP
	}
	mean := sum / 3
	sd := math.Sqrt((squares - 3*mean*mean) / 2)
	if over := all.Over.LogP; math.Abs(over.Mean-mean) > 1e-9 || math.Abs(over.SD-sd) > 1e-6 || !(all.Over.KL.SD > 0) {
		t.Errorf("log p %+v over the seeds, want %v ± %v", over, mean, sd)
	}
	out := succeed(t, "eval", dir, "--samples", "20", "--log-z2", "100")
	for want, n := range map[string]int{"seed ": 3, "\nlog Z²": 4, "mean ± sd over 3 seeds": 1} {
		if strings.Count(out, want) != n {
			t.Errorf("%q is not %d times in\n%s", want, n, out)
		}
	}
}

// A spread of one seed or a standard error of one row is omitted instead of being printed as NaN.
func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1", "--seeds", "1", "--out", dir)
	one := filepath.Join(dir, "seed-1")
	for _, command := range []string{
		"eval " + one + " --rows 1", "eval " + one + " --rows 1 --json", "eval " + one + " --rows 1 --format csv", "eval " + one + " --rows 1 --format text",
		"eval " + dir, "eval " + dir + " --json", "eval " + dir + " --format json", "eval " + dir + " --format markdown",
		"compare " + dir, "compare " + dir + " --json", "compare " + dir + " --format csv", "compare " + one + " --format json", "history " + dir,
	} {
		args := strings.Fields(command)
		switch args[0] {
		case "eval":
			args = append(args, "--samples", "5", "--log-z2", "20")
		case "compare":
			args = append(args, "--samples", "5")
		}
		if out := succeed(t, args...); strings.Contains(out, "NaN") || out == "" {
			t.Errorf("helmholtz %s says\n%s", command, out)
		}
	}
}

// Seeds that did not exist yet when training was killed are trained when it resumes.
func TestResumeTrainsAllSeeds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &watched{seen: "seed 1: 2 epochs of", do: cancel}
	if code := run(ctx, seedsOf(dir), stderr, stderr); code != exitInterrupted {
		t.Fatal(stderr.String())
	}
	for _, seed := range []uint64{2, 3} {
		if err := os.RemoveAll(runs.SeedDir(dir, seed)); err != nil {
			t.Fatal(err)
		}
	}
	if out := succeed(t, "train", "--resume", dir); !strings.Contains(out, "3 seeds in "+dir) {
		t.Errorf("resumed, training says %q", out)
	}
}

// TestEvalOfUnfinishedSeeds interrupts three seeds in the second.
func TestEvalOfUnfinishedSeeds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &watched{seen: "seed 2: 2 epochs of", do: cancel}
	if code := run(ctx, seedsOf(dir), stderr, stderr); code != exitInterrupted {
		t.Fatal(stderr.String())
	}
	out := succeed(t, "eval", dir, "--samples", "20", "--log-z2", "0")
	for _, want := range []string{"seed 2, unfinished after 0 of 2 epochs", "mean ± sd over 2 seeds, 1 more have no checkpoint yet"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// TestCompare compares three seeds with one of them and with another method.
func TestCompare(t *testing.T) {
	here := t.TempDir()
	rws, bihm, other := filepath.Join(here, "rws"), filepath.Join(here, "bihm"), filepath.Join(here, "other")
	succeed(t, seedsOf(rws, "--algorithm", "rws")...)
	succeed(t, "train", "--config", filepath.Join(rws, "seed-1", "experiment.toml"), "--algorithm", "bihm", "--out", bihm)
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1", "--out", other)

	out := succeed(t, "compare", rws, filepath.Join(rws, "seed-2"), bihm, "--samples", "20", "--split", "validation", "--checkpoint", "best")
	for _, want := range []string{"method.preset", "1–3", "log p, validation, K = 20", "training seconds"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	var c struct{ Experiments []struct{ Evaluations []any } }
	if err := json.Unmarshal([]byte(succeed(t, "compare", rws, bihm, "--samples", "20", "--json")), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Experiments) != 2 || len(c.Experiments[0].Evaluations) != 3 || len(c.Experiments[1].Evaluations) != 1 {
		t.Errorf("compare --json has %+v, want 3 evaluations and 1", c)
	}
	latex := succeed(t, "compare", bihm, rws, "--columns", "directory,seeds", "--names", "one,R&D", "--title", "Both", "--format", "latex", "--figure", filepath.Join(here, "both.svg"), "--width", "3.25")
	if !strings.Contains(latex, `\caption{Both}`) || !strings.Contains(latex, "one & 1 \\\\\nR\\&D & 3 \\\\\n") {
		t.Errorf("compare prints\n%s", latex)
	}
	if figure, err := os.ReadFile(filepath.Join(here, "both.svg")); err != nil || !strings.Contains(string(figure), ">Both<") || !strings.Contains(string(figure), "R&amp;D") {
		t.Errorf("the figure is %.300s (%v)", figure, err)
	}
	for against, experiment := range map[string]string{"epochs": rws, "seconds": filepath.Join(rws, "seed-1")} {
		figure := filepath.Join(here, against+".svg")
		succeed(t, "compare", experiment, bihm, "--out", figure, "--against", against)
		text, err := os.ReadFile(figure)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "<?xml") {
			t.Errorf("%s is no SVG: %.40s", figure, text)
		}
	}
	for _, wrong := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "name the directories", []string{"compare"}},
		{exitUsage, "epochs, seconds", []string{"compare", rws, "--against", "steps"}},
		{exitUsage, "at least 1, or 0", []string{"compare", rws, "--samples", "-1"}},
		{exitUsage, "--names=a: give a name for each of the 2 experiments", []string{"compare", rws, bihm, "--names", "a"}},
		{exitUsage, `no column "seed" (did you mean "seeds"?)`, []string{"compare", rws, "--columns", "seed"}},
		{exitFailed, "different data", []string{"compare", rws, other}},
		{exitFailed, "not the run of a seed", []string{"compare", here}},
		{exitFailed, "not the run of a seed", []string{"train", "--dataset", "3by3", "--seeds", "2", "--out", here}},
	} {
		code, _, errOut := helmholtz(t, t.Context(), wrong.args...)
		if code != wrong.code || !strings.Contains(errOut, wrong.says) {
			t.Errorf("helmholtz %s ended with %d and said %q; want %d and %q", strings.Join(wrong.args, " "), code, errOut, wrong.code, wrong.says)
		}
	}
}
