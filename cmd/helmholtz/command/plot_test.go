package command

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPlotOfSeveralRuns draws those of each and those of all.
func TestPlotOfSeveralRuns(t *testing.T) {
	runs := t.TempDir()
	rws, bihm := filepath.Join(runs, "rws"), filepath.Join(runs, "bihm")
	for algorithm, dir := range map[string]string{"rws": rws, "bihm": bihm} {
		succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "2", "--algorithm", algorithm, "--out", dir)
	}
	figures := t.TempDir()
	succeed(t, "plot", rws, bihm, "--out", figures, "--format", "svg", "--samples", "20", "--log-z2", "100")
	for _, name := range []string{"rws-norms", "bihm-norms", "norms", "curves", "likelihood-by-samples"} {
		if _, err := os.Stat(filepath.Join(figures, name+".svg")); err != nil {
			t.Error(err)
		}
	}
}
