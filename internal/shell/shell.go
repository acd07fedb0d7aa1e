// Package shell writes texts for a POSIX shell.
package shell

import "strings"

// Word is a word of the shell that stands for a text, whatever its characters.
func Word(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
