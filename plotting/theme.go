package plotting

import (
	"image/color"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// A Theme is the look of a figure.
type Theme int

const (
	Paper Theme = iota // dark on white, for a page
	Slide              // the same, with text and lines 1.6 times as large
	Dark               // light on dark, with text and lines as large as on a slide
)

var themeNames = names.New("theme", "paper", "slide", "dark")

func (t Theme) String() string                { return themeNames.Name(int(t)) }
func (t Theme) MarshalText() ([]byte, error)  { return themeNames.Marshal(int(t)) }
func (t *Theme) UnmarshalText(b []byte) error { return themeNames.Parse((*int)(t), b) }

// Theme returns a copy of the figure with another look.
func (f *Figure) Theme(t Theme) *Figure {
	c := *f
	c.theme = t
	return &c
}

// scale returns the factor by which the theme enlarges all lengths.
func (t Theme) scale() vg.Length {
	if t == Paper {
		return 1
	}
	return 1.6
}

// themed is a canvas that draws in a theme.
type themed struct {
	vg.Canvas
	theme Theme
}

// SetColor exchanges light and dark grays if the theme is Dark. Other colours stay.
func (c themed) SetColor(to color.Color) {
	if c.theme == Dark && to != nil {
		const darkest = 0x1E
		if n := color.NRGBAModel.Convert(to).(color.NRGBA); n.R == n.G && n.G == n.B {
			v := 0xFF - uint8(int(n.R)*(0xFF-darkest)/0xFF)
			to = color.NRGBA{v, v, v, n.A}
		}
	}
	c.Canvas.SetColor(to)
}

// SetLineWidth sets the width of lines. It scales the width for the PNG canvas, which, unlike the other
// canvases, does not scale it.
func (c themed) SetLineWidth(width vg.Length) { c.Canvas.SetLineWidth(c.lineScale() * width) }

func (c themed) SetLineDash(dashes []vg.Length, offset vg.Length) {
	scaled := lists.Map(dashes, func(dash vg.Length) vg.Length { return c.lineScale() * dash })
	c.Canvas.SetLineDash(scaled, c.lineScale()*offset)
}

func (c themed) lineScale() vg.Length {
	if _, is := c.Canvas.(vgimg.PngCanvas); is {
		return c.theme.scale()
	}
	return 1
}
