package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// table30 returns a header and 30 rows, whose fields are made from the number of the row, and from a number that
// seems random.
func table30(header, row string) string {
	text := header + "\n"
	for i := range 30 {
		text += fmt.Sprintf(row, i, 7*i*i%31) + "\n"
	}
	return text
}

// replaced returns a row of table30 in which a field that is a % 2 is one of two values.
func replaced(text, zero, one string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines[1:] {
		lines[i+1] = strings.Replace(lines[i+1], "@", []string{zero, one}[i*i%5%2], 1)
	}
	return strings.Join(lines, "\n") + "\n"
}

// A column with two values is binary, whatever the other columns are and however the values are written.
func TestColumnsWithTwoValues(t *testing.T) {
	for _, values := range [][2]string{{"0", "1"}, {"1", "2"}, {"-1", "1"}, {"0.0", "1.0"}, {"0.5", "2"}, {"no", "yes"}, {"False", "True"}} {
		for name, text := range map[string]string{"with numbers": table30("age,sex", "%[2]d5.5,@"), "with text": table30("job,sex", "j%[2]d,@"), "no header": table30("9.5,@", "%[2]d5.5,@"), "alone": table30("sex,class", "@,%[2]d")} {
			if name == "no header" {
				text = strings.Replace(text, "@", values[0], 1)
			}
			set := opened(t, Spec{Name: written(t, "rows.csv", replaced(text, values[0], values[1])), Binarization: Real, Validation: new(0)})
			i := slices.IndexFunc(set.Columns(), func(c Column) bool { return c.Kind == BinaryColumn })
			if i < 0 || !slices.Equal(set.Columns()[i].Values, values[:]) {
				t.Errorf("%v %s: %v", values, name, set.Columns())
			}
		}
	}
	path := written(t, "train.csv", replaced(table30("age,sex", "%[2]d5.5,@"), "1", "2"))
	test := written(t, "test.csv", "age,sex\n7.5,2\n8.5,3\n")
	_, err := Spec{Name: path, Test: test, Binarization: Real}.Open()
	wantError(t, err, test, `column "sex": row 2 of the second file has "3", which is not a value of the training data (1, 2)`)
	set := opened(t, Spec{Name: path, Binarization: Real})
	_, err = set.ReadRows(test)
	wantError(t, err, `column "sex": row 2 has "3"`)
	if set := opened(t, Spec{Name: path, Binarization: Real, Columns: "sex=real"}); set.Columns()[1].Kind != RealColumn {
		t.Errorf("with a given kind: %v", set.Columns())
	}
	_, err = Spec{Name: written(t, "coded.csv", replaced(table30("age,sex", "%[2]d5.5,@"), "1", "2")+"30,-9\n"), Missing: Codes{"-9"}, Binarization: Real}.Open()
	wantError(t, err, `line 32, column "sex": a missing value ("-9")`)
}

