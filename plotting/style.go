package plotting

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette holds the colours of Okabe and Ito, which readers with any colour vision can distinguish. It
// omits their yellow, which is too faint for a thin line on white.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF}, // black
}

var (
	white     = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
	ink       = color.NRGBA{0x33, 0x33, 0x33, 0xFF}
	gray      = color.NRGBA{0x99, 0x99, 0x99, 0xFF}
	lightGray = color.NRGBA{0xE2, 0xE2, 0xE2, 0xFF}
)

// paletteColor returns the palette's colours in turn, then their pale versions.
func paletteColor(i int) color.NRGBA {
	c := palette[i%len(palette)]
	if i/len(palette)%2 == 1 {
		c.R, c.G, c.B = c.R/2+0x70, c.G/2+0x70, c.B/2+0x70
	}
	return c
}

func translucent(c color.NRGBA) color.NRGBA {
	c.A = 0x38
	return c
}

var (
	solid     = draw.LineStyle{Color: ink, Width: vg.Points(1.5)}
	dashed    = draw.LineStyle{Color: ink, Width: vg.Points(1.5), Dashes: []vg.Length{5, 3}}
	dotted    = draw.LineStyle{Color: gray, Width: vg.Points(1), Dashes: []vg.Length{1.5, 2}}
	published = draw.LineStyle{Color: ink, Width: vg.Points(1.25), Dashes: []vg.Length{1.5, 2.5}}
	dot       = draw.LineStyle{Color: ink, Width: vg.Points(6)} // of a single point
	thin      = draw.LineStyle{Color: gray, Width: vg.Points(0.5)}
)

func in(c color.Color, style draw.LineStyle) draw.LineStyle {
	style.Color = c
	return style
}

var (
	titleStyle  = sans(11, true)
	labelStyle  = sans(10, false)
	tickStyle   = sans(9, false)
	legendStyle = sans(9, false)
)

func sans(size vg.Length, bold bool) text.Style {
	style := text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		YAlign:  draw.YTop,
		Handler: outlines{text.Plain{Fonts: font.DefaultCache}},
	}
	if bold {
		style.Font.Weight = boldWeight
	}
	return style
}

// fitted shrinks a style until the text is no wider than the width.
func fitted(style text.Style, txt string, width vg.Length) text.Style {
	if w := style.Width(txt); w > width {
		style.Font.Size *= width / w
	}
	return style
}

// newPanel returns an empty plot with a light grid and labelled linear axes.
func newPanel(x, y string) *plot.Plot {
	p := plot.New()
	p.TextHandler = labelStyle.Handler
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		label, tick := axis.Label.TextStyle, axis.Tick.Label
		label.Font, label.Color, label.Handler = labelStyle.Font, ink, labelStyle.Handler
		tick.Font, tick.Color, tick.Handler = tickStyle.Font, ink, tickStyle.Handler
		axis.Label.TextStyle, axis.Tick.Label = label, tick
		axis.Label.Padding = vg.Points(3)
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = gray, gray
		axis.Tick.Length = vg.Points(4)
		axis.Tick.Marker = linearTicks{}
	}
	grid := draw.LineStyle{Color: lightGray, Width: vg.Points(0.5)}
	p.Add(&plotter.Grid{Vertical: grid, Horizontal: grid})
	return p
}

// padY leaves a margin between the values and the frame.
func padY(p *plot.Plot) {
	pad := cmp.Or(0.04*(p.Y.Max-p.Y.Min), max(1, math.Abs(p.Y.Max)/10))
	p.Y.Min, p.Y.Max = p.Y.Min-pad, p.Y.Max+pad
}

// linearTicks marks multiples of 1, 2 or 5 times a power of ten.
type linearTicks struct {
	integers bool // no fractional ticks
	few      bool // for an axis with little room for labels
}

func (l linearTicks) Ticks(low, high float64) []plot.Tick {
	intervals := 7.0
	if l.few {
		intervals = 5
	}
	step := roundUp((high - low) / intervals)
	if l.integers {
		step = max(step, 1)
	}
	decimals := int(max(0, -math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	for i := range int(last-first) + 1 {
		value := (first + float64(i)) * step
		ticks = append(ticks, plot.Tick{Value: value, Label: number(value, decimals)})
	}
	return ticks
}

// roundUp returns the smallest number not below x that is 1, 2 or 5 times a power of ten.
func roundUp(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= x*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// logTicks labels an axis of decimal logarithms with the original values. It labels powers of ten, or only
// some of them if many are in range. If fewer than two powers are in range, it also labels 2 and 5 times
// powers of ten. The values in between are minor ticks, unless there are too many. If even then fewer than two
// labels are in range, it uses linearTicks.
//
// Logarithms on a linear axis are safer than plot.LogScale, which panics on values that are not
// positive and reserves space for the axis label in the wrong place.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	// The limits are logarithms, which rounding may have moved past a tick: math.Log10(0.0001) is above −4.
	const rounding = 1e-9
	first, last := low-rounding, high+rounding
	digits := []float64{1, 2, 5}
	if math.Floor(last)-math.Ceil(first) >= 1 {
		digits = digits[:1]
	}
	const manyPowers = 8
	every := max(1, 1+math.Floor((math.Floor(last)-math.Ceil(first))/manyPowers))
	var ticks []plot.Tick
	labeled := 0
	for power := math.Floor(first); power <= last; power++ {
		for digit := 1.0; digit < 10 && (digit == 1 || every <= 2); digit++ {
			tick := plot.Tick{Value: power + math.Log10(digit)}
			if slices.Contains(digits, digit) && math.Mod(power, every) == 0 {
				value := digit * math.Pow(10, power)
				if tick.Label = number(value, int(max(0, -power))); power < -6 { // below a millionth
					tick.Label = strings.ReplaceAll(strconv.FormatFloat(value, 'g', 1, 64), "-", "−")
				}
			}
			if first <= tick.Value && tick.Value <= last {
				ticks = append(ticks, tick)
				if !tick.IsMinor() {
					labeled++
				}
			}
		}
	}
	if from, to := math.Pow(10, low), math.Pow(10, high); labeled < 2 && from < to {
		ticks = linearTicks{few: true}.Ticks(from, to)
		for i := range ticks {
			ticks[i].Value = math.Log10(ticks[i].Value)
		}
	}
	return ticks
}

// number formats a value with a true minus sign and commas between thousands.
func number(value float64, decimals int) string {
	if math.Abs(value) >= 1e15 {
		return strconv.FormatFloat(value, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(math.Abs(value), 'f', decimals, 64)
	whole, fraction, hasFraction := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	if value < 0 && strings.Trim(digits, "0.") != "" {
		return "−" + whole
	}
	return whole
}

func integer(n int) string { return number(float64(n), 0) }

// significant formats a value with about the given number of significant digits.
func significant(value float64, digits int) string {
	if value == 0 {
		return "0"
	}
	return number(value, max(0, digits-1-int(math.Floor(math.Log10(math.Abs(value))))))
}
