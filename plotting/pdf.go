package plotting

import (
	"image/color"

	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas hands vgpdf translucent colours as it writes them: it gives the file the components and the
// opacity one beside the other, but takes the components multiplied by the opacity, which darkens them.
type pdfCanvas struct{ *vgpdf.Canvas }

// SetColor implements vg.Canvas.
func (c pdfCanvas) SetColor(to color.Color) {
	if to != nil {
		to = straight{color.NRGBA64Model.Convert(to).(color.NRGBA64)}
	}
	c.Canvas.SetColor(to)
}

// straight is a colour whose components are not multiplied by its opacity.
type straight struct{ of color.NRGBA64 }

// RGBA implements color.Color, but for the multiplication.
func (s straight) RGBA() (r, g, b, a uint32) {
	return uint32(s.of.R), uint32(s.of.G), uint32(s.of.B), uint32(s.of.A)
}
