package names

import "fmt"

// Count writes a number of things, of which the word is that of one: 1 epoch, 2 epochs.
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
