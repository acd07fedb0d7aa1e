//go:build unix

package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Magics are the lines of a cell that this kernel runs instead of GoNB.
type Magics interface {
	// Run runs a line, given without its leading "%hm", until ctx is cancelled.
	Run(ctx context.Context, line string, stdout io.Writer) error
	// Complete returns the completions of a line's last word. The line is given without "%hm".
	Complete(line string) []string
	// Inspect explains a line.
	Inspect(line string) string
}

// magic begins the lines of this kernel.
const magic = "%hm"

// cell is a cell that GoNB runs or will run.
type cell struct {
	code    json.RawMessage // code as the front end sent it
	lines   []string        // its magics
	silent  bool
	begun   bool
	ran     context.Context         // done when the lines have run or are interrupted
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

// prepare returns the cell of a request, and removes the magics from the request. Their lines
// stay as empty lines, so that line numbers in errors do not change. A cell that begins with a
// magic for the whole cell, such as %%writefile, has none. A plain %%, which arguments may follow,
// is not such a magic. A line that continues a command after a backslash belongs to the command.
func (m *message) prepare() *cell {
	c := &cell{code: m.fields["code"], done: make(chan struct{})}
	c.ran, c.end = context.WithCancelCause(context.Background())
	_ = json.Unmarshal(m.fields["silent"], &c.silent)
	code := m.text("code")
	lines := strings.Split(code, "\n")
	taken, _ := commands(lines)
	if begins := withoutPrefix(code); strings.HasPrefix(begins, "%%") && !beginsMain(lines[0]) {
		lines = nil
	}
	for i, line := range lines {
		continues := i > 0 && taken[i-1] && strings.HasSuffix(lines[i-1], `\`)
		if rest, ok := magicLine(line); ok && !continues {
			c.lines, lines[i] = append(c.lines, rest), ""
		}
	}
	if c.lines == nil {
		c.end(nil)
	} else {
		m.set("code", strings.Join(lines, "\n"))
	}
	return c
}

// magicLine returns the part of a line after "%hm", and reports whether it is a magic.
func magicLine(line string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimSpace(withoutPrefix(line)), magic)
	return strings.TrimSpace(rest), ok && (rest == "" || strings.ContainsAny(rest[:1], " \t"))
}

// begin passes on a message of GoNB about a cell. The magics of the cell run as soon as the cell is
// shown as running, and GoNB's further output waits for them. A magic that fails ends the magics.
func (k *Kernel) begin(c *cell, state string, m *message) {
	begins := !c.begun && c.lines != nil && (m.Header.Type == "execute_input" || c.silent && state == "busy")
	if begins {
		c.begun = true
	}
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
	go func() {
		defer c.end(nil)
		for _, line := range c.lines {
			if err := k.options.Magics.Run(c.ran, line, stream{k, "stdout", m.parent}); c.ran.Err() != nil {
				return
			} else if err != nil {
				k.mu.Lock()
				c.refused = append(c.refused, err.Error())
				k.mu.Unlock()
				return
			}
		}
	}()
	select {
	case <-c.ran.Done():
	case <-k.child.ended:
	}
	if context.Cause(c.ran) == errInterrupted {
		k.Warn("the %hm lines were interrupted; a line that had begun continues in the background")
	}
}

// finish passes on GoNB's message that a cell has ended, and before it the error of a cell that failed and of
// which GoNB knows no error.
func (k *Kernel) finish(c *cell, id string, m *message) {
	c.end(nil)
	k.mu.Lock()
	told := c.failure != nil
	if !told {
		c.conclude("")
	}
	failure := c.failure
	delete(k.cells, id)
	k.mu.Unlock()
	if !told && failure != nil {
		k.say("error", m.parent, failure)
	}
	k.tell(m)
	close(c.done)
}

type stream struct {
	kernel *Kernel
	name   string
	parent []byte
}

func (s stream) Write(p []byte) (int, error) {
	s.kernel.say("stream", s.parent, map[string]string{"name": s.name, "text": string(p)})
	return len(p), nil
}

// explained returns the content of the answer to a request about a magic, or nil for other
// requests.
func (m *message) explained(by Magics) any {
	if m.Header.Type != "complete_request" && m.Header.Type != "inspect_request" {
		return nil
	}
	cursor := m.number("cursor_pos")
	line, ok := lineBefore(m.text("code"), cursor)
	rest, isMagic := magicLine(line)
	if !ok || !isMagic {
		return nil
	}
	if m.Header.Type == "inspect_request" {
		return map[string]any{
			"status": "ok", "found": true, "metadata": struct{}{},
			"data": map[string]string{"text/plain": by.Inspect(rest)},
		}
	}
	word := ""
	if fields := strings.Fields(rest); len(fields) > 0 && !strings.HasSuffix(line, " ") {
		word = fields[len(fields)-1]
	} else if rest != "" {
		rest += " "
	}
	matches := by.Complete(rest)
	if matches == nil {
		matches = []string{}
	}
	return map[string]any{
		"status": "ok", "matches": matches, "metadata": struct{}{},
		"cursor_start": cursor - utf8.RuneCountInString(word), "cursor_end": cursor,
	}
}

// lineBefore returns the line of the cursor up to the cursor, a position in characters.
func lineBefore(code string, cursor int) (line string, ok bool) {
	characters := []rune(code)
	if cursor < 0 || cursor > len(characters) {
		return "", false
	}
	before := string(characters[:cursor])
	return before[strings.LastIndexByte(before, '\n')+1:], true
}
