// Package shell quotes text for a POSIX shell.
package shell

import (
	"strings"
	"unicode"
)

// Word returns text in quotes, as one word of a shell command.
func Word(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Argument returns text as people would type it: without quotes if the shell reads it unchanged, otherwise as
// Word does.
func Argument(text string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_@%+=:,./-", r)
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return Word(text)
	}
	return text
}
