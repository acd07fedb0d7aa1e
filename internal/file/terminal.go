package file

import (
	"io"

	"golang.org/x/term"
)

// IsTerminal reports whether a writer with a file descriptor, such as a file, writes to a terminal.
func IsTerminal(w io.Writer) bool {
	f, is := w.(interface{ Fd() uintptr })
	return is && term.IsTerminal(int(f.Fd()))
}
