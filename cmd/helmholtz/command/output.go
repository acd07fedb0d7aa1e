package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// output remembers that something could not be written, for a command whose output
// is cut short not to end well.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	if err != nil {
		o.err = fmt.Errorf("the output is cut short: %w", err)
	}
	return n, o.err
}

// refuseUnwritable refuses the file that a flag names where none can be made, or what lies there is
// no file, before a command computes what goes into it.
func refuseUnwritable(c *cobra.Command, flag, path string) error {
	if path == "" { // none is asked for
		return nil
	}
	if err := file.MayReplace(path); err != nil {
		return misuse(c, "--%s %v", flag, err)
	}
	dir := filepath.Dir(path)
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir) // one that is not there is made with the file
	}
	f, err := os.CreateTemp(dir, ".helmholtz-*")
	if err != nil {
		return misuse(c, "--%s %s: no file can be made in %s, %w: name another place", flag, path, dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// newFraction returns a function that draws the fraction of work done where w
// is a terminal.
func newFraction(w io.Writer, what string) func(float64) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	bar := progressbar.NewOptions(1000,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	return func(done float64) { _ = bar.Set(int(1000 * done)) }
}
