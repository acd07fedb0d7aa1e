package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/spf13/cobra"
)

// helmholtz runs the command line, and returns its exit code and output.
func helmholtz(t *testing.T, ctx context.Context, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// succeed runs a command that must succeed, and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := helmholtz(t, t.Context(), args...)
	if code != 0 {
		t.Fatalf("helmholtz %s ended with %d: %s", strings.Join(args, " "), code, errOut)
	}
	return out
}

// TestFromTrainingToFigures follows the README on a small machine.
func TestFromTrainingToFigures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	succeed(t, "train", "--dataset", "3by3", "--subset", "640", "--algorithm", "nrws", "--layers", "5,3",
		"--lr", "0.05", "--damping", "0.05", "--kstep", "10", "--epochs", "3", "--out", dir)

	var e struct {
		LogP    *float64 `json:"log_p"`
		LogPSE  *float64 `json:"log_p_se"`
		LogPT   *float64 `json:"log_p_tilde_star"`
		LogZ2   *float64 `json:"log_z2"`
		LogZ2SE *float64 `json:"log_z2_se"`
		LogPS   *float64 `json:"log_p_star"`
		ESS     *float64 `json:"ess"`
		KL      *float64 `json:"kl_exact"`
		Samples int      `json:"samples"`
		Data    int      `json:"data"`
		Seconds *float64 `json:"seconds"`
	}
	if err := json.Unmarshal([]byte(succeed(t, "eval", dir, "--json", "--samples", "200")), &e); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]*float64{"log_p": e.LogP, "log_p_se": e.LogPSE, "log_p_tilde_star": e.LogPT,
		"log_z2": e.LogZ2, "log_z2_se": e.LogZ2SE, "log_p_star": e.LogPS, "ess": e.ESS, "kl_exact": e.KL, "seconds": e.Seconds} {
		if value == nil {
			t.Errorf("eval --json has no %s", name)
		}
	}
	if e.Samples != 200 || e.Data != 18 {
		t.Errorf("%d samples and %d data, want 200 and 18", e.Samples, e.Data)
	}
	if e.KL != nil && (*e.KL < 0 || *e.KL > 4) {
		t.Errorf("KL(p_D‖p) = %v", *e.KL)
	}

	sheet := filepath.Join(t.TempDir(), "sheet.png")
	for _, kind := range []string{"means", "draws", "reconstructions", "layers"} {
		succeed(t, "sample", dir, "--kind", kind, "--n", "4", "--out", sheet)
	}
	succeed(t, "sample", dir, "--gibbs", "2", "--candidates", "5", "--inner", "2", "--retain", "--n", "4", "--out", sheet)
	for _, mask := range []string{"left", "rectangle:1,1,1,2", "random:0.5"} {
		succeed(t, "inpaint", dir, "--mask", mask, "--n", "2", "--chains", "3", "--sweeps", "2", "--out", sheet)
	}
	figures := t.TempDir()
	succeed(t, "plot", dir, "--out", figures, "--samples", "50", "--log-z2", "100")
	if entries, err := os.ReadDir(figures); err != nil || len(entries) != 9 {
		t.Errorf("plot drew %d figures, want 9 (%v)", len(entries), err)
	}
	if out := succeed(t, "bench", "eval", dir, "--samples", "10", "--json"); !strings.Contains(out, `"samples_per_s"`) || !strings.Contains(out, `"rows_per_s"`) {
		t.Errorf("bench eval --json printed %s", out)
	}
}

