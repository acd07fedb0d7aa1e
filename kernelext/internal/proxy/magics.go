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
	// Run runs a line, given without its leading "%hm".
	Run(line string, stdout, stderr io.Writer)
	// Complete returns the completions of a line's last word. The line is given without "%hm".
	Complete(line string) []string
	// Inspect explains a line.
	Inspect(line string) string
}

// magic begins the lines of this kernel.
const magic = "%hm"

type cell struct {
	code   json.RawMessage // code as the front end sent it
	lines  []string
	silent bool
	begun  bool
	ran    context.Context         // done when the lines have run or are interrupted
	end    context.CancelCauseFunc // ends ran
}

var errInterrupted = errors.New("the cell was interrupted")

// prepare removes the magics from a cell and returns them, or nil if there are none. Their lines
// stay as empty lines, so that line numbers in errors do not change. A cell that begins with a
// magic for the whole cell, such as %%writefile, has none. A plain %%, which arguments may follow,
// is not such a magic. A line that continues a command after a backslash belongs to the command.
func (m *message) prepare() *cell {
	code := m.text("code")
	begins := withoutPrefix(code)
	if !strings.Contains(code, magic) || len(begins) > 2 && strings.HasPrefix(begins, "%%") && !strings.ContainsRune("\n \t", rune(begins[2])) {
		return nil
	}
	c := &cell{code: m.fields["code"]}
	c.ran, c.end = context.WithCancelCause(context.Background())
	lines := strings.Split(code, "\n")
	taken, _ := commands(lines)
	for i, line := range lines {
		continues := i > 0 && taken[i-1] && strings.HasSuffix(lines[i-1], `\`)
		if rest, ok := magicLine(line); ok && !continues {
			c.lines, lines[i] = append(c.lines, rest), ""
		}
	}
	if c.lines == nil {
		return nil
	}
	_ = json.Unmarshal(m.fields["silent"], &c.silent)
	m.set("code", strings.Join(lines, "\n"))
	return c
}

// magicLine returns the part of a line after "%hm", and reports whether it is a magic.
func magicLine(line string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimSpace(withoutPrefix(line)), magic)
	return strings.TrimSpace(rest), ok && (rest == "" || strings.ContainsAny(rest[:1], " \t"))
}

// begin passes on a message of GoNB about a cell. The magics of the cell run as soon as the cell is
// shown as running, and GoNB's further output waits for them.
func (k *Kernel) begin(id, state string, m *message) {
	k.mu.Lock()
	c := k.cells[id]
	begins := c != nil && !c.begun && (m.Header.Type == "execute_input" || c.silent && state == "busy")
	if begins {
		c.begun = true
	} else if c != nil && state == "idle" {
		c.end(nil)
	}
	k.mu.Unlock()
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
		for _, line := range c.lines {
			if c.ran.Err() == nil {
				k.options.Magics.Run(line, stream{k, "stdout", m.parent}, stream{k, "stderr", m.parent})
			}
		}
		c.end(nil)
	}()
	c.wait(k.child)
	if c.interrupted() {
		k.say("stream", m.parent, map[string]string{"name": "stderr", "text": "the %hm lines were interrupted; a line that had begun continues in the background\n"})
	}
}

// wait returns when the magics of the cell have run, or when they are interrupted, or when GoNB has
// ended.
func (c *cell) wait(g *child) {
	select {
	case <-c.ran.Done():
	case <-g.ended:
	}
}

// interrupted reports whether an interrupt came before the last magic of the cell had run. c may be nil.
func (c *cell) interrupted() bool { return c != nil && context.Cause(c.ran) == errInterrupted }

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
