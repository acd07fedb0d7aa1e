package plotting

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	gonumpalette "gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Cell is the result for a pair of settings.
type Cell struct {
	X, Y  float64 // the settings
	Value float64 // NaN if there is no result
}

// HeatMap draws a quantity for which lower is better, such as −log p(x), against two settings, such
// as learning rate and damping (Várady 2025, Figs C.2 and C.3). Each pair of settings has a rectangle,
// with the quantity written in it if there is room. The settings rise to the right and upwards; their
// values are spaced evenly. Smaller quantities are brighter, and the smallest has a frame. A pair of
// settings without a finite quantity is crossed out. The darkest colour stands for all quantities whose
// distance from the smallest is at least five times the distance of the median from the smallest.
func HeatMap(x, y, quantity string, cells ...Cell) *Figure {
	h, err := newHeatMap(cells)
	if err != nil {
		return failed(err)
	}
	panel := newPanel(x, y)
	for _, axis := range []*plot.Axis{&panel.X, &panel.Y} {
		axis.LineStyle.Width, axis.Tick.LineStyle.Width, axis.Padding = 0, 0, vg.Points(3)
	}
	panel.X.Tick.Marker, panel.Y.Tick.Marker = settingTicks(h.columns), settingTicks(h.rows)
	panel.Add(h, colorBar{h.scale, quantity})
	f := newFigure(panel)
	f.width = max(f.width, 2*vg.Inch+vg.Length(len(h.columns))*(widest(settingTicks(h.columns))+margin))
	f.height = max(f.height, vg.Inch+vg.Length(len(h.rows))*(rowHeight()+margin))
	f.legend.add("least: "+h.text(h.scale.least), frame{})
	if h.missing() {
		f.legend.add("no value", cross{})
	}
	return f
}

// heatMap is a plotter that draws cells of unit size. The lower left corner of the first cell is at 0, 0.
type heatMap struct {
	columns, rows []float64   // settings, rising
	values        [][]float64 // [row][column], NaN if missing
	scale         colorScale
}

func newHeatMap(cells []Cell) (heatMap, error) {
	if len(cells) == 0 {
		return heatMap{}, errors.New("no cells to draw: give at least one")
	}
	var h heatMap
	cells = slices.Clone(cells)
	for i, c := range cells {
		if plotter.CheckFloats(c.X, c.Y) != nil {
			return h, fmt.Errorf("the cell at %v, %v has settings that are not finite: use finite settings", c.X, c.Y)
		}
		cells[i].X, cells[i].Y = rounded(c.X), rounded(c.Y)
		h.columns, h.rows = append(h.columns, cells[i].X), append(h.rows, cells[i].Y)
	}
	for _, settings := range []*[]float64{&h.columns, &h.rows} {
		slices.Sort(*settings)
		*settings = slices.Compact(*settings)
	}
	for range h.rows {
		h.values = append(h.values, slices.Repeat([]float64{math.NaN()}, len(h.columns)))
	}
	var values []float64
	seen := map[[2]float64]bool{}
	for _, c := range cells {
		at := [2]float64{c.X, c.Y}
		if seen[at] {
			return h, fmt.Errorf("two cells at %v, %v: give one cell per pair of settings, such as the mean over seeds", c.X, c.Y)
		}
		seen[at] = true
		if plotter.CheckFloats(c.Value) == nil {
			column, _ := slices.BinarySearch(h.columns, c.X)
			row, _ := slices.BinarySearch(h.rows, c.Y)
			h.values[row][column] = c.Value
			values = append(values, c.Value)
		}
	}
	if len(values) == 0 {
		return h, fmt.Errorf("no finite value among %d cells: nothing to draw", len(cells))
	}
	h.scale = newColorScale(values)
	if math.IsInf(h.scale.most-h.scale.least, 0) {
		return h, fmt.Errorf("values from %v to %v are too far apart to draw", h.scale.least, h.scale.most)
	}
	return h, nil
}

func (h heatMap) missing() bool {
	return slices.ContainsFunc(h.values, func(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) })
}

// text formats a value with enough decimals to distinguish values with neighbouring colours.
func (h heatMap) text(value float64) string {
	return number(value, max(0, 2-int(math.Floor(math.Log10(h.scale.most-h.scale.least)))))
}

