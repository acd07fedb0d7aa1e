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
	"gonum.org/v1/plot/vg/vgsvg"
)

const boldWeight = xfont.WeightBold

// outlines draws text as text in SVG, and as filled outlines of glyphs in PNG. In PDF, it draws bold text and
// characters beyond ASCII (−, ², ω) as outlines, because the PDF canvas writes them incorrectly, and other
// characters as text.
type outlines struct{ text.Plain }

func (o outlines) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	face := o.Fonts.Lookup(style.Font, style.Font.Size)
	extents := face.Extents()
	c.Push()
	defer c.Pop()
	c.SetColor(style.Color)
	c.Translate(at)
	c.Rotate(style.Rotation)
	at = vg.Point{
		X: vg.Length(style.XAlign) * face.Width(txt),
		Y: vg.Length(style.YAlign)*style.Height(txt) + style.Font.Size - extents.Ascent,
	}
	_, inSVG := underlying(c).(*vgsvg.Canvas)
	_, inPDF := underlying(c).(pdfCanvas)
	switch {
	case inSVG:
		c.FillString(face, at, txt)
	case inPDF && face.Font.Weight != boldWeight: // the PDF canvas draws bold text in the wrong font
		for i := 0; i < len(txt); {
			end := i
			for end < len(txt) && txt[end] < utf8.RuneSelf {
				end++
			}
			fillPDF(c, face, at.Add(vg.Point{X: face.Width(txt[:i])}), txt[i:end])
			for i = end; i < len(txt) && txt[i] >= utf8.RuneSelf; {
				i++
			}
		}
		c.Fill(outline(face, txt, at, func(r rune) bool { return r >= utf8.RuneSelf }))
	default:
		c.Fill(outline(face, txt, at, func(rune) bool { return true }))
	}
}

// fillPDF writes ASCII characters. It always uses one font size and scales the canvas instead, because the PDF
// canvas embeds a font once per size.
func fillPDF(c vg.Canvas, face font.Face, at vg.Point, txt string) {
	const size = 10
	scale := face.Font.Size / size
	face.Font.Size = size
	c.Push()
	defer c.Pop()
	c.Scale(float64(scale), float64(scale))
	c.FillString(face, vg.Point{X: at.X / scale, Y: at.Y / scale}, txt)
}

// outline returns the path of the characters of a text for which has is true. The baseline of the text starts
// at the point at. A character that the font lacks becomes the font's empty box. A mark, such as the tilde of
// p̃, is centred above the preceding character.
func outline(face font.Face, txt string, at vg.Point, has func(rune) bool) vg.Path {
	var (
		path    vg.Path
		buffer  sfnt.Buffer
		unit    = fixed.Int26_6(face.Face.UnitsPerEm())
		scale   = face.Font.Size / vg.Length(unit)
		started bool
	)
	for i, char := range txt {
		if !has(char) {
			continue
		}
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
