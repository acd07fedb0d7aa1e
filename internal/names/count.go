package names

import "fmt"

// Count formats a number of things, given the singular: 1 epoch, 2 epochs.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
