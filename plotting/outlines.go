package plotting

import (
	"unicode"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

const boldWeight = xfont.WeightBold

// outlines draws text as filled outlines of glyphs. The PDF canvas writes characters beyond ASCII
// (−, ², ω) incorrectly, and viewers of SVG seldom have the font; outlines look the same in every
// format.
type outlines struct{ text.Plain }

// Draw draws a text of one line.
func (o outlines) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	face := o.Fonts.Lookup(style.Font, style.Font.Size)
	extents := face.Extents()
	c.Push()
	defer c.Pop()
	c.SetColor(style.Color)
	c.Translate(at)
	c.Rotate(style.Rotation)
	c.Fill(outline(face, txt, vg.Point{
		X: vg.Length(style.XAlign) * face.Width(txt),
		Y: vg.Length(style.YAlign)*style.Height(txt) + style.Font.Size - extents.Ascent,
	}))
}

// outline returns the path of a text whose baseline starts at a point. A character that the font
// lacks becomes its empty box. A mark, such as the tilde of p̃, is centred above the preceding
// character.
func outline(face font.Face, txt string, at vg.Point) vg.Path {
	var (
		path    vg.Path
		buffer  sfnt.Buffer
		unit    = fixed.Int26_6(face.Face.UnitsPerEm())
		scale   = face.Font.Size / vg.Length(unit)
		started bool
	)
	for i, char := range txt {
		glyph, err := face.Face.GlyphIndex(&buffer, char)
		if err != nil {
			continue
		}
		segments, err := face.Face.LoadGlyph(&buffer, glyph, unit, nil)
		if err != nil {
			continue
		}
		origin := at.Add(vg.Point{X: face.Width(txt[:i])})
		if unicode.Is(unicode.Mn, char) {
			_, before := utf8.DecodeLastRuneInString(txt[:i])
			bounds := segments.Bounds()
			middle := scale * vg.Length(bounds.Min.X+bounds.Max.X) / 2
			origin.X -= face.Width(txt[i-before:i])/2 + middle
		}
		point := func(p fixed.Point26_6) vg.Point {
			return origin.Add(vg.Point{X: scale * vg.Length(p.X), Y: -scale * vg.Length(p.Y)})
		}
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				if started {
					path.Close()
				}
				started = true
				path.Move(point(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(point(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(point(s.Args[0]), point(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
			}
		}
	}
	if started {
		path.Close()
	}
	return path
}
