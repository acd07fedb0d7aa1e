package engine

// unitsANumber is the number of binary units whose states one float32 holds exactly as an integer.
const unitsANumber = 24

// ChainWidth returns how many numbers hold the state of a chain: a flag that is 1 once the chain
// has begun, then the states of the hidden units, layer by layer from the bottom, 24 per number.
// Unit k of a number is on if bit k is set.
func ChainWidth(a Architecture) int {
	width := 1
	for _, units := range a.Units[1:] {
		width += PackedUnits(units)
	}
	return width
}

// PackedUnits returns how many numbers hold the states of this many units.
func PackedUnits(units int) int { return (units + unitsANumber - 1) / unitsANumber }

// PackUnits packs states, of which the positive ones are on, into packed and returns the rest of
// packed.
func PackUnits(packed, states []float32) (rest []float32) {
	for len(states) > 0 {
		bits := uint32(0)
		n := min(unitsANumber, len(states))
		for k, s := range states[:n] {
			if s > 0 {
				bits |= 1 << k
			}
		}
		packed[0] = float32(bits)
		packed, states = packed[1:], states[n:]
	}
	return packed
}

// UnpackUnits writes 1 or off into states, reversing PackUnits, and returns the rest of packed.
func UnpackUnits(states, packed []float32, off float32) (rest []float32) {
	for len(states) > 0 {
		bits := uint32(packed[0])
		n := min(unitsANumber, len(states))
		for k := range states[:n] {
			states[k] = off
			if bits>>k&1 == 1 {
				states[k] = 1
			}
		}
		packed, states = packed[1:], states[n:]
	}
	return packed
}