// TestTableOfTheReadme trains by the README's command. The odd rows that the README prints, and their log p, come out.
func TestTableOfTheReadme(t *testing.T) {
	const table = "docs/animals.csv"
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`    helmholtz (train [^|]*?) --out runs/odd\n`).FindSubmatch(text)
	shown := regexp.MustCompile(`(?m)^    (\d+),(-\d[\d.]+),[\d.]+,\w+,`).FindAllStringSubmatch(string(text), -1)
	if command == nil || len(shown) != 2 {
		t.Fatalf("the README has the command %q and %d rows", command, len(shown))
	}
	here, dir := "../../../"+table, filepath.Join(t.TempDir(), "run")
	succeed(t, append(strings.Fields(strings.NewReplacer(table, here, "\\\n", "").Replace(string(command[1]))), "--out", dir)...)
	_, rows := records(t, succeed(t, "eval", dir, "--rows", here), 159)
	logP := func(digits string) float64 { p, _ := strconv.ParseFloat(digits, 64); return p }
	slices.SortFunc(rows, func(a, b map[string]string) int { return cmp.Compare(logP(a["log_p"]), logP(b["log_p"])) })
	for i, row := range shown {
		if got := rows[i]; got["row"] != row[1] || math.Abs(logP(got["log_p"])-logP(row[2])) > 0.1 { // processors round differently
			t.Errorf("odd row %d is %v, and the README says %v", i+1, got, row[1:])
		}
	}
}

// TestConfigAndFlags trains from a file whose settings flags change.
func TestConfigAndFlags(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	succeed(t, "train", "--dataset", "3by3", "--subset", "320", "--layers", "4,2", "--lr", "0.03", "--epochs", "1", "--out", first)
	succeed(t, "train", "--config", filepath.Join(first, "experiment.toml"), "--layers", "3", "--seed", "5", "--out", second)
	text, err := os.ReadFile(filepath.Join(second, "experiment.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"layers = [3]", "learning_rate = 0.03", "seed = 5", "subset = 320"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the second experiment lacks %q:\n%s", want, text)
		}
	}
}

