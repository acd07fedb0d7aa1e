package dataset

import (
	"os"
	"strings"
	"testing"
)

// The units of a table, written as a table again, are the table, without labels, and with the range of each
// number in its place.
func TestWriteCSV(t *testing.T) {
	path := written(t, "garments.csv", "colour,striped,size,label\nblue,no,3,0\ngreen,yes,1,1\nred,no,2,0\nblue,yes,4,1\n")
	set := opened(t, Spec{Name: path, Test: path, Validation: new(0), Columns: "size=real:2"})
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
	c := Column{Kind: CategoricalColumn, Units: 2, Rest: true}
	for want, units := range map[string][]float64{"": {0.3, 0.2}, "2": {0.2, 0.5}} {
		if got := c.field(units); got != want {
			t.Errorf("the field of %v is %q, want %q", units, got, want)
		}
	}
	if err := opened(t, Spec{Name: "3by3"}).WriteCSV(os.Stdout, Sheet{}); err == nil {
		t.Error("images are written as a table")
	}
}
