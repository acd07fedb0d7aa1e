package runs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// TestMissingFilesAreNoticed takes files away that no crash leaves out.
func TestMissingFilesAreNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustTrainSeeds(t, dir)
	one := runs.SeedDir(dir, 6)
	without := func(name string, look func() error, says ...string) {
		t.Helper()
		path := filepath.Join(one, name)
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		wantError(t, look(), says...)
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	openAll := func() error { _, err := runs.OpenSeeds(dir); return err }
	openOne := func() error { _, err := runs.Open(one); return err }
	without("checkpoint.safetensors", openAll, one, "checkpoint.safetensors", "from a copy")
	without("checkpoint.safetensors", openOne, one, "checkpoint.safetensors", "from a copy")
	without("experiment.toml", openAll, one, "experiment.toml")
	run, err := runs.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	without("best.safetensors", func() error { _, err := run.Best(); return err }, filepath.Join(one, "best.safetensors"), "from a copy")
}
