package plotting

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
)

// Show displays the figure below the notebook cell that is running and returns
// when the notebook has it. Outside a notebook it says on standard error that
// Save keeps the figure. It prints what was wrong with the values, if anything.
func (f *Figure) Show() {
	if gonbui.IsNotebook {
		f.show(os.Stderr, gonbui.DisplayPNG)
		gonbui.Sync()
		return
	}
	f.show(os.Stderr, nil)
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

// PNG returns the figure as PNG, or what was wrong with the values.
func (f *Figure) PNG() ([]byte, error) {
	if f.err != nil {
		return nil, f.err
	}
	var png bytes.Buffer
	if err := f.encode(&png, ".png"); err != nil {
		return nil, err
	}
	return png.Bytes(), nil
}
