package plotting

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/file"
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
func (f *Figure) Save(path string) error {
	if f.err != nil {
		return f.err
	}
	b, err := f.encoded(strings.ToLower(filepath.Ext(path)), dotsPerInch)
	if err != nil {
		return fmt.Errorf("plotting: cannot save %s: %w", path, err)
	}
	if err := makeDirectoryOf(path); err != nil {
		return err
	}
	if err := file.WriteAside(path, b); err != nil {
		return fmt.Errorf("plotting: cannot save %w", err)
	}
	return nil
}

func makeDirectoryOf(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("plotting: cannot make the directory of %s: %w", path, err)
	}
	return nil
}

// PNG returns the figure as PNG, or what was wrong with the values.
func (f *Figure) PNG() ([]byte, error) { return f.encoded(".png", dotsPerInch) }

// encoded is the figure in the format of an extension, pixels of a resolution.
func (f *Figure) encoded(format string, dotsPerInch int) ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	width, height := f.outerSize()
	var canvas vg.CanvasWriterTo
	switch format {
	case ".png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))}
	case ".svg":
		canvas = vgsvg.New(width, height)
	case ".pdf":
		canvas = vgpdf.New(width, height)
	default:
		return nil, fmt.Errorf("unknown extension %q: use .png, .svg or .pdf", format)
	}
	f.draw(draw.New(canvas))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}
