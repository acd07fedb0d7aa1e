package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// written writes a file into a folder of its own.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// twin copies a file into a folder of its own.
func twin(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, filepath.Base(path), string(content))
}

// people is a table of twelve rows.
func people(t *testing.T) string {
	text := "age,sex,job,class\n"
	for i := range 12 {
		text += fmt.Sprintf("%d,%s,%s,%s\n", 20+i, []string{"f", "m"}[i%2], []string{"clerk", "nurse", `"smith, black"`}[i%3], []string{"no", "yes"}[i/6])
	}
	return written(t, "people.csv", text)
}

// A table of several kinds has a unit for a binary column and one for each category and range, of which one is on;
// ranges have equally many rows. With real numbers a real column is a unit.
func TestTablesOfSeveralKinds(t *testing.T) {
	path := people(t)
	set := opened(t, Spec{Name: path, Validation: new(0)})
	columns := set.Columns()
	want := []Column{
		{"age", RealColumn, 0, 4, []string{"≤ 22", "≤ 25", "≤ 28", "> 28"}, []float64{22, 25, 28}, false, nil, nil, false},
		{"sex", BinaryColumn, 4, 1, []string{"f", "m"}, nil, false, nil, nil, false},
		{"job", CategoricalColumn, 5, 3, []string{"clerk", "nurse", "smith, black"}, nil, false, nil, nil, false},
		{"class", LabelColumn, 8, 0, []string{"no", "yes"}, nil, false, nil, nil, false},
	}
	if fmt.Sprint(columns) != fmt.Sprint(want) || set.Shape() != (Shape{1, 8}) || set.Classes() != 2 {
		t.Fatalf("columns %+v of %v, %d classes", columns, set.Shape(), set.Classes())
	}
	sums := make([]int, 8)
	for _, split := range []Split{set.Train(), set.Test()} {
		for r := range split.Rows {
			row := split.Floats(r)[0]
			if row[0]+row[1]+row[2]+row[3] != 1 || row[5]+row[6]+row[7] != 1 {
				t.Errorf("row %v has none or several of a group", row)
			}
			for i, v := range row {
				sums[i] += int(v)
			}
		}
	}
	if !slices.Equal(sums, []int{3, 3, 3, 3, 6, 4, 4, 4}) {
		t.Errorf("units are on in %v rows", sums)
	}
	wantError(t, set.CheckPixels(), path, "4 columns", "shape")
	if real := opened(t, Spec{Name: path, Binarization: Real}); real.Shape() != (Shape{1, 5}) || real.Train().At(0) < 20 {
		t.Errorf("with real numbers %v, %v", real.Shape(), real.Train().Floats(0))
	}
	again, err := Load(bytes.NewReader(stored(t, set)))
	if err != nil || fmt.Sprint(again.Columns()) != fmt.Sprint(columns) {
		t.Errorf("stored and loaded: %v, %v", again, err)
	}
	if given := opened(t, Spec{Name: path, Columns: "age=real:2, job=skip,class=binary"}); given.Shape() != (Shape{1, 4}) || given.Classes() != 0 {
		t.Errorf("with given kinds: %v", given.Columns())
	}
	for columns, says := range map[string]string{
		"agee=real": `no column "agee" (did you mean "age"?)`, "age=number": "NAME=KIND", "sex=binary:3": "NAME=KIND", "job=real": "column \"job\" is real, but has", "job=binary": "3 values",
		"age,sex=real": `no column "age,sex"`, "age=real,": "NAME=KIND", "=real": "NAME=KIND",
		"age=skip,sex=skip,job=skip": "no column of the table is left", "age=label,class=label": "both have labels", "age=real,age=real": "given twice",
	} {
		_, err := Spec{Name: path, Columns: columns}.Open()
		wantError(t, err, says)
	}
}

// The name of a column may contain commas and equals signs.
func TestKindsOfColumnsWithOddNames(t *testing.T) {
	path := written(t, "odd.csv", "\"Income, total\",a=b,c\n1.5,x,0\n2.5,y,1\n3.5,x,1\n")
	set := opened(t, Spec{Name: path, Columns: "c=real:2, Income, total=skip,a=b=label", Validation: new(0)})
	for i, want := range []ColumnKind{SkippedColumn, LabelColumn, RealColumn} {
		if got := set.Columns()[i].Kind; got != want {
			t.Errorf("column %d is %s, want %s", i+1, got, want)
		}
	}
}

// A column named label or class is no input where a file has the labels: it is refused unless its kind is given.
func TestLabelColumnBesideALabelFile(t *testing.T) {
	for _, name := range []string{"label", "Class"} {
		of := Spec{Name: written(t, "rows.csv", "x,"+name+"\n1,0\n0,1\n1,1\n"), LabelFile: written(t, "labels.txt", "0\n1\n1\n"), Validation: new(0)}
		_, err := of.Open()
		wantError(t, err, "the rows have labels in their own file", "skip their column")
		of.Columns = name + "=skip"
		if set := opened(t, of); set.Shape().Units() != 1 || set.Classes() != 2 {
			t.Errorf("%v with %d classes", set.Shape(), set.Classes())
		}
	}
}

// A column of the name label whose numbers are no classes can have another kind.
func TestLabelColumnWithoutClasses(t *testing.T) {
	path := written(t, "rows.csv", "x,label\n1.5,0.5\n0.5,2.5\n1,1\n")
	_, err := Spec{Name: path, Binarization: Real}.Open()
	wantError(t, err, `column "label": row 1: 0.5 is not a class`, `columns = "label=real"`)
	opened(t, Spec{Name: path, Binarization: Real, Columns: "label=real", Validation: new(0)})
}

// A column whose largest number is common has a single range, and a notice says how to keep its other numbers.
func TestNoticeOfASingleRange(t *testing.T) {
	text := "sex,town\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%c\n", min(3, 1+i%10), 'a'+i%3)
	}
	path := written(t, "survey.csv", text)
	for columns, says := range map[string]string{"": `(sex): divide the numbers`, "sex=real:20": "", "sex=categorical": "", "sex=skip": ""} {
		set := opened(t, Spec{Name: path, Test: twin(t, path), Columns: columns, Validation: new(0)})
		if got := set.Notice(); got == "" != (says == "") || !strings.Contains(got, says) {
			t.Errorf("columns %q: notice %q, want %q, of %v", columns, got, says, set.Columns())
		}
	}
}

// Ranges have no effect where the numbers stay, and a notice says so.
func TestNoticeOfRangesWithoutEffect(t *testing.T) {
	path := written(t, "sizes.csv", table30("age,size", "%[1]d.5,%[2]d.25"))
	for spec, says := range map[*Spec]string{
		{Columns: "age=real:3", Binarization: Real}: `keeps the numbers of "age", and the ranges`, {Columns: "age=real", Binarization: Real}: "", {Columns: "age=real:3"}: "",
	} {
		spec.Name = path
		if got := opened(t, *spec).Notice(); got == "" != (says == "") || !strings.Contains(got, says) {
			t.Errorf("columns %q, %v: notice %q, want %q", spec.Columns, spec.Binarization, got, says)
		}
	}
}

// If one column is given ranges, all numbers of a new set become ranges, as they do without OpenNumbers, and a notice names the others.
func TestNoticeOfNumbersThatBecomeRangesToo(t *testing.T) {
	path := written(t, "sizes.csv", table30("age,size", "%[1]d.5,%[2]d.25"))
	for columns, says := range map[string]string{
		"age=real:3":             `the numbers of "size" become ranges too, like "age": to keep numbers, write age=real in place of the ranges`,
		"age=real:3,size=real:2": "", "age=real:3,size=skip": "", "age=real": "", "": "",
	} {
		spec := Spec{Name: path, Columns: columns}
		set, err := spec.OpenNumbers()
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Notice(); got == "" != (says == "") || !strings.Contains(got, says) {
			t.Errorf("columns %q: notice %q, want %q", columns, got, says)
		}
		if like := opened(t, set.Spec()); like.Fingerprint() != set.Fingerprint() || like.Notice() != "" {
			t.Errorf("columns %q: the set is opened again as %v, with the notice %q", columns, like, like.Notice())
		}
	}
}

