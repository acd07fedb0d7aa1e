package dataset

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// The units of a table, written as a table again, are the table, without labels, and with the range of each
// number in its place.
func TestWriteCSV(t *testing.T) {
	path := written(t, "garments.csv", "colour,striped,size,label\nblue,no,3,0\ngreen,yes,1,1\nred,no,2,0\nblue,yes,4,1\n")
	set := opened(t, Spec{Name: path, Test: twin(t, path), Validation: new(0), Columns: "size=real:2"})
	train := set.Train()
	var b strings.Builder
	if err := set.WriteCSV(&b, Sheet{train.Shape, train.Floats()}); err != nil {
		t.Fatal(err)
	}
	if want := "colour,striped,size\nblue,no,> 2\ngreen,yes,≤ 2\nred,no,≤ 2\nblue,yes,> 2\n"; b.String() != want {
		t.Errorf("written is\n%s, want\n%s", b.String(), want)
	}
	b.Reset()
	sheet := Sheet{train.Shape, [][]float64{{0.2, 0.5, 0.3, 0.4, 0.6, 0.4}}}
	if err := set.WriteCSV(&b, sheet); err != nil || !strings.HasSuffix(b.String(), "\ngreen,no,≤ 2\n") {
		t.Errorf("of probabilities the most probable values are %s, %v", b.String(), err)
	}
	for want, row := range map[string][]float64{
		"image 1 has 2 values, but its shape is 1×6: give 6": {1, 0},
		"value 5 of image 1 is not a number":                 {1, 0, 0, 1, math.NaN(), 0},
	} {
		wantError(t, set.WriteCSV(&b, Sheet{train.Shape, [][]float64{row}}), want)
	}
	columns := set.Columns()
	columns[0].Values[0], columns[2].Cuts[0] = "changed", -1
	if again := set.Columns(); again[0].Values[0] != "blue" || again[2].Cuts[0] != 2 {
		t.Errorf("after changes to Columns, the set has %+v", again)
	}
	c := Column{Kind: CategoricalColumn, Units: 2, Rest: true}
	for want, units := range map[string][]float64{"": {0.3, 0.2}, "2": {0.2, 0.5}} {
		if got := c.field(units); got != want {
			t.Errorf("the field of %v is %q, want %q", units, got, want)
		}
	}
	wantError(t, opened(t, Spec{Name: "glyphs", Subset: 10}).WriteCSV(os.Stdout, sheet), "but the rows of glyphs have shape")
	wantError(t, opened(t, Spec{Name: "voices"}).WriteCSV(os.Stdout, Sheet{}), "are sequences")
}

// Rows without columns are written with the scale of the file, and are read again as they were.
func TestWriteCSVOfNumbers(t *testing.T) {
	for name, text := range map[string]string{"numbers": "1,0,1\n1,1,0\n0,0,1\n", "spins": "1,-1,1\n1,1,-1\n-1,-1,1\n", "largest": "8,0,4\n2,16,0\n0,4,6\n"} {
		of := Spec{Name: written(t, name+".csv", text), Shape: "1x3", Validation: new(0)}
		if name == "largest" {
			of.Binarization, of.Largest = Real, 16
		}
		of.Test = twin(t, of.Name)
		set := opened(t, of)
		var b strings.Builder
		if err := set.WriteCSV(&b, Sheet{set.Shape(), set.Train().Floats()}); err != nil || b.String() != text {
			t.Errorf("%s: written is %q, want %q, %v", name, &b, text, err)
		}
	}
}

// Numbers of a standardised set are written to a millionth of their standard deviation.
func TestWriteCSVKeepsLargeNumbers(t *testing.T) {
	text := "time\n1700000000.5\n1700100000.5\n1700300000.5\n1700200000.5\n"
	of := Spec{Name: written(t, "times.csv", text), Binarization: Real, Standardize: true, Validation: new(0)}
	of.Test = twin(t, of.Name)
	set := opened(t, of)
	draw := (1700123456.7 - set.scalings[0].Mean) / set.scalings[0].SD
	var b strings.Builder
	if err := set.WriteCSV(&b, Sheet{set.Shape(), [][]float64{{draw}}}); err != nil || b.String() != "time\n1700123456.7\n" {
		t.Errorf("written is %q, %v", &b, err)
	}
	for want, of := range map[string]scaling{"5541220": {5541219.7, 1e7}, "0": {-1e-9, 1}, "0.1234568": {0.12345678, 0.3}, "2000000000000": {1999999999999.6, 2e8}} {
		set.scalings = []scaling{of}
		if got := set.numberOf(0, of.Mean); got != want {
			t.Errorf("%v with the standard deviation %v is %s, want %s", of.Mean, of.SD, got, want)
		}
	}
}

