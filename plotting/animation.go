package plotting

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	web "image/color/palette"
	"image/draw"
	"image/gif"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/janpfeifer/gonb/gonbui"
)

// Animation shows figures one after the other.
type Animation struct {
	pause  time.Duration
	frames []*Figure
}

// Animate returns an animation of figures, such as the dreams of a machine along its training. Each figure is shown
// for pause, and the last one four times as long; then the animation repeats. The format counts pauses in hundredths
// of a second, rounded down. The methods that write it refuse a pause below 10 ms or of 163.84 s or more.
func Animate(pause time.Duration, frames ...*Figure) *Animation { return &Animation{pause, frames} }

// Film returns an animation of sequences of square images. Each image of sheet is one sequence: its row t holds
// the pixels of step t. A frame shows one step of all sequences. Film returns an error if the steps are not square.
func Film(sheet dataset.Sheet) (*Animation, error) {
	if err := checkSheet(sheet); err != nil {
		return nil, err
	}
	width := sheet.Shape.Width
	side := int(math.Sqrt(float64(width)))
	if side*side != width {
		return nil, fmt.Errorf("a step of %d units is not a square image: a film needs square steps, as in balls; draw other sequences as piano rolls", width)
	}
	film := Animate(100 * time.Millisecond)
	for t := range sheet.Shape.Height {
		frame := dataset.Sheet{Shape: dataset.Shape{Height: side, Width: side}}
		for _, sequence := range sheet.Values {
			frame.Values = append(frame.Values, sequence[t*width:(t+1)*width])
		}
		film.frames = append(film.frames, Samples(frame))
	}
	return film, nil
}

// GIF returns the animation as an animated GIF. Frames with more than 256 colours are dithered.
func (a *Animation) GIF() ([]byte, error) {
	if len(a.frames) == 0 {
		return nil, errors.New("plotting: an animation needs at least one frame")
	}
	delay := int(a.pause / (10 * time.Millisecond))
	if delay < 1 || 4*delay > math.MaxUint16 {
		return nil, fmt.Errorf("plotting: an animation cannot pause for %v: use 10 ms to 163 s", a.pause)
	}
	var all gif.GIF
	for i, f := range a.frames {
		encoded, err := f.PNG()
		if err != nil {
			return nil, err
		}
		frame, err := png.Decode(bytes.NewReader(encoded))
		if err != nil {
			return nil, err
		}
		if i == len(a.frames)-1 {
			delay *= 4
		}
		all.Image, all.Delay = append(all.Image, paletted(frame)), append(all.Delay, delay)
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &all)
	return b.Bytes(), err
}

// paletted converts a frame to a paletted image. The palette holds the colours of the frame or, if it has more than
// 256, the common colours of Plan 9.
func paletted(frame image.Image) *image.Paletted {
	bounds, seen := frame.Bounds(), map[color.Color]bool{}
	var colours color.Palette
	for y := bounds.Min.Y; y < bounds.Max.Y && len(colours) <= 256; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			if c := frame.At(x, y); !seen[c] {
				seen[c], colours = true, append(colours, c)
			}
		}
	}
	if len(colours) > 256 {
		colours = web.Plan9
	}
	p := image.NewPaletted(bounds, colours)
	draw.FloydSteinberg.Draw(p, bounds, frame, bounds.Min)
	return p
}

// Save writes the animation to a file as GIF. It creates the directory if necessary. It returns an error if the
// extension of path is not .gif.
func (a *Animation) Save(path string) error {
	if extension := filepath.Ext(path); !strings.EqualFold(extension, ".gif") {
		return fmt.Errorf("plotting: cannot save %s: an animation cannot have extension %q: use .gif", path, extension)
	}
	b, err := a.GIF()
	if err != nil {
		return err
	}
	return save(path, b)
}

// Show displays the animation below the running notebook cell. Outside a notebook it prints to standard error a hint
// to use Save.
func (a *Animation) Show() {
	b, err := a.GIF()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	show("animation", "animation.gif", func() { gonbui.DisplayHTML(a.frames[0].element("gif", b)) })
}