// A value that only the test rows have gets no unit and no class: it is refused, as ReadRows does.
func TestValuesOfTheTestRowsAlone(t *testing.T) {
	train := written(t, "train.csv", "job,bit,label\nnurse,0,x\nclerk,1,y\n")
	for row, says := range map[string]string{
		"pilot,0,x": `column "job": row 1 of the second file has "pilot", which is not a value of the training data (clerk, nurse): correct it`,
		"nurse,0,z": `column "label": row 1 of the second file has "z", which is not a class of the training data (x, y): correct it`,
		"nurse,o,x": `column "bit" has numbers, and text ("o" on line 2 of the second file)`, "clerk,0,y": "",
		"nurse,2,x": `column "bit": row 1 of the second file has "2", which is not a value of the training data (0, 1): correct it`,
	} {
		set, err := Spec{Name: train, Test: written(t, "test.csv", "job,bit,label\n"+row+"\n"), Validation: new(0)}.Open()
		if says != "" {
			wantError(t, err, says)
		} else if err != nil || set.Shape() != (Shape{1, 2}) {
			t.Errorf("%s: %v, %v", row, set, err)
		}
	}
}

// The same number in another file may be written in another way.
func TestNumbersWrittenInAnotherWay(t *testing.T) {
	text := "size,bit,town\n3,0,a\n1,1,b\n3,1,c\n2,0,a\n"
	other := strings.NewReplacer("0,", "0.0,", "1,", "1.0,", "2,", "2e0,", "3,", "3.0,").Replace(text)
	path := written(t, "rows.csv", text)
	for _, columns := range []string{"size=categorical", "size=categorical,bit=binary", "size=binary,bit=categorical"} {
		if strings.HasPrefix(columns, "size=binary") {
			text, other = strings.ReplaceAll(text, "2,", "1,"), strings.ReplaceAll(other, "2e0,", "1.0,")
			path = written(t, "rows.csv", text)
		}
		set := opened(t, Spec{Name: path, Test: written(t, "test.csv", other), Columns: columns, Validation: new(0)})
		if !slices.Equal(set.Test().Bytes(), set.Train().Bytes()) {
			t.Errorf("%s: the test rows are %v, want %v", columns, set.Test().Bytes(), set.Train().Bytes())
		}
		if bit := set.Columns()[1]; columns == "size=categorical" && bit.Kind != BinaryColumn {
			t.Errorf("%v", bit)
		}
		rows, err := set.ReadRows(written(t, "other.csv", other))
		if err != nil || !slices.Equal(rows.Bytes(), set.Train().Bytes()) {
			t.Errorf("%s: the rows are %v, %v, want %v", columns, rows.Bytes(), err, set.Train().Bytes())
		}
	}
}

// An underscore makes a field a text: 2_11 is no number, and not the number 211 of another file.
func TestUnderscoresAreNoDigits(t *testing.T) {
	path := written(t, "wells.csv", "well,x\n2_11,0.5\n21_1,1.5\n2_11,2.5\n1_2,3.5\n")
	_, err := Spec{Name: path, Binarization: Real}.Open()
	wantError(t, err, `column "well" has numbers, and text ("2_11" on line 2)`)
	set := opened(t, Spec{Name: path, Columns: "well=categorical", Binarization: Real, Validation: new(0)})
	if well := set.Columns()[0]; !slices.Equal(well.Values, []string{"1_2", "21_1", "2_11"}) {
		t.Errorf("%v", well)
	}
	_, err = set.ReadRows(written(t, "other.csv", "well,x\n211,0.5\n"))
	wantError(t, err, `"211", which is not a value of the training data`)
}

