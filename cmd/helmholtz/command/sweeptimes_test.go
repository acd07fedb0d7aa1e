package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// timesVariable makes TestSweepTimes run; its value is the number of training rows.
const timesVariable = "HELMHOLTZ_SWEEP_ROWS"

// TestSweepTimes trains a sweep of 24 runs on miniMNIST with one worker, with two, and as an array
// of two tasks of a Slurm on this machine, compares the results, and prints how long each took.
func TestSweepTimes(t *testing.T) {
	rows := os.Getenv(timesVariable)
	if rows == "" {
		t.Skip("takes a minute of an idle machine, Slurm, root and MNIST: make sweeptimes")
	}
	startSlurm(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "helmholtz")
	if out, err := exec.Command("go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sweep := `seeds = 4
base = {epochs = 2, dataset = {name = "minimnist", subset = ` + rows + `}, machine = {layers = [100, 50, 20]}, method = {preset = "rws"}}
grid.method.learning_rate = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05]
`
	if err := os.WriteFile(filepath.Join(dir, "rates.toml"), []byte(sweep), 0o644); err != nil {
		t.Fatal(err)
	}
	took := func(program string, args ...string) time.Duration {
		t.Helper()
		c := exec.Command(program, args...)
		c.Dir = dir
		began := time.Now()
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return time.Since(began)
	}
	one := took(program, "sweep", "run", "rates.toml", "--out", "one", "--workers", "1")
	two := took(program, "sweep", "run", "rates.toml", "--out", "two", "--workers", "2")
	began := time.Now()
	took("sbatch", arrayOf(t, dir, 2, "sweep", "run", "rates.toml", "--out", "array", "--shard", "auto")...)
	await(t, "the end of the array", func() bool {
		queue, err := exec.Command("squeue", "-h").Output()
		return err == nil && strings.TrimSpace(string(queue)) == ""
	})
	array := time.Since(began)
	wantSameSweep(t, filepath.Join(dir, "one"), filepath.Join(dir, "two"))
	wantSameSweep(t, filepath.Join(dir, "one"), filepath.Join(dir, "array"))
	fmt.Printf("| 24 runs of miniMNIST, %s rows, 2 epochs | wall-clock |\n|---|---|\n", rows)
	for _, line := range []struct {
		what string
		time time.Duration
	}{{"`--workers 1`", one}, {"`--workers 2`", two}, {"Slurm, two tasks of one core", array}} {
		fmt.Printf("| %s | %.1f s |\n", line.what, line.time.Seconds())
	}
}