// A written table of 0 and 1, or of spins, is read as the rows that it was written from, and probabilities become
// the most probable values.
func TestWriteCSVOfBits(t *testing.T) {
	for low, name := range map[string]string{"0": "bits.csv", "-1": "spins.csv"} {
		text := strings.ReplaceAll("a,b,c,label\n0,0,1,x\n1,1,0,y\n1,0,0,x\n1,1,1,y\n", "0", low)
		path := written(t, name, text)
		set := opened(t, Spec{Name: path, Test: twin(t, path), Validation: new(0)})
		train := set.Train()
		var b strings.Builder
		if err := set.WriteCSV(&b, Sheet{train.Shape, train.Floats()}); err != nil {
			t.Fatal(err)
		}
		if want := strings.NewReplacer(",label", "", ",x", "", ",y", "").Replace(text); b.String() != want {
			t.Errorf("%s: written is\n%s, want\n%s", name, b.String(), want)
		}
		rows, err := set.ReadRows(written(t, "again.csv", b.String()))
		if err != nil || !slices.Equal(rows.Bytes(), train.Bytes()) {
			t.Errorf("%s: read back are %v (%v), want %v", name, rows.Bytes(), err, train.Bytes())
		}
		b.Reset()
		if err := set.WriteCSV(&b, Sheet{train.Shape, [][]float64{{0.7, 0.4, 0.5}}}); err != nil || b.String() != "a,b,c\n1,"+low+",1\n" {
			t.Errorf("%s: of probabilities the most probable values are %s, %v", name, b.String(), err)
		}
	}
}

// A written table whose numbers are divided by the largest value is read as the rows that it was written from.
func TestWriteCSVOfDividedNumbers(t *testing.T) {
	for name, text := range map[string]string{"levels.csv": "a,b\n0,16\n4,8\n12,16\n", "dark.csv": "a,b\n0,16\n1,8\n0,4\n1,12\n", "bits.csv": "a,b\n0,16\n16,0\n"} {
		path := written(t, name, text)
		set := opened(t, Spec{Name: path, Test: twin(t, path), Validation: new(0), Largest: 16, Binarization: Gray})
		var b strings.Builder
		if err := set.WriteCSV(&b, Sheet{set.Shape(), set.Train().Floats()}); err != nil {
			t.Fatal(err)
		}
		rows, err := set.ReadRows(written(t, "again.csv", b.String()))
		if err != nil || !slices.Equal(rows.Bytes(), set.Train().Bytes()) {
			t.Errorf("%s: read back from\n%s are %v (%v), want %v", name, b.String(), rows.Bytes(), err, set.Train().Bytes())
		}
	}
}

// Rows of a table without a header are written without one, and are read as the rows that they were written from.
func TestWriteCSVWithoutHeader(t *testing.T) {
	for columns, text := range map[string]string{
		"":                             "3,blue,no,1.5\n1,green,yes,2.5\n2,red,no,4.5\n4,blue,yes,3.5\n",
		"1=real:2, 2=real:2, 3=real:2": "5,0.5,1.5\n7,2,2.5\n8,3,4.5\n9,4,3.5\n",
	} {
		path := written(t, "rows.csv", text)
		set := opened(t, Spec{Name: path, Test: twin(t, path), Validation: new(0), Columns: columns})
		if !strings.Contains(set.Description(), "no header: its first line is a row") {
			t.Errorf("the description is %s", set.Description())
		}
		for n := 1; n <= 4; n++ {
			train := set.Train().Subset(n, 1)
			var b strings.Builder
			if err := set.WriteCSV(&b, Sheet{train.Shape, train.Floats()}); err != nil {
				t.Fatal(err)
			}
			rows, err := set.ReadRows(written(t, "again.csv", b.String()))
			if err != nil || !slices.Equal(rows.Bytes(), train.Bytes()) {
				t.Errorf("read back from\n%s are %v (%v), want %v", &b, rows.Bytes(), err, train.Bytes())
			}
		}
	}
}

