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
	var png bytes.Buffer
	switch {
	case f.err != nil:
		fmt.Fprintln(w, f.err)
	case display == nil:
		fmt.Fprintln(w, `plotting: no notebook to show the figure in: keep it with Save("figure.png")`)
	default:
		if err := f.encode(&png, ".png"); err != nil {
			fmt.Fprintln(w, err)
			return
		}
		display(png.Bytes())
	}
}
