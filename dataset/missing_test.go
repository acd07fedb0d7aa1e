package dataset

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/helmholtz-go/helmholtz/internal/npy"
)

// array returns an NPY file of numbers, rounded to a type.
func array(t *testing.T, kind, size string, numbers ...float64) string {
	t.Helper()
	var b bytes.Buffer
	for _, v := range numbers {
		var of any = v
		switch kind {
		case "f2":
			_, exponent := math.Frexp(v)
			bits := uint16(0)
			if v != 0 {
				bits = uint16(exponent+14)<<10 + uint16(math.Ldexp(math.Abs(npy.Nearest("f2", v)), 11-exponent)) - 1<<10
			}
			if v < 0 {
				bits |= 1 << 15
			}
			of = bits
		case "f4":
			of = float32(v)
		case "i8":
			of = int64(v)
		case "u1":
			of = uint8(v)
		case "b1":
			of = v != 0
		}
		if err := binary.Write(&b, binary.LittleEndian, of); err != nil {
			t.Fatal(err)
		}
	}
	return string(npyFile("{'descr': '<"+kind+"', 'fortran_order': False, 'shape': "+size+", }", b.Bytes()))
}

// A code for missing values is found in the precision in which the numbers are stored.
func TestCodesAreFoundInEveryType(t *testing.T) {
	for name, rows := range map[string]string{
		"half.npy": array(t, "f2", "(2, 2)", 1.5, 2, -999.9, 3), "single.npy": array(t, "f4", "(2, 2)", 1.5, 2, -999.9, 3), "double.npy": array(t, "f8", "(2, 2)", 1.5, 2, -999.9, 3),
		"widened.npy": array(t, "f8", "(2, 2)", 1.5, 2, float64(float32(-999.9)), 3), "savetxt.txt": "1.5 2\n-9.999000244140625000e+02 3\n", "digits.csv": "a,b\n1.5,2\n-999.90002,3\n",
		"zeros.csv": "a,b\n1.5,2\n-999.900,3\n", "exponent.csv": "a,b\n1.5,2\n-9.999e2,3\n", "comma.csv": "a;b\n1,5;2\n-999,9;3\n",
		"steps.json": `{"train": [[[1.5, 2]], [[-999.9, 3]]]}`,
	} {
		_, err := Spec{Name: written(t, name, rows), Missing: Codes{"-999.9"}, Binarization: Real}.Open()
		wantError(t, err, name, "a missing value")
	}
	_, err := Spec{Name: written(t, "rows.csv", "a,b\n1.5,2\n-999.90002,3\n"), Missing: Codes{"-999.9"}}.Open()
	wantError(t, err, `na_values=["-999.9", "-999.90002"]`)
	for code, rows := range map[string]string{
		"9007199254740992": array(t, "i8", "(2, 1)", 1, 1<<53), "-9223372036854775808": array(t, "i8", "(2, 1)", 1, math.MinInt64),
		"99999999": array(t, "f8", "(2, 1)", 1, 1e8), "0": `{"train": [[[1, 2], [3, 4]], [[3, 1]]]}`, // a whole number is not rounded, and there are no steps after the last
	} {
		_, err := Spec{Name: written(t, "rows", rows), Missing: Codes{code}, Binarization: Real, Validation: new(0)}.Open()
		if code == "99999999" || code == "0" {
			if err != nil {
				t.Errorf("%s: %v", code, err)
			}
		} else if err == nil {
			t.Errorf("%s: no error", code)
		}
	}
}

// The largest number is not offered as the scale if scipy.io.savemat writes it for a masked entry.
func TestMaskedNumbersAreNoScale(t *testing.T) {
	_, err := Spec{Name: written(t, "masked.npy", array(t, "i8", "(2, 2)", 0, 4, 999999, 1))}.Open()
	wantError(t, err, "4 is not in [0, 1]", "--missing 999999")
}

