package engine

// Draws are joint states of all layers, a row a sample.
type Draws struct {
	Rows int
	// States[i] holds Rows × Units[i] states, 1 for on and 0 for off; nil where
	// the units are Gaussian.
	States [][]uint8
	// Values[i] holds Rows × Units[i] states of Gaussian units; nil where the
	// units are Bernoulli.
	Values [][]float32
	// Means[i], where computed, holds Rows × Units[i] means, of binary units the
	// probabilities to be on, given the layer that the units were drawn from. For
	// units that were given, the data of an inference, they are those of p(x|h¹).
	Means [][]float32
	// LogP and LogQ hold log p(x,h) and log q(h|x) of each row, in nats.
	LogP, LogQ []float64
}

// NewDraws returns room for a number of draws, without means.
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

// NewDrawsWithMeans returns room for a number of draws, with the means of all layers.
func NewDrawsWithMeans(a Architecture, rows int) Draws {
	d := NewDraws(a, rows)
	for _, units := range a.Units {
		d.Means = append(d.Means, make([]float32, rows*units))
	}
	return d
}
