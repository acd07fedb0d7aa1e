package command

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Boltzmann machines are evaluated exactly if one side is small, and otherwise by AIS, with all
// options that the estimate depends on.
func TestBoltzmannMachinesAreEvaluated(t *testing.T) {
	here := t.TempDir()
	small, large, seeds := filepath.Join(here, "small"), filepath.Join(here, "large"), filepath.Join(here, "seeds")
	glyphs := []string{"train", "--dataset", "miniglyphs", "--subset", "60", "--validation", "12", "--epochs", "1", "--batch", "20", "--algorithm", "cd"}
	succeed(t, onPatterns("--algorithm", "pcd", "--layers", "5", "--out", small)...)
	succeed(t, append(glyphs, "--layers", "30", "--out", large)...)
	succeed(t, onPatterns("--algorithm", "cd", "--layers", "4", "--seeds", "2", "--out", seeds)...)

	if out := succeed(t, "eval", small); !strings.Contains(out, "nats, exact") || strings.Contains(out, "AIS") || !strings.Contains(out, "chains from training rows") {
		t.Errorf("of a small machine eval says %q", out)
	}
	annealed := []string{"eval", large, "--schedule", "adaptive:100", "--chains", "20", "--raise", "5", "--raise-chains", "2", "--rows", "30", "--split", "train"}
	out := succeed(t, annealed...)
	for _, want := range []string{"by AIS, too high in expectation", "by AIS, too low in expectation", "of 5 rows, 2 chains each",
		large + ", checkpoint last\n", "30 train rows, binarization fixed, draws of seed 1; 20 chains, schedule adaptive:100 of 100 steps"} {
		if !strings.Contains(out, want) {
			t.Errorf("eval says %q, which lacks %q", out, want)
		}
	}
	var e map[string]any
	if err := json.Unmarshal([]byte(succeed(t, append(annealed, "--json")...)), &e); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"run": large, "checkpoint": "last", "split": "train", "data": 30.0, "log_p_errs": "high", "log_z_errs": "low",
		"chains": 20.0, "schedule": "adaptive:100", "steps": 100.0, "draw_seed": 1.0, "binarization": "fixed", "diverged": false} {
		if e[key] != want {
			t.Errorf("%s is %v, want %v", key, e[key], want)
		}
	}
	if p, z, f := e["log_p"].(float64), e["log_z"].(float64), e["free_energy"].(float64); math.Abs(p+z+f) > 1e-9 {
		t.Errorf("log p = %v, where F = %v and log Z = %v", p, f, z)
	}
	if out := succeed(t, "eval", seeds); !strings.Contains(out, "mean ± sd over 2 seeds") {
		t.Errorf("of seeds eval says %q", out)
	}
	var over struct {
		Seeds []map[string]any
		Over  map[string]struct{ Mean float64 } `json:"over_seeds"`
	}
	if err := json.Unmarshal([]byte(succeed(t, "eval", seeds, "--json")), &over); err != nil {
		t.Fatal(err)
	}
	if mean := (over.Seeds[0]["log_p"].(float64) + over.Seeds[1]["log_p"].(float64)) / 2; math.Abs(over.Over["log_p"].Mean-mean) > 1e-9 || over.Seeds[0]["schedule"] != nil {
		t.Errorf("the seeds' evaluations are %v", over)
	}
	table := strings.Split(succeed(t, "eval", seeds, "--format", "csv"), "\n")
	if len(table) != 4 || !strings.HasPrefix(table[0], "run,checkpoint,seed,epochs,finished,log_p,log_p_se,log_p_errs,") {
		t.Errorf("the table is %q", table)
	}
	if out := succeed(t, "compare", small, seeds, "--samples", "3"); !strings.Contains(out, "log p, test, K = 3") {
		t.Errorf("compare says %q", out)
	}
	directed := filepath.Join(here, "directed")
	succeed(t, onPatterns("--layers", "5", "--out", directed)...)
	if out := succeed(t, "compare", small, directed, "--samples", "3"); !strings.Contains(out, "log-pseudo-likelihood") || !strings.Contains(out, "log p, test, K = 3") ||
		!strings.Contains(out, "method.learning_rate") || strings.Contains(out, "method.chains") {
		t.Errorf("of machines of two families compare says %q", out)
	}
	succeed(t, "sample", small, "--kind", "filters", "--out", filepath.Join(here, "filters.png"))
	succeed(t, "inpaint", small, "--mask", "left", "--sweeps", "5", "--out", filepath.Join(here, "inpainted.png"))

	for _, c := range []struct {
		says string
		args []string
	}{
		{"--samples: a Boltzmann machine does not use it", []string{"eval", small, "--samples", "5"}},
		{"--raise-chains has no effect without --raise", []string{"eval", small, "--raise-chains", "5"}},
		{"--chains: log Z is exact", []string{"eval", small, "--rows", "5", "--chains", "3"}},
		{"--schedule: log Z is exact", []string{"eval", small, "--rows", "5", "--schedule", "even:9"}},
		{"with a number N of steps", []string{"eval", small, "--schedule", "adaptive"}},
		{"give between 100 and 1000000 steps", []string{"eval", small, "--schedule", "adaptive:9"}},
		{"--retain: a Boltzmann machine does not use it", []string{"inpaint", small, "--mask", "left", "--retain"}},
	} {
		code, _, errOut := helmholtz(t, t.Context(), c.args...)
		if code != exitUsage || !strings.Contains(errOut, c.says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(c.args, " "), code, errOut, c.says)
		}
	}
}

