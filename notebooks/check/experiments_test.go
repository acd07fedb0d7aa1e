package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/helmholtz-go/helmholtz/boltzmann" // the family of some sweeps
	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// published are the hidden layers of the machines for the UCI sets (BiHM thesis 2016, table 3.2).
var published = map[string][]int{
	"uci/adult":     {100, 70, 50, 25},
	"uci/connect4":  {300, 110, 50, 20},
	"uci/dna":       {200, 150, 130, 100, 70, 50, 30, 20, 10},
	"uci/mushrooms": {150, 100, 90, 60, 40, 20},
}

// TestExperiments checks that each experiment file can be read and trained. Blank rows, of the
// right number and width, replace the data.
func TestExperiments(t *testing.T) {
	t.Setenv(dataset.Environment, t.TempDir())
	for _, info := range dataset.List() {
		if _, ok := published[info.Name]; ok {
			writeBlank(t, info)
		}
	}
	paths, err := filepath.Glob(filepath.Join("..", "experiments", "*.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < len(published) {
		t.Errorf("%d files in experiments: one for each of the %d UCI sets is wanted", len(paths), len(published))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			read, err := runs.ReadExperiment(path)
			if err != nil {
				t.Fatal(err)
			}
			set, err := read.Header().Dataset.Open()
			if err != nil {
				t.Fatal(err)
			}
			if err := read.Check(set); err != nil {
				t.Error(err)
			}
			e, is := read.(hm.Experiment)
			layers, ok := published[read.Header().Dataset.Name]
			if !is || !ok {
				return
			}
			if want := strings.ReplaceAll(e.Dataset.Name, "/", "-") + ".toml"; filepath.Base(path) != want {
				t.Errorf("an experiment on %s: call it %s", e.Dataset.Name, want)
			}
			if !slices.Equal(e.Machine.Layers, layers) {
				t.Errorf("layers %v, want the published %v", e.Machine.Layers, layers)
			}
		})
	}
}

// The listed pairs in the file of a general Boltzmann machine can also be trained.
func TestListedPairs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "experiments", "3by3-general.toml"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := general.Family.Parse([]byte(strings.NewReplacer(`"all"`, `"listed"`, "# pairs", "pairs").Replace(string(text))))
	if err != nil || len(e.Settings.Machine.Pairs) == 0 {
		t.Fatalf("pairs %v: %v", e.Settings.Machine.Pairs, err)
	}
	set, err := e.Dataset.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(set); err != nil {
		t.Error(err)
	}
}

// TestSweeps checks that each sweep file can be read, and that its settings can be trained if the
// data are available.
func TestSweeps(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "sweeps", "*.toml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files in sweeps: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, err := runs.ReadSweep(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Settings(); err != nil {
				t.Fatal(err)
			}
			if os.Getenv(dataset.Environment) == "" {
				t.Skip(dataset.Environment + " is not set: whether the sweep can be trained on its data is not checked")
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// writeBlank writes files of zeros in place of a named set's files.
func writeBlank(t *testing.T, info dataset.Info) {
	t.Helper()
	row := strings.Repeat("0 ", info.Shape.Units()-1) + "0\n"
	for i, rows := range []int{info.Train, info.Validation, info.Test} {
		path := strings.TrimSuffix(info.Files[i].Path, ".gz")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(row, rows)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
