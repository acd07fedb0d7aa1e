package engine

import "math"

// Norms holds Euclidean norms of the layers of both networks after a step, as in Várady 2025, Figs
// 6.11 and 6.13. The norms omit biases, and therefore the prior.
type Norms struct {
	Generative  []LayerNorms `json:"generative"`  // [i] for p(hⁱ|hⁱ⁺¹), i = 0 … M−1
	Recognition []LayerNorms `json:"recognition"` // [i] for q(hⁱ⁺¹|hⁱ), i = 0 … M−1
}

// NewNorms allocates the norms of a machine with this depth.
func NewNorms(depth int) Norms {
	return Norms{Generative: make([]LayerNorms, depth), Recognition: make([]LayerNorms, depth)}
}

// Note sets one of the norms of each layer, selected by which, to the norm of the layer in p. p
// holds parameters or a gradient.
func (n Norms) Note(p *Parameters, which func(*LayerNorms) *float64) {
	for i := range n.Generative {
		*which(&n.Generative[i]) = p.Generative[i].WeightNorm()
		*which(&n.Recognition[i]) = p.Recognition[i+1].WeightNorm()
	}
}

// LayerNorms holds the norms of one layer.
type LayerNorms struct {
	Weights   float64 `json:"weights"`   // after the step
	Gradient  float64 `json:"gradient"`  // gradient of the step's objective, before the metric
	Direction float64 `json:"direction"` // input of the step's optimiser
}

// WeightNorm returns the Euclidean norm of the weights of a layer, without biases.
func (l Layer) WeightNorm() float64 {
	squares := 0.0
	for j := range l.Units {
		for _, w := range l.Row(j)[1:] {
			squares += float64(w) * float64(w)
		}
	}
	return math.Sqrt(squares)
}
