//go:build unix

package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// TestKilledSweepsLeaveNoWorkers kills the program that trains a sweep by workers: these stop, with
// intact checkpoints.
func TestKilledSweepsLeaveNoWorkers(t *testing.T) {
	program := filepath.Join(t.TempDir(), "helmholtz")
	if out, err := exec.Command("go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kills := 1
	if *allTrials {
		kills = 10
	}
	for i := range kills {
		dir := t.TempDir()
		text := fmt.Sprintf(`base = {seed = %d, epochs = 100000, dataset = {name = "3by3", subset = 64, validation = 18}, machine = {layers = [4]}, method = {preset = "rws", samples = 3}}
grid.method.learning_rate = [0.01, 0.02]
`, i+1)
		file, swept := filepath.Join(dir, "rates.toml"), filepath.Join(dir, "swept")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		sweep := exec.Command(program, "sweep", "run", file, "--workers", "2", "--out", swept)
		sweep.Stderr = &said
		if err := sweep.Start(); err != nil {
			t.Fatal(err)
		}
		jobs := []string{filepath.Join(swept, "learning_rate=0.01", "seed-"+fmt.Sprint(i+1)), filepath.Join(swept, "learning_rate=0.02", "seed-"+fmt.Sprint(i+1))}
		taken := func() (n int) {
			for _, job := range jobs {
				if runs.Taken(job) != nil {
					n++
				}
			}
			return n
		}
		await(t, "two workers", func() bool { return taken() == 2 })
		if err := sweep.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = sweep.Wait() // returns the error of a killed program, once its workers, which also write there, have ended
		await(t, "the end of the workers", func() bool { return taken() == 0 })
		for _, job := range jobs {
			if run, err := runs.Open(job); err != nil || run.Finished() || run.History().Err != nil {
				t.Errorf("after its worker has ended: %v, %v; it said %s", run, err, &said)
			}
		}
	}
}
