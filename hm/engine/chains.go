package engine

// unitsANumber is how many binary units one float32 can hold, as the bits of an integer that it
// represents exactly.
const unitsANumber = 24

// ChainWidth returns how many float32 numbers hold the state of a chain. The first is a flag that
// is 1 once the chain has begun. The others hold the states of the hidden units, layer by layer
// from the bottom, 24 units per number. Unit k of a number is on if bit k is set.
func ChainWidth(a Architecture) int {
	width := 1
	for _, units := range a.Units[1:] {
		width += PackedUnits(units)
	}
	return width
}

// PackedUnits returns how many numbers hold the states of this many units.
func PackedUnits(units int) int { return (units + unitsANumber - 1) / unitsANumber }

// PackUnits writes states to packed, 24 units per number, and returns the unused rest of packed. A
// unit with a positive state is on.
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

// UnpackUnits reverses PackUnits. It sets states to 1 for units that are on and to off for the
// others, and returns the rest of packed.
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
