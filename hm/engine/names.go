package engine

import "fmt"

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("invalid(%d)", i)
	}
	return names[i]
}

func parse(value *int, what string, names []string, text []byte) error {
	for i, n := range names {
		if n == string(text) {
			*value = i
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q: use one of %v", what, text, names)
}
