package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// onPatterns returns flags that train on few rows.
func onPatterns(flags ...string) []string {
	return append([]string{"train", "--dataset", "3by3", "--subset", "40", "--validation", "12", "--batch", "9", "--epochs", "2"}, flags...)
}

// Each flag that describes a Boltzmann machine is a setting of its experiment.
func TestFlagsDescribeBoltzmannMachines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	succeed(t, onPatterns("--algorithm", "pt", "--layers", "7", "--gibbs-steps", "2", "--chains", "5", "--temperatures", "3",
		"--offset-rate", "0.2", "--optimizer", "adam", "--adam-beta1", "0.8", "--adam-beta2", "0.99",
		"--lr", "0.002", "--schedule", "step", "--step-epochs", "3", "--step-factor", "0.3", "--l1", "0.001", "--l2", "0.01",
		"--metric", "marginal", "--damping", "0.3", "--max-norm", "8", "--sparsity", "0.02", "--sparsity-target", "0.1",
		"--binarization", "stochastic", "--data-seed", "4", "--patience", "9", "--seed", "6", "--keep", "1", "--record-steps", "2", "--out", dir)...)
	run, err := boltzmann.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := run.Experiment()
	want := boltzmann.Experiment{
		Data: runs.Data{
			Dataset:     dataset.Spec{Name: "3by3", Binarization: dataset.Stochastic, Subset: 40, Validation: new(12), Seed: 4},
			Fingerprint: got.Fingerprint,
		},
		Machine: boltzmann.New(dataset.Shape{}).Hidden(7).Spec(),
		Method: boltzmann.MethodSpec{
			Algorithm: boltzmann.Tempered, Steps: 2, Chains: 5, Temperatures: 3, Centered: true, OffsetRate: 0.2,
			Optimizer: boltzmann.Adam, Momentum: 0.9, AdamBeta1: 0.8, AdamBeta2: 0.99,
			LearningRate: 0.002, VarianceRate: 0.01, Decay: runs.Decay{Schedule: runs.StepDecay, StepEpochs: 3, StepFactor: 0.3}, BatchSize: 9, L1: 0.001, L2: 0.01,
			Metric: boltzmann.Marginal, Damping: 0.3, MaxNorm: 8, Sparsity: 0.02, SparsityTarget: 0.1,
		},
		Budget: runs.Budget{Epochs: 2, Patience: 9, Seed: 6, Keep: []int{1}, RecordSteps: 2},
	}
	if differences := runs.Differences(want, got); len(differences) > 0 {
		t.Errorf("the experiment differs: %v", differences)
	}

	dir = filepath.Join(t.TempDir(), "run")
	succeed(t, onPatterns("--algorithm", "cd", "--centered=false", "--optimizer", "momentum", "--momentum", "0.7", "--out", dir)...)
	if run, err = boltzmann.OpenRun(dir); err != nil {
		t.Fatal(err)
	}
	if m := run.Experiment().Method; m.Centered || m.Momentum != 0.7 {
		t.Errorf("the method is %+v", m)
	}
}

