package dataset

import (
	"bytes"
	"math"
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
		`["f", "m"]`:         `["f", "f"]`,
		"cuts = [22.0,":      "cuts = [30.0,",
		`name = "age"`:       `name = "sex"`,
		`kind = "label"`:     "kind = \"label\"\ntransformation = \"log\"",
		`kind = "count"`:     "kind = \"count\"\ntransformation = \"root\"",
	} {
		text := strings.Replace(good, from, to, 1)
		if _, err := ParseSchema([]byte(text)); text == good || err == nil {
			t.Errorf("%q for %q: no error in\n%s", to, from, text)
		}
	}
}

// A file that a schema declares has the same rows as one whose columns are inferred. Edits of the schema change kinds,
// and add values that the file lacks. With logarithms, samples and densities still have the numbers of the file.
func TestDeclaredColumns(t *testing.T) {
	path := written(t, "rows.csv", replaced(table30("id,pay,sex,town", "p%[1]d,%[2]d.25,@,t"), "f", "m"))
	spec := Spec{Name: path, Binarization: Real, Standardize: true}
	set := opened(t, spec)
	schema := string(set.Schema().TOML())
	spec.Schema = written(t, "schema.toml", schema)
	if again := opened(t, spec); again.Fingerprint() != set.Fingerprint() || !reflect.DeepEqual(again.Columns(), set.Columns()) {
		t.Errorf("the declared columns are %v, want %v", again.Columns(), set.Columns())
	}
	if inferred, declared := set.Notice(), opened(t, spec).Notice(); !strings.Contains(inferred, `left out`) || declared != "" {
		t.Errorf("the notice is %q for inferred columns, and %q for declared ones", inferred, declared)
	}
	edited := strings.NewReplacer(`["f", "m"]`, `["f", "m", "other"]`, `"binary"`, `"categorical"`, `transformation = "standardised"`, `transformation = "log"`).Replace(schema)
	spec.Schema = written(t, "edited.toml", edited)
	logs := opened(t, spec)
	if logs.Shape().Units() != 4 || logs.Columns()[2].Values[2] != "other" || !logs.Columns()[1].Log {
		t.Fatalf("the edited columns are %v", logs.Columns())
	}
	rows, err := logs.ReadRows(written(t, "new.csv", "id,pay,sex,town\np,2.5,other,t\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, fields, err := logs.Fields(Sheet{logs.Shape(), rows.Floats()}, Writing{}); err != nil || strings.Join(fields[0], ",") != "2.5,other" {
		t.Errorf("the row is written as %v, %v", fields, err)
	}
	// The density of a file's number x is the density of its unit (log x − mean)/sd, divided by x·sd.
	want := 0.0
	sheet := logs.Original(Sheet{logs.Shape(), logs.Train().Floats()})
	for _, row := range sheet.Values {
		want += math.Log(row[0]) / float64(len(sheet.Values))
	}
	if want += math.Log(logs.scalings[0].SD); math.Abs(logs.LogScale()-want) > 1e-9 {
		t.Errorf("LogScale is %v nats, want %v", logs.LogScale(), want)
	}
	if _, err = logs.ReadRows(written(t, "zero.csv", "id,pay,sex,town\np,0,f,t\n")); err == nil || !strings.Contains(err.Error(), "row 1 has 0, which has no logarithm") {
		t.Errorf("a row of 0: %v", err)
	}
	for says, text := range map[string]string{
		"no column \"town\"":                           schema[:strings.LastIndex(schema, "[[column]]")],
		`has "m", which is not a value`:                strings.Replace(schema, `"m"`, `"x"`, 1),
		`column "pay": a missing value ("7.25")`:       strings.Replace(schema, `name = "pay"`, "name = \"pay\"\nmissing = [\"7.25\"]", 1),
		`column "sex": a missing value ("m")`:          strings.Replace(schema, `name = "sex"`, "name = \"sex\"\nmissing = [\"m\"]", 1),
		"declares no columns":                          schema[:strings.Index(schema, "[[column]]")],
		"it is real, but has values":                   strings.Replace(strings.Replace(schema, `kind = "binary"`, `kind = "real"`, 1), `["f", "m"]`, `["1", "2"]`, 1),
		"it is binary, but has a transformation, cuts": strings.Replace(schema, `kind = "binary"`, "kind = \"binary\"\ncuts = [1.0]", 1),
	} {
		spec.Schema = written(t, "bad.toml", text)
		if _, err := spec.Open(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
	spec.Schema = written(t, "skip.toml", strings.Replace(schema, `kind = "binary"`, `kind = "skip"`, 1))
	if c := opened(t, spec).Columns()[2]; c.String() != "sex: skip" {
		t.Errorf("a skipped column with values is %v", c)
	}
	_, err = Spec{Name: path, Columns: "pay=log"}.Open()
	wantError(t, err, `column "pay": its logarithms are not in [0, 1]`)
	if set, err := (Spec{Name: path, Columns: "pay=log"}).OpenSuggested(); err != nil || set.Spec().Binarization != Real || !set.Columns()[1].Log {
		t.Errorf("suggested: %v, %v", set, err)
	}
}

// No text of a schema makes the program panic, and a schema that it accepts is read back from its own text.
func FuzzParseSchema(f *testing.F) {
	for _, spec := range []Spec{{Name: "glyphs"}, {Name: "voices"}} {
		set, err := spec.Open()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(set.Schema().TOML())
	}
	f.Add([]byte("schema = 1"))
	f.Add([]byte("schema = 1\nheader = true\nmeans = [1.0, 0.0]\ndeviations = [2.0, 1.0]\n[scale]\nreals = true\n[[column]]\nname = \"a\"\nkind = \"real\"\ntransformation = \"log\"\ndecimals = 2\nleast = 0.5\n[[column]]\nname = \"b\"\nkind = \"binary\"\nvalues = [\"x\", \"y\"]\n[[column]]\nname = \"c\"\nkind = \"label\"\n"))
	rows := filepath.Join(f.TempDir(), "rows.csv")
	if err := os.WriteFile(rows, []byte("a,b,c\n1.5,x,0\n2.5,y,1\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		of, err := ParseSchema(text)
		if err != nil {
			return
		}
		again, err := ParseSchema(of.TOML())
		if err != nil || !bytes.Equal(again.TOML(), of.TOML()) {
			t.Errorf("read back is %+v (%v), want %+v", again, err, of)
		}
		for _, binarization := range []Binarization{Fixed, Real} {
			if set, err := of.Blank(Spec{Name: rows, Binarization: binarization}); err == nil {
				_, _ = set.ReadRows(rows)
				_, _, _ = set.Fields(Sheet{set.Shape(), [][]float64{make([]float64, set.Shape().Units())}}, Writing{})
			}
		}
	})
}

// A code that the schema gives for one column is missing there, although it is no number, and not in another column.
func TestCodesOfOneColumn(t *testing.T) {
	for code, rows := range map[string]string{"none": "none", "-9": "-9.0"} {
		codes := strings.ReplaceAll(`"`+code+`"`, `"-9"`, `"-9", "-9.0"`)
		schema := written(t, "rows.toml", "schema = 1\nheader = true\n[scale]\n[[column]]\nname = \"pay\"\nkind = \"real\"\nmissing = [\""+code+"\"]\n[[column]]\nname = \"town\"\nkind = \"categorical\"\n")
		whole := table30("pay,town", "%[2]d.25,-9")
		_, err := Spec{Name: written(t, "gaps.csv", whole+rows+",none\n"), Schema: schema, Binarization: Real}.Open()
		wantError(t, err, `line 32, column "pay": a missing value ("`+rows+`")`, `na_values={"pay": [`+codes+`]}`)
		set := opened(t, Spec{Name: written(t, "whole.csv", whole+"3,none\n"), Schema: schema, Binarization: Real})
		_, err = set.ReadRows(written(t, "gaps.csv", "pay,town\n"+rows+",none\n"))
		wantError(t, err, `line 2, column "pay": a missing value`)
		if gaps, err := set.ReadGaps(written(t, "gaps.csv", "pay,town\n"+rows+",none\n")); err != nil || gaps.Missing != 1 {
			t.Errorf("%v, %v", gaps, err)
		}
	}
}

// Test rows do not change the decimals of the training file.
func TestDecimalsOfTheTrainingFile(t *testing.T) {
	set := opened(t, Spec{Name: written(t, "rows.csv", table30("pay,age", "%[2]d.5,%[2]d")), Test: written(t, "test.csv", "pay,age\n1.123,2.5\n2,3\n"), Binarization: Real})
	if got := set.Schema().Columns; got[0].Numbers.Decimals != 1 || got[1].Numbers.Decimals != 0 {
		t.Errorf("%v and %v decimals", got[0].Numbers, got[1].Numbers)
	}
}
