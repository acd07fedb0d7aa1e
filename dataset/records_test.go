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
		`[{"a":1},{"a":NaN}]`:                   "row 2: invalid character 'N'",
		`[{"a":-Infinity},{"a":1}]`:             `JSON has no NaN and no Infinity: write null, for example with pandas.DataFrame(json.load(open(FILE)))`,
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

// Truth values of JSON are the values of a CSV file that differ from them in capitals, as values, conditions and classes, unless
// several do or the file writes them in other words.
func TestTruthValuesInJSON(t *testing.T) {
	header := "pay,sick,away,odd,bit,class\n"
	const lines = "1.5,True,FALSE,True,0,FALSE\n2.5,False,TRUE,TRUE,1,TRUE\n1.5,True,TRUE,no,1,TRUE\n4.5,False,TRUE,True,1,TRUE\n"
	set := opened(t, Spec{Name: written(t, "rows.csv", header+lines), Binarization: Real, Columns: "class=label", Validation: new(0)})
	want, err := set.ReadRows(written(t, "same.csv", header+lines))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := set.ReadRows(written(t, "rows.json", `[{"pay":1.5,"sick":true,"away":false,"odd":"True","bit":0,"class":false},
		{"pay":2.5,"sick":false,"away":true,"odd":"TRUE","bit":1,"class":true}, {"pay":1.5,"sick":true,"away":true,"odd":"no","bit":1,"class":true},
		{"pay":4.5,"sick":false,"away":true,"odd":"True","bit":1,"class":true}]`))
	if err != nil || !reflect.DeepEqual(rows.Reals(), want.Reals()) || !reflect.DeepEqual(rows.Labels, want.Labels) {
		t.Errorf("the rows are %v, %v with labels %v, want %v with %v", rows.Values, err, rows.Labels, want.Values, want.Labels)
	}
	given, err := set.ParseGiven("sick=true,class=false")
	if err != nil || given[0].Value != "True" || given[1].Value != "FALSE" {
		t.Errorf("the conditions are %v, %v", given, err)
	}
	for row, says := range map[string]string{
		`"sick":true,"away":true,"odd":true,"bit":1`:      `column "odd": row 1 has "true", which is not a value of the training data (TRUE, True, no): correct it`,
		`"sick":true,"away":true,"odd":"True","bit":true`: `column "bit": row 1 has "true", which is not a value of the training data (0, 1): correct it`,
	} {
		_, err := set.ReadRows(written(t, "doubt.json", `[{"pay":1.5,`+row+`}]`))
		wantError(t, err, says)
	}
	_, err = set.ParseGiven("odd=true")
	wantError(t, err, "no training row has this value: use TRUE, True, no")
}
