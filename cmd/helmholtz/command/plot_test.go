package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlotOfSeveralRuns draws the figures of each run and of all.
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

// A directory of seeds stands for its runs, and runs with the same name in two directories are
// distinguished.
func TestFiguresOfSeeds(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, name := range []string{"a", "b"} {
		succeed(t, seedsOf(at(name))...)
	}
	succeed(t, "plot", at("a", "seed-1"), at("b", "seed-1"), "--out", at("two"), "--samples", "10", "--log-z2", "100")
	succeed(t, "plot", at("a"), "--out", at("seeds"), "--samples", "10", "--log-z2", "100")
	succeed(t, "report", at("a"), "--samples", "10", "--rows", "10", "--log-z2", "100")
	succeed(t, "sample", at("a"), "--n", "4", "--out", at("sheet.png"))
	for _, path := range []string{at("two", "a-seed-1-norms.png"), at("two", "b-seed-1-norms.png"), at("two", "curves.png"), at("seeds", "seed-1-norms.png"), at("seeds", "seed-2-norms.png"),
		at("a-seed-1.html"), at("a-seed-2.html"), at("sheet-seed-1.png"), at("sheet-seed-2.png")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if code, _, says := helmholtz(t, t.Context(), "plot", at("a", "seed-1"), at("a", "seed-1")); code != exitUsage || !strings.Contains(says, "is given twice") {
		t.Errorf("one run twice ends with %d: %s", code, says)
	}
}
