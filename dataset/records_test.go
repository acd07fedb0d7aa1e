package dataset

import (
	"bytes"
	"compress/gzip"
	"reflect"
	"strings"
	"testing"
)

// Every form of JSON that pandas writes for a table, here by pandas 3.0's to_json with its white space, is the table of the
// CSV, or refused.
func TestTablesInJSON(t *testing.T) {
	const table = "pay,town,sick\n1.5,Aa,true\n2.25,Bb,false\n1e-05,Aa,true\n4,Bb,true\n"
	of := func(text string) Spec {
		return Spec{Name: written(t, "rows.json", text), Binarization: Real, Validation: new(0)}
	}
	want := opened(t, Spec{Name: written(t, "rows.csv", table), Binarization: Real, Validation: new(0)})
	var zipped bytes.Buffer
	const lines = `{"pay":1.5,"town":"Aa","sick":true}
{"pay":2.25,"town":"Bb","sick":false}
{"town":"Aa","pay":1e-05,"sick":true}
{"pay":4,"town":"Bb","sick":true}
`
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(lines))
	z.Close()
	const columns = `{"pay":{"0":1.5,"1":2.25,"2":0.00001,"3":4},"town":{"0":"Aa","1":"Bb","2":"Aa","3":"Bb"},"sick":{"0":true,"1":false,"2":true,"3":true}}`
	for name, text := range map[string]string{
		"columns": columns,
		"lines":   lines,
		"gzip":    zipped.String(),
		"records": "[\n  " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", ",\n  ") + "\n]\n",
		"lists":   `{"pay": [1.5, 2.25, 1e-5, 4], "town": ["Aa", "Bb", "Aa", "Bb"], "sick": [true, false, true, true]}`,
		"named":   strings.NewReplacer(`"0":`, `"a":`, `"1":`, `"b":`, `"2":`, `"c":`, `"3":`, `"d":`).Replace(columns), // which become identifiers
	} {
		set, err := of(text).Open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name != "named" && !reflect.DeepEqual(set.Columns()[1:], want.Columns()[1:]) || set.Fingerprint() != want.Fingerprint() {
			t.Errorf("%s: %v, want %v", name, set.Columns(), want.Columns())
		}
		if rows, err := want.ReadRows(of(text).Name); err != nil && name != "named" || err == nil && rows.Rows != 4 {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
	for text, says := range map[string]string{
		`[{"a":1},{"a":2}`:                      "ends early",
		`[{"a":1},{"a":2`:                       "row 2: EOF",
		`{"a":{"0":1,"1":2},"b":{"0":1`:         "row 1",
		`[{"a":1,"a":2}]`:                       `the key "a" stands twice`,
		`[{"a":1},{"b":2}]`:                     `row 2: "b" is not a key of the first row`,
		`[{"a":1},2]`:                           "2 stands where row 2",
		`[{"a":1}][{"a":1}]`:                    "stands where row 2",
		`[{"a":[1,2]}]`:                         `the value of "a" is a list`,
		`[{"a":1},{"a":null},{"a":3}]`:          `row 2, column "a": a missing value (""): fill it in, or leave out its row, for example with pandas.read_json(FILE).dropna()`,
		"{\"a\":1}\n{\"a\":null}\n{\"a\":2}\n":  "pandas.read_json(FILE, lines=True).dropna()",
		`{"a":{"0":1,"1":null,"2":3}}`:          "pandas.read_json(FILE).dropna()",
		`{"a":{"0":1,"1":2},"b":{"0":1,"2":3}}`: `the columns "a" and "b" have different rows`,
		`{"columns":["pay","town"],"index":[0,1],"data":[[1.5,"Aa"],[2.25,"Bb"]]}`:                 `pandas.read_json(FILE, orient=ORIENT)`,
		`{"0":{"pay":1.5,"town":"Aa"},"1":{"pay":2.25,"town":"Bb"}}`:                               `may be rows or columns`,
		`{"schema":{"fields":[{"name":"index","type":"integer"}]},"data":[{"index":0,"pay":1.5}]}`: "is a list or an object",
		`{"a":[1,2]} {"a":[1,2]}`: "text follows the columns",
	} {
		_, err := of(text).Open()
		wantError(t, err, says)
	}
}
