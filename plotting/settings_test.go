package plotting

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/color"
	"image/png"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rates returns a figure of two quantities with a logarithmic axis.
func rates() *Figure {
	return Measurements(Axis{Label: "learning rate", Logarithmic: true}, Axis{Label: "−log p(x) (nats)"},
		Measured{Name: "NRWS", X: []float64{0.001, 0.01, 0.1}, Y: []float64{30, 25, 27}, Spread: []float64{1, 2, 1}, SpreadName: "± 1 sd"},
		Measured{Name: "RWS", X: []float64{0.001, 0.1}, Y: []float64{34, 33}})
}

func mustEncode(t *testing.T, f *Figure, format string, dpi int) []byte {
	t.Helper()
	b, err := f.encoded(format, dpi)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// In each format a file has the size asked for and the same colours, and all text except in images is text.
func TestFormatsAgree(t *testing.T) {
	for _, theme := range []Theme{Paper, Slide, Dark} {
		f := rates().Size(3.25, 2.5).Theme(theme).Names("natural", "plain")
		if theme != Paper {
			f = f.Size(6, 4)
		}
		svg, dpi := string(mustEncode(t, f, ".svg", dotsPerInch)), 200
		wantSVG, wantPDF, wide, high := `width="234pt" height="180pt"`, "[0 0 234.00 180.00]", 650, 500
		if theme != Paper {
			wantSVG, wantPDF, wide, high = `width="432pt" height="288pt"`, "[0 0 432.00 288.00]", 1200, 800
		}
		pdf := string(mustEncode(t, f, ".pdf", dotsPerInch))
		picture := mustEncode(t, f, ".png", dpi)
		decoded, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		if b := decoded.Bounds(); !strings.Contains(svg, wantSVG) || !strings.Contains(pdf, wantPDF) || b.Dx() != wide || b.Dy() != high {
			t.Errorf("theme %d: the sizes are not those asked for; the PNG has %v", theme, b.Size())
		}
		if _, after, found := bytes.Cut(picture, []byte("pHYs")); !found || binary.BigEndian.Uint32(after) != 7874 { // 200 dots per inch
			t.Errorf("theme %d: the PNG has no resolution", theme)
		}
		drawn := drawing(t, f)
		for _, text := range []string{"natural", "plain", "learning rate", "0.01"} {
			if !strings.Contains(svg, ">"+text+"</text>") || !strings.Contains(drawn, "("+text+")") {
				t.Errorf("theme %d: %q is not text", theme, text)
			}
		}
		if !strings.Contains(pdf, "/FontFile2") {
			t.Errorf("theme %d: the PDF embeds no font", theme)
		}
		inSVG, inPDF, inPNG := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, c := range regexp.MustCompile("#[0-9A-F]{6}").FindAllString(svg, -1) {
			inSVG[c] = true
		}
		for _, c := range regexp.MustCompile(`(?i)([0-9.]+) ([0-9.]+) ([0-9.]+) rg`).FindAllStringSubmatch(drawn, -1) {
			var v [3]float64
			for i := range v {
				_, _ = fmt.Sscan(c[i+1], &v[i])
			}
			inPDF[fmt.Sprintf("#%02X%02X%02X", int(255*v[0]+0.5), int(255*v[1]+0.5), int(255*v[2]+0.5))] = true
		}
		for _, c := range regexp.MustCompile(`(?i)([0-9.]+) g\n`).FindAllStringSubmatch(drawn, -1) {
			var v float64
			_, _ = fmt.Sscan(c[1], &v)
			gray := int(255*v + 0.5)
			inPDF[fmt.Sprintf("#%02X%02X%02X", gray, gray, gray)] = true
		}
		for y := range high {
			for x := range wide {
				c := color.NRGBAModel.Convert(decoded.At(x, y)).(color.NRGBA)
				inPNG[fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)] = true
			}
		}
		delete(inPDF, "#000000") // before the first colour is set
		delete(inSVG, "#000000")
		if !maps.Equal(inSVG, inPDF) || len(inSVG) != 6 {
			t.Errorf("theme %d: the SVG has the colours %v, the PDF %v", theme, slices.Sorted(maps.Keys(inSVG)), slices.Sorted(maps.Keys(inPDF)))
		}
		for c := range inSVG {
			if !inPNG[c] {
				t.Errorf("theme %d: the PNG lacks %s", theme, c)
			}
		}
	}
}

// A resolution sets the pixels of an image, and a setting that cannot be drawn is an error.
func TestSettings(t *testing.T) {
	f := rates()
	for dpi, width := range map[int]int{110: 330, 220: 660} {
		text, err := f.Size(3, 3).Resolution(dpi).PNG()
		if size, _ := png.DecodeConfig(bytes.NewReader(text)); err != nil || size.Width != width {
			t.Errorf("3 inches at %d dots per inch have %d pixels, %v", dpi, size.Width, err)
		}
	}
	for says, f := range map[string]*Figure{
		"4 names for the 3":      f.Names("a", "b", "c", "d"),
		"make the figure larger": f.Size(2, 2).Title("title").Names(strings.Repeat("long ", 12), strings.Repeat("long ", 12), strings.Repeat("long ", 12)).Theme(Slide),
		"36 to 2,400":            f.Resolution(1),
		"give at least one":      Row(),
		"no histories":           Row(Curves()),
	} {
		if _, err := f.encoded(".svg", dotsPerInch); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error %v does not say %q", err, says)
		}
	}
}
