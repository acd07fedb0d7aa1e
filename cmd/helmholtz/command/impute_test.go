package command

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// In another folder, without the data of its run, impute fills in missing fields by values of their columns, and leaves
// all other fields as they are.
func TestImpute(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := "id,age,pay,town,sick\n"
	for i := range 60 {
		text += fmt.Sprintf("p%d,%d,%d.25,%s,%s\n", i, 20+i*i%31, i*i%7, []string{"Aa", "Bb", "Cc"}[i%4%3], []string{"no", "yes"}[i%2])
	}
	write("people.csv", text)
	elsewhere := t.TempDir()
	for run, args := range map[string]string{
		"hm": "--layers 3 --groups data --standardize --binarization real", "ppca": "ppca --components 1 --standardize --binarization real", "ica": "ica --sources 2 --standardize --binarization real", "sticks": "--algorithm pcd --batch 10 --layers 3 --columns age=skip,pay=skip",
	} {
		succeed(t, append(append([]string{"train"}, strings.Fields(args)...), "--dataset", "people.csv", "--epochs", "1", "--out", filepath.Join(elsewhere, run))...)
	}
	if err := os.Remove("people.csv"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(elsewhere)
	write("new.csv", "town,id,sick,pay,age\nAa,007,no,2.5000,31\nNA,,yes,?,\n,x y,,1,40\n")
	read := func(path string) [][]string {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(string(file))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	given := read("new.csv")
	whole := func(text string) bool { _, err := strconv.Atoi(text); return err == nil }
	for _, run := range []string{"hm", "ppca", "sticks"} {
		code, _, says := helmholtz(t, t.Context(), "impute", run, "new.csv", "--draws", "40", "--out", "filled.csv")
		if code != 0 || !strings.Contains(says, "fields in 2 of 3 rows; filled in for each row by 40 ") {
			t.Fatalf("%s says %s", run, says)
		}
		filled, different := read("filled.csv"), map[string]bool{}
		if len(filled) != 121 || !slices.Equal(filled[0], append([]string{"draw"}, given[0]...)) {
			t.Fatalf("%s: %d rows below %v", run, len(filled), filled[0])
		}
		for i, row := range filled[1:] {
			if row[0] != strconv.Itoa(1+i/3) {
				t.Errorf("row %d is of draw %s", i, row[0])
			}
			for k, field := range row[1:] {
				was, column := given[1+i%3][k], given[0][k]
				kind := map[string]bool{"town": strings.Contains("Aa Bb Cc", field) && field != "", "sick": field == "no" || field == "yes", "age": whole(field), "pay": strings.Index(field, ".") == len(field)-3}[column]
				switch {
				case was != "" && was != "NA" && was != "?" || column == "id" || run == "sticks" && (column == "age" || column == "pay"):
					if field != was {
						t.Errorf("%s: %s %q of row %d became %q", run, column, was, i, field)
					}
				case !kind:
					t.Errorf("%s: %s of row %d is filled in by %q", run, column, i, field)
				default:
					different[column+field] = true
				}
			}
		}
		if len(different) < 5 {
			t.Errorf("%s draws only %v", run, different)
		}
	}
	succeed(t, "impute", "hm", "new.csv", "--within", "--out", "one.csv")
	succeed(t, "impute", "hm", "new.csv", "--within", "--out", "one.parquet")
	for _, file := range []string{"one.csv", "one.parquet"} {
		if table := succeed(t, "eval", "hm", "--rows", file, "--samples", "10"); strings.Count(table, "\n") != 4 {
			t.Errorf("%s: %s", file, table)
		}
	}
	succeed(t, "impute", "hm", "one.parquet", "--out", "one.json")
	var objects []struct {
		Town, ID, Sick string
		Pay            float64
		Age            int
	}
	file, err := os.ReadFile("one.json")
	if err == nil {
		err = json.Unmarshal(file, &objects)
	}
	if err != nil || len(objects) != 3 || objects[0].ID != "007" || objects[0].Pay != 2.5 {
		t.Errorf("%v: %+v", err, objects)
	}
	code, _, says := helmholtz(t, t.Context(), "impute", "hm", "new.csv", "--draws", "40", "--spread", "--out", "spread.csv")
	spread := read("spread.csv")
	if want := []string{"town", "id", "sick", "pay", "age", "town_share", "sick_share", "pay_sd", "age_sd"}; code != 0 || len(spread) != 4 || !slices.Equal(spread[0], want) || !slices.Equal(spread[1][5:], []string{"1", "1", "0", "0"}) {
		t.Errorf("the copy with spreads is %v: %s", spread, says)
	}
	if want := "\nthe last sweep changed missing values in "; !strings.Contains(says, want) {
		t.Errorf("impute says %s, not %s", says, want)
	}
	if sd, _ := strconv.ParseFloat(spread[2][8], 64); !(sd > 0) || spread[2][6] != "1" || spread[2][4] == "" {
		t.Errorf("the spreads of the second row are %v", spread[2])
	}
	for _, run := range []string{"hm", "ppca", "sticks"} {
		conditions := map[bool]string{false: "town=Bb,age=25:40", true: "sick=yes,town=Bb"}[run == "sticks"]
		code, _, says := helmholtz(t, t.Context(), "sample", run, "--given", conditions, "--n", "20", "--out", "given.csv")
		if code != 0 || !strings.Contains(says, "20 rows that meet the conditions, among ") {
			t.Fatalf("%s says %s", run, says)
		}
		rows := read("given.csv")
		for _, row := range rows[1:] {
			age, _ := strconv.Atoi(row[0])
			if town := row[slices.Index(rows[0], "town")]; town != "Bb" || run != "sticks" && (age < 25 || age > 40) {
				t.Errorf("%s: the row %v does not meet %s", run, row, conditions)
			}
		}
	}
	for says, args := range map[string][]string{
		"--given is empty":                     {"hm", "--given", ""},
		`has no column "towm"`:                 {"hm", "--given", "towm=Bb"},
		"samples of --kind draws need no data": {"hm", "--dataset", "people.csv"},
		"--given chooses among draws":          {"hm", "--given", "town=Bb", "--kind", "means"},
		`has no column "label"`:                {"hm", "--given", "label=1"},
		"of 100000 draws meet the conditions":  {"hm", "--given", "pay=4.25,age=20,town=Bb,sick=yes", "--n", "1000"},
	} {
		if code, _, out := helmholtz(t, t.Context(), append([]string{"sample", "--out", "given.csv"}, args...)...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("sample %v says %s, not %s", args, out, says)
		}
	}
	standardInput := func(path string) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		before := os.Stdin
		os.Stdin = file
		t.Cleanup(func() { os.Stdin = before; file.Close() })
	}
	for _, format := range []string{"csv", "json", "parquet"} {
		succeed(t, "impute", "hm", "new.csv", "--within", "--out", "one."+format)
		want := succeed(t, "eval", "hm", "--rows", "one."+format)
		standardInput("one." + format)
		if got := succeed(t, "eval", "hm", "--rows", "-", "--stdin", format); got != want {
			t.Errorf("from standard input, eval prints %s, not %s", got, want)
		}
	}
	want := read("one.csv")
	standardInput("new.csv")
	if succeed(t, "impute", "hm", "-", "--within", "--out", "one.csv"); !reflect.DeepEqual(read("one.csv"), want) {
		t.Errorf("from standard input, impute writes %v, not %v", read("one.csv"), want)
	}
	write("whole.csv", "id,age,pay,town,sick\n,31,2.0,Aa,no\n")
	if _, _, says := helmholtz(t, t.Context(), "impute", "hm", "whole.csv"); !strings.Contains(says, "no field of whole.csv is missing") || !slices.Equal(read("filled.csv")[1], []string{"", "31", "2.0", "Aa", "no"}) {
		t.Errorf("without gaps impute says %s", says)
	}
	write("other.csv", "id,age,pay,town,sick\na,,2.0,Zz,no\n")
	if code, _, says := helmholtz(t, t.Context(), "eval", "hm", "--rows", "whole.csv", "--table", "whole.csv"); code == 0 || !strings.Contains(says, "--table whole.csv is the file of rows, which it would replace") {
		t.Errorf("eval onto its rows says %s", says)
	}
	for says, args := range map[string][]string{
		"independent components, which draws no missing values": {"ica", "new.csv"},
		`"Zz", which is not a value of the training data`:       {"hm", "other.csv"},
		"a probabilistic PCA draws without chains":              {"ppca", "new.csv", "--sweeps", "3"},
		"is the file of rows, which it would replace":           {"hm", "new.csv", "--out", "new.csv"},
		"--stdin has no effect without the file -":              {"hm", "new.csv", "--stdin", "csv"},
	} {
		if code, _, out := helmholtz(t, t.Context(), append([]string{"impute"}, args...)...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("impute %v says %s, not %s", args, out, says)
		}
	}
}

// A copy with spreads has the means of the draws, with the decimal commas of its file.
func TestImputeSpreadsInTheNumbersOfTheFile(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "pay;age\n"
	for i := range 60 {
		text += fmt.Sprintf("51%03d,%03d;%d,5\n", i*i%97, i*i%991, 20+i%31)
	}
	for path, text := range map[string]string{"people.csv": text, "new.csv": "pay;age\n;30,5\n51020,125;\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	succeed(t, strings.Fields("train ppca --components 1 --standardize --binarization real --dataset people.csv --epochs 1 --out ppca")...)
	read := func(flags string) (rows [][]string) {
		succeed(t, strings.Fields("impute ppca new.csv --out filled.csv --draws 7 "+flags)...)
		file, err := os.ReadFile("filled.csv")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(file)) {
			rows = append(rows, strings.Split(strings.TrimSpace(line), ";"))
		}
		return rows
	}
	number := func(field string) float64 {
		v, err := strconv.ParseFloat(strings.Replace(field, ",", ".", 1), 64)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	mean := 0.0
	for i, row := range read("")[1:] {
		if i%2 == 0 {
			mean += number(row[1]) / 7
		}
	}
	spread := read("--spread")
	if got := number(spread[1][0]); math.Abs(got-mean) > 1e-4 || spread[1][1] != "30,5" || spread[2][0] != "51020,125" || !strings.Contains(spread[1][2], ",") {
		t.Errorf("the mean is %v, not %v, in %v", got, mean, spread)
	}
}
