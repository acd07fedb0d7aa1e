//go:build unix

package proxy

import (
	"go/scanner"
	"go/token"
	"strings"
)

func (m *message) plainCode() {
	code := m.text("code")
	if plain := plain(code); plain != code {
		m.set("code", plain)
	}
}

// plain replaces characters of a cell by question marks: in literals and comments all that are not
// ASCII, and elsewhere all that take two UTF-16 units. The position of a cursor then stays the same in
// characters, which Jupyter counts, in UTF-16 units, which GoNB and gopls count, and, unless the line
// has other such names, in bytes, which GoNB counts within a line.
func plain(code string) string {
	text := make([]bool, len(code)) // whether a byte is in a literal or in a comment
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(code))
	s.Init(file, []byte(withoutCommands(code)), func(token.Position, string) {}, scanner.ScanComments)
	for pos, tok, literal := s.Scan(); tok != token.EOF; pos, tok, literal = s.Scan() {
		if tok == token.STRING || tok == token.CHAR || tok == token.COMMENT {
			for i := range literal {
				text[file.Offset(pos)+i] = true
			}
		}
	}
	var b strings.Builder
	for i, c := range code {
		if c > 0xffff || c > 0x7f && text[i] {
			c = '?'
		}
		b.WriteRune(c)
	}
	return b.String()
}
