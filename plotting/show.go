package plotting

import (
	"fmt"
	"io"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
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