// 10²⁰ stands for a masked entry in arrays alone.
func TestTablesHaveNoMaskedNumbers(t *testing.T) {
	opened(t, Spec{Name: written(t, "rows.csv", "x,y\n1e+20,1\n2e+20,2\n3e+20,3\n"), Binarization: Real, Validation: new(0)})
}

// A code that no number of a file can be is refused, and so is a code in labels and weights.
func TestCodesThatCannotBe(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a.png", "b.png"} {
		own(t, folder, name, string(pngOf(image.NewGray(image.Rect(0, 0, 2, 1)))))
	}
	bits := "0 1\n1 0\n1 1\n"
	for says, spec := range map[string]Spec{
		`missing = "-1", but its numbers have type u1`:            {Name: written(t, "bytes.npy", array(t, "u1", "(3, 2)", 0, 1, 255, 0, 1, 1)), Missing: Codes{"-1"}, Binarization: Gray},
		`missing = "2", but its numbers have type b1`:             {Name: written(t, "truth.npy", array(t, "b1", "(3, 2)", 0, 1, 1, 0, 1, 1)), Missing: Codes{"2"}},
		`missing = "-999.9", but its numbers have type i8`:        {Name: written(t, "whole.npy", array(t, "i8", "(3, 2)", 0, 1, 1, 0, 1, 1)), Missing: Codes{"-999.9"}},
		"row 1, value 2 of the row: a missing value (1)":          {Name: written(t, "truth.npy", array(t, "b1", "(3, 2)", 0, 1, 1, 0, 1, 1)), Missing: Codes{"1"}},
		"row 1, value 1 of the row: a missing value (0)":          {Name: written(t, "bits.txt", bits), Missing: Codes{"0"}},
		`missing = "255", but pictures, and steps that list keys`: {Name: folder, Missing: Codes{"255"}},
		`missing = "60", but pictures, and steps that list keys`:  {Name: written(t, "keys.json", `{"keys": [60, 62], "train": [[[60], []], [[61]]]}`), Missing: Codes{"60"}},
		"row 2 has the class 9, which is a code":                  {Name: written(t, "rows.txt", bits), LabelFile: written(t, "labels.txt", "0\n9\n1\n"), Missing: Codes{"9"}},
		"row 3 has the class 7, which is a code":                  {Name: archiveOf(t, map[string]string{"x": array(t, "f4", "(3, 2)", 0, 1, 0, 1, 1, 0), "y": array(t, "i8", "(3,)", 0, 1, 7)}), Missing: Codes{"7"}},
		"row 2, value 1 of the row: a missing value (1e+20)":      {Name: written(t, "masked.npy", array(t, "f8", "(3, 2)", 0, 1, 1e20, 0, 1, 1)), Binarization: Real},
		"a weight is 99, a code for a missing value (--missing)":  {Name: written(t, "rows.txt", bits), WeightFile: written(t, "weights.npy", array(t, "f4", "(3,)", 1, 99, 2)), Missing: Codes{"99"}},
	} {
		_, err := spec.Open()
		wantError(t, err, says)
		spec.Rules = FirstRules
		if _, err := spec.Open(); err != nil {
			t.Errorf("by the first rules: %v", err)
		}
	}
	// Another file may have another type, and text may lack a code.
	opened(t, Spec{Name: written(t, "rows.npy", array(t, "f4", "(3, 1)", 0, 1, 0)), Test: written(t, "test.npy", array(t, "u1", "(2, 1)", 0, 1)), Missing: Codes{"-1"}})
	opened(t, Spec{Name: written(t, "bits.txt", strings.Repeat(bits, 5)), Missing: Codes{"?"}})
}

