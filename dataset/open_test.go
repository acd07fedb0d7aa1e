package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gapped returns a table, and the same table in which fields are missing, written in several ways.
func gapped() (whole, open string, missing map[[2]int]bool) {
	missing = map[[2]int]bool{}
	lines, holes := []string{"pay,town,sick,label"}, []string{"pay,town,sick,label"}
	for r := range 30 {
		fields := []string{fmt.Sprintf("%d.%d", 2+r%7, 1+r%9), []string{"Aa", "Bb", "Cc"}[r%3], []string{"no", "yes"}[r%2], fmt.Sprint(r % 2)}
		lines = append(lines, strings.Join(fields, ","))
		for i := range fields {
			if r > 0 && (r*7+i*3)%10 == 0 { // the first row of the file among them
				fields[i], missing[[2]int{r, i}] = []string{"", "NA", "-99"}[(r+i)%3], true
			}
		}
		holes = append(holes, strings.Join(fields, ","))
	}
	return strings.Join(lines, "\n") + "\n", strings.Join(holes, "\n") + "\n", missing
}

// A table with declared gaps has the columns of the whole table, its observed values, and a mask of the others.
func TestTablesKeepDeclaredGaps(t *testing.T) {
	whole, open, missing := gapped()
	all := opened(t, Spec{Name: written(t, "whole.csv", whole), Test: written(t, "test.csv", whole), Binarization: Real, Validation: new(0), Columns: "town=categorical"})
	spec := Spec{Name: written(t, "open.csv", open), Test: written(t, "test.csv", open), Binarization: Real, Validation: new(0), Columns: "town=categorical", Missing: Codes{"-99"}}
	_, err := spec.Open()
	wantError(t, err, `a missing value ("`, "gaps = true (--gaps)")
	spec.Gaps = true
	set := opened(t, spec)
	kinds := func(s *Set) (all []string) {
		for _, c := range s.Columns() {
			all = append(all, fmt.Sprint(c.Name, c.Kind, c.First, c.Units, c.Values))
		}
		return all
	}
	if d := cmp.Diff(kinds(all), kinds(set)); d != "" {
		t.Fatal(d)
	}
	column := []int{0, 1, 1, 1, 2} // of each unit
	for _, name := range []string{"train", "test"} {
		want, _ := all.Split(name)
		got, _ := set.Split(name)
		for r := range got.Rows {
			for u, i := range column {
				if k := r*len(column) + u; got.IsMissing(k) != missing[[2]int{r, i}] {
					t.Fatalf("%s row %d unit %d: missing %v", name, r, u, got.IsMissing(k))
				} else if !got.IsMissing(k) && got.At(k) != want.At(k) {
					t.Fatalf("%s row %d unit %d is %v, not %v", name, r, u, got.At(k), want.At(k))
				}
			}
			if label := got.Labels[r]; missing[[2]int{r, 3}] != (label == Unlabeled) || label != Unlabeled && label != want.Labels[r] {
				t.Errorf("row %d has the label %d", r, label)
			}
		}
	}
	sum, n := 0.0, 0.0 // the moments are those of the observed numbers
	for r := range all.Train().Rows {
		if !missing[[2]int{r, 0}] {
			sum, n = sum+all.Train().At(r*len(column)), n+1
		}
	}
	spec.Standardize = true
	if by := opened(t, spec).scalings[0]; math.Abs(by.Mean-sum/n) > 1e-6 || math.Abs(set.columns[0].Numbers.Mean-sum/n) > 1e-6 {
		t.Errorf("mean %v and %v, want %v", by.Mean, set.columns[0].Numbers.Mean, sum/n)
	}
}

