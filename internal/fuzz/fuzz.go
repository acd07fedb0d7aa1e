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

// tries are how often a parser may seem to allocate too much: allocations are counted
// late, and those of others with them.
const tries = 3

// Bounded calls parse, and fails where that allocates out of proportion to its input
// of so many bytes. It calls parse again to be sure.
func Bounded(t testing.TB, input int, parse func()) {
	t.Helper()
	n, most := uint64(0), uint64(apart+perByte*input)
	for range tries {
		before := allocated()
		parse()
		if n = allocated() - before; n <= most {
			return
		}
	}
	t.Errorf("%d bytes are allocated for an input of %d: want at most %d", n, input, most)
}

// allocated is the number of bytes that the program has allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
