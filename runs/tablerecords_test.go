package runs_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"pgregory.net/rapid"
)

// A CSV file contains its table, to the last bit.
func TestCSVHoldsTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		text := write(t, table, "csv")
		records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		columns := table.Columns()
		for i, key := range records[0] {
			if key != columns[i].Key {
				t.Fatalf("column %d is %q, want %q", i, key, columns[i].Key)
			}
		}
		if len(records) != 1+len(table.Rows()) {
			t.Fatalf("%d lines for %d rows:\n%s", len(records), len(table.Rows()), text)
		}
		for i, row := range table.Rows() {
			for j, want := range row {
				if x, ok := want.(string); ok {
					want = strings.ReplaceAll(x, "\r\n", "\n") // as package csv reads it
				}
				if got := parse(t, columns[j].Kind, records[1+i][j]); !sameCell(got, want) {
					t.Fatalf("row %d has %s %#v, want %#v:\n%s", i, columns[j].Key, got, want, text)
				}
			}
		}
	})
}

// parse reads a field of a CSV file, or the string that JSON has for an infinity.
func parse(t *rapid.T, kind runs.ColumnKind, field string) any {
	var cell any = field
	var err error
	switch {
	case field == "":
		return nil
	case kind == runs.Integer:
		cell, err = strconv.ParseInt(field, 10, 64)
	case kind == runs.Number:
		if _, err := strconv.ParseInt(field, 10, 64); err == nil {
			t.Fatalf("the number %s could be an integer", field)
		}
		cell, err = strconv.ParseFloat(field, 64)
	case kind == runs.Boolean:
		cell, err = strconv.ParseBool(field)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

// A JSON file contains its table, to the last bit, in the order of the columns.
func TestJSONHoldsTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		text := write(t, table, "json")
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		next := func() json.Token {
			token, err := d.Token()
			if err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			return token
		}
		expect := func(want json.Token) {
			if got := next(); got != want {
				t.Fatalf("%v follows, want %v:\n%s", got, want, text)
			}
		}
		expect(json.Delim('['))
		for i, row := range table.Rows() {
			expect(json.Delim('{'))
			for j, c := range table.Columns() {
				expect(c.Key)
				got := next()
				if x, ok := got.(json.Number); ok {
					got = parse(t, c.Kind, x.String())
				}
				if x, ok := row[j].(float64); ok && math.IsInf(x, 0) {
					got = parse(t, c.Kind, fmt.Sprint(got))
				}
				if !sameCell(got, row[j]) {
					t.Fatalf("row %d has %s %#v, want %#v:\n%s", i, c.Key, got, row[j], text)
				}
			}
			expect(json.Delim('}'))
		}
		expect(json.Delim(']'))
		if lines := strings.Count(text, "\n"); !slices.Contains([]int{1, len(table.Rows()) + 2}, lines) {
			t.Fatalf("%d lines for %d rows:\n%s", lines, len(table.Rows()), text)
		}
	})
}

func TestRecords(t *testing.T) {
	table := runs.NewTable("epochs", "", runs.Column{Key: "run"}, runs.Column{Key: "epoch", Kind: runs.Integer},
		runs.Column{Key: "log_p", Kind: runs.Number, Decimals: 1}, runs.Column{Key: "best", Kind: runs.Boolean})
	table.Add(`BiHM, "deep"`, 1, -84.0, true)
	table.Add(nil, nil, math.Inf(-1), nil)
	for format, want := range map[string]string{
		"csv": "run,epoch,log_p,best\n\"BiHM, \"\"deep\"\"\",1,-84.0,true\n,,-Inf,\n",
		"json": "[\n" + `{"run":"BiHM, \"deep\"","epoch":1,"log_p":-84.0,"best":true}` + ",\n" +
			`{"run":null,"epoch":null,"log_p":"-Inf","best":null}` + "\n]\n",
	} {
		if got := write(t, table, format); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", format, got, want)
		}
	}
}

func write(t interface{ Fatal(...any) }, table *runs.Table, format string) string {
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
