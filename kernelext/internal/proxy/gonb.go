//go:build unix

package proxy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf16"
)

// The kernel itself answers the requests that GoNB 0.11.4 cannot handle: requests that GoNB never
// answers, lines that make it exit, and positions in a cell at which it searches for an identifier
// forever.

// forwarded are the requests that GoNB answers.
var forwarded = map[string]bool{
	"kernel_info_request": true, "execute_request": true, "complete_request": true, "inspect_request": true,
	"interrupt_request": true, "shutdown_request": true,
}

// spare returns the content of the answer to a request that GoNB must not see, or nil if GoNB
// should answer. It moves the cursor of an inspection to the identifier that is meant. In inspections
// and completions it makes the code plain and closes open brackets.
func (m *message) spare() any {
	switch m.Header.Type {
	case "is_complete_request":
		return completeness(m.text("code"))
	case "history_request":
		return map[string]any{"status": "ok", "history": []any{}}
	case "comm_info_request":
		return map[string]any{"status": "ok", "comms": struct{}{}}
	case "execute_request":
		if line := deadly(m.text("code")); line > 0 {
			return failure(fmt.Sprintf("line %d is a command without a name: add the name, or remove the line; %%help lists the commands", line))
		}
	case "complete_request":
		if deadly(m.text("code")) > 0 {
			at := m.number("cursor_pos")
			return map[string]any{"status": "ok", "matches": []string{}, "metadata": struct{}{}, "cursor_start": at, "cursor_end": at}
		}
		m.plainCode()
		m.closeBrackets()
	case "inspect_request":
		m.plainCode()
		code, cursor := m.text("code"), m.number("cursor_pos")
		at, found := identifier(code, cursor)
		if !found || deadly(code) > 0 {
			return notFound
		}
		if at != cursor {
			m.set("cursor_pos", at)
		}
		m.closeBrackets()
	default:
		if strings.HasSuffix(m.Header.Type, "_request") && !forwarded[m.Header.Type] {
			return failure(m.Header.Type + ": this kernel does not support it")
		}
	}
	return nil
}

func failure(what string) map[string]any {
	return map[string]any{"status": "error", "ename": "ERROR", "evalue": what, "traceback": []string{what}}
}