// Written ranges are read as the units that they were written from, also if their cuts are large or close together,
// and other ranges are refused.
func TestWriteCSVOfRanges(t *testing.T) {
	text := "pay,time,town\n"
	for i := range 12 {
		text += fmt.Sprintf("%d,%v,%c\n", 4641134+1111*i, 0.1+1e-8*float64(i), 'a'+i%3)
	}
	path := written(t, "pay.csv", text)
	set := opened(t, Spec{Name: path, Test: twin(t, path), Validation: new(0)})
	var b strings.Builder
	if err := set.WriteCSV(&b, Sheet{set.Shape(), set.Train().Floats()}); err != nil {
		t.Fatal(err)
	}
	if want := "pay,time,town\n≤ 4643356,≤ 0.10000002,a\n"; !strings.HasPrefix(b.String(), want) {
		t.Errorf("written is\n%s, want\n%s", b.String(), want)
	}
	rows, err := set.ReadRows(written(t, "again.csv", b.String()))
	if err != nil || !slices.Equal(rows.Bytes(), set.Train().Bytes()) {
		t.Errorf("read back from\n%s are %v (%v), want %v", b.String(), rows.Bytes(), err, set.Train().Bytes())
	}
	_, err = set.ReadRows(written(t, "other.csv", "pay,time,town\n≤ 5,0.1,a\n"))
	wantError(t, err, `column "pay": row 1 has "≤ 5", which is not a value of the training data (`, "≤ 4643356")
	real := opened(t, Spec{Name: path, Columns: "time=skip", Binarization: Real, Validation: new(0)})
	_, err = real.ReadRows(written(t, "real.csv", "pay,time,town\n> 5,0.1,a\n"))
	wantError(t, err, `column "pay": "> 5" on line 2 is not a number`)
	b.Reset()
	sheet := Sheet{real.Shape(), [][]float64{{7703831, 1, 0, 0}, {1.5e-12, 1, 0, 0}, {-0.1, 1, 0, 0}, {1e30, 1, 0, 0}}}
	for how, want := range map[Writing]string{
		{}:             "7703831 0 0 1e+30", // whole, as in the file
		{Exact: true}:  "7703831 0.0000000000015 -0.1 1e+30",
		{Within: true}: "4653355 4641134 4641134 4653355",
	} {
		_, fields, err := real.Fields(sheet, how)
		var got []string
		for _, row := range fields {
			got = append(got, row[0])
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%+v: real numbers are written as %v, %v, want %s", how, got, err, want)
		}
	}
}

// A number has the decimals of its column, however its file writes them.
func TestDecimals(t *testing.T) {
	set := opened(t, Spec{Name: written(t, "decimals.csv", table30("a,b,c,d", "%[1]d.250,1%[1]de-4,%[2]d.25e1,-%[1]d1.0")), Binarization: Real})
	if _, fields, err := set.Fields(Sheet{set.Shape(), [][]float64{{1.006, 1.00006, 2.06, -3.4}}}, Writing{}); err != nil || strings.Join(fields[0], " ") != "1.01 1.0001 2.1 -3" {
		t.Errorf("fields %v, %v", fields, err)
	}
}

// Draws without one category each are refused, since any choice would change the frequencies.
func TestWriteCSVRefusesDrawsWithoutACategory(t *testing.T) {
	set := opened(t, Spec{Name: written(t, "cities.csv", "city,ill\n"+strings.Repeat("Aa,0\nBb,1\nCc,0\n", 10))})
	for says, row := range map[string][]float64{"": {0, 1, 0, 1}, "1 have no value": {0, 0, 0, 1}, "1 have several": {1, 1, 0, 0}} {
		err := set.WriteCSV(io.Discard, Sheet{set.Shape(), [][]float64{row, {1, 0, 0, 0}, {0.2, 0.3, 0.3, 0}}})
		if says == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantError(t, err, says, "of 3 draws", `"city"`, "--groups data")
	}
}