// The commands for all families train, interrupt, resume, compare and draw Boltzmann machines, and
// flags change them.
func TestBoltzmannMachinesAreTrained(t *testing.T) {
	here := t.TempDir()
	one, two, seeds := filepath.Join(here, "one"), filepath.Join(here, "two"), filepath.Join(here, "seeds")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errOut := helmholtz(t, ctx, onPatterns("--algorithm", "pcd", "--layers", "5", "--out", one)...); code != exitInterrupted || !strings.Contains(errOut, "--resume "+one) {
		t.Fatalf("ended with %d and said %q", code, errOut)
	}
	code, out, errOut := helmholtz(t, t.Context(), "train", "--resume", one)
	if code != 0 || !strings.Contains(out, "RBM 5, PCD-1, η = 0.2, B = 9: 2 epochs") {
		t.Fatalf("ended with %d and said %q and %q", code, out, errOut)
	}
	for _, want := range []string{"3by3: rows of 3×3, 40 for training", "baseline: log PL -", "validation log PL -"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("training says %q, which lacks %q", errOut, want)
		}
	}
	config := filepath.Join(one, "experiment.toml")
	if out := succeed(t, "train", "--config", config, "--lr", "0.1", "--chains", "20", "--out", two); !strings.Contains(out, "PCD-1, η = 0.1, 20 chains, B = 9") {
		t.Errorf("the file with other flags trains %q", out)
	}
	tuned := filepath.Join(here, "tuned")
	succeed(t, "train", "--config", config, "--from", two, "--from-checkpoint", "best", "--lr", "0.01", "--out", tuned)
	if run, err := boltzmann.OpenRun(tuned); err != nil || run.Experiment().Start == nil || run.Experiment().Start.Checkpoint != "best" {
		t.Errorf("fine-tuning is of %+v (%v)", run.Experiment(), err)
	}
	if out := succeed(t, "train", "--config", config, "--algorithm", "cd", "--batch", "10", "--seeds", "2", "--out", seeds); !strings.Contains(out, "CD-1, η = 0.2, B = 10: 2 seeds") {
		t.Errorf("the file with another algorithm trains %q", out)
	}
	if out := succeed(t, "compare", one, two, seeds); !strings.Contains(out, "log PL, best validation") || !strings.Contains(out, "method.chains") {
		t.Errorf("compare says %q", out)
	}
	if out := succeed(t, "history", one); !strings.Contains(out, "log p, validation (nats)") || !strings.Contains(out, "reconstruction error, validation") {
		t.Errorf("history says %q", out)
	}
	faces := filepath.Join(here, "faces")
	if out := succeed(t, "train", "--dataset", "miniglyphs", "--subset", "40", "--validation", "12", "--binarization", "grey", "--algorithm", "pcd", "--units", "gaussian,bernoulli",
		"--variance-rate", "0.02", "--layers", "4", "--batch", "20", "--epochs", "1", "--out", faces); !strings.Contains(out, "gaussian RBM 4, PCD-1, η = 0.2, η of σ² = 0.02, B = 20: 1 epoch in") {
		t.Errorf("Gaussian units are trained as %q", out)
	}
	deep, again := filepath.Join(here, "pretrained"), filepath.Join(here, "pretrained-again")
	succeed(t, onPatterns("--algorithm", "pcd", "--layers", "5,4", "--pretrain", "1", "--out", deep)...)
	file := filepath.Join(deep, "deep", "experiment.toml")
	succeed(t, "train", "--config", file, "--pretrain", "2", "--out", again)
	if out := succeed(t, "train", "--config", file, "--from", filepath.Join(deep, "deep"), "--out", filepath.Join(here, "deep-tuned")); !strings.Contains(out, "DBM 5–4, PCD-1") {
		t.Errorf("a pretrained machine that is fine-tuned is %q", out)
	}
	if code, _, errOut := helmholtz(t, t.Context(), "train", "--config", config, "--algorithm", "cd", "--batch", "10", "--out", filepath.Join(here, "other")); code != 0 || !strings.Contains(errOut, `method.algorithm is "pcd" there, "cd" here`) {
		t.Errorf("another algorithm than that of the file ends with %d and says %q", code, errOut)
	}
	image := filepath.Join(here, "samples.png")
	for name, flags := range map[string][]string{
		"bernoulli–categorical RBM 6": {"--units", "bernoulli,categorical", "--hidden-categories", "3", "--layers", "6"},
		"bernoulli–gaussian RBM 2":    {"--units", "bernoulli,gaussian", "--layers", "2", "--lr", "0.05"},
	} {
		kinds := filepath.Join(here, name)
		if out := succeed(t, onPatterns(append(flags, "--algorithm", "pcd", "--out", kinds)...)...); !strings.Contains(out, name+", PCD-1") {
			t.Errorf("train says %q", out)
		}
		if out := succeed(t, "eval", kinds); !strings.Contains(out, "nats, exact") {
			t.Errorf("eval says %q", out)
		}
		succeed(t, "sample", kinds, "--gibbs", "3", "--n", "4", "--out", image)
		succeed(t, "inpaint", kinds, "--mask", "left", "--sweeps", "3", "--out", image)
	}
	succeed(t, "sample", faces, "--gibbs", "3", "--n", "4", "--out", image)
	if _, err := os.Stat(image); err != nil {
		t.Error(err)
	}
	for _, checkpoint := range []string{"last", "best", "2"} {
		succeed(t, "sample", one, "--gibbs", "3", "--n", "4", "--checkpoint", checkpoint, "--out", image)
		if _, err := os.Stat(image); err != nil {
			t.Error(err)
		}
		os.Remove(image)
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "mean_field = 5 of a machine with one hidden layer", onPatterns("--algorithm", "pcd", "--layers", "5", "--mean-field", "5")},
		{exitUsage, "describe its machine with --config " + config, onPatterns("--layers", "5", "--from", one)},
		{exitUsage, "an experiment of the family boltzmann, and --algorithm nrws describes a Helmholtz machine: omit --config", []string{"train", "--config", config, "--algorithm", "nrws"}},
		{exitUsage, "trained with one side doubled", onPatterns("--algorithm", "pcd", "--layers", "5", "--on", filepath.Join(deep, "layer-2"))},
		{exitUsage, "--from-checkpoint has no effect without --from", onPatterns("--algorithm", "pcd", "--layers", "5", "--from-checkpoint", "best")},
		{exitUsage, "layers that start from a run", onPatterns("--algorithm", "pcd", "--layers", "5,3", "--belief", "--from", one)},
		{exitUsage, "algorithm = pl of several hidden layers", onPatterns("--algorithm", "pl", "--layers", "5,3")},
		{exitUsage, "metric = joint of several hidden layers", onPatterns("--algorithm", "pcd", "--layers", "5,3", "--metric", "joint", "--damping", "0.1")},
		{exitUsage, "max_norm = 2 of several hidden layers", onPatterns("--algorithm", "pcd", "--layers", "5,3", "--max-norm", "2")},
		{exitUsage, "gaussian visible units of a deep machine", onPatterns("--algorithm", "pcd", "--layers", "5,3", "--units", "gaussian", "--binarization", "grey")},
		{exitUsage, "unknown flag: --kstep (a flag of helmholtz train hm): omit it", onPatterns("--algorithm", "cd", "--kstep", "5", "--samples", "3")},
		{exitUsage, "unknown flag: --chains (a flag of helmholtz train boltzmann, ", onPatterns("--algorithm", "rws", "--chains", "5")},
		{exitUsage, "it is in exactly one category", onPatterns("--algorithm", "cd", "--units", "categorical", "--categories", "3")},
		{exitUsage, "--units [bernoulli gaussian gaussian]: give the kind of the visible units", onPatterns("--algorithm", "cd", "--units", "bernoulli,gaussian,gaussian")},
		{exitUsage, "hidden_categories = 0 of categorical hidden units", onPatterns("--algorithm", "cd", "--units", "bernoulli,categorical")},
		{exitUsage, "algorithm = pl with gaussian hidden units", onPatterns("--algorithm", "pl", "--units", "bernoulli,gaussian")},
		{exitUsage, "unknown optimizer", onPatterns("--algorithm", "cd", "--optimizer", "nesterov")},
		{exitUsage, `unknown optimizer "cosine-rate": use gd, adam`, onPatterns("--algorithm", "rws", "--optimizer", "cosine-rate")},
		{0, "cosine-rate, γ = 0.01", onPatterns("--algorithm", "cd", "--layers", "5", "--optimizer", "cosine-rate", "--adaptation", "0.01", "--out", filepath.Join(here, "adapted"))},
		{exitUsage, "metric = joint: the chains of pcd, pt and ptt estimate the metric, and the algorithm cd has none", onPatterns("--algorithm", "cd", "--metric", "joint", "--damping", "0.1")},
		{exitUsage, "damping = 0: give α of the joint metric", onPatterns("--algorithm", "pcd", "--metric", "joint")},
		{exitUsage, "--damping has no effect without --metric joint or marginal", onPatterns("--algorithm", "pcd", "--damping", "0.1")},
		{exitUsage, "--sparsity-target has no effect without --sparsity", onPatterns("--algorithm", "cd", "--sparsity-target", "0.1")},
		{exitUsage, "--variance-rate has no effect without gaussian visible units", onPatterns("--algorithm", "cd", "--variance-rate", "0.1")},
		{exitUsage, "sparsity_target = 0", onPatterns("--algorithm", "cd", "--sparsity", "0.1")},
		{exitUsage, "sparsity = 0.1: a target of sparsity goes with cd, pcd and pt", onPatterns("--algorithm", "pl", "--sparsity", "0.1", "--sparsity-target", "0.1")},
		{exitUsage, "algorithm = pl with gaussian visible units", onPatterns("--algorithm", "pl", "--units", "gaussian", "--binarization", "grey")},
		{exitUsage, "max_norm = -1", onPatterns("--algorithm", "cd", "--max-norm", "-1")},
		{exitUsage, "--chains has no effect without a --discriminative below 1", onPatterns("--algorithm", "pcd", "--classes", "2", "--discriminative", "1", "--chains", "3")},
		{exitFailed, "no-such-run", []string{"eval", "no-such-run", "--chains", "3"}},
		{exitUsage, "--temperatures has no effect without --algorithm pt", onPatterns("--algorithm", "pcd", "--temperatures", "3")},
		{exitUsage, "use stochastic", []string{"train", "--dataset", "miniglyphs", "--binarization", "grey", "--algorithm", "cd", "--out", filepath.Join(here, "grey")}},
		{exitUsage, "an experiment of the family deterministic, and --algorithm cd describes a Boltzmann machine: omit --config", []string{"train", "--config", meanField(t, "noisy-or"), "--algorithm", "cd"}},
		{exitFailed, "another experiment", onPatterns("--algorithm", "cd", "--out", one)},
		{exitUsage, "draw noise at first", []string{"sample", one, "--out", image}},
		{exitUsage, "--candidates: a Boltzmann machine does not use it", []string{"sample", one, "--gibbs", "3", "--candidates", "3", "--out", image}},
		{exitUsage, "--rows: a report of a Boltzmann machine does not use it", []string{"report", one, "--rows", "3"}},
		{exitUsage, "--log-z2: a figure of runs without importance weights", []string{"plot", one, "--log-z2", "10"}},
		{exitUsage, "--norms: these runs recorded no norms", []string{"history", one, "--norms"}},
		{exitUsage, "--seed has no effect without --kind means", []string{"sample", one, "--kind", "filters", "--seed", "5"}},
		{exitUsage, "unknown flag: --metric (a flag of helmholtz train boltzmann): omit it", []string{"train", "--algorithm", "nrws", "--metric", "block"}},
		{exitUsage, "unknown flag: --fisher (a flag of helmholtz train hm): omit it", onPatterns("--algorithm", "pcd", "--fisher", "block")},
		{exitUsage, "--kind filters-above: a Boltzmann machine draws means, draws, filters", []string{"sample", one, "--kind", "filters-above", "--out", image}},
		{exitFailed, "keeps no checkpoint of epoch 7", []string{"sample", one, "--gibbs", "3", "--checkpoint", "7", "--out", image}},
	} {
		code, _, errOut := helmholtz(t, t.Context(), c.args...)
		if code != c.code || !strings.Contains(errOut, c.says) {
			t.Errorf("helmholtz %s ended with %d, want %d, and said %q, not %q", strings.Join(c.args, " "), code, c.code, errOut, c.says)
		}
	}
}