// Rows of another file have the units of the training rows, whatever is in the other file, and may lack labels.
func TestReadRows(t *testing.T) {
	set := opened(t, Spec{Name: people(t), Validation: new(0)})
	rows, err := set.ReadRows(written(t, "new.csv", "job,age,sex\nnurse,99,f\nclerk,23,m\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint8{0, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 255, 0, 0}; !slices.Equal(rows.Bytes(), want) || rows.Labels != nil {
		t.Errorf("%v with labels %v, want %v", rows.Bytes(), rows.Labels, want)
	}
	for text, says := range map[string]string{
		"job,age,sex\npilot,30,f\nclerk,23,m\n":   `row 1 has "pilot", which is not a value of the training data`,
		"job,age\nclerk,30\nclerk,23\n":           `no column "sex"`,
		"job,age,sex,eyes\nclerk,30,f,2\n":        `column "eyes"`,
		"job,age,sex\nclerk,?,f\n":                `line 2, column "age": a missing value ("?")`,
		"job,age,sex\n\"clerk,30,f\nclerk,23,m\n": `line 2: `, // where the quote begins
	} {
		_, err := set.ReadRows(written(t, "bad.csv", text))
		wantError(t, err, says)
	}
	_, err = set.ReadRows(written(t, "bits.npy", string(npyFile(small, []byte{0, 1, 1, 0, 0, 1}))))
	wantError(t, err, `bits.npy: it is not a table: give a CSV or Parquet file with the columns "age", "sex", "job", "class"`)
	grey := opened(t, Spec{Name: written(t, "levels.csv", "p1,p2\n0,255\n10,20\n200,3\n"), Binarization: Gray, Validation: new(0)})
	if rows, err = grey.ReadRows(written(t, "dark.csv", "p1,p2\n1,0\n7,9\n")); err != nil || !slices.Equal(rows.Bytes(), []uint8{1, 0, 7, 9}) {
		t.Errorf("dark rows are on another scale: %v, %v", rows.Bytes(), err)
	}
	divided, err := Spec{Name: "sixteenths", Largest: 16, Missing: Codes{"9"}, Binarization: Gray}.FromRows(Shape{1, 2}, [][]float64{{0, 16}, {8, 4}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = divided.ReadRows(written(t, "divided.csv", "p,q\n16,0\n8,16\n")); err != nil || !slices.Equal(rows.Bytes(), []uint8{255, 0, 128, 255}) {
		t.Errorf("rows from 0 to 16 are %v, %v", rows.Bytes(), err)
	}
	_, err = divided.ReadRows(written(t, "missing.csv", "p,q\n16,0\n9,16\n"))
	wantError(t, err, "line 3", `a missing value ("9")`)
	for _, set := range []*Set{grey, opened(t, Spec{Name: "glyphs"})} {
		if _, err = set.ReadRows(written(t, "wide.csv", "p1,p2\n1,0\n300,9\n")); err == nil || !strings.Contains(err.Error(), "another scale than "+set.Name()) || strings.Contains(err.Error(), "--largest") {
			t.Errorf("rows of another scale give the error %v", err)
		}
	}
}

// A file that has validation rows of its own keeps them, and no more are held out.
func TestOwnValidationRowsAreKept(t *testing.T) {
	dir := t.TempDir()
	for part, n := range map[string]int{"train": 12, "validation": 3, "test": 2} {
		if err := os.Mkdir(filepath.Join(dir, part), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := os.WriteFile(filepath.Join(dir, part, fmt.Sprintf("%02d.png", i)), pngOf(image.NewGray(image.Rect(0, 0, 2, 2))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	set, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if set.Train().Rows != 12 || set.Validation().Rows != 3 || set.Test().Rows != 2 {
		t.Errorf("%v", set)
	}
}

// Missing values are refused by row and column, in whatever way they are written.
func TestMissingValuesAreRefused(t *testing.T) {
	for text, says := range map[string][]string{
		"a,b\n1,0\n0,\n":        {"line 3", `column "b"`, "missing value", `pandas.read_csv(FILE, dtype=str, na_values="-9").dropna().to_csv("rows.csv", index=False)`, `"b=skip"`},
		"a\tb\n1\t0\n\t1\n":     {"line 3", `read_csv(FILE, sep="\t", dtype=str, na_values="-9").dropna().to_csv("rows.csv", sep="\t", index=False)`},
		"a,b\n1,0\n-nan,1\n":    {"line 3", `column "a"`, "-nan"},
		"a,b\n1,0\n1.#IND,1\n":  {"line 3", `column "a"`, "1.#IND"},
		"a,b\n1,0\n#NA,1\n":     {"line 3 begins with #"},
		"a,b\n1,0\n1,#NA\n":     {"line 3", `column "b"`, "#NA"},
		"a,b\n1,0\nNaN,1\n":     {"line 3", `column "a"`, "NaN"},
		"a,b\n1,0\n1,?\n0,1":    {"line 3", `column "b"`, `na_values=["-9", "?"]`},
		"a,b\nNA,0\nUS,1\nZA,0": {"line 2", `column "a"`, `if "NA" is a value here, write it in another way`},
		"a,b\n-9,0\n1,1\n":      {"line 2", `column "a"`, `"-9"`},
		"a;b\n1,5;0\n1;NA\n":    {"line 3", `column "b"`},
		"1\t\t0\n1\t0\t1\n":     {"line 1", `column "2"`},
		"1\t0\t1\n\t0\t1\n":     {"line 2", `column "1"`},
		"1\t0\t1\n1\t0\t\n":     {"line 2", `column "3"`},
		"x\n1\n\n3\n4\n\n5\n":   {"line 3", `column "x"`, `missing value ("")`},
		"1\n0\r\n\n1\n":         {"line 3", `column "1"`, `missing value ("")`},
		"0 1 1\n0 nan 1\n1 1 1": {"line 2", `column "2"`, `read_csv(FILE, sep=r"\s+", header=None, dtype=str, na_values="-9").dropna().to_csv("rows.csv", sep=" ", header=False, index=False)`},
	} {
		_, err := Spec{Name: written(t, "rows.csv", text), Missing: Codes{"-9"}, Binarization: Real}.Open()
		wantError(t, err, says...)
	}
	array := npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 1, float32(math.NaN()), 1, -9, 0))
	path := written(t, "rows.npy", string(array))
	_, err := Spec{Name: path, Binarization: Real}.Open()
	wantError(t, err, path, "row 1, value 3", `missing value (NaN): fill it in, or leave out its row, for example with numpy.save("rows.npy", a[(~numpy.isnan(a)).reshape(len(a), -1).all(1)])`)
	if strings.Contains(err.Error(), "columns") {
		t.Errorf("the error for an array is %v", err)
	}
	array = npyFile(strings.Replace(small, "|u1", "<f4", 1), floats32(0, 1, 1, 1, -9, 0))
	_, err = Spec{Name: written(t, "rows.npy", string(array)), Binarization: Real, Missing: Codes{"-9"}}.Open()
	wantError(t, err, "row 2, value 2", "missing value (-9)", "a[(a != -9).reshape(len(a), -1).all(1)]")
	for _, code := range []string{"abc", "-999,-1"} {
		_, err = Spec{Name: path, Binarization: Real, Missing: Codes{code}}.Open()
		wantError(t, err, fmt.Sprintf("missing = %q is not a number", code), "give one number")
	}
	_, err = FromRows("own", Shape{1, 1}, [][]float64{{1}, {math.NaN()}}, nil)
	wantError(t, err, "row 2, value 1 of the row: a missing value (NaN): fill it in, or leave out its row")
	if strings.Contains(err.Error(), "rows.csv") {
		t.Errorf("the error for rows of a program is %v", err)
	}
	for _, text := range []string{"# rows\n\nx\n1\n0\n1\n\n", "\n1\n0\n1\n\n\n", "x,y\n1,0\n\n0,1\n"} {
		opened(t, Spec{Name: written(t, "rows.csv", text), Validation: new(0)})
	}
	if set := opened(t, Spec{Name: written(t, "rows.csv", "a,b\n1,\n0,2\n1,3\n"), Columns: "b=skip"}); set.Shape() != (Shape{1, 1}) {
		t.Errorf("without the column of missing values: %v", set)
	}
}

// Infinite numbers, and numbers that are too large for a float64, are refused, divided into ranges or not.
func TestInfiniteNumbersAreRefused(t *testing.T) {
	for _, number := range []string{"inf", "-inf", "1e400", "-1e400"} {
		for _, of := range []Spec{{Binarization: Real}, {Columns: "x=real:2"}} {
			of.Name = written(t, "rows.csv", "x,y\n1,0\n2,1\n3,0\n"+number+",1\n")
			_, err := of.Open()
			wantError(t, err, "row 4", `column "x"`, "Inf", "not finite")
		}
	}
}

// Real numbers are kept as float32, whatever their scale, stored and loaded as they were, and have a fingerprint of
// their own. Without the binarisation they are refused, and so are numbers that float32 cannot tell apart.
func TestRealNumbersStayReal(t *testing.T) {
	text := ""
	for i := range 20 {
		text += fmt.Sprintf("%v,%v\n", 0.0015+1e-5*float64(i*i%7), -3e4+float64(i))
	}
	path := written(t, "small.csv", text)
	set := opened(t, Spec{Name: path, Binarization: Real, Validation: new(4)})
	if v := set.Train().Floats()[0]; !(v[0] >= 0.0015 && v[0] < 0.0016 && v[1] <= -29980) || set.Train().Bytes() != nil {
		t.Errorf("the first row is %v", v)
	}
	if part := set.Train().Subset(3, 1); part.Rows != 3 || len(part.Reals()) != 6 || part.Check() != nil {
		t.Errorf("a part is %+v", part)
	}
	again, err := Load(bytes.NewReader(stored(t, set)))
	if err != nil {
		t.Fatal(err)
	}
	wantEqualSets(t, again, set)
	if !slices.Equal(again.Train().Reals(), set.Train().Reals()) {
		t.Error("stored real numbers are loaded otherwise")
	}
	byRows, err := Spec{Name: "own", Binarization: Real, Validation: new(0)}.FromRows(Shape{1, 2}, [][]float64{{1, 2}, {-1, 0.5}}, [][]float64{{3, 4}})
	if err != nil || !slices.Equal(byRows.Train().Reals(), []float32{1, 2, -1, 0.5}) {
		t.Errorf("rows of a program are %v, %v", byRows, err)
	}
	unit := [][]float64{{0, 1}, {1, 0}}
	grey, _ := Spec{Name: "own", Binarization: Gray}.FromRows(Shape{1, 2}, unit, unit)
	real, _ := Spec{Name: "own", Binarization: Real}.FromRows(Shape{1, 2}, unit, unit)
	if grey.Fingerprint() == real.Fingerprint() || real.CheckValues(grey.Spec()) == nil || grey.CheckValues(real.Spec()) == nil {
		t.Error("real numbers pass for grey levels")
	}
	_, err = Spec{Name: path}.Open()
	wantError(t, err, path, "row 1", "--binarization real")
	_, err = Spec{Name: written(t, "times.csv", "1700000000.5\n1700000001.5\n1700000002\n"), Binarization: Real}.Open()
	wantError(t, err, "subtract a number near their mean")
	_, err = Spec{Name: written(t, "times.csv", "time\n1152921504606846977\n1152921504606846978\n1152921504606846979\n"), Binarization: Real}.Open()
	wantError(t, err, "cannot be told apart")
	named := opened(t, Spec{Name: "miniglyphs", Binarization: Real, Subset: 20})
	if v := named.Train().Floats()[0]; slices.Max(v) > 1 || slices.Max(v) == 0 {
		t.Errorf("named sets are kept as %v", v)
	}
}

// Whole numbers without a scale are refused, and largest gives it.
func TestLargestGivesTheScale(t *testing.T) {
	path := written(t, "digits.csv", "a,b\n0,16\n8,4\n12,0\n")
	_, err := Spec{Name: path}.Open()
	wantError(t, err, path, `column "b"`, "largest = 16")
	set := opened(t, Spec{Name: path, Largest: 16, Binarization: Gray, Validation: new(0), Shape: "2x1"})
	if set.Shape() != (Shape{2, 1}) || set.CheckPixels() != nil || !slices.Equal(set.Train().Bytes(), []uint8{0, 255, 191, 0}) {
		t.Errorf("%v: %v", set, set.Train().Bytes())
	}
	_, err = Spec{Name: path, Largest: 8}.Open()
	wantError(t, err, "row 1", "16 is not from 0 to largest = 8")
	_, err = Spec{Name: path, Largest: 16, Shape: "3x3"}.Open()
	wantError(t, err, "shape = 3x3 has 9 values")
	_, err = Spec{Name: "3by3", Largest: 2}.Open()
	wantError(t, err, "a file of your own")
}

// Largest divides numbers, and not the units that mark a value or range of a column.
func TestLargestLeavesCategories(t *testing.T) {
	path := written(t, "pixels.csv", "device,on,p\nA,no,0\nB,yes,1\nC,no,16\nA,yes,4\n")
	for _, shape := range []string{"", "1x5"} {
		set := opened(t, Spec{Name: path, Test: twin(t, path), Largest: 16, Shape: shape, Binarization: Real, Validation: new(0)})
		if got, want := set.Train().Reals()[5:10], []float32{0, 1, 0, 1, 0.0625}; !slices.Equal(got, want) {
			t.Errorf("shape %q: the second row is %v, want %v", shape, got, want)
		}
	}
	set := opened(t, Spec{Name: path, Largest: 16, Validation: new(0)})
	if row := set.Train().Floats(0)[0]; row[0]+row[1]+row[2] != 1 || row[4]+row[5]+row[6]+row[7] != 1 {
		t.Errorf("with ranges, the first row is %v", row)
	}
}

// Grey images stay grey levels if --columns only names the column of their classes.
func TestNamedLabelsLeaveGreyLevels(t *testing.T) {
	path := written(t, "digits.csv", "digit,p1,p2\n3,0,255\n4,255,51\n3,0,0\n")
	set := opened(t, Spec{Name: path, Columns: "digit=label", Validation: new(0)})
	if set.Classes() != 5 || set.Shape() != (Shape{1, 2}) || set.Spec().Binarization == Real {
		t.Errorf("%v with %d classes and rows %v", set, set.Classes(), set.Train().Row(0))
	}
	if values := set.Train().Floats(0)[0]; values[0] < 0 || values[1] > 1 {
		t.Errorf("the first row is %v", values)
	}
}

// Whole numbers below names of their own are grey levels only if the Spec says so.
func TestNamedColumnsAreNotGreyLevels(t *testing.T) {
	path := written(t, "heart.csv", "age,chol,sex\n54,136,1\n41,203,0\n51,149,0\n44,188,1\n34,144,0\n")
	_, err := Spec{Name: path, Validation: new(0)}.Open()
	wantError(t, err, path, `"age", "chol", "sex"`, "up to 203", "--binarization real", `columns = "age=real"`, "largest = 255")
	header, row := "size", "200"
	for i := range 784 {
		header, row = header+fmt.Sprintf(",pixel%d", i), row+",255"
	}
	_, err = Spec{Name: written(t, "wide.csv", header+"\n"+row+"\n"+strings.ReplaceAll(row, "2", "1")+"\n")}.Open()
	wantError(t, err, `"size", "pixel0", `, "… (785 in all)")
	if n := len(err.Error()); n > 500 {
		t.Errorf("the error has %d bytes: %v", n, err)
	}
	for name, of := range map[string]Spec{
		"a scale": {Largest: 255}, "a shape": {Shape: "1x3"}, "kinds": {Columns: "age=real"}, "real numbers": {Binarization: Real},
	} {
		of.Name, of.Validation = path, new(0)
		if _, err := of.Open(); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
	}
	opened(t, Spec{Name: written(t, "images.csv", "label,1x1,1x2\n3,0,255\n4,255,51\n3,0,0\n"), Validation: new(0)})
}

// A field that is no number, in a column of numbers, does not silently make categories of them.
func TestColumnsOfNumbersWithText(t *testing.T) {
	for field, line := range map[string]int{`"12,5"`: 9, ".": 5, "-": 2, "5%": 7, `"$1,100"`: 6, "−3": 3} {
		text := "a,b\n"
		for i := range 12 {
			value := fmt.Sprint(i)
			if i+2 == line {
				value = field
			}
			text += fmt.Sprintf("0.%d,%s\n", i, value)
		}
		path := written(t, "rows.csv", text)
		_, err := Spec{Name: path}.Open()
		wantError(t, err, `column "b"`, fmt.Sprintf("%q on line %d", strings.Trim(field, `"`), line), "--missing", `"b=categorical"`)
		opened(t, Spec{Name: path, Columns: "b=categorical", Validation: new(0)})
	}
	_, err := Spec{Name: written(t, "minus.csv", "a,b\nx,−1.5\ny,2\nx,−3\ny,4\n")}.Open()
	wantError(t, err, `"−1.5" on line 2`)
	opened(t, Spec{Name: written(t, "few.csv", "a,b\nx,1\ny,1-2\nx,3+\ny,1\n"), Validation: new(0)})
	_, err = Spec{Name: written(t, "dash.csv", "5,-,7\n0,0,0\n1,1,1\n2,0,2\n")}.Open()
	wantError(t, err, `"-" on line 1`)
}

// The error for a number with a decimal comma or separators of thousands names the decimal character, which reads it, and a
// number in another notation is refused in new data.
func TestNumbersInOtherNotations(t *testing.T) {
	for field, decimal := range map[string]string{`"1,234,567"`: ".", `"12,5"`: ",", "1.234.567": ","} {
		path := written(t, "rows.csv", "a,b\n"+strings.Repeat(field+",x\n"+field+",y\n", 6)+"1,x\n2,y\n3,x\n")
		_, err := Spec{Name: path}.Open()
		wantError(t, err, `column "a" has numbers, and text`, fmt.Sprintf("(--decimal %s) if it is a number", decimal))
		if set := opened(t, Spec{Name: path, Decimal: decimal, Binarization: Real, Validation: new(0)}); set.Columns()[0].Numbers == nil {
			t.Errorf("%s with --decimal %s: %v", field, decimal, set.Columns()[0])
		}
	}
	for _, notation := range []string{"%d’%03d’000", "%d\u202f%03d", "%d\u2009%03d", "(%d.%d)"} {
		text := "a,b\n"
		for i := range 30 {
			text += fmt.Sprintf(notation, i+1, 7*i) + ",x\n"
		}
		path := written(t, "rows.csv", text)
		_, err := Spec{Name: path, Columns: "b=skip"}.Open()
		wantError(t, err, `column "a" has numbers, and text`)
		_, err = Spec{Name: path, Columns: "b=skip", Rules: NewestRules}.Open()
		wantError(t, err, "no column of the table is left")
	}
}

// A few numbers and text are categories, such as numbers of children, versions, sizes and floors.
func TestFewNumbersWithText(t *testing.T) {
	for _, values := range [][]string{{"0", "1", "2", "3+"}, {"1.2", "1.3", "2.0", "2.0.1"}, {"36", "38", "40", "L", "S"}, {"1", "2", "3", "ground"}} {
		text := "a,b\n"
		for i := range 20 {
			text += fmt.Sprintf("0.%d,%s\n", i, values[i%len(values)])
		}
		set := opened(t, Spec{Name: written(t, "rows.csv", text), Validation: new(0)})
		if b := set.Columns()[1]; b.Kind != CategoricalColumn || !slices.Equal(b.Values, values) {
			t.Errorf("%q become %v", values, b)
		}
	}
}

// A file whose commas may separate thousands is not read with decimal commas.
func TestDecimalPointsAndCommas(t *testing.T) {
	for name, text := range map[string]string{"columns.tsv": "a\tb\n1,234\t0.5\n999\t2.5\n12,500\t3\n", "column.csv": "a;b\n0.5;1\n1,234;0\n3;1\n"} {
		_, err := Spec{Name: written(t, name, text), Binarization: Real}.Open()
		wantError(t, err, `point ("0.5" on line 2)`, `comma ("1,234" on line `)
	}
	_, err := Spec{Name: written(t, "thousands.csv", "price;size\n1.200;1,85\n900;1,7\n2.450;1,6\n"), Binarization: Real}.Open()
	wantError(t, err, `point ("1.200" on line 2)`, `comma ("1,85" on line 2)`, "give the other, such as decimal")
	numbers := opened(t, Spec{Name: written(t, "numbers.csv", "a;b\n0.5;x\n1;y\n0.25;x\n"), Validation: new(0)})
	_, err = numbers.ReadRows(written(t, "words.csv", "a;b\n0.5;x\nno, sir;x\nyes, sir;y\n"))
	wantError(t, err, `"no, sir" on line 3 is not a number`)
	opened(t, Spec{Name: written(t, "text.csv", "day;b\n1.5.;0,5\n2.5.;1\n1.5.;0\n"), Validation: new(0), Largest: 2})
	opened(t, Spec{Name: written(t, "skipped.csv", "day;b\n1.5;0,5\n2.5;1\n3.5;0\n"), Columns: "day=skip", Binarization: Real, Validation: new(0)})
}

// Commas that may separate thousands are refused, unless all numbers of the column have three decimals or another
// number of the table has a comma that must be decimal.
func TestThousandsSeparators(t *testing.T) {
	for _, separator := range []string{"\t", ";", "|"} {
		text := strings.ReplaceAll("price;size\n1,234;1\n999;2\n12,500;3\n56,188;4\n850;2\n3,400;1\n", ";", separator)
		_, err := Spec{Name: written(t, "prices.csv", text), Binarization: Real}.Open()
		wantError(t, err, `column "price": the comma of "1,234" on line 2 may separate thousands`, "--decimal")
		for decimal, want := range map[string]string{".": "[1234 999 12500 56188 850 3400]", ",": "[1.234 999 12.5 56.188 850 3.4]"} { // the remedies
			set := opened(t, Spec{Name: written(t, "prices.csv", text), Columns: "size=skip", Binarization: Real, Validation: new(0), Decimal: decimal, Test: written(t, "test.csv", text)})
			if got := fmt.Sprint(set.Train().Reals()); got != want {
				t.Errorf("with decimal = %s: %v, want %s", decimal, got, want)
			}
		}
	}
	for name, text := range map[string]string{
		"three decimals": "price;size\n1,234;1\n5,678;2\n12,500;3\n",
		"below 1":        "price;size\n1,234;1\n0,678;2\n12;3\n",
		"one decimal":    "price;size\n1,234;1\n6,5;2\n12;3\n",
		"another column": "price;size\n1,234;1,5\n999;2\n12,500;3\n",
	} {
		if _, err := (Spec{Name: written(t, "prices.csv", text), Binarization: Real, Validation: new(0)}).Open(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So are points in a file that may have decimal commas, unless a number of the table has a point that must be decimal. A Spec that
// records its rules was opened before.
func TestPointsOfThousands(t *testing.T) {
	text := "price\tsize\n1.234\t1\n999\t2\n12.500\t3\n56.188\t4\n850\t2\n3.400\t1\n"
	for _, text := range []string{text, strings.ReplaceAll(text, "\t", ";"), "price;size\n1.234;1\n5.678;2\n12.500;3\n"} {
		path := written(t, "prices.csv", text)
		_, err := Spec{Name: path, Binarization: Real}.Open()
		wantError(t, err, `column "price": the point of "1.234" on line 2 may separate thousands`, "--decimal")
		for decimal, want := range map[string]float32{".": 1.234, ",": 1234} { // the remedies
			set := opened(t, Spec{Name: path, Columns: "size=skip", Binarization: Real, Validation: new(0), Decimal: decimal})
			if got := set.Train().Reals()[0]; got != want {
				t.Errorf("with decimal = %s: %v, want %v", decimal, got, want)
			}
		}
		opened(t, Spec{Name: path, Binarization: Real, Validation: new(0), Rules: NewestRules})
	}
	for name, text := range map[string]string{
		"three decimals, with tabs": "price\tsize\n1.234\t1\n5.678\t2\n12.500\t3\n",
		"below 1":                   "price;size\n1.234;1\n0.678;2\n12;3\n",
		"another column":            "price;size\n1.234;1.5\n999;2\n12.500;3\n",
		"commas":                    "price,size\n1.234,1\n999,2\n12.500,3\n",
	} {
		if _, err := (Spec{Name: written(t, "prices.csv", text), Binarization: Real, Validation: new(0)}).Open(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Separators of thousands are no decimals: written samples of whole numbers are whole.
func TestThousandsAreNoDecimals(t *testing.T) {
	for decimal, text := range map[string]string{".": "pop\tarea\n1,234,567\t2.25\n999\t1,234.5\n2,345,678\t3\n", ",": "pop;area\n1.234.567;2,25\n999;1.234,5\n2.345.678;3\n"} {
		set := opened(t, Spec{Name: written(t, "towns.csv", text), Binarization: Real, Validation: new(0), Decimal: decimal})
		if c := set.Columns(); c[0].Numbers.Decimals != 0 || c[0].Numbers.Greatest != 2345678 || c[1].Numbers.Decimals != 2 || c[1].Numbers.Greatest != 1234.5 {
			t.Errorf("with decimal = %s: %+v, %+v", decimal, c[0].Numbers, c[1].Numbers)
		}
	}
}

// A header of the second file is no row, though the first file has none.
func TestHeaderOfTheSecondFileAlone(t *testing.T) {
	train := written(t, "train.csv", "0.5,1\n0.25,2\n0.75,3\n")
	for _, header := range []string{"a,b", "0.5,b"} {
		_, err := Spec{Name: train, Test: written(t, "test.csv", header+"\n0.5,1\n1,2\n"), Binarization: Real}.Open()
		if header == "a,b" {
			wantError(t, err, `the file has a header ("a", "b"), and the training file has none`)
		} else {
			wantError(t, err, `"b" on line 1`)
		}
	}
	opened(t, Spec{Name: train, Test: written(t, "test.csv", "0.5,1\n1,2\n"), Binarization: Real, Validation: new(0)})
}

// Digits 0 and 1 without separators are not read as large numbers or as categories.
func TestBitsWithoutSeparators(t *testing.T) {
	for _, width := range []int{2, 8, 784} {
		text := ""
		for i := range 12 {
			text += fmt.Sprintf("%0*b\n", width, i%4)
		}
		path := written(t, "bits.txt", text)
		_, err := Spec{Name: path}.Open()
		wantError(t, err, fmt.Sprintf("has %d digits 0 and 1 in each row: put separators between the digits", width))
	}
	opened(t, Spec{Name: written(t, "tens.txt", "10\n11\n10\n100\n"), Largest: 100, Validation: new(0)})
	opened(t, Spec{Name: written(t, "kinds.csv", "code,x\n01,1\n10,0\n00,1\n"), Columns: "code=categorical", Validation: new(0)})
}

// Lists of numbers are no categories and no identifiers, unless the Spec says so.
func TestListsOfNumbers(t *testing.T) {
	for _, form := range []string{"[%d, %d]", "[%d %d.5]", "[[%d,-1],[%d,2e3]]"} {
		for name, of := range map[string]int{"recurring": 2, "different": 12, "many": 300} {
			text := "x,y\n"
			for i := range max(12, of) {
				text += fmt.Sprintf("\""+form+"\",%d\n", i%of, i*i%3, i%2)
			}
			path := written(t, name+".csv", text)
			_, err := Spec{Name: path}.Open()
			wantError(t, err, `column "x" has lists of numbers ("`+strings.Split(fmt.Sprintf(form, 0, 0), " ")[0])
			opened(t, Spec{Name: path, Columns: "x=skip", Validation: new(0)})
			if of == 2 {
				opened(t, Spec{Name: path, Columns: "x=categorical", Validation: new(0)})
				opened(t, Spec{Name: path, Rules: FirstRules, Validation: new(0)})
			}
		}
	}
	opened(t, Spec{Name: written(t, "ranges.csv", "x,y\n\"[0,1]\",1\n\"(1,2]\",0\n\"(2,3]\",1\n\"[0,1]\",0\n"), Validation: new(0)})
}

// tableOf writes a file whose rows are the header, if it is not empty, and twelve rows.
func tableOf(t *testing.T, header, row string) string {
	t.Helper()
	text := header
	for i := range 12 {
		text += fmt.Sprintf(row, i%2, 10+3*((i+5)%12))
	}
	return written(t, "table.csv", text)
}

// A first row that must be a header is not a row of the data, and its names do not become values.
func TestFirstRowsThatMustBeHeaders(t *testing.T) {
	for name, of := range map[string]struct {
		header, row, columns string
		units, classes       int
	}{
		"numbered, with a label":     {"0,1,label\n", "%[1]d,1%[1]d,%[1]d\n", "", 2, 2},
		"label first":                {"label,0,1\n", "%[1]d,1%[1]d,%[1]d\n", "", 2, 2},
		"classes as text":            {"0,1,Class\n", "%[1]d,1%[1]d,c%[1]d\n", "", 2, 2},
		"one name over numbers":      {"2019,rain\n", "%[1]d,1%[1]d\n", "", 2, 0},
		"a name that columns has":    {"country,2019\n", "Peru,%[1]d\n", "country=skip", 1, 0},
		"an index that was shuffled": {",x,y\n", "%[2]d,%[1]d,1%[1]d\n", "", 2, 0},
		"a separator at the end":     {"x,y,\n", "%[1]d,1%[1]d,\n", "", 2, 0},
		"an index read and written":  {"Unnamed: 0,x,y\n", "%[2]d,%[1]d,1%[1]d\n", "", 2, 0},
		"an index that is skipped":   {",x,y\n", "%[2]d.5,%[1]d,1%[1]d\n", "1=skip", 2, 0},
	} {
		set, err := Spec{Name: tableOf(t, of.header, of.row), Columns: of.columns, Validation: new(0)}.Open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if rows := set.Train().Rows + set.Test().Rows; set.Shape().Units() != of.units || rows != 12 || set.Classes() != of.classes {
			t.Errorf("%s: %v, %d rows, %d classes; want %d units, 12 rows, %d classes", name, set.Shape(), rows, set.Classes(), of.units, of.classes)
		}
	}
	for _, row := range []string{"%[1]d,1,,\n", "a%[1]d,%[2]d,,\n", "a%[1]d,b,,\n"} {
		path := tableOf(t, "x,y,,\n", row)
		set := opened(t, Spec{Name: path, Test: twin(t, path), Columns: "y=categorical", Validation: new(0)})
		if rows := set.Train().Rows; rows != 12 || set.Columns()[2].Kind != SkippedColumn || set.Columns()[3].Kind != SkippedColumn {
			t.Errorf("with empty columns at the end, %d rows of %v", rows, set.Columns())
		}
	}
	_, err := Spec{Name: tableOf(t, "x,x,y\n", "%[1]d,0,1\n")}.Open()
	wantError(t, err, `two columns "x"`)
	set := opened(t, Spec{Name: tableOf(t, ",0,1,2\n", "%[2]d,%[1]d,1,1%[1]d\n"), Columns: "1=skip", Validation: new(0)})
	if set.Shape().Units() != 2 {
		t.Errorf("%v", set.Columns())
	}
	_, err = Spec{Name: written(t, "blank.csv", "x,y\n1,\n0,\n")}.Open()
	wantError(t, err, `column "y": a missing value`, `or the column, which is empty, with columns = "y=skip"`)
	_, err = Spec{Name: written(t, "excel.csv", "sep=;\nx;y\n1;0\n0;1\n")}.Open()
	wantError(t, err, "remove the line sep=")
	_, err = Spec{Name: written(t, "rows.csv", "0.5,0.2,n/a\n0.1,0.2,0.3\n1,1,0\n0,1,0\n")}.Open()
	wantError(t, err, `line 1, column "3": a missing value ("n/a")`)
	if unknown := opened(t, Spec{Name: tableOf(t, "a,1,Y\n", "b%[1]d,2,?\n"), Columns: "3=skip,2=skip", Validation: new(0)}); unknown.Train().Rows+unknown.Test().Rows != 13 {
		t.Errorf("%v", unknown)
	}
}

// A first row that may be a header or a row is refused unless there are two signs that it is a header. The Spec may
// name a column by its number to say that the file has no header.
func TestFirstRowsThatMayBeHeaders(t *testing.T) {
	const header, row, refused = "header", "row", "refused"
	for name, of := range map[string]struct{ first, rest, columns, want string }{
		"points of pandas":              {"0,1", "0.5,1.5\n2.5,-0.25\n0.25,1.75\n", "", header},
		"texts below numbers":           {"0,1", "a,x\nb,y\na,y\n", "", header},
		"points and classes":            {"0,1", "0.5,1\n2.5,0\n0.25,1\n", "", refused},
		"points from 0 on":              {"0,1", "0.5,0.5\n1,0\n1.5,0.5\n", "", row},
		"whole numbers":                 {"0,1", "3,4\n2,7\n4,9\n", "", row},
		"a series of pandas":            {",0", "0,1.5\n1,2.5\n2,0.5\n", "", header},
		"a missing value":               {",0", "0.5,1\n2.5,0\n0.25,1\n", "", refused},
		"countries that recur":          {"country,2019,2020", "Peru,17,18\nChile,13,14\nPeru,12,19\nChile,11,16\n", "", header},
		"countries":                     {"country,2019,2020", "Peru,17,18\nChile,13,14\nCuba,12,19\n", "", refused},
		"a country, by number":          {"Iran,2019,2020", "Peru,17,18\nChile,13,14\nCuba,12,19\n", "1=skip", row},
		"an index, by number":           {",d,2021,b", "0,5,2020,a\n1,1,2020,a\n2,d,0.5,a\n3,5,2020,a\n4,1,0.5,a\n", "1=skip", row},
		"a name that is a value":        {"smoker,sex,Urban", "no,f,Urban\nyes,m,Rural\nno,m,Rural\nyes,f,Urban\n", "", header},
		"a name that may be a value":    {"smoker,Urban", "no,Urban\nyes,Rural\nno,Rural\nyes,Urban\n", "", refused},
		"a rare value above a fraction": {"maybe,1.5", "no,2.5\nyes,3\nno,1\nyes,2\n", "", row},
		"a rare value beside a number":  {"maybe,4", "no,2\nyes,4\nno,1\nyes,2\n", "", row},
	} {
		set, err := Spec{Name: written(t, "rows.csv", of.first+"\n"+of.rest), Columns: of.columns, Binarization: Real, Validation: new(0)}.Open()
		got := refused
		if err == nil {
			got = header
			if set.Train().Rows+set.Test().Rows > strings.Count(of.rest, "\n") {
				got = row
			}
		}
		if got != of.want {
			t.Errorf("%s: the first row is %s, want %s, %v", name, got, of.want, err)
		}
		if of.want == refused && of.first[0] != ',' {
			wantError(t, err, "line 1", "may be a header or a row", "header = \"yes\" or header = \"no\" (--header)")
		}
		for says, want := range map[string]int{"yes": 0, "no": 1} {
			set, err := Spec{Name: written(t, "rows.csv", of.first+"\n"+of.rest), Columns: of.columns, Binarization: Real, Validation: new(0), Header: says}.Open()
			if err == nil && set.Train().Rows+set.Test().Rows != strings.Count(of.rest, "\n")+want {
				t.Errorf("%s with header = %s: %v", name, says, set)
			}
		}
	}
}

// The kinds of columns hold for tables of 0 and 1, too, and are refused where there are no columns.
func TestColumnsOfTablesOfBits(t *testing.T) {
	path := tableOf(t, "", "%[1]d,1,%[1]d\n")
	set := opened(t, Spec{Name: path, Columns: "3=label,1=skip", Validation: new(0)})
	if set.Shape().Units() != 1 || set.Classes() != 2 {
		t.Errorf("%v, %d classes", set.Shape(), set.Classes())
	}
	_, err := Spec{Name: path, Columns: "nosuch=skip"}.Open()
	wantError(t, err, `no column "nosuch"`)
	_, err = Spec{Name: written(t, "bits.npy", string(npyFile(small, []byte{0, 1, 1, 0, 0, 1}))), Columns: "1=label"}.Open()
	wantError(t, err, "only tables have columns")
}

// A field that is the same number as the code is missing. The code does not apply to the units made from a table.
func TestMissingNumbersOfTables(t *testing.T) {
	mixed := "age,sex\n30,f\n-999.0,m\n41,f\n35,m\n"
	_, err := Spec{Name: written(t, "mixed.csv", mixed), Missing: Codes{"-999"}}.Open()
	wantError(t, err, `line 3, column "age": a missing value ("-999.0")`)
	_, err = Spec{Name: written(t, "nan.csv", strings.Replace(mixed, "-999.0", "NAN", 1))}.Open()
	wantError(t, err, "a missing value")
	opened(t, Spec{Name: written(t, "zero.csv", "age,sex\n30,f\n20,m\n41,f\n35,m\n"), Missing: Codes{"0"}, Validation: new(0)})
}

// A line that begins with # and might be a row is neither a row nor left out silently.
func TestRowsThatLookLikeComments(t *testing.T) {
	for text, says := range map[string]string{
		"x,y\n1,2\n#N/A,4\n5,6\n":  "line 3 begins with #",
		"1 2\n#3 4\n5 6\n":         "line 2 begins with #",
		"x,y\r1,2\r#ff0000,4\r3,1": "line 3 begins with #",
		"c,d,v\nred,\"a, b\",1\n#ff0000,\"a, b\",0\nred,\"a, c\",0\n": "line 3 begins with #",
		"tag\nno\n#go\nyes\n":        "line 3 begins with #",
		"x,y\n1,0\n0,1\n1,1\n#N/A,1": "line 5 begins with #",
	} {
		_, err := Spec{Name: written(t, "rows.csv", text)}.Open()
		wantError(t, err, says)
	}
	set := opened(t, Spec{Name: written(t, "rows.csv", "# by a, b\nx,y\n1,0\n# half, of, them\n\"#a\",1\n0,1\n1,1\n"), Columns: "x=categorical", Validation: new(0)})
	if rows := set.Train().Rows + set.Test().Rows; rows != 4 {
		t.Errorf("%d rows", rows)
	}
	opened(t, Spec{Name: written(t, "tags.csv", "# three tags\ntag\nno\n\"#go\"\nyes\nno\n# in order, not \"sorted\n"), Validation: new(0)})
	opened(t, Spec{Name: written(t, "dos.csv", "name,yes\r\na,1\r\nb,0\r\na,0\r\n\x1a"), Validation: new(0)})
	opened(t, Spec{Name: written(t, "quoted.csv", "x,y\n\"a\n#b,c\",0\n\"d\",1\nb,1\n"), Validation: new(0)})
	path := written(t, "labeled.csv", "x,y,label\n1,0,a\n0,1,b\n1,1,a\n")
	opened(t, Spec{Name: path, Test: written(t, "test.csv", "# by me\n# in May, of, 2020\nx,y\n1,0\n"), Validation: new(0)})
	_, lost := Spec{Name: path, Test: written(t, "lost.csv", "x,y\n1,0\n#N/A,1\n")}.Open()
	wantError(t, lost, "line 3 begins with #")
	opened(t, Spec{Name: written(t, "times.csv", "day,time,v\n1,12:30,5\n2,13:00,5\n3,14:30,6\n"), Columns: "time=skip", Validation: new(0), Largest: 6})
	_, err := Spec{Name: written(t, "latin.csv", "caf\xe9,y\n1,2\n")}.Open()
	wantError(t, err, "not UTF-8")
	for text, says := range map[string]string{
		"a long first column,caf\xe9\n1,0\n0,1\n":               "line 1: its text is not UTF-8",
		"a long first column,town\n1,K\xf6ln\n0,Bonn\n1,Bonn\n": `line 2, column "town": its text is not UTF-8: save it as UTF-8, for example with iconv`,
	} {
		_, err := Spec{Name: written(t, "latin.csv", text)}.Open()
		wantError(t, err, says)
	}
}

// Long comments before the first line, and rows of LIBSVM without features, leave the separator as it is.
func TestSeparatorsBelowTheStart(t *testing.T) {
	comments := strings.Repeat("# a comment, of some length\n", 1000)
	set := opened(t, Spec{Name: written(t, "rows.tsv", comments+"x\ty\n1\t0\n0\t1\n"), Validation: new(0)})
	if len(set.Columns()) != 2 {
		t.Errorf("columns %v", set.Columns())
	}
	ranked := written(t, "ranked.txt", strings.Repeat("1 qid:1 1:0.5\n0 qid:2 1:0.25\n", 3))
	opened(t, Spec{Name: ranked, Rules: FirstRules, Validation: new(0)})
	_, err := Spec{Name: ranked}.Open()
	wantError(t, err, "LIBSVM", "zero_based=False", "n_features=N")
	for _, text := range []string{"1\n0 3:1\n1 2:1\n", "1\n0\n0 3:1 4:2\n", "1 1:1 2:1\n0\n"} {
		_, err := Spec{Name: written(t, "sparse.txt", text)}.Open()
		wantError(t, err, "LIBSVM")
	}
	opened(t, Spec{Name: written(t, "times.csv", "time\n2020-01-01 12:30\n2020-01-02 13:30\n2020-01-01 12:30\n"), Validation: new(0)})
}

// animals writes pictures into folders of these names.
func animals(t *testing.T, folders ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			c := image.NewGray(image.Rect(0, 0, 2, 2))
			c.Pix[i] = 255
			if err := os.WriteFile(filepath.Join(root, folder, fmt.Sprint(i, ".png")), pngOf(c), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// A class has the same number in every folder, whichever classes the folder has.
func TestClassesOfAnotherFolder(t *testing.T) {
	first, second := animals(t, "cat", "dog", "horse"), animals(t, "dog", "horse")
	set := opened(t, Spec{Name: first, Test: second, Validation: new(0)})
	rows, err := set.ReadRows(second)
	want := []uint8{1, 1, 1, 1, 2, 2, 2, 2}
	if err != nil || !slices.Equal(set.Test().Labels, want) || !slices.Equal(rows.Labels, want) {
		t.Errorf("labels %v and %v, %v; want %v", set.Test().Labels, rows.Labels, err, want)
	}
	_, err = Spec{Name: first, Test: animals(t, "dog", "emu")}.Open()
	wantError(t, err, `no class "emu"`)
}

// Folders of parts may have other usual names. Folders that are not read as they look are refused.
func TestFoldersOfParts(t *testing.T) {
	for _, folders := range [][]string{{"Train", "Test"}, {"training/cat", "training/dog", "testing/dog"}, {"TRAIN/cat", "Val/cat", "test/cat"}} {
		set := opened(t, Spec{Name: animals(t, folders...), Validation: new(0)})
		if set.Test().Rows != 4 || slices.Contains(set.ClassNames(), "Test") {
			t.Errorf("%v: %v of the classes %v", folders, set, set.ClassNames())
		}
	}
	if set := opened(t, Spec{Name: animals(t, "Bus", "Train", "Tram")}); set.Classes() != 3 {
		t.Errorf("%v of the classes %v", set, set.ClassNames())
	}
	refused := map[string]string{
		animals(t, "train", "training"):      "has several folders of the same part as training",
		animals(t, "train", "cat"):           "a folder train and a folder cat",
		animals(t, "cat", "dog", "dog/more"): "a folder more inside the folder of a class",
	}
	for _, name := range []string{"4.TIF", "4.heic"} {
		other := animals(t, "cat", "dog")
		if err := os.WriteFile(filepath.Join(other, "dog", name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		refused[other] = name + " is a picture in another format than PNG and JPEG: save it as PNG"
	}
	for folder, says := range refused {
		_, err := Spec{Name: folder}.Open()
		wantError(t, err, says)
	}
}

// A file of test rows has the format of the training rows, and no parts of its own.
func TestTestFilesThatDoNotFit(t *testing.T) {
	table, steps := written(t, "rows.csv", "x,y\n1,0\n0,1\n"), written(t, "train.json", `{"train": [[[0, 1]], [[1, 1]]]}`)
	_, err := Spec{Name: filepath.Join("testdata", "formats", "19-int64.npy"), Test: table}.Open()
	wantError(t, err, "it is a table with columns, and the training rows are not")
	_, err = Spec{Name: steps, Test: written(t, "both.json", `{"train": [[[0, 1]]], "test": [[[1, 1]]]}`)}.Open()
	wantError(t, err, "both.json has more than one part")
}

// ReadRows replaces the test and validation rows that the files of a set have.
func TestReadRowsOfASetWithItsOwnParts(t *testing.T) {
	set := opened(t, Spec{Name: animals(t, "train/cat", "train/dog", "validation/cat", "test/dog")})
	rows, err := set.ReadRows(animals(t, "dog"))
	if err != nil || rows.Rows != 4 || !slices.Equal(rows.Labels, []uint8{1, 1, 1, 1}) {
		t.Errorf("%d rows with labels %v, %v", rows.Rows, rows.Labels, err)
	}
}

// An array of one dimension or of one column has the weights of rows, and no other array of as many numbers.
// first_label holds for rows that a program passes in.
func TestArraysOfWeightsAndFirstLabels(t *testing.T) {
	rows, data := tableOf(t, "", "%[1]d 1\n"), floats32(1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2)
	weights := func(shape string) string {
		return written(t, "w.npy", string(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': "+shape+", }", data)))
	}
	for _, shape := range []string{"(12,)", "(12, 1)", "(1, 12)"} {
		set := opened(t, Spec{Name: rows, WeightFile: weights(shape), Validation: new(0)})
		for i, row := range set.Train().Floats() {
			if set.Train().Weights[i] != row[0]+1 {
				t.Errorf("%s: row %v has the weight %v", shape, row, set.Train().Weights[i])
			}
		}
	}
	_, err := Spec{Name: rows, WeightFile: weights("(6, 2)")}.Open()
	wantError(t, err, "w.npy", "its rows have 2 values", "one weight per row")
	labeled, err := Spec{Name: "of my own", FirstLabel: 1, Validation: new(0)}.FromLabeledRows(Shape{1, 1}, [][]float64{{0}, {1}}, [][]float64{{1}}, []uint8{1, 2}, []uint8{2})
	if err != nil || labeled.Classes() != 2 || labeled.Test().Labels[0] != 1 {
		t.Errorf("%v, %v", labeled, err)
	}
}

// A real column that is constant has a notice, standardised or not.
func TestNoticeOfAConstantNumber(t *testing.T) {
	path := written(t, "constant.csv", "same,other\n"+strings.Repeat("5.5,1.5\n5.5,-2\n5.5,7\n", 10))
	for _, standardize := range []bool{false, true} {
		set := opened(t, Spec{Name: path, Binarization: Real, Standardize: standardize, Columns: "same=real"})
		if got := set.Notice(); !strings.Contains(got, `"same=skip"`) {
			t.Errorf("standardize = %v: notice %q", standardize, got)
		}
	}
}

// A second file without the header of the first is refused, unless its first line could be a header: then training says so.
func TestSecondFilesWithoutAHeader(t *testing.T) {
	const bits, three = "1,0,0\n0,1,1\n1,1,0\n0,0,1\n", "1,2,0\n0,1,2\n2,0,1\n0,0,1\n"
	for _, c := range []struct{ train, test, says string }{
		{"a,b,c\n" + bits, bits, "if line 1 is a row, write the first line of the training file above it"},
		{"a,b,c\n" + bits, "a,b,c\n" + bits, ""}, // the remedy
		{"a,b,c\n" + bits, "c,a,b\n" + bits, ""},
		{"0,1,2\n" + bits, bits, "if line 1 is a row"},
		{"0,1,2\n" + bits, "0,1,2\n" + bits, ""},
		{"0,1,2\n" + three, three, "may be a row"},
		{"0,1,2\n" + three, "0,1,2\n" + three, "may be a row"},
		{"0,1,2,3\n1,0,0,1\n0,1,1,1\n1,1,0,0\n", "2,0,3,1\n1,0,0,1\n", "may be a row"},
	} {
		spec := Spec{Name: written(t, "train.csv", c.train), Validation: new(0)}
		if strings.Contains(c.train, three) {
			spec.Columns = "0=categorical,1=categorical,2=categorical"
		}
		_, err := opened(t, spec).ReadRows(written(t, "rows.csv", c.test))
		spec.Test = written(t, "test.csv", c.test)
		set, failure := spec.Open()
		if c.says == "" {
			if err != nil || failure != nil || set.doubt != "" {
				t.Errorf("%+v: %v, %v, %v", c, err, failure, set)
			}
			continue
		}
		wantError(t, err, c.says)
		if failure == nil {
			failure = errors.New(set.Notice())
		}
		wantError(t, failure, c.says)
	}
}

// Lines are read alike whether or not the file has quotes, which another parser reads from their first line on, and errors
// name the same lines.
func TestLinesWithAndWithoutQuotes(t *testing.T) {
	for _, text := range []string{
		"name,kind\n1.5,x\n\n# a comment\n2.5,y\n3.5,x\n0.5,y\n1.5,x",
		"name,kind\r\n 1.5, x \r\n2.5,y\r\n3.5,x\r\n0.5,y\r\n1.5,x\r\n",
		"name;kind;\n1,5;x;\n2,5;y;\n3,5;x;\n0,5;y;\n1,5;x;\n",
		"name\tkind\n1.5\tx\n2.5\ty\n3.5\tx\n\n0.5\ty\n1.5\tx\n\n\n",
		"# above\nname,kind\n1.5,x\n2.5,y,z\n",
		"name,kind\n1.5,x\n\n2.5,\n",
		"name,kind\n#1.5,x\n2.5,y\n",
		"name,kind\n \n2.5,y\n",
	} {
		open := func(text string) (string, string) {
			set, err := Spec{Name: written(t, "rows.csv", text), Binarization: Real, Validation: new(0)}.Open()
			if err != nil {
				return "", regexp.MustCompile(`line \d+`).FindString(err.Error())
			}
			return fmt.Sprint(set.Columns(), set.Train().Reals(), set.Test().Reals()), ""
		}
		rows, line := open(text)
		for _, quoted := range []string{"name", "x", "2.5", "1.5"} {
			if i := strings.LastIndex(text, quoted); i >= 0 && !strings.HasPrefix(text[i-min(i, 1):], "#") {
				text := text[:i] + `"` + quoted + `"` + text[i+len(quoted):]
				if again, where := open(text); again != rows || where != line {
					t.Errorf("%q: %s%s, want %s%s", text, again, where, rows, line)
				}
			}
		}
	}
}
