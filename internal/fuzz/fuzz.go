// Package fuzz has helpers for the module's fuzz targets. The script run.sh in its folder, which make
// fuzz starts, runs all targets.
package fuzz

import (
	"runtime/metrics"
	"testing"
)

// Limits on the allocations of a parser: bytes per byte of input, plus a constant, which includes
// buffers.
const (
	perByte = 1 << 10
	apart   = 1 << 20
)

// tries is how often Bounded calls a parser that seems to allocate too much. It may only seem so,
// because allocations are counted late, and other goroutines allocate too.
const tries = 3

// Bounded calls parse, and fails the test if parse allocates out of proportion to an input of the
// given size in bytes. It repeats the call to be sure.
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

// allocated returns the number of bytes that the program has allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
