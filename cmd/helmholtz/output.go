package main

import (
	"fmt"
	"io"
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