// A constant column is left out, and a notice names it. Another value in a second file is refused, unless the Spec skips
// the column.
func TestConstantColumns(t *testing.T) {
	for name, of := range map[string]struct {
		row, other string
		units      int
	}{"bits": {"%[1]d,5,0", "%[1]d,6,0", 1}, "numbers": {"%[2]d.5,7.25,1", "%[2]d.5,7.5,1", 1}, "text": {"%[2]d.5,DE,1", "%[2]d.5,FR,1", 1}} {
		rows := func(row string) (text string) {
			for i := range 12 {
				text += fmt.Sprintf(row, i%2, 3*i%11) + "\n"
			}
			return "a,b,c\n" + text
		}
		path, other := written(t, "rows.csv", rows(of.row)), written(t, "other.csv", rows(of.other))
		set := opened(t, Spec{Name: path, Test: twin(t, path), Binarization: Real})
		if set.Shape().Units() != of.units || !strings.Contains(set.Notice(), `: "b", "c" (one value throughout); to keep`) || !strings.Contains(set.Description(), "column b: skip (") {
			t.Errorf("%s: %v", name, set.Description())
		}
		_, err := Spec{Name: path, Test: other, Binarization: Real}.Open()
		wantError(t, err, `column "b", which has one value throughout the training file and is left out: row 1 of the second file has`, "b=skip")
		_, err = set.ReadRows(other)
		wantError(t, err, `column "b", which has one value`, "remove it from this file")
		opened(t, Spec{Name: path, Test: other, Columns: "b=skip", Binarization: Real})
		if _, err := set.ReadRows(written(t, "without.csv", "a\n0\n1\n")); err != nil {
			t.Errorf("%s: without the constant columns: %v", name, err)
		}
		if before := opened(t, Spec{Name: path, Columns: map[bool]string{true: "b=skip"}[name == "text"], Rules: FirstRules, Binarization: Real}); name != "text" && before.Shape().Units() != 3 {
			t.Errorf("%s: by the first rules %v", name, before.Columns())
		}
	}
	same := written(t, "same.csv", "a,b\n1,x\n1,x\n1,x\n")
	_, err := Spec{Name: same}.Open()
	wantError(t, err, "no column of the table is left", `"a=categorical"`)
	opened(t, Spec{Name: same, Columns: "a=categorical"})
	for name, of := range map[string]Spec{"images": {Shape: "1x2"}, "a scale": {Largest: 2}} {
		of.Name = written(t, "pixels.csv", "p1,p2\n1,0\n1,1\n1,1\n")
		if set := opened(t, of); set.Shape().Units() != 2 {
			t.Errorf("%s: %v", name, set)
		}
	}
	if set := opened(t, Spec{Name: written(t, "grey.csv", "p1,p2,p3\n255,0,0\n255,200,7\n255,9,7\n"), Validation: new(0)}); set.Shape().Units() != 3 {
		t.Errorf("of grey levels, %v are left", set.Columns())
	}
}

// Columns that number or name the rows are left out, and a notice names them. Columns that may do so are refused.
func TestIdentifiers(t *testing.T) {
	for text, out := range map[string]string{
		table30("id,x", "p%[1]d,%[2]d.5"):                           `"id"`,
		table30("Customer name,x", "Ann %[1]d,%[2]d.5"):             `"Customer name"`,
		table30(",x", "Mazda %[1]d,%[2]d.5"):                        `"1"`,
		table30(",x", "%[1]d,%[2]d.5"):                              `"1"`,
		table30("Unnamed: 0.1,Unnamed: 0,x", "%[1]d,%[1]d,%[2]d.5"): `"Unnamed: 0.1", "Unnamed: 0"`,
		table30("x,__index_level_0__", "%[2]d.5,r%[1]d"):            `"__index_level_0__"`,
		table30("PassengerId,x", "1%[1]d7,%[2]d.5"):                 `"PassengerId"`,
		table30("nr,x", "%[1]d,%[2]d.5"):                            `"nr"`,
		table30("row.names,x", "%[1]d,%[2]d.5"):                     `"row.names"`,
		table30("date,x", "2020-01-%02[1]d,%[2]d.5"):                `"date"`,
		"0,0.5\n1,1.5\n2,7\n3,0.5\n4,8.5\n5,-3\n":                   `"1"`,
		table30("valid,x", "%[1]d,%[2]d.5"):                         "",
		table30("year,x", "19%02[1]d,%[2]d.5"):                      "",
		table30("job,x", "j%[2]d,%[2]d.5"):                          "",
	} {
		set := opened(t, Spec{Name: written(t, "rows.csv", text), Binarization: Real})
		if notice := set.Notice(); out == "" != !strings.Contains(notice, "left out") || !strings.Contains(notice, out) {
			t.Errorf("%.20q: notice %q, want %q", text, notice, out)
		}
	}
	long := "name,x\n"
	for i := range 400 {
		long += fmt.Sprintf("n%d,%d.5\n", i, i*i%31)
	}
	path := written(t, "long.csv", long)
	set := opened(t, Spec{Name: path, Binarization: Real})
	if set.Shape().Units() != 1 {
		t.Errorf("of 400 names, %v are left", set.Shape().Units())
	}
	if rows, err := set.ReadRows(written(t, "new.csv", "name,x\nn1,4\nnew,5\n")); err != nil || rows.Rows != 2 {
		t.Errorf("with other names: %v, %v", rows, err)
	}
	_, err := Spec{Name: written(t, "prices.csv", strings.ReplaceAll(long, "n", "$"))}.Open()
	wantError(t, err, "has numbers, and text")
	for columns, units := range map[string]int{"id=categorical": 31, "id=skip": 1} {
		if set := opened(t, Spec{Name: written(t, "ids.csv", table30("id,x", "p%[1]d,%[2]d.5")), Columns: columns, Binarization: Real}); set.Shape().Units() != units {
			t.Errorf("%s: %v", columns, set.Columns())
		}
	}
	index := written(t, "index.csv", table30(",x,y", "%[2]d,%[1]d.5,%[2]d.5"))
	_, err = Spec{Name: index, Binarization: Real}.Open()
	wantError(t, err, `column "1" has no name`, `"1=skip"`, `"1=categorical"`)
	for _, columns := range []string{"1=skip", "1=real"} {
		opened(t, Spec{Name: index, Columns: columns, Binarization: Real})
	}
}

