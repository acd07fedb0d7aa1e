package plotting

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"gonum.org/v1/plot/vg"
)

func TestSheetsThatDoNotFitSideBySide(t *testing.T) {
	sheet := func(height, images int) dataset.Sheet {
		s := dataset.Sheet{Shape: dataset.Shape{Height: height, Width: 2}}
		for range images {
			s.Values = append(s.Values, make([]float64, 2*height))
		}
		return s
	}
	for want, figure := range map[string]*Figure{
		"no columns":                      SideBySide(),
		"the sheet has no images":         SideBySide(Column{"a", sheet(2, 1)}, Column{"b", sheet(2, 0)}),
		`"b" has 1 images of 3×2`:         SideBySide(Column{"a", sheet(2, 1)}, Column{"b", sheet(3, 1)}),
		`"b" has 2 images of 2×2 pixels,`: SideBySide(Column{"a", sheet(2, 1)}, Column{"b", sheet(2, 2)}),
	} {
		err := figure.Save(filepath.Join(t.TempDir(), "figure.png"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
	if err := SideBySide(Column{"", sheet(2, 3)}).Save(filepath.Join(t.TempDir(), "figure.svg")); err != nil {
		t.Errorf("a column without heading: %v", err)
	}
}

// The headings of many images stay legible.
func TestManyImagesSideBySide(t *testing.T) {
	for _, of := range []struct{ side, columns, images int }{{3, 3, 150}, {14, 3, 150}, {28, 3, 150}, {14, 100, 2}, {100, 3, 400}} {
		sheet := dataset.Sheet{Shape: dataset.Shape{Height: of.side, Width: of.side}}
		for range of.images {
			sheet.Values = append(sheet.Values, make([]float64, of.side*of.side))
		}
		columns := slices.Repeat([]Column{{"original", sheet}}, of.columns)
		f := SideBySide(columns...)
		if style := headingStyle(columns, (f.width-2*margin)/vg.Length(of.columns)); style.Font.Size < 0.45*tickStyle.Font.Size {
			t.Errorf("%+v: headings of %v points", of, style.Font.Size)
		}
		if err := f.Save(filepath.Join(t.TempDir(), "figure.png")); err != nil {
			t.Error(err)
		}
	}
}

func TestLayersHaveRaisedNumbers(t *testing.T) {
	if got := "h" + superscript(120); got != "h¹²⁰" {
		t.Errorf("layer 120 is %s", got)
	}
}
