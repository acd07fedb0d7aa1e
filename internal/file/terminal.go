package file

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// IsTerminal reports whether a writer with a file descriptor, such as a file, writes to a terminal.
func IsTerminal(w io.Writer) bool {
	f, is := w.(interface{ Fd() uintptr })
	return is && term.IsTerminal(int(f.Fd()))
}

// Bar shows the progress of work in the last line of a terminal. Its methods may be called in parallel.
type Bar struct {
	W     io.Writer
	Start time.Time
	lock  sync.Mutex
	shown time.Time
}

// narrowest is the least width of a bar that shows anything.
const narrowest = 10

// Draw shows the fraction of work done, from 0 to 1, between a description and counts, with the time taken and left. It
// draws at most ten times a second, and at the end. In a terminal too narrow for a bar it shows what fits of the text,
// because a longer line would leave a copy of itself at each step.
func (b *Bar) Draw(what, counts string, fraction float64) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if fraction < 1 && time.Since(b.shown) < 100*time.Millisecond {
		return
	}
	b.shown = time.Now()
	taken, left := b.shown.Sub(b.Start), "?"
	if fraction > 0 {
		left = time.Duration(float64(taken) * (1 - fraction) / fraction).Truncate(time.Second).String()
	}
	begin, end := fmt.Sprintf("%s %3.0f%% |", what, 100*fraction), fmt.Sprintf("| %s[%s:%s]", counts, taken.Truncate(time.Second), left)
	columns := 80 // if the writer does not know
	if f, is := b.W.(interface{ Fd() uintptr }); is {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			columns = width
		}
	}
	room := columns - names.Width(begin+end) - 1
	if room < narrowest {
		text := []rune(fmt.Sprintf("%3.0f%% [%s:%s] %s %s", 100*fraction, taken.Truncate(time.Second), left, what, counts))
		for names.Width(string(text)) >= columns {
			text = text[:len(text)-1]
		}
		fmt.Fprint(b.W, "\r", string(text), strings.Repeat(" ", columns-1-names.Width(string(text))))
		return
	}
	full := min(int(fraction*float64(room)), room)
	fmt.Fprint(b.W, "\r", begin, strings.Repeat("█", full), strings.Repeat(" ", room-full), end)
}

// Clear removes the bar.
func (b *Bar) Clear() { fmt.Fprint(b.W, "\033[2K\r") }