// Lines that are no rows are refused by their number, and the remedies in the errors work. The first rules read them as
// rows.
func TestLinesThatAreNoRows(t *testing.T) {
	towns := table30("town,size,rain", "t%[2]d,%[2]d,%[1]d.5")
	line := func(n int) string { return strings.Join(strings.Split(towns, "\n")[:n], "\n") + "\n" }
	rest := strings.TrimPrefix(towns, line(1))
	few := strings.Repeat("36,1\n38,2\n40,3\n", 3)
	text := strings.NewReplacer("1", "a", "2", "b", "3", "c", "5", "e", "7", "g").Replace(table30("x,y", "k%[1]d,v%[2]d"))
	text = strings.Repeat(strings.TrimPrefix(text, "x,y\n"), 2)
	bits := strings.Repeat("0,1,1\n1,0,0\n1,1,0\n", 4)
	for name, of := range map[string]struct {
		text, says            string
		columns, above, other string // remedies: kinds of columns, a line of names above, and the text without the line
		before                bool   // whether the first rules read the line as a row
	}{
		"total":            {towns + "Total,435,465.5\n", `line 32, column "town": "Total" may sum up`, "town=categorical", "", towns, true},
		"grand total":      {towns + "Grand Total:,435,465.5\n", `line 32, column "town"`, "town=categorical", "", towns, true},
		"average":          {towns + "AVERAGE,14.5,15.5\n", `line 32, column "town"`, "town=categorical", "", towns, true},
		"margin of pandas": {towns + "All,435,465.5\n", `line 32, column "town"`, "town=categorical", "", towns, true},
		"total of labels":  {strings.Replace(towns, "town", "class", 1) + "Total,435,465.5\n", `"class=label"`, "class=label,size=real:4,rain=real:4", "", "", true},
		"decades":          {"town,1990,2000\n" + rest, "may be a header or a row", "", "a,b,c\n", "town,y1990,y2000\n" + rest, true},
		"units":            {line(1) + "name,cm,mm\n" + rest, `column "size" has numbers below text ("cm" on line 2)`, "size=categorical,rain=categorical", "", towns, false},
		"header of two":    {"wave,wave,wave\n" + towns, `column "2" has numbers below text ("size" on line 2)`, "", "", towns, false},
		"units of few":     {"size,x\ncm,mm\n" + few, "line 2 may be a second header", "size=categorical,x=categorical", "", "size,x\n" + few, true},
		"title":            {"Made by me,in May\nx,y\n" + text, "line 2 may be a second header", "Made by me=categorical", "", "x,y\n" + text, true},
		"header inside":    {"x,y\n" + text + "x,y\n" + text, `line 62 repeats line 1 ("x", "y")`, "", "a,b\n", "x,y\n" + text + text, true},
		"years":            {"2018,2019,2020\n" + bits, `line 1 ("2018", "2019", "2020") may be a header or a row`, "", "a,b,c\n", "y2018,y2019,y2020\n" + bits, true},
		"years backwards":  {"2020,2010\n" + strings.NewReplacer(",1\n", "\n", ",0\n", "\n").Replace(bits), "may be a header or a row", "", "a,b\n", "", true},
		"numbers":          {"1,2,3\n" + bits, "may be a header or a row", "", "a,b,c\n", "", true},
		"no name":          {"x,\n" + text, "may be a header or a row", "", "", "x,y\n" + text, false},
	} {
		path := written(t, "rows.csv", of.text)
		_, err := Spec{Name: path, Binarization: Real}.Open()
		wantError(t, err, of.says)
		if _, err := (Spec{Name: path, Binarization: Real, Rules: FirstRules}).Open(); (err == nil) != of.before {
			t.Errorf("%s: by the first rules %v", name, err)
		}
		if of.columns != "" {
			opened(t, Spec{Name: path, Columns: of.columns})
		}
		if of.above != "" {
			opened(t, Spec{Name: written(t, "named.csv", of.above+of.text), Binarization: Real})
		}
		if of.other != "" {
			opened(t, Spec{Name: written(t, "without.csv", of.other), Binarization: Real})
		}
	}
	train := written(t, "train.csv", towns)
	_, err := Spec{Name: train, Test: written(t, "test.csv", line(4)+"Total,435,465.5\n"), Binarization: Real}.Open()
	wantError(t, err, `line 5 of the second file, column "town": "Total"`)
	opened(t, Spec{Name: written(t, "parts.csv", replaced(table30("kind,x", "@,%[2]d.5"), "part", "total")), Binarization: Real})
}

