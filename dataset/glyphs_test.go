package dataset

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"testing"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

var writeOutlines = flag.Bool("write-outlines", false, "write glyphs.bin")

// TestOutlinesAreThoseOfTheFonts compares glyphs.bin with the fonts of the Go project. TrueType outlines consist only of
// lines and quadratic curves.
func TestOutlinesAreThoseOfTheFonts(t *testing.T) {
	var all []byte
	var buffer sfnt.Buffer
	for _, ttf := range [][]byte{goregular.TTF, gomedium.TTF, gobold.TTF, goitalic.TTF, gomono.TTF, gomonobold.TTF, gomonoitalic.TTF} {
		font, err := sfnt.Parse(ttf)
		if err != nil {
			t.Fatal(err)
		}
		for digit := '0'; digit <= '9'; digit++ {
			index, err := font.GlyphIndex(&buffer, digit)
			if err != nil {
				t.Fatal(err)
			}
			segments, err := font.LoadGlyph(&buffer, index, fixed.I(1000), nil) // large, so that rounding to 1/64 does not show
			if err != nil {
				t.Fatal(err)
			}
			var strokes, points []byte
			for _, s := range segments {
				ends := 1
				if s.Op == sfnt.SegmentOpQuadTo {
					ends = 2
				}
				strokes = append(strokes, map[sfnt.SegmentOp]byte{sfnt.SegmentOpMoveTo: 'm', sfnt.SegmentOpLineTo: 'l', sfnt.SegmentOpQuadTo: 'q'}[s.Op])
				for _, at := range s.Args[:ends] {
					points = binary.AppendVarint(binary.AppendVarint(points, int64(at.X)), int64(at.Y))
				}
			}
			all = append(append(append(all, strokes...), '\n'), points...)
		}
	}
	if *writeOutlines {
		if err := os.WriteFile("glyphs.bin", all, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(all, glyphsOfGo) {
		t.Error("glyphs.bin differs from the fonts: run go test ./dataset -run Outlines -write-outlines")
	}
}
