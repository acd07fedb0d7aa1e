// Package shell writes texts for a POSIX shell.
package shell

import (
	"strings"
	"unicode"
)

// Word is a word of the shell that stands for a text, whatever its characters.
func Word(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Argument is a text as people type it: as it is where a shell leaves it so, and else its Word.
func Argument(text string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_@%+=:,./-", r)
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return Word(text)
	}
	return text
}
