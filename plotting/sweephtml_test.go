package plotting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// A sweep as HTML has the number of finished runs, a row for each setting, the failures, and a figure against the setting
// that varies; before the first result it has no figure.
func TestSweepHTML(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rates.toml")
	if err := os.WriteFile(file, []byte(`
base = {epochs = 2, dataset = {name = "3by3", subset = 64}, machine = {layers = [3]}, method = {preset = "rws"}}

[grid]
method.learning_rate = [0.01, 0.02, 1e300]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := runs.ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "rates")
	if err := s.Claim(out); err != nil {
		t.Fatal(err)
	}
	begun, err := s.Report(out)
	if first := SweepHTML(begun); err != nil || !strings.Contains(first, "0 of 3 runs are finished") || strings.Contains(first, "<img") {
		t.Errorf("before the first run: %v, %s", err, first)
	}
	if _, err := s.Train(t.Context(), out, runs.Shard{}, nil); err == nil {
		t.Error("a learning rate of 1e300 trains")
	}
	report, err := s.Report(out)
	if err != nil {
		t.Fatal(err)
	}
	last := SweepHTML(report)
	for _, part := range []string{"2 of 3 runs are finished", "failed: ", "<th", "data:image/png;base64,", "method.learning_rate"} {
		if !strings.Contains(last, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if rows := strings.Count(last, "<tr>"); rows != 1+3 {
		t.Errorf("the table has %d rows", rows)
	}
}