// The same commands train, evaluate, compare and draw deep machines. If the hidden units are too
// many to sum out, the output says that log p is a bound or an estimate.
func TestDeepMachinesAreTrained(t *testing.T) {
	here := t.TempDir()
	small, large := filepath.Join(here, "small"), filepath.Join(here, "large")
	if out := succeed(t, onPatterns("--algorithm", "pcd", "--layers", "5,4,3", "--mean-field", "7", "--lr", "0.03", "--out", small)...); !strings.Contains(out, "DBM 5–4–3, PCD-1, η = 0.03, 7 sweeps of mean field, B = 9: 2 epochs") {
		t.Errorf("train says %q", out)
	}
	succeed(t, "train", "--dataset", "miniglyphs", "--subset", "60", "--validation", "12", "--epochs", "1", "--batch", "20", "--algorithm", "pcd", "--layers", "30,40", "--out", large)
	if out := succeed(t, "eval", small); !strings.Contains(out, "nats, exact") || strings.Contains(out, "AIS") {
		t.Errorf("of a small machine eval says %q", out)
	}
	annealed := []string{"eval", large, "--schedule", "even:20", "--chains", "20", "--rows", "30"}
	if out := succeed(t, annealed...); !strings.Contains(out, "by mean field, too low, and AIS, too high in expectation: an estimate") {
		t.Errorf("of a large machine eval says %q", out)
	}
	if out := succeed(t, append(annealed, "--json")...); !strings.Contains(out, `"log_p_errs":"either"`) {
		t.Errorf("the JSON is %q", out)
	}
	if code, _, errOut := helmholtz(t, t.Context(), append(annealed, "--raise", "3")...); code != exitUsage || !strings.Contains(errOut, "begin at exact samples of the hidden layers") {
		t.Errorf("RAISE ended with %d and said %q", code, errOut)
	}
	if out := succeed(t, "compare", small, "--samples", "3"); !strings.Contains(out, "log p, test, K = 3") {
		t.Errorf("compare says %q", out)
	}
	succeed(t, "sample", small, "--kind", "filters", "--out", filepath.Join(here, "filters.png"))
	succeed(t, "sample", small, "--gibbs", "5", "--n", "4", "--out", filepath.Join(here, "samples.png"))
	succeed(t, "inpaint", small, "--mask", "left", "--sweeps", "5", "--out", filepath.Join(here, "inpainted.png"))
}

// One command trains a belief network layer by layer, and resumes where it stopped; each layer is a
// run, and the last one is evaluated and sampled as the network.
func TestBeliefNetworksAreTrained(t *testing.T) {
	here := t.TempDir()
	dir := filepath.Join(here, "dbn")
	network := onPatterns("--algorithm", "pcd", "--layers", "6,5", "--belief", "--out", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errOut := helmholtz(t, ctx, network...); code != exitInterrupted || !strings.Contains(errOut, "layer 1 of 2; repeat the command to resume") || strings.Contains(errOut, "--resume") {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
	if out := succeed(t, network...); !strings.Contains(out, "RBM 6, PCD-1") || !strings.Contains(out, "DBN, top 5, PCD-1") {
		t.Errorf("train says %q", out)
	}
	top := filepath.Join(dir, "layer-2")
	if out := succeed(t, "eval", top, "--samples", "7"); !strings.Contains(out, "by 7 importance samples a row; at least this in expectation") {
		t.Errorf("eval says %q", out)
	}
	succeed(t, "sample", top, "--gibbs", "5", "--n", "4", "--out", filepath.Join(here, "samples.png"))
	succeed(t, "sample", top, "--kind", "filters", "--n", "4", "--out", filepath.Join(here, "filters.png"))
	if out := succeed(t, onPatterns("--algorithm", "cd", "--layers", "4", "--on", top, "--out", filepath.Join(here, "third"))...); !strings.Contains(out, "DBN, top 4, CD-1") {
		t.Errorf("train says %q", out)
	}
	if out := succeed(t, "compare", top, filepath.Join(here, "third")); !strings.Contains(out, "log PL, validation") {
		t.Errorf("compare says %q", out)
	}
	refused := filepath.Join(here, "refused")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"restricted machines of Bernoulli units without labels", onPatterns("--algorithm", "pcd", "--layers", "6,5", "--units", "bernoulli,gaussian", "--belief", "--out", refused)},
		{"--raise: RAISE of a belief network", []string{"eval", top, "--raise", "3"}},
		{"--seeds with 2 runs", slices.Concat(network, []string{"--seeds", "2"})},
		{"train its layers one by one", slices.Concat(network, []string{"--on", top})},
		{"inpainting by a belief network", []string{"inpaint", top, "--mask", "left"}},
	} {
		if code, _, errOut := helmholtz(t, t.Context(), c.args...); code == 0 || !strings.Contains(errOut, c.says) {
			t.Errorf("helmholtz %s ended with %d and said %q, not %q", strings.Join(c.args, " "), code, errOut, c.says)
		}
	}
	if _, err := os.Stat(refused); err == nil {
		t.Error("a layer was trained of a network that is refused")
	}
}

