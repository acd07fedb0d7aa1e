package plotting

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Show displays the figure below the notebook cell that is running and returns
// when the notebook has it. Outside a notebook it says on standard error that
// Save keeps the figure. It prints what was wrong with the values, if anything.
func (f *Figure) Show() {
	if gonbui.IsNotebook {
		f.show(os.Stderr, f.display)
		gonbui.Sync()
		return
	}
	f.show(os.Stderr, nil)
}

// sized is the environment variable of cells whose kernel gives images the size and the
// alternative text of their metadata; GoNB alone does not.
const sized = "HELMHOLTZ_SESSION"

// display sends the notebook the figure, in a kernel that can size it a dense one.
func (f *Figure) display(png []byte) {
	data := &protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMEImagePNG: png, protocol.MIMETextPlain: f.Description()}}
	if os.Getenv(sized) != "" {
		if dense, err := f.dense(); err == nil {
			width, height := f.pixels()
			data.Data[protocol.MIMEImagePNG] = dense
			data.Metadata = map[string]any{"width": width, "height": height, "alt": f.Description()}
		}
	}
	gonbui.SendData(data)
}

// show passes the figure as PNG to display, or writes one line to w.
func (f *Figure) show(w io.Writer, display func(png []byte)) {
	png, err := f.PNG()
	switch {
	case err != nil:
		fmt.Fprintln(w, err)
	case display == nil:
		fmt.Fprintln(w, `plotting: no notebook to show the figure in: keep it with Save("figure.png")`)
	default:
		display(png)
	}
}

// density is by how much images that are shown have more dots than the page that they are
// shown on, to be sharp on screens that have more, too.
const density = 2

// HTML returns the figure as an element of a page, sharp on dense screens and with an
// alternative text, or what was wrong with the values.
func (f *Figure) HTML() (string, error) {
	png, err := f.dense()
	if err != nil {
		return "", err
	}
	width, height := f.pixels()
	return fmt.Sprintf(`<img alt="%s" width="%d" height="%d" src="data:image/png;base64,%s">`,
		html.EscapeString(f.Description()), width, height, base64.StdEncoding.EncodeToString(png)), nil
}

// dense is the figure as PNG of density times the usual resolution.
func (f *Figure) dense() ([]byte, error) { return f.encoded(".png", density*dotsPerInch) }

// pixels is the size of the figure on a page.
func (f *Figure) pixels() (width, height int) {
	w, h := f.outerSize()
	return int(w / vg.Inch * dotsPerInch), int(h / vg.Inch * dotsPerInch)
}

// Description says in words what the figure shows: its title, and of each panel what is drawn
// against what.
func (f *Figure) Description() string {
	var parts []string
	if f.title != "" {
		parts = append(parts, f.title)
	}
	for _, p := range f.panels {
		if p.Title.Text != "" {
			parts = append(parts, p.Title.Text)
		}
		switch x, y := p.X.Label.Text, p.Y.Label.Text; {
		case x != "" && y != "":
			parts = append(parts, y+" against "+x)
		case x+y != "":
			parts = append(parts, x+y)
		}
	}
	if len(parts) == 0 {
		return "images"
	}
	return strings.Join(parts, "; ")
}

// Print displays a value below the notebook cell that is running, and prints it elsewhere: a
// History, an Evaluation, a Comparison or a Machine as its table, an Experiment as a
// table of its settings, anything else as its text.
func Print(value any) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stdout, value)
		return
	}
	gonbui.DisplayHTML(printed(value))
	gonbui.Sync()
}

// Explain displays what a method or a machine says of itself, with its equations typeset, below
// the notebook cell that is running, and prints it elsewhere.
func Explain(value interface{ Explain() string }) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stdout, value.Explain())
		return
	}
	gonbui.DisplayMarkdown(value.Explain())
	gonbui.Sync()
}

// printed is a value as HTML.
func printed(value any) string {
	if h, ok := value.(runs.History); ok && h.Err == nil {
		value = h.WithoutNorms()
	}
	var table *runs.Table
	switch v := value.(type) {
	case *runs.Table:
		table = v
	case interface{ Table() *runs.Table }:
		table = v.Table()
	case runs.Experiment:
		table = runs.SettingsTable(v)
	default:
		return "<pre>" + html.EscapeString(fmt.Sprint(value)) + "</pre>"
	}
	var b strings.Builder
	_ = table.WithoutMissing().WriteHTML(&b) // which a Builder takes
	return b.String()
}

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

// encoded returns the figure in the format of an extension, with pixels of a resolution.
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
		canvas = pdfCanvas{vgpdf.New(width, height)}
	default:
		return nil, fmt.Errorf("unknown extension %q: use .png, .svg or .pdf", format)
	}
	f.draw(draw.New(canvas))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}
