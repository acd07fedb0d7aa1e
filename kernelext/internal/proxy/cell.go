//go:build unix

package proxy

import (
	"context"
	"encoding/json"
	"errors"
)

// cell is a cell that GoNB runs or will run.
type cell struct {
	code    json.RawMessage // code as the front end sent it
	magics  []string
	silent  bool
	begun   bool
	over    bool                    // whether all output has been passed on
	ran     context.Context         // done when the magics have run or are interrupted
	end     context.CancelCauseFunc // ends ran
	started string                  // when GoNB got it
	done    chan struct{}           // closed when all output has been passed on
	stderr  string                  // what it wrote there
	report  string                  // GoNB's report of an error, as text

	// Kernel.mu guards these fields.
	interrupted bool
	refused     []string       // reasons for which it fails, whatever GoNB says
	failure     map[string]any // content of its error, or nil
}

var errInterrupted = errors.New("the cell was interrupted")

func newCell(fields map[string]json.RawMessage) *cell {
	c := &cell{code: fields["code"], done: make(chan struct{})}
	c.ran, c.end = context.WithCancelCause(context.Background())
	_ = json.Unmarshal(fields["silent"], &c.silent)
	return c
}

// begin passes on a message of GoNB about a cell. The magics of the cell run as soon as the cell is
// shown as running, and GoNB's further output waits for them. A magic that fails ends the magics.
func (k *Kernel) begin(g *child, c *cell, state string, m *message) {
	begins := !c.begun && c.magics != nil && (m.Header.Type == "execute_input" || c.silent && state == "busy")
	if begins && !c.silent {
		var content map[string]json.RawMessage
		_ = json.Unmarshal(m.content, &content)
		content["code"] = c.code
		m.content = encode(content)
	}
	k.tell(m)
	if !begins {
		return
	}
	c.begun = true
	go func() {
		defer c.end(nil)
		if err := k.runMagics(c, m.parent); err != nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			c.refused = append(c.refused, err.Error())
		}
	}()
	select {
	case <-c.ran.Done():
	case <-g.ended:
	}
	if context.Cause(c.ran) == errInterrupted {
		k.Warn("the %hm lines were interrupted; a line that had begun continues in the background")
	}
}

// runMagics runs the magics of a cell with a header, and returns the error of the first that fails before the cell is
// interrupted.
func (k *Kernel) runMagics(c *cell, header []byte) error {
	for _, line := range c.magics {
		printed, err := k.options.Magics.Run(c.ran, line)
		if printed != "" {
			k.say("stream", header, map[string]string{"name": "stdout", "text": printed})
		}
		if c.ran.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// finish passes on GoNB's message that a cell has ended, and before it the error of a cell that failed and of
// which GoNB knows no error.
func (k *Kernel) finish(c *cell, m *message) {
	c.end(nil)
	k.mu.Lock()
	told := c.failure != nil
	if !told {
		c.conclude("")
	}
	failure := c.failure
	k.mu.Unlock()
	if !told && failure != nil {
		k.say("error", m.parent, failure)
	}
	k.tell(m)
	c.over = true
	close(c.done)
}