// A line with another number of fields than the others may be a title, a comment, a note or a header without the last separator.
func TestLinesOfAnotherLength(t *testing.T) {
	rows := "1,2,a\n3,4,b\n5,6,a\n"
	for text, of := range map[string]struct{ says, other string }{
		"Our data of 2025\nx,y,z\n" + rows:                {"remove line 1", "x,y,z\n" + rows},
		"% made by me\nx,y,z\n" + rows:                    {"remove line 1", "x,y,z\n" + rows},
		"x,y,z\n" + rows + "\nSource: a book\n":           {"remove line 6", "x,y,z\n" + rows},
		"x,y,z\n" + strings.ReplaceAll(rows, "\n", ",\n"): {"end the first line with the separator", "x,y,z,\n" + strings.ReplaceAll(rows, "\n", ",\n")},
	} {
		_, err := Spec{Name: written(t, "rows.csv", text), Binarization: Real}.Open()
		wantError(t, err, of.says)
		set := opened(t, Spec{Name: written(t, "other.csv", of.other), Binarization: Real, Validation: new(0)})
		if set.Shape().Width != 3 || set.Train().At(0) != 1 {
			t.Errorf("%q: %v", of.other, set)
		}
	}
	_, err := Spec{Name: written(t, "names.csv", "x,c\n1.5,a\n2.5,c\n3.5,d\n4.5,c\n"), Binarization: Real}.Open()
	wantError(t, err, `give header = "yes" (--header yes)`)
	opened(t, Spec{Name: written(t, "names.csv", "x,c\n1.5,a\n2.5,c\n3.5,d\n4.5,c\n"), Header: "yes", Binarization: Real})
}

// A header may lack names if there are numbers below another name.
func TestHeadersWithoutANames(t *testing.T) {
	for header, row := range map[string]string{"age,,job": "%[2]d.5,%[1]d.5,j%[2]d", "age,job,": "%[2]d.5,j%[2]d,%[1]d.5", "a,,,b": "%[2]d.5,%[1]d.5,%[2]d.25,%[1]d.75"} {
		set := opened(t, Spec{Name: written(t, "rows.csv", table30(header, row)), Binarization: Real})
		if rows := set.Train().Rows + set.Test().Rows; rows != 30 || set.Columns()[0].Name == "1" {
			t.Errorf("%s: %d rows of %v", header, rows, set.Columns())
		}
	}
}

// Numbers with two values in an array, and classes without training rows, have a notice.
func TestNoticesOfArraysAndClasses(t *testing.T) {
	of := Spec{Name: "own", Binarization: Real, Validation: new(0)}
	var train [][]float64
	for i := range 9 {
		train = append(train, []float64{float64(20 + i), float64(i % 2), float64(i)})
	}
	set, err := of.FromRows(Shape{1, 3}, train, train)
	if err != nil || !strings.Contains(set.Notice(), "places 2 of the rows of own have at most two values") {
		t.Errorf("notice %q, %v", set.Notice(), err)
	}
	for _, c := range []struct {
		train, test string
		says        string
	}{{"0,0\n1,1\n", "1,0\n", ""}, {"0,0\n1,2\n", "1,1\n", `class 1, but other rows`}, {"0,0\n1,1\n", "1,3\n", `class 3, but other rows`}} {
		set := opened(t, Spec{Name: written(t, "rows.csv", "x,label\n"+c.train), Test: written(t, "test.csv", "x,label\n"+c.test), Validation: new(0)})
		if got := set.Notice(); got == "" != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%q and %q: notice %q, want %q", c.train, c.test, got, c.says)
		}
	}
}

