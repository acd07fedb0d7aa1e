package proxy

import (
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// Magics are the lines of a cell that this kernel carries out, not GoNB.
type Magics interface {
	// Run carries out a line, without the "%hm" that it begins with.
	Run(line string, stdout, stderr io.Writer)
	// Complete returns what the last word of a line could become, without the
	// "%hm".
	Complete(line string) []string
	// Inspect explains a line.
	Inspect(line string) string
}

// magic is how the lines of this kernel begin.
const magic = "%hm"

// cell is a cell with magics.
type cell struct {
	code   json.RawMessage // as the front end sent it
	lines  []string
	silent bool
}

// prepare takes the magics out of a cell. Their lines stay, empty, so that
// errors name the same lines as ever. The cell of a magic that takes it whole,
// as %%writefile does, has none; after a mere %% there can be arguments.
func (k *Kernel) prepare(m *message) {
	var content map[string]json.RawMessage
	var code string
	var c cell
	if json.Unmarshal(m.content, &content) != nil || json.Unmarshal(content["code"], &code) != nil ||
		!strings.Contains(code, magic) || len(code) > 2 && strings.HasPrefix(code, "%%") && !strings.ContainsRune("\n \t", rune(code[2])) {
		return
	}
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		if rest, ok := magicLine(line); ok {
			c.lines, lines[i] = append(c.lines, rest), ""
		}
	}
	if c.lines == nil {
		return
	}
	_ = json.Unmarshal(content["silent"], &c.silent)
	c.code = content["code"]
	content["code"] = encode(strings.Join(lines, "\n"))
	m.content = encode(content)
	k.mu.Lock()
	k.cells[m.Header.ID] = c
	k.mu.Unlock()
}

// magicLine returns what follows "%hm" in a line.
func magicLine(line string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimSpace(line), magic)
	return strings.TrimSpace(rest), ok && (rest == "" || strings.ContainsAny(rest[:1], " \t"))
}

// begin passes a message of GoNB about a cell. The magics of the cell run as
// soon as it is shown as running.
func (k *Kernel) begin(id, state string, m *message) {
	k.mu.Lock()
	c, ok := k.cells[id]
	begins := ok && (m.Header.Type == "execute_input" || c.silent && state == "busy")
	if begins || state == "idle" {
		delete(k.cells, id)
	}
	k.mu.Unlock()
	if begins && !c.silent {
		var content map[string]json.RawMessage
		_ = json.Unmarshal(m.content, &content)
		content["code"] = c.code
		m.content = encode(content)
	}
	k.iopub.broadcast(k.key.frames(m))
	if begins {
		for _, line := range c.lines {
			k.options.Magics.Run(line, stream{k, "stdout", m.parent}, stream{k, "stderr", m.parent})
		}
	}
}

// stream is what a magic prints.
type stream struct {
	kernel *Kernel
	name   string
	parent []byte
}

func (s stream) Write(p []byte) (int, error) {
	s.kernel.say("stream", s.parent, map[string]string{"name": s.name, "text": string(p)})
	return len(p), nil
}

// answered answers a request about a magic, and says whether it was one.
func (k *Kernel) answered(m *message, from *endpoint) bool {
	if m.Header.Type != "complete_request" && m.Header.Type != "inspect_request" {
		return false
	}
	var content struct {
		Code   string `json:"code"`
		Cursor int    `json:"cursor_pos"`
	}
	_ = json.Unmarshal(m.content, &content)
	line, ok := lineBefore(content.Code, content.Cursor)
	rest, isMagic := magicLine(line)
	if !ok || !isMagic {
		return false
	}
	var kind string
	var reply any
	if m.Header.Type == "inspect_request" {
		kind = "inspect_reply"
		reply = map[string]any{
			"status": "ok", "found": true, "metadata": struct{}{},
			"data": map[string]string{"text/plain": k.options.Magics.Inspect(rest)},
		}
	} else {
		word := ""
		if fields := strings.Fields(rest); len(fields) > 0 && !strings.HasSuffix(line, " ") {
			word = fields[len(fields)-1]
		} else if rest != "" {
			rest += " "
		}
		matches := k.options.Magics.Complete(rest)
		if matches == nil {
			matches = []string{}
		}
		kind = "complete_reply"
		reply = map[string]any{
			"status": "ok", "matches": matches, "metadata": struct{}{},
			"cursor_start": content.Cursor - utf8.RuneCountInString(word), "cursor_end": content.Cursor,
		}
	}
	k.say("status", m.header, map[string]string{"execution_state": "busy"})
	r := answer(kind, m.header, reply)
	r.identities = m.identities
	from.reply(string(m.identities[0]), k.key.frames(r)[1:])
	k.say("status", m.header, map[string]string{"execution_state": "idle"})
	return true
}

// lineBefore returns the line that the cursor is in, up to the cursor, which
// counts characters.
func lineBefore(code string, cursor int) (line string, ok bool) {
	characters := []rune(code)
	if cursor < 0 || cursor > len(characters) {
		return "", false
	}
	before := string(characters[:cursor])
	return before[strings.LastIndexByte(before, '\n')+1:], true
}
