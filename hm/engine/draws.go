package engine

// Draws holds joint states of all layers, one row per sample.
type Draws struct {
	Rows int
	// States[i] holds Rows × Units[i] states, 1 for on and 0 for off. It is nil if some units are
	// Gaussian.
	States [][]uint8
	// Values[i] holds Rows × Units[i] states if some units are Gaussian, and is nil otherwise.
	Values [][]float32
	// Means[i], if computed, holds Rows × Units[i] means, given the states of the layer from which
	// the units were drawn. The mean of a binary unit is its probability of being on. Visible units
	// that were not drawn, such as the data of Infer, have the means of p(x|h¹).
	Means [][]float32
	// LogP and LogQ hold log p(x,h) and log q(h|x) of each row, in nats.
	LogP, LogQ []float64
	Moved      int // chains of Inpaint whose last sweep changed x
}

// NewDraws allocates draws with this many rows, without means.
func NewDraws(a Architecture, rows int) Draws {
	d := Draws{
		Rows:   rows,
		States: make([][]uint8, len(a.Units)),
		Values: make([][]float32, len(a.Units)),
		LogP:   make([]float64, rows),
		LogQ:   make([]float64, rows),
	}
	for i, units := range a.Units {
		if a.Binary(i) {
			d.States[i] = make([]uint8, rows*units)
		} else {
			d.Values[i] = make([]float32, rows*units)
		}
	}
	return d
}

// NewDrawsWithMeans allocates draws with this many rows and the means of all layers.
func NewDrawsWithMeans(a Architecture, rows int) Draws {
	d := NewDraws(a, rows)
	for _, units := range a.Units {
		d.Means = append(d.Means, make([]float32, rows*units))
	}
	return d
}