// All codes of a Spec stand for missing values, in tables and arrays. A single code is written as in earlier versions, and several as a
// list.
func TestSeveralCodes(t *testing.T) {
	for name, rows := range map[string]string{"rows.csv": "age,snp\n-1,0/0\n5,./.\n-8.0,0/1\n7,0/0\n", "rows.npy": array(t, "f8", "(4, 2)", -1, 0, 5, -9, -8, 1, 7, 0)} {
		spec := Spec{Name: written(t, name, rows), Missing: Codes{"-1", "-8", "./."}, Binarization: Real, Validation: new(0)}
		if name == "rows.npy" {
			spec.Missing[2] = "-9"
		}
		_, err := spec.Open()
		wantError(t, err, "a missing value")
		if spec.Gaps = true; opened(t, spec).Train().Lacking()+opened(t, spec).Test().Lacking() < 3 {
			t.Errorf("%s: gaps %v", name, opened(t, spec).Train().Missing)
		}
	}
	for text, want := range map[string]Codes{"missing = \"-9\"\n": {"-9"}, "missing = [\"-8\", \"a \\\"b\\\" <c>\"]\n": {"-8", `a "b" <c>`}, "": nil, "missing = [\"\"]\n": {""}} {
		var of, again Spec
		if _, err := toml.Decode(text, &of); err != nil || !slices.Equal(of.Missing, want) {
			t.Errorf("%q: %q (%v)", text, of.Missing, err)
		}
		if got, err := toml.Marshal(of); err != nil || !strings.Contains(string(got), text) || text == "" && strings.Contains(string(got), "missing") {
			t.Errorf("%q is written as %q (%v)", text, got, err)
		}
		got, err := json.Marshal(of)
		if failure := json.Unmarshal(got, &again); err != nil || failure != nil || !slices.Equal(again.Missing, want) || strings.Contains(string(got), `"missing":[`) != strings.Contains(text, "[") {
			t.Errorf("%q: %s, %q (%v, %v)", text, got, again.Missing, err, failure)
		}
	}
	var of Spec
	if _, err := toml.Decode(`missing = ""`, &of); err != nil || of.Missing != nil {
		t.Errorf("an empty text: %q (%v)", of.Missing, err)
	}
	_, err := toml.Decode("missing = [-8, -9]", &of)
	wantError(t, err, `missing: -8 is no text: put codes into quotes, such as ["-8", "-9"]`)
	grouped := written(t, "grouped.csv", "a,b\n1.5,2\n\"999,999\",3\n")
	for list, says := range map[string]string{"-8,-9": "--missing -8 --missing -9", "98,99": "--missing 98 --missing 99", "999,999": `decimal = "."`} {
		_, err = Spec{Name: grouped, Missing: Codes{list}}.Open()
		wantError(t, err, `is not a number here, but a list: give each code by itself, such as`, says)
	}
	for _, spec := range []Spec{{Name: grouped, Decimal: ".", Missing: Codes{"999,999"}}, {Name: written(t, "commas.csv", "a;b\n1,5;2\n98,99;3\n"), Missing: Codes{"98,99"}}} {
		_, err = spec.Open()
		wantError(t, err, "line 3", "a missing value")
	}
	codes := Codes{"-9"}
	set := opened(t, Spec{Name: written(t, "far.csv", table30("age,x", "%[1]d,%[2]d.5")+strings.Repeat("-999,1.5\n-999,2.5\n", 4)), Missing: codes, Binarization: Real})
	if says := `give missing = ["-9", "-999"] (--missing -9 --missing -999)`; !strings.Contains(set.Notice(), says) {
		t.Errorf("notice %q, want %q", set.Notice(), says)
	}
	if codes[0] = "-7"; set.Spec().Missing[0] != "-9" {
		t.Errorf("another code in the list that was given changes the set to %q", set.Spec().Missing)
	}
	if err := json.Unmarshal([]byte(`{"missing": null}`), &of); err != nil || of.Missing != nil {
		t.Errorf("null: %q (%v)", of.Missing, err)
	}
	_, err = Spec{Name: "rows.csv", Missing: Codes{""}}.Open()
	wantError(t, err, "an empty code")
}
