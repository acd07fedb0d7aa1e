package plotting_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A run on a table has its figures in another folder with the data and without them, and says what it misses.
func TestTableFigures(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "people.csv")
	text := "a column whose name is longer than any axis of a figure,height,children,smokes\n"
	for i := range 120 {
		text += fmt.Sprintf("town %d,%d.5,%d,%s\n", i%14, 150+i*7%40, i%3, []string{"no", "yes"}[i%4/3])
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, Binarization: dataset.Real, Columns: "children=real", Validation: new(20), Standardize: true}.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	trained, err := hm.RWS().Epochs(2).Train(t.Context(), hm.New(set.Shape()).Dense(3).Groups(hm.Groups{}), set, filepath.Join(folder, "run"))
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(folder, "moved.csv")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	run, err := runs.Open(trained.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string][]string{moved: {"marginals", "pairs", "correlations", "weights", "imputed", "odd"}, "": {"marginals", "pairs", "correlations", "weights"}} {
		var kinds []string
		missing, err := plotting.TableFigures(t.Context(), run, data, func(f *plotting.Figure, kind string) error {
			kinds = append(kinds, kind)
			for _, theme := range []plotting.Theme{plotting.Paper, plotting.Dark} {
				if _, err := f.Theme(theme).PNG(); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
			return nil
		})
		if err != nil || !slices.Equal(kinds, want) {
			t.Errorf("with data in %q, the figures are %v, %v", data, kinds, err)
		}
		if said := strings.Join(missing, "\n"); (data == "") != strings.Contains(said, "--dataset") {
			t.Errorf("with data in %q, missing is %s", data, said)
		}
	}
}