// The remedy for a table that R writes with write.table does not name quotes, which keep no spaces together. CSV does.
func TestLinesSeparatedBySpaces(t *testing.T) {
	_, err := Spec{Name: written(t, "cars.txt", "\"mpg\" \"cyl\"\n\"Mazda RX4\" 21.5 6\n\"Datsun 710\" 22.5 4\n")}.Open()
	wantError(t, err, "line 2 has 4 fields, but the first line has 2", "write.csv")
	opened(t, Spec{Name: written(t, "cars.csv", "\"\",\"mpg\",\"cyl\"\n\"Mazda RX4\",21.5,6\n\"Datsun 710\",22.5,4\n\"Fiat 128\",32.5,4\n"), Binarization: Real})
}

// So may a number far from all others of a column whose numbers are cut into ranges.
func TestDoubtfulNumbersInRanges(t *testing.T) {
	for code, want := range map[string]string{"-999.9": "numbers -999.9 far", "99": "numbers 99 far", "-9": ""} {
		for times := 1; times < 20; times += 9 {
			text := table30("age,town", "%[1]d,t%[2]d") + strings.Repeat(code+",t1\n", times)
			set := opened(t, Spec{Name: written(t, "rows.csv", text), Columns: "town=categorical", Validation: new(0)})
			if says := set.Notice(); want == "" != (says == "") || !strings.Contains(says, want) {
				t.Errorf("%s, %d times: %q", code, times, says)
			}
		}
	}
}

// A number far from all others of an array may stand for missing values.
func TestDoubtfulNumbersOfArrays(t *testing.T) {
	for _, standardize := range []bool{false, true} {
		for code, want := range map[float64]string{-999.9: "numbers -999.9 far from the others", 3: ""} {
			set := opened(t, Spec{Name: written(t, "rows.npy", array(t, "f4", "(6, 2)", 1.5, 2, code, 3, -1, code, 0.5, 4, 2, code, 3, 1)), Binarization: Real, Standardize: standardize, Validation: new(0)})
			if says := set.Notice(); want == "" != (says == "") || !strings.Contains(says, want) {
				t.Errorf("%v: %q", code, says)
			}
		}
	}
}

