package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/spf13/cobra"
)

// output is standard output or standard error of a command. It escapes control characters, because
// names of files and data sets may contain them. It remembers write errors, so that a command whose
// output was cut short fails.
type output struct {
	sync.Mutex
	w     io.Writer
	err   error
	begun []byte // the incomplete character at the end of the last write
}

func (o *output) Write(b []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	text := append(o.begun, b...)
	whole := len(text)
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				whole = i
			}
			break
		}
	}
	o.begun = slices.Clone(text[whole:])
	at := progressControls.FindSubmatch(text[:whole])
	return len(b), o.write(slices.Concat(at[1], []byte(names.Printable(string(at[2]))), at[3]))
}

func (o *output) write(b []byte) error {
	if o.err != nil {
		return o.err
	}
	if _, err := o.w.Write(b); err != nil {
		o.err = fmt.Errorf("the output is cut short: %w", err)
	}
	return o.err
}

// progressControls separates the text of a progress bar from the control characters around it,
// which return to the beginning of the line and clear it.
var progressControls = regexp.MustCompile(`(?s)\A((?:\r|\x1b\[2K)*)(.*?)(\r|\x1b\[0K)?\z`)

// Fd returns the descriptor of the underlying file, or an invalid one.
func (o *output) Fd() uintptr {
	if f, is := o.w.(*os.File); is {
		return f.Fd()
	}
	return ^uintptr(0)
}

// verbatim returns a writer that does not escape, for a table that a program reads. On a terminal,
// control characters are still escaped.
func verbatim(w io.Writer) io.Writer {
	if o, is := w.(*output); is && !file.IsTerminal(w) {
		return writerFunc(func(b []byte) (int, error) {
			o.Lock()
			defer o.Unlock()
			return len(b), o.write(b)
		})
	}
	return w
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// refuseUnwritable refuses the output file that a flag names if it cannot be created or is not a
// regular file, before a command computes its contents.
func refuseUnwritable(c *cobra.Command, flag, path string) error {
	if path == "" { // no file
		return nil
	}
	if err := file.MayReplace(path); err != nil {
		return misuse(c, "--%s %v", flag, err)
	}
	dir := filepath.Dir(path)
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir) // a missing folder is created with the file
	}
	f, err := os.CreateTemp(dir, ".helmholtz-*")
	if err != nil {
		return misuse(c, "--%s %s: cannot create a file in %s, %w: name another place", flag, path, dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeFile writes an output file, and creates its folder if that is missing.
func writeFile(path string, b []byte) error {
	if err := file.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	return file.WriteAside(path, b)
}

// longWork returns a function that draws the fraction of work, such as reading a file, that is done, once it takes a second.
func longWork(ctx context.Context, w io.Writer) func(what string, done float64) {
	var current string
	var lock sync.Mutex
	bar, drawn := &file.Bar{W: w}, false
	return func(what string, done float64) {
		lock.Lock()
		defer lock.Unlock()
		if what != current {
			current, bar.Start = what, time.Now()
		}
		switch ended := done == 1 || ctx.Err() != nil; {
		case ended && drawn:
			bar.Clear()
			fallthrough
		case ended:
			current, drawn = "", false
		case time.Since(bar.Start) > time.Second:
			bar.Draw(what, "", done)
			drawn = true
		}
	}
}

// newFraction returns a function that draws the fraction of work done, or nil if w is not a
// terminal.
func newFraction(w io.Writer, what string) func(float64) {
	if !file.IsTerminal(w) {
		return nil
	}
	bar := &file.Bar{W: w, Start: time.Now()}
	return func(done float64) {
		if bar.Draw(what, "", done); done >= 1 {
			bar.Clear()
		}
	}
}
