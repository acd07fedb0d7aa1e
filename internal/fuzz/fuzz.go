// Package fuzz is what the module's fuzz targets share, and its folder run the
// program that runs them all, which make fuzz starts.
package fuzz

import (
	"runtime/metrics"
	"testing"
)

// What a parser may allocate: so many bytes for each of its input, and some more
// whatever the input, buffers among them.
const (
	perByte = 1 << 10
	apart   = 1 << 20
)

// Bounded calls parse, and fails where that allocates out of proportion to its input
// of so many bytes. Nothing else may run beside it.
func Bounded(t testing.TB, input int, parse func()) {
	t.Helper()
	before := allocated()
	parse()
	if n, most := allocated()-before, uint64(apart+perByte*input); n > most {
		t.Errorf("%d bytes are allocated for an input of %d: want at most %d", n, input, most)
	}
}

// allocated is the number of bytes that the program has allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
