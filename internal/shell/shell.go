// Package shell quotes texts for a POSIX shell.
package shell

import (
	"strings"
	"unicode"
)

// Word returns a shell word for a text with any characters.
func Word(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Argument returns a text as people would type it: unquoted if the shell leaves it unchanged,
// otherwise as a Word.
func Argument(text string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_@%+=:,./-", r)
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return Word(text)
	}
	return text
}
