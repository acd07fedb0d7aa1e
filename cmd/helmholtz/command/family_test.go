package command

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/deterministic"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// meanField writes the file of a small experiment of the family deterministic.
func meanField(t *testing.T, activation string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), activation+".toml")
	text := `family = "deterministic"
epochs = 2
log_p_every = 2
[dataset]
name = "3by3"
subset = 64
validation = 20
[machine]
activation = "` + activation + `"
layers = [4]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Families of real numbers keep grey values unless a flag says otherwise.
func TestFamiliesOfRealNumbersKeepGreyValues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	succeed(t, "train", "ppca", "--dataset", "miniglyphs", "--subset", "200", "--components", "2", "--out", dir)
	code, _, errOut := helmholtz(t, t.Context(), "train", "ppca", "--dataset", "miniglyphs", "--binarization", "fixed", "--out", dir)
	if code != exitUsage || !strings.Contains(errOut, "use grey, or real for real numbers (--binarization)") {
		t.Errorf("rounded values end with %d: %s", code, errOut)
	}
	for _, family := range []string{"factor-analysis", "gated-rbm", "ica", "sparse-coding", "student-t", "spike-and-slab-rbm", "mean-covariance-rbm", "conditional-gaussian-rbm"} {
		if help := succeed(t, "train", family, "--help"); !strings.Contains(help, "(default grey)") {
			t.Errorf("the default of %s is not grey: %s", family, help)
		}
	}
}

// TestOtherFamiliesAreTrained trains, resumes, compares and draws experiments of another family
// than the flags describe.
func TestOtherFamiliesAreTrained(t *testing.T) {
	here := t.TempDir()
	one, seeds := filepath.Join(here, "one"), filepath.Join(here, "seeds")
	file := meanField(t, "noisy-or")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errOut := helmholtz(t, ctx, "train", "--config", file, "--seed", "5", "--epochs", "3", "--keep", "1", "--record-steps", "2", "--out", one); code != exitInterrupted || !strings.Contains(errOut, "--resume "+one) {
		t.Fatalf("ended with %d and said %q", code, errOut)
	}
	code, out, errOut := helmholtz(t, t.Context(), "train", "--resume", one)
	if code != 0 || !strings.Contains(out, "deterministic noisy-or, η = 0.01: 3 epochs") {
		t.Fatalf("ended with %d and said %q and %q", code, out, errOut)
	}
	for _, want := range []string{"3by3: rows of 3×3, 64 for training", "epoch 3/3  free energy ", "nats, validation free energy ", "; exact_train: log p -", "; exact_validation: log p -"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("training says %q, which lacks %q", errOut, want)
		}
	}
	succeed(t, "train", "--resume", one, "--epochs", "4")
	run, err := deterministic.OpenRun(one)
	if err != nil {
		t.Fatal(err)
	}
	if e := run.Experiment(); e.Seed != 5 || e.Epochs != 4 || !slices.Equal(e.Keep, []int{1}) || e.RecordSteps != 2 || e.Settings.Machine.Activation != deterministic.NoisyOr {
		t.Errorf("trained %+v", e)
	}
	if _, err := run.At(1); err != nil {
		t.Error(err)
	}

	if out := succeed(t, "train", "--config", meanField(t, "logistic"), "--seeds", "2", "--out", seeds); !strings.Contains(out, "validation of the last epoch, mean ± sd over the seeds: free energy ") {
		t.Errorf("training seeds says %q", out)
	}
	curves := filepath.Join(here, "curves.png")
	if out := succeed(t, "compare", one, seeds, "--out", curves); !strings.Contains(out, "free energy, best validation") || !strings.Contains(out, "machine.activation") {
		t.Errorf("compare says %q", out)
	}
	var c struct{ Objective struct{ Key string } }
	if err := json.Unmarshal([]byte(succeed(t, "compare", one, seeds, "--json")), &c); err != nil || c.Objective.Key != "free_energy" {
		t.Errorf("compare --json has the objective %q (%v)", c.Objective.Key, err)
	}
	out = succeed(t, "plot", one, filepath.Join(seeds, "seed-1"), "--out", here)
	for _, kind := range []string{"curves", "one-steps", "one-samples", "seed-1-samples", "one-measured-exact_train", "one-measured-exact_validation", "seed-1-measured-exact_train", "seed-1-measured-exact_validation"} {
		figure := filepath.Join(here, kind+".png") + "\n"
		if !strings.Contains(out, figure) {
			t.Errorf("plot draws %q, not %q", out, figure)
		}
		out = strings.Replace(out, figure, "", 1)
	}
	if out != "" {
		t.Errorf("plot draws %q, too", out)
	}
	succeed(t, "sample", one, "--kind", "draws", "--n", "4", "--out", curves)
	page := filepath.Join(t.TempDir(), "one.html")
	succeed(t, "report", one, "--out", page)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "free energy") || strings.Contains(string(text), "Importance weights") {
		t.Errorf("the report of the run is %.300s, %v", text, err)
	}
	if out := succeed(t, "history", one); !strings.Contains(out, "free energy, validation (nats)") || !strings.Contains(out, "log p, exact_train (nats)") {
		t.Errorf("history says %q", out)
	}
}

// TestEmptyLists asks for no hidden layers by an empty text.
func TestEmptyLists(t *testing.T) {
	out := succeed(t, "train", "autoencoder", "--dataset", "3by3", "--hidden", "", "--code", "2", "--epochs", "1", "--out", filepath.Join(t.TempDir(), "linear"))
	if !strings.Contains(out, "VAE 2, ") {
		t.Errorf("training says %q", out)
	}
}

// TestOtherFamiliesAreRefused checks commands and flags that are not for other families.
func TestOtherFamiliesAreRefused(t *testing.T) {
	here := t.TempDir()
	file, one, other := meanField(t, "noisy-or"), filepath.Join(here, "one"), filepath.Join(here, "other")
	succeed(t, "train", "--config", file, "--out", one)
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--validation", "20", "--layers", "3", "--epochs", "1", "--out", other)
	unknown := filepath.Join(here, "unknown.toml")
	if err := os.WriteFile(unknown, []byte("family = \"nosuch\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		says []string
		args []string
	}{
		{exitUsage, []string{"unknown flag: --chains (a flag of helmholtz train boltzmann, "}, []string{"train", "--config", file, "--lr", "0.1", "--chains", "3"}},
		{exitUsage, []string{"0 epochs"}, []string{"train", "--config", file, "--epochs", "0", "--out", filepath.Join(here, "a")}},
		{exitUsage, []string{unknown, `family "nosuch"`, "deterministic, factor-analysis, gated-rbm, general-boltzmann, hm"}, []string{"train", "--config", unknown}},
		{exitFailed, []string{"another experiment", `family is unset there, "deterministic" here`}, []string{"train", "--config", file, "--out", other}},
		{exitFailed, []string{"seed is 1 there, 2 here"}, []string{"train", "--config", file, "--seed", "2", "--out", one}},
		{exitFailed, []string{"cannot be evaluated with samples"}, []string{"compare", one, other, "--samples", "5"}},
		{exitFailed, []string{"draw histories of the same objective"}, []string{"plot", one, other, "--samples", "5", "--log-z2", "10", "--out", here}},
		{exitFailed, []string{"cannot be evaluated with samples"}, []string{"compare", one, "--samples", "5"}},
		{exitFailed, []string{one, "is a deterministic machine, which has no estimates: name a run of another family"}, []string{"eval", one}},
		{exitUsage, []string{"--kind layers: a deterministic machine draws means, draws; give one of these"}, []string{"sample", one, "--kind", "layers"}},
		{exitFailed, []string{one, "is a deterministic machine, which fills in no images"}, []string{"inpaint", one, "--mask", "left"}},
	} {
		code, _, errOut := helmholtz(t, t.Context(), c.args...)
		if code != c.code {
			t.Errorf("helmholtz %s ended with %d, want %d: %s", strings.Join(c.args, " "), code, c.code, errOut)
		}
		for _, want := range c.says {
			if !strings.Contains(errOut, want) {
				t.Errorf("helmholtz %s said %q, not %q", strings.Join(c.args, " "), errOut, want)
			}
		}
	}
}

// TestLiveCurvesAreOfTheObjective shows the display of a notebook while a machine of another family
// is trained.
func TestLiveCurvesAreOfTheObjective(t *testing.T) {
	e, err := deterministic.Family.Parse([]byte("family = \"deterministic\"\nepochs = 2\n[dataset]\nname = \"3by3\"\nsubset = 64\nvalidation = 20\n[machine]\nlayers = [4]\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := e.Dataset.Open()
	if err != nil {
		t.Fatal(err)
	}
	var last string
	live := plotting.LiveHTML(func() bool { return true }, func(html string) { last = html })
	if _, err := e.Train(t.Context(), set, t.TempDir(), live); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"deterministic logistic, η = 0.01, seed 1", "epoch 2 of 2", "finished", "free energy F(x) (nats)", "validation, last", `<img alt="free energy F(x) (nats) against epoch"`} {
		if !strings.Contains(last, want) {
			t.Errorf("the display lacks %q:\n%.600s", want, last)
		}
	}
}

// A closed form needs neither a hundred rows nor a seed: seeds have no spread. EM that has not converged says so.
func TestClosedFormHasNoSpread(t *testing.T) {
	t.Chdir(t.TempDir())
	data := []string{"--dataset", "miniglyphs", "--binarization", "grey", "--subset", "60", "--validation", "20", "--components", "2"}
	succeed(t, append([]string{"train", "ppca", "--seeds", "2", "--out", "closed"}, data...)...)
	_, out, _ := helmholtz(t, t.Context(), append([]string{"train", "ppca", "--em", "--out", "em"}, data...)...)
	compared := succeed(t, "compare", "closed", "em")
	if lines := regexp.MustCompile(`(?m)^log p, (training|validation) .*±`).FindAllString(compared, -1); lines != nil || !strings.Contains(compared, "1–2 (without effect)") {
		t.Errorf("a closed form has a spread over seeds:\n%s", compared)
	}
	if !strings.Contains(out, "not converged") || !strings.Contains(compared, "not converged") {
		t.Errorf("EM says %q, and the comparison\n%s", out, compared)
	}
}

// The arguments of train and bench train name a family, or imply one by the algorithm or the file of the experiment.
func TestFamilyOfArguments(t *testing.T) {
	file := meanField(t, "logistic")
	for args, want := range map[string]string{
		"train --belief --algorithm pcd --layers 3,2": "train boltzmann --belief --algorithm pcd --layers 3,2",
		"bench train --algorithm=ptt":                 "bench train boltzmann --algorithm=ptt",
		"train --algorithm nrws":                      "train --algorithm nrws",
		"train hm --algorithm pcd":                    "train hm --algorithm pcd",
		"train --lr 1 --config " + file:               "train deterministic --lr 1 --config " + file,
		"train --algorithm cd --config " + file:       "train boltzmann --algorithm cd --config " + file,
		"train --up-down=a --lr 1":                    "train updown --network=a --lr 1",
		"__complete train --algorithm cd --gib":       "__complete train boltzmann --algorithm cd --gib",
		"eval train --algorithm cd":                   "eval train --algorithm cd",
	} {
		if got := strings.Join(routed(newRoot(), strings.Fields(args)), " "); got != want {
			t.Errorf("%s becomes %s, want %s", args, got, want)
		}
	}
}
