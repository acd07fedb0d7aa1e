package names

import (
	"fmt"
	"slices"
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