// One command pretrains a deep machine layer by layer, and resumes where it stopped.
func TestDeepMachinesArePretrained(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dbm")
	pretrained := onPatterns("--algorithm", "pcd", "--layers", "5,4", "--pretrain", "1", "--pretrain-lr", "0.1", "--lr", "0.05", "--out", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errOut := helmholtz(t, ctx, pretrained...); code != exitInterrupted || !strings.Contains(errOut, "in layer 1 of 2; repeat the command to resume") {
		t.Fatalf("ended with %d and said %q", code, errOut)
	}
	out := succeed(t, pretrained...)
	for _, want := range []string{
		"layer of a DBM, visible units doubled, 5, CD-1, η = 0.1, B = 9: 1 epoch in " + filepath.Join(dir, "layer-1"),
		"layer of a DBM, hidden units doubled, 4, CD-1, η = 0.1, B = 9: 1 epoch in " + filepath.Join(dir, "layer-2"),
		"pretrained DBM 5–4, PCD-1, η = 0.05, B = 9: 2 epochs in " + filepath.Join(dir, "deep"),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("training says %q, which lacks %q", out, want)
		}
	}
	succeed(t, "eval", filepath.Join(dir, "deep"))
	for says, args := range map[string][]string{
		"give the run of the deep machine":      {"eval", filepath.Join(dir, "layer-2")},
		"--pretrain with --belief":              slices.Concat(pretrained, []string{"--belief"}),
		"--seeds with 3 runs":                   slices.Concat(pretrained, []string{"--seeds", "2"}),
		"--pretrain-lr has no effect":           onPatterns("--algorithm", "pcd", "--pretrain-lr", "0.1"),
		"max_norm = 2 of several hidden layers": slices.Concat(pretrained[:len(pretrained)-1], []string{filepath.Join(dir, "other"), "--max-norm", "2"}),
		"only deep machines are pretrained":     onPatterns("--algorithm", "pcd", "--layers", "5", "--pretrain", "1"),
	} {
		if code, _, errOut := helmholtz(t, t.Context(), args...); code == 0 || !strings.Contains(errOut, says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(args, " "), code, errOut, says)
		}
	}
}

