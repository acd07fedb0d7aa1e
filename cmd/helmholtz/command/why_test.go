package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Why names the column that makes a row odd and a typical value, in the kinds of the file, with the identifiers of the rows; ranks need
// the training rows, which may have moved.
func TestEvalWhy(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "name,a,b,count\n"
	for i := range 80 {
		text += fmt.Sprintf("row %d,%s\n", i, []string{"A,up,3", "B,down,8"}[i%2])
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rows.csv", text)
	write("odd.csv", "name,a,b,count\nfirst,A,up,3\nsecond,A,down,3\n")
	succeed(t, strings.Fields("train --algorithm cd --layers 3 --batch 10 --dataset rows.csv --epochs 400 --out run")...)
	if err := os.Rename("rows.csv", "moved.csv"); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Row                          int
		Name, Column, Value, Typical string
		Rank, Below                  float64
		Odd                          bool
	}
	out := succeed(t, strings.Fields("eval run --rows odd.csv --why --rank --dataset moved.csv --json")...)
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 6 {
		t.Fatalf("%v in %s", err, out)
	}
	if of := rows[3]; of.Row != 2 || of.Name != "second" || of.Column != "b" || of.Value != "down" || of.Typical != "up" || !of.Odd || of.Rank > 0.01 {
		t.Errorf("the odd row is %+v", of)
	}
	if of := rows[0]; of.Name != "first" || of.Odd || of.Below < rows[1].Below || of.Rank < 0.1 || of.Typical != of.Value {
		t.Errorf("the usual row is %+v", of)
	}
	for says, args := range map[string]string{
		"name their path with --dataset": "eval run --rows odd.csv --rank",
		"--why has no effect without":    "eval run --why",
	} {
		if code, _, said := helmholtz(t, t.Context(), strings.Fields(args)...); code == 0 || !strings.Contains(said, says) {
			t.Errorf("%s says %s", args, said)
		}
	}
}
