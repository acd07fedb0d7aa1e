package plotting

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image/color"
	"io"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// drawing returns the drawing commands of a PDF as text.
func drawing(t *testing.T, f *Figure) string {
	t.Helper()
	file, err := f.encoded(".pdf", dotsPerInch)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for part := range bytes.SplitSeq(file, []byte("\nendstream")) {
		_, packed, found := bytes.Cut(part, []byte("stream\n"))
		if !found {
			continue
		}
		if z, err := zlib.NewReader(bytes.NewReader(packed)); err == nil {
			b, _ := io.ReadAll(z) // a font that is not compressed gives nothing
			text.Write(b)
		}
	}
	return text.String()
}

// A band in a PDF has the colour of its curve, and not a darker one.
func TestBandsInPDFHaveTheirColour(t *testing.T) {
	var seeds []runs.History
	for seed := range 3 {
		var h runs.History
		for epoch := range 4 {
			h.Epochs = append(h.Epochs, runs.Epoch{Epoch: epoch + 1, Train: runs.Measures{"log_p": float64(-10 - seed + epoch)}})
		}
		seeds = append(seeds, h)
	}
	c := paletteColor(0)
	text := drawing(t, SeedBands(Group{Name: "NRWS", Seeds: seeds}))
	fill := func(r, g, b uint8) string {
		return fmt.Sprintf("%.3f %.3f %.3f rg", float64(r)/255, float64(g)/255, float64(b)/255)
	}
	darker := color.RGBAModel.Convert(translucent(c)).(color.RGBA)
	if want := fill(c.R, c.G, c.B); !strings.Contains(text, want) {
		t.Errorf("nothing is filled with %s", want)
	}
	if grey := fill(darker.R, darker.G, darker.B); strings.Contains(text, grey) {
		t.Errorf("the band is filled with %s", grey)
	}
}

// A single quantity without a name has no entry in the legend.
func TestWhatHasNoNameHasNoLegend(t *testing.T) {
	f := Measurements(Axis{Label: "x"}, Axis{Label: "y"}, Measured{X: []float64{1, 2}, Y: []float64{1, 2}})
	if f.err != nil || len(f.legend) != 0 {
		t.Errorf("the legend has %d entries (%v)", len(f.legend), f.err)
	}
}

// Sheets whose number of images has suitable divisors have full rows and are nearly square.
func TestSheetsHaveFullRows(t *testing.T) {
	square, wide := dataset.Shape{Height: 28, Width: 28}, dataset.Shape{Height: 10, Width: 40}
	for _, c := range []struct {
		n, columns int
		shape      dataset.Shape
	}{{24, 6, square}, {40, 8, square}, {50, 10, square}, {100, 10, square}, {12, 4, square}, {1, 1, square}, {23, 5, square}, {7, 3, square}, {40, 4, wide}, {36, 3, wide}} {
		if got := columnsOf(c.n, c.shape); got != c.columns {
			t.Errorf("%d images of %v have %d columns, want %d", c.n, c.shape, got, c.columns)
		}
	}
	// If rows cannot be full, the empty places are white.
	sheet := dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 2}, Values: make([][]float64, 3)}
	for i := range sheet.Values {
		sheet.Values[i] = make([]float64, 4)
	}
	g := gallery{sheet, 2, 2, 0}
	img := g.paint(100, 100, 72)
	imageWidth, imageHeight, gap := g.layout(100, 100, 72)
	if r, _, b, _ := img.At(2*gap+imageWidth+imageWidth/2, 2*gap+imageHeight+imageHeight/2).RGBA(); r != 0xFFFF || b != 0xFFFF {
		t.Errorf("the missing image is drawn in %x", []uint32{r, b})
	}
}
