// Package names writes and reads the values of enumerations by their names.
package names

import (
	"fmt"
	"strings"
)

// List are the names of the values 0, 1, … of an enumeration.
type List struct {
	what  string
	names []string
}

// New lists the names of what is named, "optimizer".
func New(what string, names ...string) List { return List{what, names} }

// String lists the names, "gd, adam or momentum".
func (l List) String() string {
	last := len(l.names) - 1
	return strings.Join(l.names[:last], ", ") + " or " + l.names[last]
}

// Name is the name of a value, invalid(i) where it has none.
func (l List) Name(i int) string {
	if i < 0 || i >= len(l.names) {
		return fmt.Sprintf("invalid(%d)", i)
	}
	return l.names[i]
}

// Marshal is Name as text. It refuses a value that has no name.
func (l List) Marshal(i int) ([]byte, error) {
	if i < 0 || i >= len(l.names) {
		return nil, fmt.Errorf("unknown %s %d: use %v", l.what, i, l)
	}
	return []byte(l.names[i]), nil
}

// Parse reads what Marshal writes.
func (l List) Parse(value *int, text []byte) error {
	for i, n := range l.names {
		if n == string(text) {
			*value = i
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q%s: use %v", l.what, text, Meant(string(text), l.names...), l)
}