// settingTicks labels the middle of the cells of each setting with its value.
func settingTicks(settings []float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, s := range settings {
		ticks = append(ticks, plot.Tick{Value: float64(i) + 0.5, Label: setting(s)})
	}
	return ticks
}

// rounded rounds to six significant digits, so that 3·0.1 and 0.3 are the same setting.
func rounded(setting float64) float64 {
	value, err := strconv.ParseFloat(strconv.FormatFloat(setting, 'g', 6, 64), 64)
	if err != nil {
		panic(err) // it was written as a number
	}
	return value
}

// setting formats a value with only as many digits as necessary.
func setting(value float64) string {
	_, fraction, _ := strings.Cut(strconv.FormatFloat(value, 'f', -1, 64), ".")
	return number(value, len(fraction))
}

// widest returns the width of the widest label of ticks.
func widest(ticks []plot.Tick) (width vg.Length) {
	for _, t := range ticks {
		width = max(width, tickStyle.Width(t.Label))
	}
	return width
}

func (h heatMap) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0, float64(len(h.columns)), 0, float64(len(h.rows))
}

func (h heatMap) Plot(c draw.Canvas, p *plot.Plot) {
	const gap = vg.Length(0.75) // on each side of a cell
	c.FillPolygon(white, corners(c.Rectangle))
	x, y := p.Transforms(&c)
	for row, values := range h.values {
		for column, value := range values {
			cell := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x(float64(column)) + gap, Y: y(float64(row)) + gap},
				Max: vg.Point{X: x(float64(column+1)) - gap, Y: y(float64(row+1)) - gap},
			}}
			h.drawCell(&cell, value)
		}
	}
}

func (h heatMap) drawCell(c *draw.Canvas, value float64) {
	if math.IsNaN(value) {
		cross{}.Thumbnail(c)
		return
	}
	fill := h.scale.color(value)
	c.FillPolygon(fill, corners(c.Rectangle))
	if value == h.scale.least {
		frame{}.Thumbnail(c)
	}
	const inside, smallest = vg.Length(3), vg.Length(7)
	style := fitted(tickStyle, h.text(value), c.Size().X-2*inside)
	if style.Font.Size >= smallest && style.Height(h.text(value)) <= c.Size().Y-2*inside {
		style.Color, style.XAlign, style.YAlign = readableOn(fill), draw.XCenter, draw.YCenter
		c.FillText(style, c.Center(), h.text(value))
	}
}

type frame struct{}

func (frame) Thumbnail(c *draw.Canvas) {
	style := draw.LineStyle{Color: ink, Width: vg.Points(2)}
	inner := draw.Crop(*c, style.Width/2, -style.Width/2, style.Width/2, -style.Width/2)
	c.StrokeLines(style, closed(inner.Rectangle))
}

type cross struct{}

