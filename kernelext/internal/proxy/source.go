//go:build unix

package proxy

import (
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// source is the code of a cell as GoNB reads it: Go, and the commands of GoNB and of the shell.
type source struct {
	code  string
	lines []string
	taken []bool // lines that are a command, or continue one behind a backslash
	whole bool   // whether the command in the first line takes the whole cell
	// deadly is the number of the first line that makes GoNB exit, counted from 1, or 0 if there is none.
	deadly int
}

// whole are the commands that, in the first line of a cell, take the whole cell.
var whole = map[string]bool{"%%writefile": true, "%%script": true, "%%bash": true, "%%sh": true, "%%gx": true}

func read(code string) source {
	s := source{code: code, lines: strings.Split(code, "\n")}
	name, _, _ := strings.Cut(withoutPrefix(s.lines[0]), " ")
	s.whole, s.taken = whole[name], make([]bool, len(s.lines))
	blank := 0
	for i := 0; i < len(s.lines); i++ {
		line := withoutPrefix(s.lines[i])
		if len(line) < 2 || line[0] != '%' && line[0] != '!' {
			continue
		}
		first, named := i, false
		line = line[1:]
		for {
			s.taken[i] = true
			begun, goesOn := strings.CutSuffix(line, `\`)
			named = named || strings.Trim(begun, " \t") != ""
			if !goesOn || i+1 == len(s.lines) {
				break
			}
			i++
			line = withoutPrefix(s.lines[i])
		}
		if !named && blank == 0 {
			blank = first + 1
		}
	}
	switch {
	case strings.TrimRight(withoutPrefix(s.lines[0]), " \t") == "%%script":
		s.deadly = 1
	case !s.whole:
		s.deadly = blank
	}
	return s
}

// withoutPrefix removes the optional prefix of a command, which keeps a cell valid Go.
func withoutPrefix(line string) string { return strings.TrimPrefix(line, "//gonb:") }

// beginsMain reports whether GoNB puts the lines behind a line into the function main.
func beginsMain(line string) bool {
	line = withoutPrefix(line)
	return strings.HasPrefix(line, "%main") || strings.HasPrefix(line, "%%") && (len(line) == 2 || line[2] == ' ' || line[2] == '\t')
}

// magic begins the lines of this kernel.
const magic = "%hm"

// magicLine returns the part of a line after "%hm", and reports whether it is a magic.
func magicLine(line string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimSpace(withoutPrefix(line)), magic)
	return strings.TrimSpace(rest), ok && (rest == "" || strings.ContainsAny(rest[:1], " \t"))
}

// magics returns the magics of the cell and its code without them. Their lines stay as empty lines, so that line
// numbers in errors do not change. A cell that begins with a magic for the whole cell, such as %%writefile, has none.
// A plain %%, which arguments may follow, is not such a magic. A line that continues a command after a backslash
// belongs to the command.
func (s source) magics() (magics []string, rest string) {
	if strings.HasPrefix(withoutPrefix(s.lines[0]), "%%") && !beginsMain(s.lines[0]) {
		return nil, s.code
	}
	lines := slices.Clone(s.lines)
	for i, line := range s.lines {
		continues := i > 0 && s.taken[i-1] && strings.HasSuffix(lines[i-1], `\`)
		if rest, ok := magicLine(line); ok && !continues {
			magics, lines[i] = append(magics, rest), ""
		}
	}
	return magics, strings.Join(lines, "\n")
}

// until returns the code before a cursor, a position in characters.
func (s source) until(cursor int) string {
	characters := []rune(s.code)
	return string(characters[:min(max(cursor, 0), len(characters))])
}

// notOfNames are the characters that GoNB skips on its way to the identifier before the cursor.
// From either of the first two, GoNB goes back to the preceding opening bracket.
const notOfNames = ",) \t({}[]\"`'\n\x00"

// identifier returns the position of the identifier that the cursor refers to and its line, counted from 0, and
// reports whether there is one: without one, GoNB would search forever. In a line that GoNB does not search, the
// position is the cursor.
func (s source) identifier(cursor int) (at, line int, found bool) {
	text := []rune(s.code)
	at, line = min(max(cursor, 0), len(text)), strings.Count(s.until(cursor), "\n")
	if s.whole || s.taken[line] {
		return cursor, line, true
	}
	if at == len(text) || text[at] == '\n' {
		at-- // there GoNB uses the last character of the line
	}
	for opening := false; at >= 0; at-- {
		c := text[at]
		switch {
		case c == '\n':
			line--
		case s.taken[line]:
		case opening:
			opening = c != '(' && c != '{'
		case c == ',' || c == ')':
			opening = true
		case !strings.ContainsRune(notOfNames, c):
			return at, line, true
		}
	}
	return 0, 0, false
}

// closers maps the tokens that open brackets to the tokens that close them.
var closers = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

type bracket struct {
	token token.Token
	line  int // counted from 0
}

// syntax is what the tokens of a cell's Go say about it.
type syntax struct {
	open     []bracket   // open brackets, the innermost first
	unpaired bool        // whether a bracket is closed that is not the innermost open one; then open is empty
	comments map[int]int // columns of the comments that begin with //, by line
	text     []bool      // whether a byte is in a literal or in a comment
}

func (s source) syntax() syntax {
	lines := slices.Clone(s.lines)
	for i, command := range s.taken { // not Go
		if command {
			lines[i] = strings.Repeat(" ", len(lines[i]))
		}
	}
	x := syntax{comments: map[int]int{}, text: make([]bool, len(s.code))}
	var scan scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(s.code))
	scan.Init(file, []byte(strings.Join(lines, "\n")), func(token.Position, string) {}, scanner.ScanComments)
	for pos, tok, literal := scan.Scan(); tok != token.EOF; pos, tok, literal = scan.Scan() {
		at, line := file.Offset(pos), file.PositionFor(pos, false).Line-1 // whatever a comment //line says
		switch tok {
		case token.STRING, token.CHAR, token.COMMENT:
			for i := range literal {
				x.text[at+i] = true
			}
			if strings.HasPrefix(literal, "//") {
				x.comments[line] = at - file.Offset(file.LineStart(line+1))
			}
		case token.LPAREN, token.LBRACK, token.LBRACE:
			x.open = slices.Insert(x.open, 0, bracket{tok, line})
		case token.RPAREN, token.RBRACK, token.RBRACE:
			x.unpaired = x.unpaired || len(x.open) == 0 || closers[x.open[0].token] != tok
			if !x.unpaired {
				x.open = x.open[1:]
			}
		}
	}
	if x.unpaired {
		x.open = nil
	}
	return x
}

// legible returns the code as gopls needs it, with the cursor in a line, counted from 0.
//
// It closes open brackets, because a cell that does not parse tells gopls nothing: parentheses and square brackets
// opened in the line of the cursor at the end of that line, all others at the end of the cell. It replaces characters
// by question marks: in literals and comments all that are not ASCII, and elsewhere all that take two UTF-16 units. The
// position of the cursor then stays the same in characters, which Jupyter counts, in UTF-16 units, which GoNB and gopls
// count, and, unless the line has other such names, in bytes, which GoNB counts within a line.
func (s source) legible(line int) string {
	x := s.syntax()
	here, end := "", ""
	for _, b := range x.open {
		if b.line == line && b.token != token.LBRACE {
			here += closers[b.token].String()
		} else {
			end += closers[b.token].String()
		}
	}
	if strings.HasPrefix(end, "}") { // a newline ends the preceding statement; before a parenthesis it would be an error
		end = "\n" + end
	}
	column, commented := x.comments[line]
	if !commented {
		column = len(s.lines[line])
	}
	for _, before := range s.lines[:line] {
		column += len(before) + 1
	}
	var b strings.Builder
	for i, c := range s.code {
		if i == column {
			b.WriteString(here)
		}
		if c > 0xffff || c > 0x7f && x.text[i] {
			c = '?'
		}
		b.WriteRune(c)
	}
	if column == len(s.code) {
		b.WriteString(here)
	}
	return b.String() + end
}

// indentation is what a console inserts for each open line of brackets. A terminal shows a tab as ^I.
const indentation = "    "

// completeness returns the content of the answer to a console that asks whether the cell is complete
// once Enter is pressed.
func (s source) completeness() map[string]string {
	complete, incomplete := map[string]string{"status": "complete"}, map[string]string{"status": "incomplete", "indent": ""}
	last := len(s.lines) - 1
	end := strings.TrimSpace(s.code)
	switch {
	case s.whole && last > 0 && strings.TrimSpace(s.lines[last]) == "":
		return complete
	case s.whole, s.taken[last] && strings.HasSuffix(s.lines[last], `\`), beginsMain(end[strings.LastIndexByte(end, '\n')+1:]):
		return incomplete
	}
	text, isMain := "package main;", false
	for i, line := range s.lines {
		switch {
		case beginsMain(line):
			isMain = true
			text += "func main() {"
		case !s.taken[i] && !strings.HasPrefix(line, "package "): // GoNB ignores such lines
			text += line
		}
		text += "\n"
	}
	text = strings.TrimSpace(text)
	written := len(text)
	if isMain {
		text += "\n}"
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution|parser.AllErrors)
	var all scanner.ErrorList
	x := s.syntax()
	wrong := errors.As(err, &all)
	unfinished := wrong && (strings.HasPrefix(all[0].Msg, "raw string") || strings.HasPrefix(all[0].Msg, "comment"))
	switch {
	case x.unpaired, wrong && all[0].Pos.Offset < written && !unfinished:
		return map[string]string{"status": "invalid"}
	case !wrong:
		return complete
	}
	openLines := map[int]bool{}
	for _, b := range x.open {
		openLines[b.line] = true
	}
	if !unfinished { // a raw string would contain the indentation
		incomplete["indent"] = strings.Repeat(indentation, len(openLines))
	}
	return incomplete
}