// commands marks the lines of a cell that GoNB treats as its own or as shell commands, including
// lines that continue a command after a backslash. It also returns the number of the first line
// whose command is blank, counted from 1, or 0 if there is none.
func commands(lines []string) (taken []bool, blank int) {
	taken = make([]bool, len(lines))
	for i := 0; i < len(lines); i++ {
		line := withoutPrefix(lines[i])
		if len(line) < 2 || line[0] != '%' && line[0] != '!' {
			continue
		}
		first, named := i, false
		line = line[1:]
		for {
			taken[i] = true
			begun, goesOn := strings.CutSuffix(line, `\`)
			named = named || strings.Trim(begun, " \t") != ""
			if !goesOn || i+1 == len(lines) {
				break
			}
			i++
			line = withoutPrefix(lines[i])
		}
		if !named && blank == 0 {
			blank = first + 1
		}
	}
	return taken, blank
}

// withoutPrefix removes the optional prefix of a command, which keeps a cell valid Go.
func withoutPrefix(line string) string { return strings.TrimPrefix(line, "//gonb:") }

// whole are the commands that, in the first line of a cell, take the whole cell.
var whole = map[string]bool{"%%writefile": true, "%%script": true, "%%bash": true, "%%sh": true, "%%gx": true}

// takenWhole reports whether GoNB passes a whole cell to a command.
func takenWhole(firstLine string) bool {
	name, _, _ := strings.Cut(withoutPrefix(firstLine), " ")
	return whole[name]
}

// deadly returns the number of a line that makes GoNB exit, counted from 1, or 0 if there is none.
func deadly(code string) int {
	lines := strings.Split(code, "\n")
	if strings.TrimRight(withoutPrefix(lines[0]), " \t") == "%%script" {
		return 1
	}
	if takenWhole(lines[0]) {
		return 0
	}
	_, blank := commands(lines)
	return blank
}

// notOfNames are the characters that GoNB skips on its way to the identifier before the cursor.
// From either of the first two, GoNB goes back to the preceding opening bracket.
const notOfNames = ",) \t({}[]\"`'\n\x00"

// identifier returns the position of the identifier that the cursor refers to, and reports whether
// there is one. Positions are in UTF-16 units, as in GoNB. In a line that GoNB does not search,
// the position is the cursor.
func identifier(code string, cursor int) (at int, found bool) {
	lines := strings.Split(code, "\n")
	taken, _ := commands(lines)
	text := utf16.Encode([]rune(code))
	at = min(max(cursor, 0), len(text))
	line := 0
	for _, c := range text[:at] {
		if c == '\n' {
			line++
		}
	}
	if takenWhole(lines[0]) || taken[line] {
		return cursor, true
	}
	if at == len(text) || text[at] == '\n' {
		at-- // there GoNB uses the last character of the line
	}
	for opening := false; at >= 0; at-- {
		c := text[at]
		switch {
		case c == '\n':
			line--
		case taken[line]:
		case opening:
			opening = c != '(' && c != '{'
		case c == ',' || c == ')':
			opening = true
		case c > 127 || !strings.ContainsRune(notOfNames, rune(c)):
			if utf16.IsSurrogate(rune(c)) && at > 0 && text[at-1] < 0xdc00 && utf16.IsSurrogate(rune(text[at-1])) {
				at-- // a pair is one character; GoNB takes its middle for the next one
			}
			return at, true
		}
	}
	return 0, false
}

// mostCode is how many bytes a cell may have. GoNB and Go's tools take minutes for larger ones.
const mostCode = 4 << 20

// check refuses a message that would make GoNB exit, and adds required fields that front ends may
// omit.
func (m *message) check() error {
	var parent header
	if err := json.Unmarshal(m.parent, &parent); err != nil {
		return fmt.Errorf("parent header: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(m.metadata, &object); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	object = nil
	if err := json.Unmarshal(m.content, &object); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	fields, ok := map[string][]field{
		"execute_request":     {{"code", "", nil}, {"silent", false, false}, {"store_history", true, true}, {"allow_stdin", true, false}},
		"complete_request":    {{"code", "", nil}, {"cursor_pos", 0., nil}},
		"inspect_request":     {{"code", "", nil}, {"cursor_pos", 0., nil}, {"detail_level", 0., 0}},
		"shutdown_request":    {{"restart", false, false}},
		"input_reply":         {{"value", "", nil}},
		"is_complete_request": {{"code", "", ""}},
	}[m.Header.Type]
	if !ok {
		return nil
	}
	if object == nil {
		return fmt.Errorf("%s without content", m.Header.Type)
	}
	m.fields = object
	edited := false
	for _, f := range fields {
		value, ok := object[f.name]
		if f.name == "code" && len(value) > mostCode {
			return fmt.Errorf("the cell has %d bytes, more than the limit of %d for the Go compiler: write data to a file, and read the file in the cell", len(value), mostCode)
		}
		if !ok && f.missing != nil {
			object[f.name], edited = encode(f.missing), true
		} else if !f.holds(value) {
			return fmt.Errorf("%s: %s is %.40q, not a %T", m.Header.Type, f.name, value, f.kind)
		}
	}
	if edited {
		m.content = encode(object)
	}
	return nil
}

type field struct {
	name    string
	kind    any // a value of the type that the field must have
	missing any // default for a missing field; nil if the field must be present
}

func (f field) holds(value json.RawMessage) bool {
	var v any
	return json.Unmarshal(value, &v) == nil && reflect.TypeOf(v) == reflect.TypeOf(f.kind)
}
