//go:build unix

package proxy

import (
	"go/scanner"
	"go/token"
	"slices"
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
	taken, _ := commands(lines)
	scanned := slices.Clone(lines)
	for i, command := range taken {
		if command {
			scanned[i] = "" // not Go
		}
	}
	text := utf16.Encode([]rune(code))
	at := 0
	for _, c := range text[:min(max(cursor, 0), len(text))] {
		if c == '\n' {
			at++
		}
	}
	end := ""
	for _, b := range openBrackets(strings.Join(scanned, "\n")) {
		if b.line == at && b.token != token.LBRACE {
			before, comment, commented := strings.Cut(lines[at], "//")
			lines[at] = before + closers[b.token].String()
			if commented {
				lines[at] += "//" + comment
			}
		} else {
			end += closers[b.token].String()
		}
	}
	if strings.HasPrefix(end, "}") { // a newline ends the preceding statement; before a parenthesis it would be an error
		end = "\n" + end
	}
	return strings.Join(lines, "\n") + end
}

type bracket struct {
	token token.Token
	line  int // counted from 0
}

// openBrackets lists the open brackets of code, the innermost first. It returns none if a closing
// bracket does not match the innermost open one.
func openBrackets(code string) (all []bracket) {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(code))
	s.Init(file, []byte(code), func(token.Position, string) {}, 0)
	for {
		pos, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return all
		case token.LPAREN, token.LBRACK, token.LBRACE:
			all = append([]bracket{{tok, file.Line(pos) - 1}}, all...)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(all) == 0 || closers[all[0].token] != tok {
				return nil
			}
			all = all[1:]
		}
	}
}
