package names

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Count formats a number of things, given the singular: 1 epoch, 2 epochs.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Lines joins texts by line feeds. It leaves out empty texts.
func Lines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n")
}

// Clause returns a text after a semicolon, or "" for "".
func Clause(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}

// Numbered returns the names prefix1, prefix2 and so on.
func Numbered(prefix string, n int) (all []string) {
	for k := range n {
		all = append(all, prefix+strconv.Itoa(k+1))
	}
	return all
}
