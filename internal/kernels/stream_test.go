package kernels

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// The draws are the draws of philox.Stream with every instruction set, also where the sample overflows.
func TestStreamDrawsAsPhilox(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, sample := range []uint32{0, 5, math.MaxUint32 - 20} {
			c := philox.Counter{Word: philox.Word{Purpose: philox.Negative, Layer: 3, Unit: 7}, Sample: sample, Datum: 11, Step: 1 << 31}
			got, want := NewStream(12345<<30, c), philox.Key(12345<<30).Stream(c)
			for n := range 200 {
				if g, w := got.Uint64(), want.Uint64(); g != w {
					t.Fatalf("draw %d from sample %d is %x, want %x", n, sample, g, w)
				}
			}
		}
	})
}
