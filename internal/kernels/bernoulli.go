package kernels

import "github.com/helmholtz-go/helmholtz/internal/philox"

// Draw samples Bernoulli units: unit j is on with probability σ(logits[j]). It writes 1 into states[j] if the
// unit is on, and otherwise the number off. The random words come from the blocks of key at the counter c,
// whose Unit it sets to j/4.
func Draw(states, logits []float32, off float32, key philox.Key, c philox.Counter) {
	Units(Draws, states, logits, off, key, c)
}

// Residual replaces the logit a of each Bernoulli unit by the derivative of its log-probability, on − σ(a),
// and returns the log-probability of all units in nats. A unit is on, with on = 1, if its state is positive.
func Residual(logits, states []float32) float64 {
	return Units(Residuals, states, logits, 0, 0, philox.Counter{})
}

// Sigmoids replaces each logit a by Sigmoid(a).
func Sigmoids(logits []float32) {
	if len(logits) > 0 && current.sigmoids != nil {
		current.sigmoids(&logits[0], len(logits))
		return
	}
	for j, a := range logits {
		logits[j] = Sigmoid(a)
	}
}

// NegateMeans replaces each logit a by −σ(a), with the bits of Residual for units that are off.
func NegateMeans(logits []float32) {
	if len(logits) > 0 && current.negateMeans != nil {
		current.negateMeans(&logits[0], len(logits))
		return
	}
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	if len(r.off) < len(logits) {
		r.off = make([]float32, len(logits))
	}
	Residual(logits, r.off[:len(logits)])
}

// Score returns the log-probability of units in nats, like Residual, without changing their logits.
func Score(logits, states []float32) float64 {
	return Units(Scores, states, logits, 0, 0, philox.Counter{})
}

// These tell Units what to do. They are bits, of which Residuals has two.
const (
	Draws     = 1          // as Draw does
	Scores    = 2          // as Score does, after the draw
	Residuals = Scores | 4 // as Residual does, after the draw
)

// Units draws units, scores them, or does both. It returns 0 if it does not score.
func Units(todo int, states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	s := current
	switch {
	case len(logits) == 0:
		return 0
	case todo&Draws != 0 && len(logits) > 4<<16: // the Unit of the counters, of 16 bits, would overflow in vector code
		s = &portable
	}
	return s.units(todo, states[:len(logits)], logits, off, key, c)
}

// counterWords returns the words of the first unit's counter.
func counterWords(c philox.Counter) [4]uint32 {
	return [4]uint32{uint32(c.Layer)<<16 | uint32(c.Purpose)<<24, c.Sample, c.Datum, c.Step}
}
