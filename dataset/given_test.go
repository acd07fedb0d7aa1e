package dataset

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Conditions that no row can meet are refused with the remedy, and all others are read.
func TestParseGiven(t *testing.T) {
	text := "id,age,pay,town,legs,size,label\n"
	for i := range 40 {
		text += fmt.Sprintf("p%d,%d,%d.25,%s,%d,%d,%s\n", i, 20+i*i%31, 1+i*i%7, []string{`"A, B"`, "Bb", "x=y"}[i%3], i%3*2, i%11, []string{"no", "yes"}[i%2])
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	write(t, []byte(text), path)
	set := opened(t, Spec{Name: path, Binarization: Real, Columns: "legs=categorical"})
	ranges, err := opened(t, Spec{Name: path, Columns: "legs=categorical,size=real:3"}).ParseGiven("size=0")
	if err != nil || !strings.HasPrefix(ranges[0].Value, "≤ ") {
		t.Errorf("a number among ranges reads as %v, %v", ranges, err)
	}
	for text, want := range map[string]string{
		"age=30:40": "age 30 40", "age=:40 , pay=2.25": "age -Inf 40; pay 2.25 2.25", "town=A, B,age=30": "town A, B; age 30 30",
		"town=x=y,label=yes": "town x=y; label yes", "legs=2": "legs 2", "legs=1:3": "legs 1 3", "age=30:": "age 30 +Inf",
	} {
		given, err := set.ParseGiven(text)
		var got []string
		for _, g := range given {
			if got = append(got, g.Column.Name+" "+g.Value); g.Value == "" {
				got[len(got)-1] += fmt.Sprint(g.Least, " ", g.Greatest)
			}
		}
		if err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%s reads as %q, %v; want %q", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"age=99": "go from 20 to 48", "age=60:70": "go from 20 to 48", "age=40:30": "empty", "age=30.2:30.8": "none lies there", "age=x": `"x" is not a number`,
		"town=Zz": "no training row has this value: use A, B", "towm=Bb": `no column "towm"`, "id=p3": `no column "id"`, "age": "NAME=VALUE", "age=30,age=31": "two conditions",
		"legs=3": "no training row has this value: use 0, 2, 4, or an interval such as 0:4", "legs=5:9": "no value lies in", "label=maybe": "use no, yes", "age=30,foo=1": `no column "foo"`,
		"age=NaN": "not a number", "=3": "no column",
	} {
		if given, err := set.ParseGiven(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s reads as %v, %v; want %q", text, given, err, says)
		}
	}
}

// A table without labels has no column label, and its error names none. Rows with labels in another file have one.
func TestParseGivenNamesLabelsOnlyIfThereAreSome(t *testing.T) {
	path, labels := written(t, "sizes.csv", table30("age,size", "%[1]d.5,%[2]d.25")), written(t, "labels.txt", strings.Repeat("0\n1\n", 15))
	for file, says := range map[string]string{"": "use age, size", labels: "use age, size, label"} {
		if _, err := opened(t, Spec{Name: path, LabelFile: file, Binarization: Real}).ParseGiven("nosuch=1"); err == nil || !strings.HasSuffix(err.Error(), says) {
			t.Errorf("labels in %q: %v, want %q", file, err, says)
		}
	}
}

// Draws of grey levels outside 0 to 1 become black and white, and do not wrap around.
func TestRowsKeepGreyDrawsInRange(t *testing.T) {
	set := opened(t, Spec{Name: "miniglyphs", Binarization: Gray, Subset: 10})
	row := make([]float64, set.Shape().Units())
	row[0], row[1], row[2] = -0.1, 0.2, 256.0/255
	got := set.Rows(Sheet{Shape: set.Shape(), Values: [][]float64{row}}).Floats()[0][:3]
	if got[0] != 0 || got[1] != 0.2 || got[2] != 1 {
		t.Errorf("the draws become %v", got)
	}
}
