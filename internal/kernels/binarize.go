package kernels

import (
	"encoding/binary"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Binarize writes 1 into units that are on, and the number off into the other units. A value v from
// 0 to 255 means that the unit is on with probability v/255. If stochastic is false, units with
// values of at least 128 are on. The random words come from the blocks of key at the counter c,
// whose Unit it sets.
func Binarize(units []float32, values []uint8, stochastic bool, off float32, key philox.Key, c philox.Counter) {
	var words [4]uint32
	for j, value := range values {
		if stochastic && j%4 == 0 {
			c.Unit = uint16(j / 4)
			words = key.Block(c)
		}
		units[j] = off
		if stochastic && philox.Uniform(words[j%4]) < float32(value)/255 || !stochastic && value >= 128 {
			units[j] = 1
		}
	}
}

// Unpack writes 255 into the values whose bit is 1, and 0 into the other values. Value k has bit k,
// counted from the lowest bit of the first byte.
func Unpack(values, bits []uint8) {
	whole := len(values) / 8
	for i, b := range bits[:whole] {
		x := uint64(b) * 0x0101010101010101 & 0x8040201008040201 // bit k in byte k
		x = (x + 0x7f7f7f7f7f7f7f7f | x) >> 7 & 0x0101010101010101
		binary.LittleEndian.PutUint64(values[8*i:], 255*x)
	}
	for i := 8 * whole; i < len(values); i++ {
		values[i] = -(bits[i/8] >> (i % 8) & 1)
	}
}
