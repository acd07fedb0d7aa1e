package plotting

import (
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"gonum.org/v1/plot/vg"
)

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
