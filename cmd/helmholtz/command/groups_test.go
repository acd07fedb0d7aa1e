package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The columns of a table become categorical units by a flag, and dreams of the machine are rows of
// the table. Images of them are refused.
func TestDreamsByColumn(t *testing.T) {
	here := t.TempDir()
	table, dir, dreams := filepath.Join(here, "garments.csv"), filepath.Join(here, "run"), filepath.Join(here, "dreams.csv")
	rows := strings.Repeat("blue,no\ngreen,yes\nred,yes\n", 10)
	if err := os.WriteFile(table, []byte("colour,striped\n"+rows), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "train", "--dataset", table, "--layers", "4", "--groups", "data", "--tanh", "3", "--batch", "8", "--epochs", "1", "--out", dir)
	succeed(t, "sample", dir, "--kind", "draws", "--n", "20", "--out", dreams)
	written, err := os.ReadFile(dreams)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(written))
	if len(lines) != 21 || lines[0] != "colour,striped" {
		t.Errorf("dreams are\n%s", written)
	}
	for _, line := range lines[1:] {
		colour, striped, _ := strings.Cut(line, ",")
		if !slices.Contains([]string{"blue", "green", "red"}, colour) || !slices.Contains([]string{"no", "yes"}, striped) {
			t.Errorf("a dream is %q", line)
		}
	}
	if code, _, errOut := helmholtz(t, t.Context(), "sample", dir, "--out", filepath.Join(here, "sheet.png")); code == 0 || !strings.Contains(errOut, "needs pixels") || !strings.Contains(errOut, "--out rows.csv") {
		t.Errorf("images of a table end with %d: %s", code, errOut)
	}
}