// Gaps survive the schema, a stored set and a subset, and are part of the fingerprint.
func TestGapsAreKept(t *testing.T) {
	_, open, _ := gapped()
	spec := Spec{Name: written(t, "open.csv", open), Missing: Codes{"-99"}, Gaps: true, Validation: new(0)}
	set := opened(t, spec)
	var b bytes.Buffer
	if err := set.Save(&b); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(&b)
	if err != nil || !slices.Equal(loaded.train.Missing, set.train.Missing) || !slices.Equal(loaded.test.Missing, set.test.Missing) || !set.HasGaps() {
		t.Error("a stored set has other gaps:", err)
	}
	units, part := set.Shape().Units(), set.Train().Subset(5, 1)
	for r := range part.Rows {
		if !slices.ContainsFunc(slices.Collect(slices.Chunk(set.train.Missing, units)), func(of []bool) bool { return slices.Equal(of, part.Missing[r*units:(r+1)*units]) }) {
			t.Error("a subset has another mask")
		}
	}
	declared := Spec{Name: spec.Name, Missing: Codes{"-99"}, Validation: new(0), Schema: written(t, "schema.toml", string(set.Schema().TOML()))}
	if by := opened(t, declared); by.Fingerprint() != set.Fingerprint() || !by.Spec().Gaps {
		t.Error("a schema with gaps gives another set")
	}
	blank, err := set.Schema().Blank(spec)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := blank.ReadRows(written(t, "rows.csv", "sick,pay\n?,3.2\nno,\n"))
	if err != nil || fmt.Sprint(rows.Missing[:set.Shape().Units()]) == fmt.Sprint(rows.Missing[set.Shape().Units():]) {
		t.Error(rows.Missing, err)
	}
	other := *set
	other.train.Missing = slices.Clone(set.train.Missing)
	other.train.Missing[0] = !other.train.Missing[0]
	if other.hash() == set.Fingerprint() {
		t.Error("the fingerprint leaves out the gaps")
	}
}

// A column without values, and a code for missing values that is the only value of a column, are refused with a remedy that works.
func TestColumnsWithoutValuesAreRefused(t *testing.T) {
	text := "a,b,c\n1.5,,7\n2.5,,7\n,,\n4,,7\n"
	for _, missing := range []Codes{nil, {"7"}} {
		spec := Spec{Name: written(t, "rows.csv", text), Missing: missing, Gaps: true, Binarization: Real, Validation: new(0)}
		_, err := spec.Open()
		wantError(t, err, `column "b"`, "b=skip")
		if spec.Columns = "b=skip"; missing != nil {
			_, err = spec.Open()
			wantError(t, err, `column "c"`, "c=skip")
			spec.Columns = "b=skip,c=skip"
		}
		if set := opened(t, spec); set.Shape().Units() != 1 {
			t.Error(set)
		}
	}
}

// NaN and codes in arrays and in rows of a program are gaps if they are declared.
func TestArraysKeepDeclaredGaps(t *testing.T) {
	nan := math.NaN()
	set, err := Spec{Name: "mine", Gaps: true, Validation: new(0)}.FromRows(Shape{1, 2}, [][]float64{{nan, 1}, {1, nan}, {0, 1}}, [][]float64{{1, nan}})
	if err != nil || fmt.Sprint(set.train.Missing, set.test.Missing, set.train.Bytes()) != "[true false false true false false] [false true] [255 255 255 255 0 255]" {
		t.Error(set, err)
	}
	_, err = Spec{Name: "mine"}.FromRows(Shape{1, 2}, [][]float64{{nan, 1}, {1, 0}}, nil)
	wantError(t, err, "a missing value (NaN)")
	for name, file := range map[string]string{"double.npy": array(t, "f8", "(3, 1)", 0.5, -9, 1), "bytes.npy": array(t, "u1", "(3, 1)", 1, 9, 0)} {
		code := map[string]string{"double.npy": "-9", "bytes.npy": "9"}[name]
		set := opened(t, Spec{Name: written(t, name, file), Missing: Codes{code}, Gaps: true, Binarization: Real, Validation: new(0)})
		if set.train.Lacking()+set.test.Lacking() != 1 {
			t.Error(name, set.train.Missing, set.test.Missing)
		}
	}
	_, err = Spec{Name: written(t, "steps.json", `{"train": [[[1, 2]], [[2, 3]]]}`), Gaps: true}.Open()
	wantError(t, err, "omit gaps (--gaps)")
}
