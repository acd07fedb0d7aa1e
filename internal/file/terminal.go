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

// Width returns the number of characters in a line of the terminal that a writer writes to, or 80 if it is unknown.
func Width(w io.Writer) int {
	if f, is := w.(interface{ Fd() uintptr }); is {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 80
}
