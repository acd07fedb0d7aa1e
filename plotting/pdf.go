package plotting

import (
	"image/color"

	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas keeps vgpdf from darkening translucent colours. vgpdf writes the opacity and the components of
// a colour separately, but color.Color has already multiplied the components by the opacity. pdfCanvas
// passes components without this factor.
type pdfCanvas struct{ *vgpdf.Canvas }

// SetColor sets the colour without multiplying its components by its opacity.
func (c pdfCanvas) SetColor(to color.Color) {
	if to != nil {
		to = straight{color.NRGBA64Model.Convert(to).(color.NRGBA64)}
	}
	c.Canvas.SetColor(to)
}

// straight is a colour whose components are not multiplied by its opacity.
type straight struct{ of color.NRGBA64 }

// RGBA returns the components without the multiplication by opacity that color.Color specifies.
func (s straight) RGBA() (r, g, b, a uint32) {
	return uint32(s.of.R), uint32(s.of.G), uint32(s.of.B), uint32(s.of.A)
}
