package names

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text with its control characters, except line feeds and tabs, as Go escapes,
// so that a name cannot control a terminal.
func Printable(text string) string {
	if !strings.ContainsFunc(text, commands) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case commands(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// commands reports whether a terminal may interpret a character as a command. Invalid UTF-8 arrives
// as the replacement character.
func commands(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t'
}

// Markdown escapes a text so that Markdown shows it unchanged, also in a cell of a table.
func Markdown(text string) string { return markdownEscapes.Replace(text) }

var markdownEscapes = strings.NewReplacer(`\`, `\\`, `|`, `\|`, "`", "\\`", `*`, `\*`, `_`, `\_`, `~`, `\~`,
	`[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `&`, `\&`)

// Width returns the number of characters of a text that take up space in a terminal.
func Width(text string) (width int) {
	for _, r := range text {
		if !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			width++
		}
	}
	return width
}
