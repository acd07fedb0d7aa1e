package names

import (
	"fmt"
	"slices"
	"strings"
)

// Meant is a question, with a space before it, that names the closest of several words to one
// that is none of them, or nothing where none is near.
func Meant(word string, of ...string) string {
	if best := Closest(word, of...); best != "" {
		return fmt.Sprintf(" (did you mean %q?)", best)
	}
	return ""
}

// Closest is that of several words, empty where none is near: two thirds of the letters have to be
// right, whatever their case. Of words that are as close, it is one of the same length.
func Closest(word string, of ...string) string {
	letters := []rune(strings.ToLower(word))
	best, least := "", 2*((len(letters)+2)/3+1)
	for _, w := range of {
		d := 2 * distance(letters, []rune(strings.ToLower(w)))
		if len([]rune(w)) != len(letters) {
			d++
		}
		if d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of letters to add, to leave out, to replace or to swap with the next,
// that make one word of another (optimal string alignment).
func distance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range b {
		d[0][j+1] = j + 1
	}
	for i := range a {
		for j := range b {
			replaced := d[i][j]
			if a[i] != b[j] {
				replaced++
			}
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// Ending are those of full names, such as method.learning_rate, that a name may stand for: itself
// alone, or all whose last parts it is.
func Ending(all []string, name string) (ending []string) {
	if slices.Contains(all, name) {
		return []string{name}
	}
	for _, full := range all {
		if strings.HasSuffix(full, "."+name) {
			ending = append(ending, full)
		}
	}
	return ending
}
