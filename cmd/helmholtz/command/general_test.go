package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands for all families train general Boltzmann machines from a file, and resume, evaluate,
// compare, sample and inpaint them.
func TestGeneralBoltzmannMachines(t *testing.T) {
	here := t.TempDir()
	file, few, many, rbm, image := filepath.Join(here, "general.toml"), filepath.Join(here, "few"), filepath.Join(here, "many"), filepath.Join(here, "rbm"), filepath.Join(here, "image.png")
	write := func(machine string) {
		t.Helper()
		text := "family = \"general-boltzmann\"\nepochs = 2\n[dataset]\nname = \"3by3\"\nsubset = 40\nvalidation = 12\n[training]\nbatch_size = 9\nchains = 5\n[machine]\n" + machine
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("hidden = 2\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errOut := helmholtz(t, ctx, "train", "--config", file, "--out", few); code != exitInterrupted || !strings.Contains(errOut, "--resume "+few) {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
	if out := succeed(t, "train", "--resume", few); !strings.Contains(out, "general BM 2, all, η = 0.1, B = 9, 5 chains: 2 epochs") {
		t.Errorf("train says %q", out)
	}
	write("hidden = 12\nconnections = \"semi-restricted\"\n")
	succeed(t, "train", "--config", file, "--seeds", "2", "--out", many)
	succeed(t, onPatterns("--algorithm", "pcd", "--layers", "5", "--out", rbm)...)
	if out := succeed(t, "eval", few); !strings.Contains(out, "nats, exact") || !strings.Contains(out, "baseline (factorised)") || strings.Contains(out, "AIS") {
		t.Errorf("of few units eval says %q", out)
	}
	if out := succeed(t, "eval", many, "--chains", "7", "--rows", "5"); strings.Count(out, "by AIS; at most this in expectation: only 7 chains") != 2 || strings.Count(out, "7 chains, schedule even:1000") != 2 || !strings.Contains(out, "mean ± sd over 2 seeds") {
		t.Errorf("of more units eval says %q", out)
	}
	if out := succeed(t, "eval", few, "--json"); !strings.Contains(out, `"log_p_errs":"exact"`) || !strings.Contains(out, `"chains":0`) || !strings.Contains(out, `"diverged":false`) {
		t.Errorf("the JSON is %q", out)
	}
	if out := succeed(t, "eval", many, "--chains", "7", "--rows", "5", "--json"); !strings.Contains(out, `"over_seeds":{`) {
		t.Errorf("the JSON of seeds is %q", out)
	}
	if out := succeed(t, "eval", many, "--chains", "7", "--rows", "5", "--format", "csv"); strings.Count(out, "\n") != 3 || !strings.Contains(out, "baseline_log_p") {
		t.Errorf("the table is %q", out)
	}
	if out := succeed(t, "compare", few, many, rbm, "--samples", "3"); !strings.Contains(out, "log PL, validation") || !strings.Contains(out, "log p, test, K = 3") {
		t.Errorf("compare says %q", out)
	}
	succeed(t, "sample", few, "--gibbs", "3", "--n", "4", "--out", image)
	succeed(t, "inpaint", few, "--mask", "left", "--sweeps", "3", "--out", image)
	for says, args := range map[string][]string{
		"--kind filters: a general Boltzmann machine draws means; give":      {"sample", few, "--kind", "filters", "--out", image},
		"--schedule: a general Boltzmann machine does not use it":            {"eval", few, "--schedule", "even:9"},
		"unknown flag: --layers (a flag of ":                                 {"train", "--config", file, "--layers", "3", "--out", few},
		"--candidates: a general Boltzmann machine does not use it; omit it": {"inpaint", few, "--mask", "left", "--candidates", "5"},
	} {
		if code, _, errOut := helmholtz(t, t.Context(), args...); code != exitUsage || !strings.Contains(errOut, says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(args, " "), code, errOut, says)
		}
	}
}
