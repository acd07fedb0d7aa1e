package plotting

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dotsPerInch is the resolution of PNG images, readable in a notebook.
const dotsPerInch = 110

// Save writes the figure to a file as PNG, SVG or PDF, as the extension of the
// path says. It creates the directory of the path where there is none, and
// replaces a file there only once the new one is complete. It returns what was
// wrong with the values, if anything.
func (f *Figure) Save(path string) (err error) {
	if f.err != nil {
		return f.err
	}
	directory, name := filepath.Split(path)
	format := strings.ToLower(filepath.Ext(name))
	if _, err := newCanvas(format, vg.Inch, vg.Inch); err != nil {
		return fmt.Errorf("plotting: cannot save %s: %w", path, err)
	}
	if directory == "" {
		directory = "."
	}
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return fmt.Errorf("plotting: cannot make the directory of %s: %w", path, err)
	}
	aside, err := os.CreateTemp(directory, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("plotting: cannot save %s: %w", path, err)
	}
	defer func() {
		aside.Close()
		if err != nil {
			os.Remove(aside.Name())
			err = fmt.Errorf("plotting: cannot save %s: %w", path, err)
		}
	}()
	if err := f.encode(aside, format); err != nil {
		return err
	}
	if err := aside.Chmod(0o644); err != nil {
		return err
	}
	if err := aside.Sync(); err != nil {
		return err
	}
	if err := aside.Close(); err != nil {
		return err
	}
	return os.Rename(aside.Name(), path)
}

// encodePNG draws the figure and writes it as PNG of a resolution.
func (f *Figure) encodePNG(w io.Writer, dotsPerInch int) error {
	width, height := f.outerSize()
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}
	f.draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}

// encode draws the figure and writes it in the format of an extension.
func (f *Figure) encode(w io.Writer, format string) error {
	width, height := f.outerSize()
	canvas, err := newCanvas(format, width, height)
	if err != nil {
		return err
	}
	f.draw(draw.New(canvas))
	_, err = canvas.WriteTo(w)
	return err
}

func newCanvas(format string, width, height vg.Length) (vg.CanvasWriterTo, error) {
	switch format {
	case ".png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}, nil
	case ".svg":
		return vgsvg.New(width, height), nil
	case ".pdf":
		return vgpdf.New(width, height), nil
	}
	return nil, fmt.Errorf("unknown extension %q: use .png, .svg or .pdf", format)
}
