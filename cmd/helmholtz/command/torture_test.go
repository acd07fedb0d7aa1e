//go:build unix

package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tortured returns the program without the machine's data, limited to two gigabytes of memory and to one thread, on which
// it makes its changes in the same order each time.
func tortured(t *testing.T, args ...string) *exec.Cmd {
	c := program(t, "ulimit -d 2097152;", args...)
	c.Env = append(c.Env, "HELMHOLTZ_DATA=", "HELMHOLTZ_BACKEND=cpu", "GOMAXPROCS=1")
	return c
}

var (
	seconds  = regexp.MustCompile(`"seconds":[^,}]*,?`)
	checksum = regexp.MustCompile(`,?"checksum":"[0-9a-f]*"`)
	sum      = regexp.MustCompile(`# checksum: [0-9a-f]*`)
	duration = regexp.MustCompile(`[0-9.]+ s\b`)
)

// alike returns the part of a file that is the same in equal runs: everything except times and the
// checksums of lines with times.
func alike(path string, content []byte) string {
	switch filepath.Base(path) {
	case "sessions.jsonl":
		return ""
	case "experiment.toml": // it may name the directory of another run
		content = sum.ReplaceAll(content, nil)
	case "clock.json":
		if json.Valid(content) { // it may be of an earlier step
			return ""
		}
	}
	if ending := filepath.Ext(path); ending == ".jsonl" || ending == ".json" {
		content = checksum.ReplaceAll(seconds.ReplaceAll(content, nil), nil)
	}
	return string(content)
}

// tiny are the flags of an experiment that trains in an instant.
const tiny = "--dataset 3by3 --subset 64 --validation 18 --layers 4 --samples 3 --epochs 2"

// prepared returns a directory in which the program has run some commands.
func prepared(t *testing.T, commands ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, command := range commands {
		runInto(t, dir, command)
	}
	return dir
}

// runInto runs the program in a directory.
func runInto(t *testing.T, dir, command string) {
	t.Helper()
	c := tortured(t, strings.Fields(command)...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("helmholtz %s: %v: %s", command, err, out)
	}
}

// TestNothingIsLost kills every writing command at its changes of files, and makes these changes fail:
// existing files stay intact, and the command reaches the same end when it is repeated.
func TestNothingIsLost(t *testing.T) {
	half := func(name string) string {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "r"), os.DirFS(filepath.Join(fixtures, newest, name))); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	run := prepared(t, "train "+tiny+" --out r", "train "+tiny+" --seed 7 --out s")
	seeds := prepared(t, "train "+tiny+" --seeds 2 --out r")
	rates := t.TempDir()
	writeRates(t, rates)
	begun := t.TempDir()
	writeRates(t, begun)
	runInto(t, begun, "sweep run rates.toml --workers 1 --shard 0/2 --out r")
	for _, c := range []struct{ name, begin, command, resume string }{
		{"train", "", "train " + tiny + " --out deep/r", "train --resume deep/r"},
		{"train-seeds", "", "train " + tiny + " --seeds 3 --out r", "train --resume r"},
		{"train-all", "", "train " + tiny + " --keep 1,2 --record-steps 1 --measure every=1,samples=2 --out r", "train --resume r"},
		{"train-from", run, "train --config s/experiment.toml --from r --lr 0.01 --out t", "train --resume t"},
		{"train-family", filepath.Dir(meanField(t, "noisy-or")), "train --config noisy-or.toml --out r", "train --resume r"},
		{"resume", half("nrws/half"), "train --resume r", ""},
		{"resume-rows", half("rows/half"), "train --resume r", ""},
		{"resume-seeds", half("seeds"), "train --resume r", ""},
		{"resume-v1", half("../v1/nrws/half"), "train --resume r", ""},
		{"resume-v2", half("../v2/nrws/half"), "train --resume r", ""},
		{"extend", run, "train --resume r --epochs 3", ""},
		{"extend-seeds", seeds, "train --resume r --epochs 3", ""},
		{"eval", run, "eval r --samples 2 --log-z2 0 --table new/e.json", ""},
		{"eval-parts", run, "eval r --samples 2 --log-z2 0 --split train --parts p --json", ""},
		{"boltzmann", "", "train --dataset 3by3 --subset 64 --validation 18 --layers 4 --algorithm pcd --batch 9 --epochs 2 --out r", "train --resume r"},
		{"sweep", rates, "sweep run rates.toml --workers 1 --out r", ""},
		{"sweep-rest", begun, "sweep run r --workers 1", ""},
		{"sweep-report", begun, "sweep report r --table new/r.csv --figures figures --figure-format svg", ""},
		{"history", run, "history r s --table new/h.parquet", ""},
		{"compare", run, "compare r s --out new/c.png --table c.csv", ""},
		{"sample", run, "sample r --n 2 --out new/s.png", ""},
		{"inpaint", run, "inpaint r --mask left --n 1 --chains 1 --sweeps 1 --candidates 2 --out i.svg", ""},
		{"plot", run, "plot r s --samples 2 --log-z2 10 --format svg --out figures", ""},
		{"kernel-install", "", "kernel install --prefix p --go /bin/true --gonb /bin/true --goimports /bin/true --gopls /bin/true --module " + moduleRoot(t), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			faultCase{
				name: c.name, begin: c.begin, args: strings.Fields(c.command), resume: strings.Fields(c.resume),
				litters: !strings.HasPrefix(c.command, "train"), settled: map[string]string{"resume-seeds": "r/seed-1"}[c.name],
			}.try(t, 60)
		})
	}
}

// writeRates writes rates.toml, a sweep of two experiments that train in an instant.
func writeRates(t *testing.T, dir string) {
	t.Helper()
	text := `base = {epochs = 2, dataset = {name = "3by3", subset = 64, validation = 18}, machine = {layers = [4]}, method = {preset = "rws", samples = 3}}
grid.method.learning_rate = [0.01, 0.02]
`
	if err := os.WriteFile(filepath.Join(dir, "rates.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// moduleRoot returns the directory of the module.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}
