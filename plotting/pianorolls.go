package plotting

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/helmholtz-go/helmholtz/dataset"
)

const (
	// pianoKeys and lowestKey are the number of keys of a piano and the MIDI number of the lowest.
	pianoKeys, lowestKey = 88, 21
	rollHeight           = 1.3 * vg.Inch
	rollGap              = 2 // units between two rolls
)

// PianoRolls draws each image of sheet as a sequence, whose steps are the rows of the image. Steps go to the right,
// units go upwards, and 1 is black. The first sequence is on top. Units below the lowest and above the highest unit
// that is ever on are omitted. If there are 88 units, they are the keys of a piano, and the C keys are labelled;
// otherwise, the labels number the units from 0.
func PianoRolls(sheet dataset.Sheet) *Figure {
	if err := checkSheet(sheet); err != nil {
		return failed(err)
	}
	r := newPianoRolls(sheet)
	panel := newPanel("step", "unit")
	if sheet.Shape.Width == pianoKeys {
		panel.Y.Label.Text = "key"
	}
	panel.X.Padding, panel.Y.Padding = 0, 0
	panel.Y.Tick.Marker = r.ticks()
	panel.Add(raster{float64(sheet.Shape.Height), float64(r.height()), r.paint})
	f := newFigure(panel)
	f.width = doubleWidth
	f.height = min(0.9*largestSide, rollHeight*vg.Length(len(sheet.Values))+vg.Inch/2)
	return f
}

type pianoRolls struct {
	dataset.Sheet
	low, high int // first and last unit drawn
}

func newPianoRolls(sheet dataset.Sheet) pianoRolls {
	const visible = 0.05
	r := pianoRolls{sheet, sheet.Shape.Width, -1}
	for _, values := range sheet.Values {
		for k, v := range values {
			if unit := k % sheet.Shape.Width; v > visible {
				r.low, r.high = min(r.low, unit), max(r.high, unit)
			}
		}
	}
	if r.high < r.low {
		r.low, r.high = 0, sheet.Shape.Width-1
	}
	return r
}

// roll returns the height of a roll together with the gap above it, in units.
func (r pianoRolls) roll() int { return r.high - r.low + 1 + rollGap }

func (r pianoRolls) height() int { return r.roll()*len(r.Values) - rollGap }

func (r pianoRolls) bottom(i int) int { return (len(r.Values) - 1 - i) * r.roll() }

func (r pianoRolls) ticks() (all plot.ConstantTicks) {
	for i := range r.Values {
		for unit := r.low; unit <= r.high; unit++ {
			label := fmt.Sprint(unit)
			switch key := unit + lowestKey; {
			case r.Shape.Width == pianoKeys && key%12 != 0, r.Shape.Width != pianoKeys && (unit-r.low)%max(1, r.roll()/4) != 0:
				continue
			case r.Shape.Width == pianoKeys:
				label = fmt.Sprint("C", key/12-1)
			}
			all = append(all, plot.Tick{Value: float64(r.bottom(i)+unit-r.low) + 0.5, Label: label})
		}
	}
	return all
}

func (r pianoRolls) paint(width, height int, _ float64) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	total := r.height()
	for y := range height {
		fromBottom := total - 1 - y*total/height
		i, unit := len(r.Values)-1-fromBottom/r.roll(), r.low+fromBottom%r.roll()
		for x := range width {
			shade := gapColor
			if unit <= r.high {
				v := r.Values[i][x*r.Shape.Height/width*r.Shape.Width+unit]
				level := 255 - uint8(math.Round(255*min(max(v, 0), 1)))
				shade = color.NRGBA{level, level, level, 0xFF}
			}
			img.SetNRGBA(x, y, shade)
		}
	}
	return img
}
