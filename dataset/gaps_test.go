package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Missing fields of a file are found in each of its forms, wherever they are, and only they are filled in.
func TestReadGaps(t *testing.T) {
	table := func(header, separator, decimal string) string {
		text := header
		for i := range 30 {
			text += strings.Join([]string{fmt.Sprintf("p%d", i), fmt.Sprintf("%d%s%d", i%7, decimal, 1+i%9), []string{"Aa", "Bb", "Cc"}[i%4%3], []string{"no", "yes"}[i%2]}, separator) + "\n"
		}
		return text
	}
	header := "id,pay,town,sick\n"
	semicolons := strings.ReplaceAll(header, ",", ";")
	for _, c := range []struct {
		name, train, file string
		spec              Spec
		masks, want       string
	}{
		{"commas", table(header, ",", "."), "town,id,pay,sick\nAa,,2.5,no\nNA,p1,,yes\n Bb,p2,1.50, ?\n", Spec{}, "[XXXX. ....X]", "town,id,pay,sick\nAa,,2.5,no\nCc,p1,6.9,yes\nBb,p2,1.50,yes\n"},
		{"decimal commas", table(semicolons, ";", ","), "id;pay;town;sick\np1;NaN;Cc;no\np2;2,25;\"Aa\";yes\n", Spec{}, "[X....]", "id;pay;town;sick\np1;6,9;Cc;no\np2;2,25;Aa;yes\n"},
		{"decimal commas declared", table(semicolons, ";", ","), "id;pay;town;sick\np1;;Cc;no\np2;1.002,25;Aa;yes\n", Spec{Decimal: ","}, "[X....]", "id;pay;town;sick\np1;6,9;Cc;no\np2;1.002,25;Aa;yes\n"},
		{"no header", table("", ",", "."), "p1,,Aa,no\np2,3.25,NA,no\n", Spec{}, "[X.... .XXX.]", "p1,6.9,Aa,no\np2,3.25,Cc,no\n"},
		{"a code", table(header, ",", "."), "id,pay,town,sick\n-9,-9.0,Aa,no\n", Spec{Missing: Codes{"-9"}}, "[X....]", "id,pay,town,sick\n-9,6.9,Aa,no\n"},
		{"ranges", table(header, ",", "."), "id,pay,town,sick\na,,Aa,no\nb,> 5.2,,no\n", Spec{}, "[XXXX.... ....XXX.]", "id,pay,town,sick\na,> 5.2,Aa,no\nb,> 5.2,Cc,no\n"},
		{"no column", table(header, ",", "."), "id,pay,sick\na,1.2,no\nb,?,yes\n", Spec{}, "[.XXX. XXXX.]", "id,pay,sick,town\na,1.2,no,Cc\nb,6.9,yes,Cc\n"},
		{"no gaps", table(header, ",", "."), "id,pay,town,sick\n\"#1\",1.2,Aa,no\n,1,\"Aa\",no\n", Spec{}, "[]", "id,pay,town,sick\n#1,1.2,Aa,no\n,1,Aa,no\n"},
		{"labels", strings.Replace(table(header, ",", "."), "sick", "label", 1), "id,pay,town,label\na,,Aa,NA\nb,1,Aa,perhaps\n", Spec{}, "[X...]", "id,pay,town,label\na,6.9,Aa,NA\nb,1,Aa,perhaps\n"},
	} {
		c.spec.Name, c.spec.Validation = written(t, "train.csv", c.train), new(0)
		if c.name != "ranges" {
			c.spec.Binarization, c.spec.Standardize = Real, true
		}
		set := opened(t, c.spec)
		blank, err := set.Schema().Blank(set.Spec())
		if err != nil {
			t.Fatal(c.name, err)
		}
		g, err := blank.ReadGaps(written(t, "rows.csv", c.file))
		if err != nil {
			t.Fatal(c.name, err)
		}
		var masks []string
		images := Sheet{Shape: g.Rows.Shape, Values: g.Rows.Floats()}
		for _, gap := range g.Gaps {
			text := ""
			for _, missing := range gap.Mask {
				text += map[bool]string{false: ".", true: "X"}[missing]
			}
			masks = append(masks, text)
		}
		for r, row := range images.Values {
			for i, of := range set.fields { // the last category, or 6.9
				if g.missing[r][i] {
					clear(row[of.First : of.First+of.Units])
					if row[of.First+of.Units-1] = 1; of.Kind == RealColumn && of.Values == nil {
						row[of.First] = (6.9 - set.scalings[of.First].Mean) / set.scalings[of.First].SD
					}
				}
			}
		}
		if got := fmt.Sprint(masks); got != c.masks {
			t.Errorf("%s: the gaps are %s, want %s", c.name, got, c.masks)
		}
		fields, err := g.Complete(images, Writing{}, false)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var b strings.Builder
		if err := WriteCSV(&b, g.Columns, fields, g.Separator()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	set := opened(t, Spec{Name: written(t, "rows.csv", table(header, ",", ".")), Binarization: Real})
	for file, says := range map[string]string{"id,pay,town,sick\na,1.5,,never\n": `"never"`, "id,pay,town,sick\na,much,,no\n": "much", "id,pay,town,sick,more\na,1,,no,1\n": `"more"`, "id,pay,town,sick\na,,no\n": "3 fields"} {
		_, err := set.ReadGaps(written(t, "bad.csv", file))
		wantError(t, err, says)
	}
	_, err := opened(t, Spec{Name: "3by3"}).ReadGaps("rows.csv")
	wantError(t, err, "not a table with columns")
}

// Rows with gaps of another file keep their labels; a missing label is no label.
func TestLabelsOfRowsWithGaps(t *testing.T) {
	for _, classes := range [][]string{{"0", "1", "2"}, {"low", "middle", "high"}} {
		text := "a,b,label\n"
		for i := range 30 {
			text += fmt.Sprintf("%d.5,%d.25,%s\n", i%7, i%5, classes[i%3])
		}
		set := opened(t, Spec{Name: written(t, "train.csv", text), Binarization: Real, Gaps: true, Validation: new(0)})
		rows, err := set.ReadRows(written(t, "rows.csv", fmt.Sprintf("a,b,label\n,1.25,%s\n2.5,,\n1.5,1.25,%s\n", classes[2], classes[0])))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, label := range rows.Labels {
			switch {
			case label == Unlabeled:
				got = append(got, "")
			case set.ClassNames() == nil:
				got = append(got, fmt.Sprint(label))
			default:
				got = append(got, set.ClassNames()[label])
			}
		}
		if want := []string{classes[2], "", classes[0]}; !cmp.Equal(got, want) || !cmp.Equal(rows.Missing, []bool{true, false, false, true, false, false}) {
			t.Errorf("labels %q, missing %v, want %q", got, rows.Missing, want)
		}
	}
}

// The complete rows are those without a missing value, with their labels.
func TestCompleteRows(t *testing.T) {
	all := Split{Shape: Shape{1, 2}, Values: Bytes(2, []uint8{0, 255, 255, 255, 0, 0}), Labels: []uint8{4, 5, 6}}
	if of := all.Complete(); of.Rows != 3 {
		t.Errorf("of rows without gaps, %d are complete", of.Rows)
	}
	all.Missing = []bool{false, false, false, true, false, false}
	if of := all.Complete(); !slices.Equal(of.Bytes(), []uint8{0, 255, 0, 0}) || !slices.Equal(of.Labels, []uint8{4, 6}) || of.Missing != nil {
		t.Errorf("the complete rows are %+v", of)
	}
}
