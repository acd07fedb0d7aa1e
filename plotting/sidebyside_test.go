package plotting

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
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

func TestLayersHaveRaisedNumbers(t *testing.T) {
	if got := "h" + superscript(120); got != "h¹²⁰" {
		t.Errorf("layer 120 is %s", got)
	}
}
