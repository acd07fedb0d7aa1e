package dataset

import (
	"slices"
	"strings"
	"testing"
)

// Rows in memory become the same units in each format, whatever decimal character and header the training file has, and
// content of another format than the declared one is refused.
func TestParseRows(t *testing.T) {
	csv := "town,pay\nAa,1.125\nBb,2.250\nAa,3.5\nCc,4.5\n"
	commas := strings.ReplaceAll(strings.ReplaceAll(csv, ",", ";"), ".", ",")
	for name, c := range map[string]struct {
		train, rows, json string
		spec              Spec
	}{
		"points":          {csv, csv, `[{"pay":1.125,"town":"Aa"},{"town":"Bb","pay":"2.25"},{"town":"Aa","pay":35e-1},{"town":"Cc","pay":4.5}]`, Spec{}},
		"commas":          {commas, commas, `[{"pay":1.125,"town":"Aa"},{"town":"Bb","pay":2.25},{"town":"Aa","pay":3.5},{"town":"Cc","pay":4.5}]`, Spec{}},
		"declared commas": {commas, commas, `[{"pay":1.125,"town":"Aa"},{"town":"Bb","pay":"2,25"},{"town":"Aa","pay":3.5},{"town":"Cc","pay":4.5}]`, Spec{Decimal: ","}},
		"no header":       {csv[9:], csv[9:], `[{"2":1.125,"1":"Aa"},{"1":"Bb","2":2.25},{"1":"Aa","2":3.5},{"1":"Cc","2":4.5}]`, Spec{Header: "no"}},
	} {
		c.spec.Name, c.spec.Validation, c.spec.Binarization = written(t, "train.csv", c.train), new(0), Real
		set := opened(t, c.spec)
		blank, err := set.Schema().Blank(set.Spec())
		if err != nil {
			t.Fatal(name, err)
		}
		want, err := blank.ReadRows(written(t, "rows.csv", c.rows))
		if err != nil {
			t.Fatal(name, err)
		}
		for format, content := range map[string]string{"csv": c.rows, "json": c.json} {
			got, err := blank.ParseRows(Input{Name: "memory", Format: format, Content: []byte(content)})
			if err != nil || !slices.Equal(got.Reals(), want.Reals()) || got.Rows != 4 {
				t.Errorf("%s, %s: %v, want %v (error %v)", name, format, got.Reals(), want.Reals(), err)
			}
			gaps, err := blank.ParseGaps(Input{Name: "memory", Format: format, Content: []byte(strings.Replace(content, `"Aa"`, "null", 1))})
			if err != nil || gaps.Missing != map[string]int{"csv": 0, "json": 1}[format] {
				t.Errorf("%s, %s: gaps %+v (error %v)", name, format, gaps, err)
			}
		}
		header := []string{"pay", "town"}
		if name == "no header" {
			header = []string{"2", "1"}
		}
		got, err := blank.ParseRows(Input{Name: "memory", Rows: [][]string{header, {"1.125", "Aa"}, {"2.25", "Bb"}, {"3.5", "Aa"}, {"4.5", "Cc"}}})
		if err != nil || !slices.Equal(got.Reals(), want.Reals()) {
			t.Errorf("%s, fields: %v, want %v (error %v)", name, got.Reals(), want.Reals(), err)
		}
		for format, content := range map[string]string{"csv": c.json, "json": c.rows, "npy": c.rows} {
			if _, err := blank.ParseRows(Input{Name: "memory", Format: format, Content: []byte(content)}); err == nil || !strings.Contains(err.Error(), "declared as "+format) {
				t.Errorf("%s as %s: error %v", name, format, err)
			}
		}
	}
}
