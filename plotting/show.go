package plotting

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Show displays the figure below the running notebook cell and returns when the notebook has
// received it. Outside a notebook it prints to standard error a hint to use Save. If the figure remembers
// an error, it prints the error.
func (f *Figure) Show() {
	png, err := f.PNG()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	show("figure", "figure.png", func() { f.display(png) })
}

// show displays something below the running notebook cell. Outside a notebook it prints a hint to save it in a file.
func show(what, name string, display func()) {
	if !gonbui.IsNotebook {
		fmt.Fprintf(os.Stderr, "plotting: there is no notebook to show the %s in: save it with Save(%q)\n", what, name)
		return
	}
	display()
	gonbui.Sync()
}

// sized is an environment variable. It is set if the kernel respects the size and the alternative text in
// an image's metadata, which GoNB alone does not.
const sized = "HELMHOLTZ_SESSION"

// display sends the figure to the notebook, at high resolution if the kernel respects the size in its metadata.
func (f *Figure) display(png []byte) {
	data := &protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMEImagePNG: png, protocol.MIMETextPlain: f.Description()}}
	if os.Getenv(sized) != "" {
		if dense, err := f.encoded(".png", density*dotsPerInch); err == nil {
			width, height := f.pixels()
			data.Data[protocol.MIMEImagePNG] = dense
			data.Metadata = map[string]any{"width": width, "height": height, "alt": f.Description()}
		}
	}
	gonbui.SendData(data)
}

// density is the ratio of an image's resolution to the resolution of the page. It makes images sharp on
// dense screens.
const density = 2

// HTML returns the figure as an HTML element with an alternative text. The image is sharp on dense screens.
// If the figure remembers an error, HTML returns the error.
func (f *Figure) HTML() (string, error) {
	png, err := f.encoded(".png", density*dotsPerInch)
	if err != nil {
		return "", err
	}
	width, height := f.pixels()
	theme := dark
	if f.aspect != 0 || slices.ContainsFunc(f.parts, func(part *Figure) bool { return part.aspect != 0 }) {
		theme = "" // pictures stay as they are
	}
	return fmt.Sprintf(`<img alt="%s" width="%d" height="%d"%s src="data:image/png;base64,%s">`,
		html.EscapeString(f.Description()), width, height, theme, base64.StdEncoding.EncodeToString(png)), nil
}

// dark exchanges black and white, but no colours, in the dark themes of JupyterLab, in which this variable is 32. In its
// other themes the variable is 0.
const dark = ` style="filter:invert(var(--jp-shadow-base-lightness,0)) hue-rotate(calc(180deg*min(1,var(--jp-shadow-base-lightness,0))))"`

func (f *Figure) pixels() (width, height int) {
	w, h := f.outerSize()
	return int(w / vg.Inch * dotsPerInch), int(h / vg.Inch * dotsPerInch)
}

// Description describes the figure in words, with its title, and the title and axis labels of each panel. It joins the
// descriptions of figures side by side.
func (f *Figure) Description() string {
	var parts []string
	if f.title != "" {
		parts = append(parts, f.title)
	}
	for _, part := range f.parts {
		parts = append(parts, part.Description())
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

// Print displays a value below the running notebook cell: a History, an Evaluation, a Comparison or a
// Machine as its table, an Experiment as a table of its settings, anything else as text. Outside a
// notebook it prints the value as text on standard output.
func Print(value any) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stdout, value)
		return
	}
	gonbui.DisplayHTML(printed(value))
	gonbui.Sync()
}

// Explain displays the description of a method or a machine, with its equations typeset, below the
// running notebook cell, and prints it outside a notebook.
func Explain(value interface{ Explain() string }) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stdout, value.Explain())
		return
	}
	gonbui.DisplayMarkdown(value.Explain())
	gonbui.Sync()
}

func printed(value any) string {
	if h, ok := value.(runs.History); ok && h.Err == nil {
		value = h.WithoutNorms()
	}
	var table *runs.Table
	switch v := value.(type) {
	case *runs.Table:
		table = v
	case runs.History:
		table = v.Table()
	case interface{ Table() *runs.Table }:
		table = v.Table()
	case runs.Experiment:
		table = runs.SettingsTable(v)
	default:
		return "<pre>" + html.EscapeString(fmt.Sprint(value)) + "</pre>"
	}
	var b strings.Builder
	_ = table.WithoutMissing().WriteHTML(&b) // a Builder never fails
	return b.String()
}

// dotsPerInch is the default resolution of PNG images. It makes text legible in a notebook.
const dotsPerInch = 110

// Save writes the figure to a file as PNG, SVG or PDF, depending on the extension of the path. SVG files contain
// text as text. PDF files contain it as text with embedded fonts, except for bold text and characters beyond ASCII,
// which are outlines. Save creates the directory if necessary, and replaces an existing file only once the new one is
// complete. If the figure remembers an error, Save returns it.
func (f *Figure) Save(path string) error {
	if f.err != nil {
		return f.err
	}
	b, err := f.encoded(strings.ToLower(filepath.Ext(path)), cmp.Or(f.dpi, dotsPerInch))
	if err != nil {
		return fmt.Errorf("plotting: cannot save %s: %w", path, err)
	}
	return save(path, b)
}

func save(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("plotting: cannot create the directory of %s: %w", path, err)
	}
	if err := file.WriteAside(path, b); err != nil {
		return fmt.Errorf("plotting: cannot save %w", err)
	}
	return nil
}

// PNG returns the figure as PNG, or the error that the figure remembers.
func (f *Figure) PNG() ([]byte, error) { return f.encoded(".png", cmp.Or(f.dpi, dotsPerInch)) }

func (f *Figure) encoded(format string, dotsPerInch int) ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	var b bytes.Buffer
	if err := f.checkRoom(); err != nil {
		return nil, err
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
	f.drawOn(canvas.(vg.CanvasSizer))
	_, err := canvas.WriteTo(&b)
	switch format {
	case ".svg":
		return bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;")), err
	case ".png":
		return withResolution(b.Bytes(), dotsPerInch), err
	}
	return b.Bytes(), err
}

// withResolution adds a resolution to a PNG image. It tells other programs the size of the image in inches.
func withResolution(png []byte, dotsPerInch int) []byte {
	const header = 8 + 25 // the signature and the chunk IHDR
	perMeter := uint32(math.Round(float64(dotsPerInch) / 0.0254))
	chunk := append([]byte("pHYs"), 0, 0, 0, 0, 0, 0, 0, 0, 1) // 1 is the meter
	binary.BigEndian.PutUint32(chunk[4:], perMeter)
	binary.BigEndian.PutUint32(chunk[8:], perMeter)
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk))
	return slices.Concat(png[:header], []byte{0, 0, 0, 9}, chunk, sum, png[header:])
}