// TestAMethodReplacesThatOfTheFile checks the note about replaced settings, which omits settings
// given by flags.
func TestAMethodReplacesThatOfTheFile(t *testing.T) {
	first := filepath.Join(t.TempDir(), "first")
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--lr", "0.03", "--damping", "0.07", "--epochs", "1", "--out", first)
	again := []string{"train", "--config", filepath.Join(first, "experiment.toml"), "--algorithm", "nrws", "--lr", "0.03", "--seed", "2", "--out", filepath.Join(t.TempDir(), "second")}
	code, _, errOut := helmholtz(t, t.Context(), again...)
	if code != 0 || !strings.Contains(errOut, "--algorithm starts from the defaults of nrws") || !strings.Contains(errOut, "experiment.toml: method.damping is 0.07 there, 0.2 here\n") {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
	again[len(again)-1] = filepath.Join(t.TempDir(), "third")
	if code, _, errOut := helmholtz(t, t.Context(), append(again, "--damping", "0.07")...); code != 0 || strings.Contains(errOut, "--algorithm") {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
}

func TestExitCodes(t *testing.T) {
	here := t.TempDir()
	bad := filepath.Join(here, "bad.toml")
	if err := os.WriteFile(bad, []byte("[method]\npreset = \"nrws\"\nlearning_rat = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "unknown flag", []string{"train", "--nosuch"}},
		{exitUsage, "unknown command", []string{"nosuch"}},
		{exitUsage, "one run", []string{"eval"}},
		{exitUsage, "learning_rate = NaN", []string{"train", "--lr", "NaN", "--out", filepath.Join(here, "a")}},
		{exitUsage, "batch size 99999", []string{"train", "--batch", "99999", "--out", filepath.Join(here, "a")}},
		{exitUsage, "learning_rat", []string{"train", "--config", bad, "--out", filepath.Join(here, "a")}},
		{exitUsage, "omit --lr", []string{"train", "--resume", here, "--lr", "1"}},
		{exitUsage, "unknown method", []string{"train", "--algorithm", "nosuch"}},
		{exitUsage, "use helmholtz train ppca", []string{"train", "--algorithm", "ppca"}},
		{exitFailed, "not the directory of a run", []string{"train", "--resume", here}},
		{exitFailed, "not the directory of a run", []string{"eval", here}},
		{exitFailed, "bad.toml", []string{"train", "--dataset", "3by3", "--out", here}},
		{exitFailed, "no set has this name", []string{"train", "--dataset", "nosuch"}},
	} {
		code, _, errOut := helmholtz(t, t.Context(), c.args...)
		if code != c.code || !strings.Contains(errOut, c.says) {
			t.Errorf("helmholtz %s ended with %d and said %q; want %d and %q", strings.Join(c.args, " "), code, errOut, c.code, c.says)
		}
	}
	if _, err := os.Stat(filepath.Join(here, "a")); err == nil {
		t.Error("a refused experiment has made its directory")
	}
}

// TestFlagsAreCheckedFirst gives flags that are wrong for any run; the named directory does not
// even have one.
func TestFlagsAreCheckedFirst(t *testing.T) {
	for _, c := range []struct{ command, flag, value, says string }{
		{"eval", "--samples", "0", "at least 1"},
		{"eval", "--samples", "many", "a whole number"},
		{"eval", "--rows", "-1", "at least 0"},
		{"eval", "--log-z2", "-1", "at least 10, or 0"},
		{"eval", "--log-z2", "9", "at least 10, or 0"},
		{"eval", "--log-z2-inner", "0", "at least 1"},
		{"eval", "--split", "all", "test, train, validation"},
		{"eval", "--checkpoint", "first", "last, best"},
		{"sample", "--n", "0", "at least 1"},
		{"sample", "--split", "all", "test, train, validation"},
		{"sample", "--gibbs", "-1", "at least 0"},
		{"sample", "--candidates", "0", "at least 1"},
		{"sample", "--out", "sheet.jpg", ".png, .svg, .pdf"},
		{"sample", "--out", "png", ".png, .svg, .pdf"},
		{"inpaint --mask left", "--out", "sheet", ".png, .svg, .pdf"},
		{"compare --samples 10", "--figure", "curves.gif", ".png, .svg, .pdf"},
		{"sample", "--candidates", "5", "without --gibbs"},
		{"sample --gibbs 0", "--inner", "5", "without --gibbs"},
		{"sample", "--retain", "--n=5", "without --gibbs"},
		{"eval --log-z2 0", "--log-z2-inner", "5", "without --log-z2"},
		{"compare", "--split", "train", "without --samples"},
		{"compare", "--checkpoint", "best", "without --samples"},
		{"compare", "--against", "seconds", "without --figure"},
		{"inpaint", "--mask", "", "is empty"},
		{"inpaint", "--chains", "0", "at least 1"},
		{"inpaint", "--sweeps", "0", "at least 1"},
		{"report", "--out", "report.pdf", "use a name that ends in .html"},
		{"inpaint", "--inner", "0", "at least 1"},
		{"sample", "--checkpoint", "first", "last, best"},
		{"plot", "--samples", "0", "at least 1"},
		{"plot", "--log-z2", "9", "at least 10"},
		{"plot", "--log-z2", "0", "at least 10"},
		{"plot", "--figure-format", "gif", "png, svg, pdf"},
		{"bench train", "--steps", "0", "at least 1"},
		{"bench eval", "--samples", "0", "at least 1"},
		{"bench eval", "--rows", "-1", "at least 0"},
		{"train", "--seeds", "0", "at least 1"},
		{"train", "--validation", "-1", "at least 0"},
		{"bench train", "--subset", "-1", "at least 0"},
		{"bench train", "--labels", "-1", "at least 0"},
		{"train", "--phases", "sleep", "unknown"},
		{"train", "--fisher", "exact", "unknown"},
	} {
		args := append(strings.Fields(c.command), c.flag, c.value)
		if c.command != "train" && c.command != "bench train" {
			args = append(args, t.TempDir())
		}
		code, _, errOut := helmholtz(t, t.Context(), args...)
		if code != exitUsage || !strings.Contains(errOut, c.flag) || !strings.Contains(errOut, c.says) {
			t.Errorf("helmholtz %s ended with %d and said %q; want %d and %q", strings.Join(args, " "), code, errOut, exitUsage, c.says)
		}
	}
}

// TestAxesOfAMethod changes the metric of a published method to one that no other method has.
func TestAxesOfAMethod(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1",
		"--algorithm", "nbihm", "--fisher", "kronecker", "--kstep", "1", "--out", dir)
	e, err := readMachine(filepath.Join(dir, "experiment.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if m := e.Method; m.Preset != "nbihm" || m.Phases != hm.Bidirectional || m.Metric != hm.Kronecker {
		t.Errorf("trained %s with phases %v and metric %v", m.Preset, m.Phases, m.Metric)
	}
}

// A method's name never stands for the training of another method, whether flags, an edited file or
// the base of a sweep ask for it.
func TestNoMethodIsTrainedUnderAnothersName(t *testing.T) {
	dir := t.TempDir()
	file, edited, sweep := filepath.Join(dir, "nrws.toml"), filepath.Join(dir, "rws.toml"), filepath.Join(dir, "sweep.toml")
	succeed(t, "new", file, "--dataset", "3by3", "--layers", "3", "--algorithm", "nrws")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		edited: strings.Replace(string(text), `preset = "nrws"`, `preset = "rws"`, 1),
		sweep:  "base = \"rws.toml\"\n[grid]\nmethod.learning_rate = [0.1, 0.2]\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "run")
	for _, args := range [][]string{
		{"train", "--config", edited, "--out", out},
		{"sweep", "run", sweep, "--out", out},
		{"train", "--dataset", "3by3", "--layers", "3", "--algorithm", "rws", "--fisher", "block", "--out", out},
	} {
		code, _, errOut := helmholtz(t, t.Context(), args...)
		if code != exitUsage || !strings.Contains(errOut, `use preset = "nrws"`) || !strings.Contains(errOut, "omit phases and metric") {
			t.Errorf("helmholtz %s ended with %d and said %q", strings.Join(args, " "), code, errOut)
		}
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("what was refused made %s (%v)", out, err)
	}
}

// TestSettingsOfAMethod sets each setting beyond the axes by its flag.
func TestSettingsOfAMethod(t *testing.T) {
	usual := hm.NRWS().SamplesAfter(3, 20).L1(1e-5).L2(1e-4).Entropy(0.1).EntropyEstimator(0.2).WarmUp(2)
	for flags, want := range map[string]hm.Method{
		"--optimizer nesterov --momentum 0.8":                usual.Optimizer(hm.Nesterov).Momentum(0.8),
		"--optimizer adam --adam-beta1 0.7 --adam-beta2 0.6": usual.Optimizer(hm.Adam).AdamDecays(0.7, 0.6),
		"--schedule step --step-epochs 7 --step-factor 0.25": usual.StepDecay(7, 0.25),
		"--damping 0.3 --kstep 5 --fisher-precision float32": usual.Damping(0.3).RefreshEvery(5).FisherPrecision(hm.SinglePrecision),
	} {
		dir := filepath.Join(t.TempDir(), "run")
		succeed(t, append([]string{"train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1", "--algorithm", "nrws",
			"--later-samples", "20", "--later-samples-after", "3", "--l1", "1e-5", "--l2", "1e-4",
			"--entropy", "0.1", "--entropy-estimator", "0.2", "--warmup", "2", "--out", dir}, strings.Fields(flags)...)...)
		e, err := readMachine(filepath.Join(dir, "experiment.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e.Method, want.Spec()) {
			t.Errorf("trained %+v, want %+v", e.Method, want.Spec())
		}
	}
}

// TestSettingsOfSleepAndReinforce trains with flags that only some methods have.
func TestSettingsOfSleepAndReinforce(t *testing.T) {
	trained := func(flags ...string) hm.MethodSpec {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "run")
		succeed(t, append([]string{"train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1", "--out", dir}, flags...)...)
		e, err := readMachine(filepath.Join(dir, "experiment.toml"))
		if err != nil {
			t.Fatal(err)
		}
		return e.Method
	}
	sleep := trained("--algorithm", "nws", "--sleep-steps", "2", "--sleep-scale", "3", "--fisher-source", "legacy")
	if sleep.SleepSteps != 2 || sleep.SleepScale != 3 || sleep.FisherSource != hm.FromLegacy {
		t.Errorf("trained %+v", sleep)
	}
	reinforce := trained("--algorithm", "reinforce", "--reinforce-baseline", "optimal")
	if reinforce.Phases != hm.Reinforce || reinforce.ReinforceBaseline != hm.OptimalBaseline {
		t.Errorf("trained %+v", reinforce)
	}
}

// TestOtherDataAreRefused trains on a file and changes it.
func TestOtherDataAreRefused(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "rows.txt"), filepath.Join(t.TempDir(), "run")
	write := func(row string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Repeat(row+"\n1 0 1\n", 40)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("0 1 1")
	succeed(t, "train", "--dataset", file, "--layers", "2", "--epochs", "1", "--out", dir)
	write("0 0 1")
	for _, args := range [][]string{
		{"eval", dir, "--samples", "5", "--log-z2", "0"},
		{"sample", dir, "--kind", "reconstructions", "--out", filepath.Join(t.TempDir(), "sheet.png")},
		{"plot", dir, "--samples", "5", "--log-z2", "10", "--out", t.TempDir()},
		{"bench", "eval", dir, "--samples", "5"},
	} {
		code, _, errOut := helmholtz(t, t.Context(), args...)
		if code != exitFailed || !strings.Contains(errOut, file) || !strings.Contains(errOut, "fingerprint") {
			t.Errorf("helmholtz %s ended with %d and said %q", strings.Join(args, " "), code, errOut)
		}
	}
}

func TestHelpOfTrainSaysHowBidirectionalMachinesStart(t *testing.T) {
	out := succeed(t, "train", "--help", "all")
	for _, want := range []string{"App. A.2", "bihm and nbihm", "--weight-init small-normal"} {
		if !strings.Contains(out, want) {
			t.Errorf("the help lacks %q:\n%s", want, out)
		}
	}
}

// TestEveryCommandHasAnExample checks all commands that help shows.
func TestEveryCommandHasAnExample(t *testing.T) {
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if c.Example == "" && c.Parent().Name() != "kernel" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, child := range c.Commands() {
			if !child.Hidden {
				look(child)
			}
		}
	}
	look(newRoot())
}

func TestInterruptedTrainingCanBeResumed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	args := []string{"train", "--dataset", "3by3", "--subset", "320", "--layers", "3", "--epochs", "2", "--out", dir}
	code, _, errOut := helmholtz(t, ctx, args...)
	if code != exitInterrupted || !strings.Contains(errOut, "--resume "+dir) {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
	succeed(t, "train", "--resume", dir)
	if out := succeed(t, "train", "--resume", dir); !strings.Contains(out, "2 epochs") {
		t.Errorf("a finished run says %q", out)
	}
}

func TestDoctorAndVersionAndData(t *testing.T) {
	for command, want := range map[string]string{"doctor": "engine", "version": "helmholtz"} {
		if out := succeed(t, command); !strings.Contains(out, want) {
			t.Errorf("%s printed %q", command, out)
		}
	}
	if out := succeed(t, "data", "list"); !strings.Contains(out, "glyphs") {
		t.Errorf("data list printed %q", out)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder := strings.TrimSpace(succeed(t, "data", "cache"))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "rows"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "data", "cache", "--clear")
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("data cache --clear leaves %v, %v", left, err)
	}
	t.Setenv("HELMHOLTZ_DATA", "/somewhere")
	for command, want := range map[string]string{"path": "/somewhere\n", "list": "missing: not in /somewhere "} {
		code, out, errOut := helmholtz(t, t.Context(), "data", command)
		if code != 0 || !strings.Contains(out, want) || !strings.Contains(errOut, "HELMHOLTZ_DATA names /somewhere, which is not a folder") {
			t.Errorf("data %s ended with %d, printed %q and said %q", command, code, out, errOut)
		}
	}
}
