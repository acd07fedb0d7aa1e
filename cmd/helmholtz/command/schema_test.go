package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run on a table needs the table no more: in another folder, without the file, it draws rows of the kinds of the file,
// and reads them again without a word.
func TestRunsWithoutTheirTable(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "id,age,pay,town,sick\n"
	for i := range 60 {
		text += fmt.Sprintf("p%d,%d,%d.25,%s,%s\n", i, 20+i*i%31, i*i%7, []string{"Aa", "Bb", "Cc"}[i*i%5%3], []string{"no", "yes"}[i%2])
	}
	if err := os.WriteFile("people.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "new", "e.toml", "--dataset", "people.csv")
	succeed(t, "train", "--config", "e.toml", "--epochs", "1", "--out", "run")
	elsewhere := t.TempDir()
	if err := os.Rename("run", filepath.Join(elsewhere, "run")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("people.csv"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(elsewhere)
	for _, out := range []string{"rows.csv", "rows.parquet"} {
		succeed(t, "sample", "run", "--n", "50", "--within", "--out", out)
		if table := succeed(t, "eval", "run", "--rows", out, "--samples", "10"); strings.Count(table, "\n") != 51 {
			t.Errorf("%s: %s", out, table)
		}
	}
	succeed(t, "sample", "run", "--n", "50", "--within", "--out", "rows.json")
	read, err := os.ReadFile("rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID         *string
		Age        int
		Pay        float64
		Town, Sick string
	}
	if err := json.Unmarshal(read, &rows); err != nil || len(rows) != 50 {
		t.Fatalf("%v in\n%s", err, read)
	}
	for _, row := range rows {
		if row.ID != nil || row.Age < 20 || row.Age > 50 || row.Pay < 0.25 || row.Pay > 6.25 || !strings.Contains("Aa Bb Cc", row.Town) || !strings.Contains("no yes", row.Sick) {
			t.Errorf("a row is %+v", row)
		}
	}
	if _, _, says := helmholtz(t, t.Context(), "eval", "run"); !strings.Contains(says, "put the data there") {
		t.Errorf("an evaluation of test rows says %s", says)
	}
	if err := os.WriteFile("moved.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "eval", "run", "--dataset", "moved.csv", "--samples", "10")
	if _, _, says := helmholtz(t, t.Context(), "eval", "run", "--dataset", "rows.csv"); !strings.Contains(says, "rows.csv") {
		t.Errorf("an evaluation of other rows says %s", says)
	}
}

// A schema that data show writes is read by new and train; the run keeps it, so that it may change or go.
func TestSchemasOfTables(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "pay,grade\n"
	for i := range 40 {
		text += fmt.Sprintf("%d.5,%d\n", 1+i*i%7, i%3)
	}
	if err := os.WriteFile("rows.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := succeed(t, "data", "show", "rows.csv", "--write-schema", "schema.toml"); !strings.Contains(out, "column grade: real, 1 unit; from 0 to 2, mean 0.975, sd 0.821") {
		t.Errorf("data show prints\n%s", out)
	}
	schema, err := os.ReadFile("schema.toml")
	if err != nil {
		t.Fatal(err)
	}
	schema = []byte(strings.Replace(string(schema), `kind = "count"
  decimals = 0`, `kind = "categorical"
  values = ["0", "1", "2", "3"]`, 1))
	for _, line := range []string{"greatest = 2.0", "mean = 0.975", "deviation = 0.8211424967084772"} {
		schema = []byte(strings.Replace(string(schema), line, "", 1))
	}
	if err := os.WriteFile("schema.toml", schema, 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "new", "e.toml", "--dataset", "rows.csv", "--schema", "schema.toml")
	succeed(t, "train", "--config", "e.toml", "--epochs", "1", "--out", "run")
	if err := os.Remove("schema.toml"); err != nil {
		t.Fatal(err)
	}
	succeed(t, "eval", "run", "--samples", "10")
	if err := os.WriteFile("new.csv", []byte("pay,grade\n2.5,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "eval", "run", "--rows", "new.csv", "--samples", "10")
}
