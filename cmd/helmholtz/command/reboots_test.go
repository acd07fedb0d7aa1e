//go:build unix

package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// TestRebootsLoseNothing kills training and gives its lease the mark of a machine before a restart.
// The same command waits a minute, takes the run over, and ends like an uninterrupted one. The test
// runs only with -torture: TestTrainingTakesOverAfterARestart checks it once with a simulated
// clock.
func TestRebootsLoseNothing(t *testing.T) {
	if !*allTrials {
		t.Skip("each trial waits for a minute: give -torture")
	}
	const experiment = "--dataset 3by3 --subset 64 --validation 18 --layers 4 --samples 3 --epochs 300"
	whole := prepared(t, "train "+experiment+" --out r", "train "+experiment+" --seeds 2 --out s")
	var all sync.WaitGroup
	draw := rand.New(rand.NewPCG(41, 9))
	for i := range 16 {
		command, run := "train "+experiment+" --out r", "r"
		if i%2 == 1 {
			command, run = "train "+experiment+" --seeds 2 --out s", filepath.Join("s", fmt.Sprint("seed-", 1+i/2%2))
		}
		dir, lines := t.TempDir(), 1+draw.IntN(200)
		metrics, lease := filepath.Join(dir, run, "metrics.jsonl"), filepath.Join(dir, run, file.LeaseFile)
		c := tortured(t, strings.Fields(command)...)
		c.Dir = dir
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, fmt.Sprint(lines, " epochs of ", run), func() bool {
			text, _ := os.ReadFile(metrics) // the file does not exist at first
			return bytes.Count(text, []byte("\n")) >= lines
		})
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // returns the error of a killed program
		text, err := os.ReadFile(lease)
		if err != nil { // the run had ended
			continue
		}
		text = regexp.MustCompile(`"system":"[^"]*"`).ReplaceAll(text, []byte(`"system":"before-the-restart"`))
		if err := os.WriteFile(lease, text, 0o600); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			limited := tortured(t, strings.Fields(command)...)
			again := exec.Command(limited.Path, limited.Args[1:]...) // may take more than a minute
			again.Dir, again.Env = dir, limited.Env
			out, err := again.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("waiting up to 1m0s: a program on ")) {
				t.Errorf("%s ended with %v and said %s", command, err, out)
			}
		})
		t.Cleanup(func() {
			if !t.Failed() {
				runstest.SameRun(t, filepath.Join(whole, run), filepath.Join(dir, run))
			}
		})
	}
	all.Wait()
}
