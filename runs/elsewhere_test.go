package runs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A run whose data are missing names the place where it looked and, in a folder other than that of its training, the
// folder that would help. There, it opens them.
func TestRunsInAnotherFolderSayWhereTheyLook(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"rows.csv": strings.Repeat("1,0,1,0\n0,1,1,0\n", 30), "weights.csv": strings.Repeat("1\n", 60)} {
		for _, name := range []string{name, strings.TrimSuffix(name, ".csv")} {
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		of      dataset.Spec
		looks   string
		is, not []string
	}{
		{dataset.Spec{Name: "rows.csv"}, filepath.Join(other, "rows.csv"), []string{"run the command in that folder"}, []string{"dataset.bin"}},
		{dataset.Spec{Name: "rows"}, filepath.Join(other, "rows"), []string{"run the command in that folder", "dataset.bin"}, nil},
		{dataset.Spec{Name: filepath.Join(home, "rows.csv"), WeightFile: "weights.csv"}, filepath.Join(other, "weights.csv"), []string{"that folder"}, nil},
		{dataset.Spec{Name: filepath.Join(home, "rows.csv")}, filepath.Join(home, "rows.csv"), []string{"put it back there"}, []string{"that folder"}},
	} {
		t.Chdir(home)
		c.of.Binarization = dataset.Gray
		set, err := c.of.Open()
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "run")
		run := mustTrain(t, brief(set), set, dir)
		t.Chdir(other)
		away := c.looks + ".away" // the file if its path is absolute
		_ = os.Rename(c.looks, away)
		_, err = run.Dataset()
		wantError(t, err, append(c.is, c.looks)...)
		for _, not := range c.not {
			if err != nil && strings.Contains(err.Error(), not) {
				t.Errorf("%+v: %v", c.of, err)
			}
		}
		_ = os.Rename(away, c.looks)
		t.Chdir(home) // the remedy
		if _, err := run.Dataset(); err != nil {
			t.Error(err)
		}
	}
}

// The error for a missing file of an experiment, a sweep or its base names the path as given, and either a file of a similar
// name, the folder where relative paths start, or the file that names it.
func TestMissingFilesOfSettings(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	if err := os.WriteFile("widths.toml", []byte("base = \"gone.toml\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(path string) error{
		"experiment": func(path string) error { _, err := runs.ReadExperiment(path); return err },
		"sweep":      func(path string) error { _, err := runs.ReadSweep(path); return err },
		"tuning":     func(path string) error { _, err := runs.ReadTuning(path, 9); return err },
	} {
		wantError(t, read("wide.toml"), "wide.toml", "from the folder "+home)
		wantError(t, read("width.toml"), "open width.toml", `did you mean "widths.toml"?`)
		if name != "experiment" {
			wantError(t, read("widths.toml"), `widths.toml names "gone.toml"`, "at "+filepath.Join(home, "gone.toml")+": correct the path in widths.toml")
		}
	}
}
