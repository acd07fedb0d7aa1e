package dataset

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A set without rows, made from the text of a Schema, reads files and writes samples like the set of the Schema, without
// the training file.
func TestBlankReadsLikeTheSet(t *testing.T) {
	mixed := table30("id,age,pay,sex,town,label,extra", "p%[1]d,%[2]d,1%[2]d.25,@,t%[2]d,c,7")
	mixed = strings.ReplaceAll(replaced(mixed, "f", "m"), ",c,", ",yes,")
	for _, c := range []struct {
		name, text string
		spec       Spec
	}{
		{"mixed.csv", mixed, Spec{}},
		{"mixed.csv", mixed, Spec{Binarization: Real}},
		{"mixed.csv", mixed, Spec{Binarization: Real, Standardize: true, Columns: "town=skip,age=real:3,extra=real"}},
		{"mixed.csv", mixed, Spec{Binarization: Real, Rules: FirstRules, Columns: "id=skip,town=skip"}},
		{"unnamed.csv", table30("1.5,2,a", "%[2]d.5,%[1]d7,a"), Spec{Binarization: Real, Columns: "3=skip"}},
		{"numbers.csv", table30("1.5,2.5", "%[2]d.5,-%[1]d.25"), Spec{Binarization: Real}},
		{"index.csv", table30(",x,y", "%[1]d,%[2]d.5,%[1]d"), Spec{Binarization: Real}},
		{"digits.csv", table30("label,p0,p1,p2,p3", "@,%[2]d,0,255,128"), Spec{Shape: "2x2", Binarization: Gray}},
		{"bits.txt", "0 1 1\n1 0 1\n1 1 1\n0 0 0\n", Spec{}},
		{"spins.txt", "-1 1 1\n1 -1 1\n1 1 1\n-1 -1 -1\n", Spec{}},
		{"levels.csv", table30("0,9,18", "%[2]d,255,%[1]d"), Spec{Binarization: Gray}},
		{"of16.txt", table30("0.5,9,16", "%[2]d,2,1"), Spec{Largest: 31, Binarization: Stochastic}},
		{"keys.json", `{"keys": [60, 62], "train": [[[60], [61, 62]], [[62], []]], "test": [[[61]]]}`, Spec{}},
	} {
		c.spec.Name = written(t, c.name, strings.ReplaceAll(c.text, "@", "3"))
		set := opened(t, c.spec)
		rows := filepath.Join(t.TempDir(), "rows"+filepath.Ext(c.name))
		text := c.text
		if set.Train().Lengths != nil {
			text = `{"train": [[[60], [61, 62]], [[62], []]]}`
			text = strings.Replace(text, "{", `{"keys": [60, 62], `, 1)
		}
		if err := os.WriteFile(rows, []byte(strings.ReplaceAll(text, "@", "3")), 0o600); err != nil {
			t.Fatal(err)
		}
		of, err := ParseSchema(set.Schema().TOML())
		if err != nil {
			t.Errorf("%+v: %v\n%s", c.spec, err, set.Schema().TOML())
			continue
		}
		if !reflect.DeepEqual(of, set.Schema()) {
			t.Errorf("%+v: the schema is read back as %+v, want %+v", c.spec, of, set.Schema())
		}
		want, wantErr := set.ReadRows(rows)
		if err := os.Remove(c.spec.Name); err != nil {
			t.Fatal(err)
		}
		blank, err := of.Blank(set.Spec())
		if err != nil {
			t.Errorf("%+v: %v", c.spec, err)
			continue
		}
		got, err := blank.ReadRows(rows)
		if err != nil || wantErr != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: rows of %v (%v), want %v (%v)", c.spec, got, err, want, wantErr)
			continue
		}
		all := slices.Concat(set.Train().Floats(), set.Test().Floats())
		if len(all) != got.Rows && set.Train().Lengths == nil {
			t.Errorf("%+v: %d rows, want %d", c.spec, got.Rows, len(all))
		}
		sheet := Sheet{set.Shape(), set.Train().Floats()}
		var as, is bytes.Buffer
		if errWant, err := set.WriteCSV(&as, sheet), blank.WriteCSV(&is, sheet); (err == nil) != (errWant == nil) || as.String() != is.String() {
			t.Errorf("%+v: it writes\n%s(%v), want\n%s(%v)", c.spec, is.String(), err, as.String(), errWant)
		}
		if !reflect.DeepEqual(blank.ClassNames(), set.ClassNames()) || !reflect.DeepEqual(blank.Columns(), set.Columns()) || blank.LogScale() != set.LogScale() {
			t.Errorf("%+v: columns %v, want %v", c.spec, blank.Columns(), set.Columns())
		}
	}
}

// A text that is no Schema, or whose parts contradict each other, is refused.
func TestBadSchemas(t *testing.T) {
	good := string(opened(t, Spec{Name: people(t)}).Schema().TOML())
	if _, err := ParseSchema([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"schema = 1":         "schema = 7",
		"header = true":      "heeder = true",
		`kind = "binary"`:    `kind = "binry"`,
		`values = ["f", "m"`: `values = ["f"`,
		`shape = "1x8"`:      `shape = "1x9"`,
		"cuts = [22.0,":      "cuts = [30.0,",
		"units = 3":          "units = 4",
	} {
		text := strings.Replace(good, from, to, 1)
		if _, err := ParseSchema([]byte(text)); text == good || err == nil {
			t.Errorf("%q for %q: no error in\n%s", to, from, text)
		}
	}
}
