package plotting_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/factors"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A report of a run on a table has no samples, because the columns are not pixels.
func TestReportsOfTablesDrawNoSamples(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "people.csv"), t.TempDir()
	text := "height,weight,age,dose\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%d,%d,%d\n", 150+i*7%40, 50+i*11%50, 20+i*13%60, i*5%9)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, Binarization: dataset.Real, Validation: new(10), Standardize: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := factors.FactorAnalysis.Experiment(set)
	e.Settings.Factors, e.Settings.BatchSize, e.Epochs = 1, 10, 2
	if _, err := e.Train(t.Context(), set, dir, runs.Quiet); err != nil {
		t.Fatal(err)
	}
	page, err := plotting.Report(t.Context(), dir, plotting.ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(page), "<h2>Samples</h2>") {
		t.Error("the report draws rows of a table as images")
	}
}