func (cross) Thumbnail(c *draw.Canvas) {
	style := thin
	c.StrokeLines(style, closed(c.Rectangle))
	c.StrokeLine2(style, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	c.StrokeLine2(style, c.Min.X, c.Max.Y, c.Max.X, c.Min.Y)
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

func closed(r vg.Rectangle) []vg.Point {
	path := corners(r)
	return append(path, path[0])
}

// heat maps the numbers from 0 to 1 to colours from dark to bright. Lightness is linear in the number, so
// readers perceive equal differences as equal, even in print without colours and with any colour vision.
var heat = newHeat()

func newHeat() gonumpalette.ColorMap {
	heat, err := moreland.NewLuminance([]color.Color{ // the colours of viridis
		color.NRGBA{0x44, 0x01, 0x54, 0xFF}, // purple
		color.NRGBA{0x3B, 0x52, 0x8B, 0xFF}, // blue
		color.NRGBA{0x21, 0x91, 0x8C, 0xFF}, // teal
		color.NRGBA{0x5E, 0xC9, 0x62, 0xFF}, // green
		color.NRGBA{0xFD, 0xE7, 0x25, 0xFF}, // yellow
	})
	if err != nil {
		panic(err)
	}
	heat.SetMax(1)
	return heat
}

// colorScale maps values to colours: least, the smallest value, to the brightest, and most to the
// darkest. Values above most share the darkest colour.
type colorScale struct {
	least, most float64
	greatest    float64 // largest value, which may exceed most
}

// newColorScale limits the range of colours to five times the distance between the smallest value
// and the median: otherwise a run that nearly diverged would leave few colours for the others.
func newColorScale(values []float64) colorScale {
	sorted := slices.Sorted(slices.Values(values))
	least, median, greatest := sorted[0], sorted[len(sorted)/2], sorted[len(sorted)-1]
	s := colorScale{least, greatest, greatest}
	if median > least {
		s.most = min(greatest, least+5*(median-least))
	}
	if s.most == least {
		s.most = least + max(1, 1e-12*math.Abs(least)) // any range will do
	}
	return s
}

func (s colorScale) color(value float64) color.NRGBA {
	c, err := heat.At(1 - min((value-s.least)/(s.most-s.least), 1))
	if err != nil {
		panic(err) // the argument is in [0, 1]
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

// readableOn returns black or white, for text on a colour.
func readableOn(c color.NRGBA) color.Color {
	if color.GrayModel.Convert(c).(color.Gray).Y < 0x68 {
		return color.White
	}
	return color.Black
}

// colorBar is a plotter that draws a scale to the right of the data area.
type colorBar struct {
	scale colorScale
	label string
}

const (
	barGap    = vg.Length(12) // between the data area and the bar
	barWidth  = vg.Length(12)
	barLabels = barGap + barWidth + vg.Length(4) // where the tick labels begin
)

func (b colorBar) ticks() []plot.Tick {
	return linearTicks{}.Ticks(b.scale.least, b.scale.most)
}

// above returns the label of the bar's tip, or "" if no value exceeds the bar's range.
func (b colorBar) above() string {
	if b.scale.greatest <= b.scale.most {
		return ""
	}
	return "up to " + significant(b.scale.greatest, 3)
}

func (b colorBar) widestLabel() vg.Length { return max(tickStyle.Width(b.above()), widest(b.ticks())) }

func (b colorBar) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	width := barLabels + b.widestLabel() + margin/2 + labelStyle.Height(b.label)
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: width}}}}
}

func (b colorBar) Plot(c draw.Canvas, _ *plot.Plot) {
	bar := vg.Rectangle{
		Min: vg.Point{X: c.Max.X + barGap, Y: c.Min.Y},
		Max: vg.Point{X: c.Max.X + barGap + barWidth, Y: c.Max.Y},
	}
	style := tickStyle
	style.YAlign = draw.YCenter
	labels := c.Max.X + barLabels
	if above := b.above(); above != "" {
		tip := bar.Max.Y
		bar.Max.Y -= barWidth
		c.FillPolygon(b.scale.color(b.scale.greatest), []vg.Point{
			{X: bar.Min.X, Y: bar.Max.Y}, bar.Max, {X: (bar.Min.X + bar.Max.X) / 2, Y: tip},
		})
		c.FillText(style, vg.Point{X: labels, Y: tip - 2}, above)
	}
	at := func(value float64) vg.Length {
		return bar.Min.Y + bar.Size().Y*vg.Length((value-b.scale.least)/(b.scale.most-b.scale.least))
	}
	// Each colour extends to the top, so that no seam is visible between colours.
	const colors = 128
	for i := range colors {
		value := b.scale.least + (b.scale.most-b.scale.least)*(float64(i)/colors)
		part := bar
		part.Min.Y = at(value)
		c.FillPolygon(b.scale.color(value), corners(part))
	}
	for _, t := range b.ticks() {
		y := at(t.Value)
		c.StrokeLine2(draw.LineStyle{Color: gray, Width: vg.Points(0.5)}, bar.Max.X, y, bar.Max.X+2, y)
		c.FillText(style, vg.Point{X: labels, Y: y}, t.Label)
	}
	label := fitted(labelStyle, b.label, c.Size().Y)
	label.Rotation, label.XAlign = math.Pi/2, draw.XCenter
	c.FillText(label, vg.Point{X: labels + b.widestLabel() + margin/2, Y: c.Center().Y}, b.label)
}
