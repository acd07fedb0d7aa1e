package fuzz

import "testing"

// failures is a test that counts what fails in it.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

var kept []byte // so that what is allocated lies on the heap

func TestBounded(t *testing.T) {
	for _, test := range []struct {
		name             string
		input, allocates int
		fails            bool
	}{
		{"nothing", 0, 0, false},
		{"a buffer", 0, apart / 2, false},
		{"in proportion", 1 << 20, 100 << 20, false},
		{"out of proportion", 1 << 10, 3 << 20, true},
	} {
		var f failures
		Bounded(&f, test.input, func() { kept = make([]byte, test.allocates) })
		if (f.n > 0) != test.fails {
			t.Errorf("%s: %d failures", test.name, f.n)
		}
	}
}
