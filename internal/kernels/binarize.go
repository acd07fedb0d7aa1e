package kernels

import "github.com/helmholtz-go/helmholtz/internal/philox"

// Binarize writes 1 into units that are on and off into the others. A value v from 0 to 255 means
// that the unit is on with probability v/255. If stochastic is false, units with values of at least
// 128 are on. It uses the draws of counter c, whose Unit word it sets.
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