// Numbers that may be codes, and values that may be the same, are refused or named. A kind that the Spec gives ends the
// doubt.
func TestDoubtfulValues(t *testing.T) {
	for _, c := range []struct{ text, columns, says string }{
		{table30("zip,x", "0%[1]d2,%[2]d.5"), "", `column "zip" has numbers that begin with 0 ("002" on line 2)`},
		{table30("well,x", "%[2]dE2,%[1]d.5"), "", `column "well" has numbers that all have an exponent ("0E2"), and may have codes`},
		{table30("well,x", "%[2]dE2,%[1]d.5") + "1500,1.5\n", "", ""},
		{table30("well,x", "%[2]dE2,%[1]d.5"), "well=real", ""},
		{table30("dose,x", "%[2]d.0E2,%[1]d.5"), "", ""},
		{"day,x\n" + strings.Repeat("20251130,1.5\n20260101,2.5\n20260211,0.5\n", 5), "", `column "day" has numbers that may be dates (20251130)`},
		{"price,x\n" + strings.Repeat("20251330,1.5\n20260101,2.5\n20260211,0.5\n", 5), "", ""},
		{table30("zip,x", "0%[1]d2,%[2]d.5"), "zip=real", ""},
		{table30("zip,x", "0.%[1]d2,%[2]d.5"), "", ""},
		{table30("number,x", "9%[1]d00719925474099,%[2]d.5"), "", `may name or number the rows ("number")`},
		{table30("age,x", "%[1]d,%[2]d.5") + strings.Repeat("-999,1.5\n-999,2.5\n", 4), "", `rows.csv has numbers -999 far from the others`},
		{table30("age,x", "%[1]d,%[2]d.5") + strings.Repeat("-999,1.5\n-999,2.5\n", 4), "age=real", ""},
		{table30("age,x", "%[1]d,%[2]d.5") + "-999,1.5\n", "", ""},
		{table30("age,x", "%[1]d,%[2]d.5") + strings.Repeat("-999.9,1.5\n-999.9,2.5\n", 4), "", `numbers -999.9 far from the others, which may stand for missing values: if they do, give missing = "-999.9" (--missing -999.9), or missing = ["-999.9"]`},
		{"gene,x\n" + strings.Repeat("0,1.5\n1,2.5\n2,0.5\n-9,3.5\n", 9), "", `numbers -9 far`},
		{table30("age,x", "%[1]d,%[2]d.5") + strings.Repeat("9999,1.5\n9999,2.5\n", 4), "", `has numbers 9999 far`},
		{table30("age,x", "%[1]d,%[2]d.5") + strings.Repeat("50,1.5\n", 8), "", ""},
		{table30("age,x", "%[1]d,%[2]d.5") + strings.Repeat("99,1.5\n75,2.5\n", 4), "", ""},
		{table30("answer,x", "yes,%[2]d.5") + "Yes,1.5\nno,2.5\n", "", `rows.csv differ only in case ("Yes", "yes")`},
		{table30("p,x", "0.%[2]d1,%[1]d.5") + "1e-50,1.5\n", "", `float32 keeps few of their digits or none (row 31, column "p": 1e-50)`},
		{table30("p,x", "0.%[2]d1,%[1]d.5") + "0e-50,1.5\n", "", ""},
		{table30("p,x", "0.%[2]d1,%[1]d.5") + "1e-50,1.5\n", "p=log", ""},
		{table30("answer,x", "yes,%[2]d.5") + "Yes,1.5\nno,2.5\n", "answer=categorical", ""},
		{table30("answer,x", "so so,%[2]d.5") + "so\u00a0so,1.5\nno,2.5\n", "", `rows.csv differ only in spaces or in characters that cannot be seen ("so so", "so\u00a0so")`},
		{table30("answer,x", "so,%[2]d.5") + "so\u200b,1.5\nno,2.5\n", "", `("so", "so\u200b")`},
		{table30("answer,x", "yes,%[2]d.5") + "-,1.5\nno,2.5\n", "", `has the value "-", which may stand for missing values: if it does, give missing = "-" (--missing -)`},
		{table30("answer,x", "yes,%[2]d.5") + "9999,1.5\nno,2.5\n", "", `has the value "9999"`},
		{table30("x,answer", "%[2]d.5,yes") + "1.5,#DIV/0!\n2.5,no\n", "", `has the value "#DIV/0!"`},
		{table30("answer,x", "yes,%[2]d.5") + "k.A.,1.5\nno,2.5\n", "", `has the value "k.A."`},
		{table30("answer,x", "yes,%[2]d.5") + "unknown,1.5\nno,2.5\n", "answer=categorical", ""},
		{"died,x\n" + strings.Repeat("1,1.5\n-9,2.5\n1,0.5\n", 9), "", `has the value "-9", which may stand`},
		{"size,x\n" + strings.Repeat("12,1.5\n99,2.5\n12,0.5\n", 9), "", ""},
		{table30("strand,x", "+,%[2]d.5") + "-,1.5\n-,2.5\n", "", ""},
		{table30("grade,x", "A,%[2]d.5") + "B,1.5\n-,2.5\n", "", ""},
		{table30("length,x", "%[2]d cm,%[1]d.5") + "-0.5 cm,1.5\n", "", `has numbers with a unit`},
		{table30("length,x", "%[2]d cm,%[1]d.5") + "2 m,1.5\n", "", `may name or number`},
		{table30("length,x", "%[2]d cm,%[1]d.5"), "length=categorical", ""},
		{table30("day,x", "2026-11-%02[2]d,%[1]d.5"), "", `has dates`},
		{table30("time,x", "%[2]d/11/2026 17:30,%[1]d.5"), "", `has dates`},
		{table30("day,x", "2026-11-%02[2]d,%[1]d.5") + "yesterday,1.5\n", "", `may name or number`},
	} {
		set, err := Spec{Name: written(t, "rows.csv", c.text), Binarization: Real, Standardize: true, Columns: c.columns}.Open()
		says := fmt.Sprint(err)
		if err == nil {
			says = set.Notice()
		}
		if c.says == "" != (says == "") || !strings.Contains(says, c.says) {
			t.Errorf("%.20q with %q: %q, want %q", c.text, c.columns, says, c.says)
		}
	}
}