// The table of an evaluation has the keys of its JSON.
func TestColumnsOfBoltzmannEvaluations(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	succeed(t, onPatterns("--algorithm", "pcd", "--layers", "3", "--out", dir)...)
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	e := evaluated{run, &estimate{}, boltzmann.Evaluation{SampleSizes: runs.SampleSizes{"log_p": {}}, RAISE: &boltzmann.Raised{}, Bridge: &boltzmann.Bridged{}, Drift: &boltzmann.Drift{}, Mass: &boltzmann.Mass{}, Classification: &boltzmann.Classification{}}}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"raise", "bridge", "mass", "drift", "classification"} {
		for key, value := range fields[part].(map[string]any) {
			fields[part+"."+key] = value
		}
		delete(fields, part)
	}
	for _, c := range slices.Concat(e.own(), e.Findings()).Table().Columns() {
		if _, has := fields[c.Key]; !has {
			t.Errorf("JSON has no %s", c.Key)
		}
		delete(fields, c.Key)
	}
	if len(fields) > 0 {
		t.Errorf("the table has no %v", fields)
	}
}

// Flags and requests of samples are refused in one sentence by every model whose log p is exact, and by name if log Z alone is exact, also
// for rows of a file.
func TestSamplesAreRefusedIfLogPIsExact(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rows.csv", []byte("a,b,c\n"+strings.Repeat("0,1,1\n1,0,1\n0,0,0\n1,1,0\n", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	const rows, exact = " --dataset rows.csv --epochs 1 --batch 9 ", ": log p of this model is exact, and nothing is sampled or annealed; omit it"
	succeed(t, strings.Fields("train rnn-rbm --dataset voices --subset 4 --validation 2 --hidden 3 --recurrent 2 --cd 1 --batch 2 --epochs 1 --out rnn")...)
	succeed(t, strings.Fields("train factor-analysis --binarization real --dataset rows.csv --factors 1 --epochs 1 --out fa")...)
	succeed(t, strings.Fields("train boltzmann --algorithm pcd --layers 2 --out rbm"+rows)...)
	succeed(t, strings.Fields("train general-boltzmann --hidden 2 --lr 0.1 --out general"+rows)...)
	for args, says := range map[string]string{
		"eval rnn --samples 5": "--samples" + exact, "eval rnn --schedule even:9": "--schedule" + exact, "eval fa --samples 5": "--samples" + exact, "eval fa --chains 5": "--chains" + exact,
		"eval fa --rows rows.csv --samples 5": "--samples" + exact, "report rnn --samples 5": "--samples" + exact,
		"eval rbm --rows rows.csv --chains 5": "--chains: log Z is exact", "eval rbm --rows rows.csv --schedule even:9": "--schedule: log Z is exact", "eval general --rows rows.csv --chains 5": "--chains: log Z is exact",
		"eval rbm --rows rows.csv --samples 5": "--samples: a Boltzmann machine does not use it; omit it",
	} {
		if code, _, err := helmholtz(t, t.Context(), strings.Fields(args)...); code != exitUsage || !strings.Contains(err, says) {
			t.Errorf("%s ends with %d and %q, want %q", args, code, err, says)
		}
	}
	for run, says := range map[string]string{"fa": "samples: log p of this model is exact, and nothing is sampled or annealed; leave it out", "rbm": "samples: a Boltzmann machine does not use it; leave it out"} {
		at, _, _ := serving(t, run)
		if status, of := post(t, http.DefaultClient, at+"/score", `{"rows":[[0,1,1]],"samples":5}`); status != http.StatusBadRequest || of["error"] != says {
			t.Errorf("serve %s answers %d, %v, want %q", run, status, of, says)
		}
	}
}
