package plotting

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"image"
	"image/color"
	web "image/color/palette"
	"image/draw"
	"image/gif"
	"image/png"
	"os"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/janpfeifer/gonb/gonbui"
)

// Animation shows figures one after the other.
type Animation struct {
	pause  time.Duration
	frames []*Figure
}

// Animate returns an animation of figures, such as the dreams of a machine along its training. pause is the time
// that each is shown; the last is shown four times as long, and then the first comes again.
func Animate(pause time.Duration, frames ...*Figure) *Animation { return &Animation{pause, frames} }

// GIF returns the animation as an animated GIF. Frames with more than 256 colours are dithered.
func (a *Animation) GIF() ([]byte, error) {
	if len(a.frames) == 0 {
		return nil, errors.New("plotting: an animation has at least one frame")
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
		delay := int(a.pause / (10 * time.Millisecond))
		if i == len(a.frames)-1 {
			delay *= 4
		}
		all.Image, all.Delay = append(all.Image, paletted(frame)), append(all.Delay, delay)
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &all)
	return b.Bytes(), err
}

// paletted returns an image with a palette of its own colours, or of common ones if it has more than 256.
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

// Save writes the animation to a file as GIF. It creates the directory if necessary.
func (a *Animation) Save(path string) error {
	b, err := a.GIF()
	if err != nil {
		return err
	}
	if err := makeDirectoryOf(path); err != nil {
		return err
	}
	if err := file.WriteAside(path, b); err != nil {
		return fmt.Errorf("plotting: cannot save %w", err)
	}
	return nil
}

// Show displays the animation below the running notebook cell. Outside a notebook it prints a hint to use Save on
// standard error.
func (a *Animation) Show() {
	b, err := a.GIF()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
	case !gonbui.IsNotebook:
		fmt.Fprintln(os.Stderr, `plotting: there is no notebook to show the animation in: save it with Save("animation.gif")`)
	default:
		width, height := a.frames[0].pixels()
		gonbui.DisplayHTML(fmt.Sprintf(`<img alt="%s" width="%d" height="%d" src="data:image/gif;base64,%s">`,
			html.EscapeString(a.frames[0].Description()), width, height, base64.StdEncoding.EncodeToString(b)))
		gonbui.Sync()
	}
}
