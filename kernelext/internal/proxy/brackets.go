//go:build unix

package proxy

import (
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf16"
)

// closers maps the tokens that open brackets to the tokens that close them.
var closers = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

func (m *message) closeBrackets() {
	code := m.text("code")
	if whole := closeBrackets(code, m.number("cursor_pos")); whole != code {
		m.set("code", whole)
	}
}

// closeBrackets closes the brackets that a cell leaves open. Parentheses and square brackets opened
// in the line of the cursor are closed at the end of that line, all other brackets at the end of
// the cell. Otherwise, the cell would not parse while a call is being typed, and gopls would know
// nothing about its contents. cursor is a position in UTF-16 units, as in GoNB.
func closeBrackets(code string, cursor int) string {
	lines := strings.Split(code, "\n")
	text := utf16.Encode([]rune(code))
	at := 0
	for _, c := range text[:min(max(cursor, 0), len(text))] {
		if c == '\n' {
			at++
		}
	}
	open, comments := openBrackets(withoutCommands(code))
	here, end := "", ""
	for _, b := range open {
		if b.line == at && b.token != token.LBRACE {
			here += closers[b.token].String()
		} else {
			end += closers[b.token].String()
		}
	}
	column, commented := comments[at]
	if !commented {
		column = len(lines[at])
	}
	lines[at] = lines[at][:column] + here + lines[at][column:]
	if strings.HasPrefix(end, "}") { // a newline ends the preceding statement; before a parenthesis it would be an error
		end = "\n" + end
	}
	return strings.Join(lines, "\n") + end
}

// withoutCommands returns a cell with spaces in place of the commands, which are not Go.
func withoutCommands(code string) string {
	lines := strings.Split(code, "\n")
	taken, _ := commands(lines)
	for i, command := range taken {
		if command {
			lines[i] = strings.Repeat(" ", len(lines[i]))
		}
	}
	return strings.Join(lines, "\n")
}

type bracket struct {
	token token.Token
	line  int // counted from 0
}

// openBrackets lists the open brackets of code, the innermost first, and the columns of comments that
// begin with //, by line; both are counted from 0. It returns none if a closing bracket does not match
// the innermost open one.
func openBrackets(code string) (all []bracket, comments map[int]int) {
	comments = map[int]int{}
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(code))
	s.Init(file, []byte(code), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		line := file.PositionFor(pos, false).Line - 1 // whatever a comment //line says
		switch tok {
		case token.EOF:
			return all, comments
		case token.COMMENT:
			if strings.HasPrefix(text, "//") {
				comments[line] = file.Offset(pos) - file.Offset(file.LineStart(line+1))
			}
		case token.LPAREN, token.LBRACK, token.LBRACE:
			all = append([]bracket{{tok, line}}, all...)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(all) == 0 || closers[all[0].token] != tok {
				return nil, nil
			}
			all = all[1:]
		}
	}
}
