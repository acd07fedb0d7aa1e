package names

import (
	"fmt"
	"slices"
	"strings"
)

// Meant returns a question, preceded by a space, that suggests the closest of several words to an
// unknown one, or "" if none is close.
func Meant(word string, of ...string) string {
	if best := Closest(word, of...); best != "" {
		return fmt.Sprintf(" (did you mean %q?)", best)
	}
	return ""
}

// Closest returns the closest of several words, or "" if none is close. In a close word, two thirds
// of the letters match, ignoring case. Among equally close words, Closest prefers a word of the
// same length.
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

// distance returns the smallest number of edits that turn one word into the other. An edit inserts,
// deletes or replaces a letter, or swaps two neighbouring letters (optimal string alignment).
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

// Ending returns the full names, such as method.learning_rate, that a name may stand for: only the
// name itself if it is a full name, or else all full names that end in it.
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