// One command fine-tunes a belief network; it can be interrupted, resumed, evaluated, sampled and
// compared.
func TestBeliefNetworksAreFineTuned(t *testing.T) {
	here := t.TempDir()
	network, tuned, image := filepath.Join(here, "dbn", "layer-2"), filepath.Join(here, "tuned"), filepath.Join(here, "samples.png")
	succeed(t, onPatterns("--algorithm", "pcd", "--layers", "6,5", "--belief", "--out", filepath.Dir(network))...)
	tuning := []string{"train", "--up-down", network, "--lr", "0.02", "--gibbs-steps", "3", "--batch", "9", "--epochs", "2", "--out", tuned}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errOut := helmholtz(t, ctx, tuning...); code != exitInterrupted || !strings.Contains(errOut, "--resume "+tuned) {
		t.Fatalf("ended with %d and said %q", code, errOut)
	}
	if out := succeed(t, "train", "--resume", tuned); !strings.Contains(out, "up–down, CD-3, η = 0.02, B = 9: 2 epochs") {
		t.Errorf("train says %q", out)
	}
	few := filepath.Join(here, "few")
	succeed(t, "train", "--up-down", network, "--epochs", "1", "--validation", "9", "--subset", "200", "--out", few)
	if e, err := runs.ExperimentIn(few); err != nil || *e.Header().Dataset.Validation != 9 || e.Header().Dataset.Subset != 200 {
		t.Errorf("flags of data describe %+v, %v", e, err)
	}
	if out := succeed(t, "eval", tuned, "--samples", "7"); !strings.Contains(out, "by 7 importance samples a row; at least this in expectation") {
		t.Errorf("eval says %q", out)
	}
	succeed(t, "sample", tuned, "--gibbs", "5", "--n", "4", "--out", image)
	if _, err := os.Stat(image); err != nil {
		t.Error(err)
	}
	config := filepath.Join(tuned, "experiment.toml")
	if out := succeed(t, "train", "--config", config, "--epochs", "1", "--seeds", "2", "--out", filepath.Join(here, "seeds")); !strings.Contains(out, "2 seeds") {
		t.Errorf("train says %q", out)
	}
	if out := succeed(t, "compare", tuned, filepath.Join(here, "seeds"), "--samples", "5"); !strings.Contains(out, "pseudo-bound, best validation") || !strings.Contains(out, "log p, test, K = 5") {
		t.Errorf("compare says %q", out)
	}
	for says, args := range map[string][]string{
		"unknown flag: --layers (a flag of helmholtz train boltzmann, ":  slices.Concat(tuning, []string{"--layers", "5"}),
		"--raise: a network that is trained up and down does not use it": {"eval", tuned, "--raise", "3"},
		"a network that is trained up and down draws means":              {"sample", tuned, "--kind", "filters", "--out", image},
		"which fills in no images":                                       {"inpaint", tuned, "--mask", "left"},
		"learning_rate = -1: give a positive":                            {"train", "--up-down", filepath.Join(here, "dbn", "layer-2"), "--batch", "9", "--lr", "-1", "--out", filepath.Join(here, "none")},
		"no belief network: give one":                                    {"train", "--up-down", filepath.Join(here, "dbn", "layer-1"), "--batch", "9", "--out", filepath.Join(here, "none")},
	} {
		if code, _, errOut := helmholtz(t, t.Context(), args...); code == 0 || !strings.Contains(errOut, says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(args, " "), code, errOut, says)
		}
	}
}
