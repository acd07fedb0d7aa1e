// Package names writes and reads the values of enumerations by their names.
package names

import (
	"fmt"
	"slices"
	"strings"
)

// List holds the names of the values 0, 1, … of an enumeration.
type List struct {
	what  string
	names []string
}

// New returns the list of names of an enumeration. what is the enumeration's own name, such as
// "optimizer".
func New(what string, names ...string) List { return List{what, names} }

// String lists the names, as in "gd, adam or momentum".
func (l List) String() string {
	last := len(l.names) - 1
	return strings.Join(l.names[:last], ", ") + " or " + l.names[last]
}

// Name returns the name of a value, or invalid(i) if it has none.
func (l List) Name(i int) string {
	if i < 0 || i >= len(l.names) {
		return fmt.Sprintf("invalid(%d)", i)
	}
	return l.names[i]
}

// Marshal returns Name as text. It refuses a value without a name.
func (l List) Marshal(i int) ([]byte, error) {
	if i < 0 || i >= len(l.names) {
		return nil, fmt.Errorf("unknown %s %d: use %v", l.what, i, l)
	}
	return []byte(l.names[i]), nil
}

// Parse reads the output of Marshal.
func (l List) Parse(value *int, text []byte) error {
	if i := slices.Index(l.names, string(text)); i >= 0 {
		*value = i
		return nil
	}
	return fmt.Errorf("unknown %s %q%s: use %v", l.what, text, Meant(string(text), l.names...), l)
}
