package oracle

import (
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Values holds states of all layers as numbers: Values[i][j] is the number that unit j of layer hⁱ
// passes to the next layer. It can hold states with Gaussian units, which cannot be enumerated.
type Values [][]float64

// Key returns a string that only equal values of one machine have.
func (v Values) Key() string {
	var key []byte
	for _, layer := range v {
		for _, x := range layer {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
		}
	}
	return string(key)
}

// LogJointOf returns log p(x,h), a density if there are Gaussian units.
func (n *Networks) LogJointOf(v Values) float64 { return n.logDensity(n.Generative, v) }

// LogRecognitionOf returns log q(h|x).
func (n *Networks) LogRecognitionOf(v Values) float64 { return n.logDensity(n.Recognition, v) }

// Outputs returns μ and σ of a Gaussian unit u, and a, from which σ or the probability of a
// Bernoulli unit is computed.
func (n *Networks) Outputs(u Unit, v Values) (mu, sigma, a float64) {
	row := func(start int) float64 { return floats.Dot(n.Flat[start:][:u.Width], n.inputOf(u, u.parentsOf(v))) }
	if u.Kind != engine.Gaussian {
		return 0, 0, row(u.Start)
	}
	a = row(u.Deviation)
	return row(u.Start), math.Exp(a) + engine.SigmaFloor, a
}

func (u Unit) parentsOf(v Values) []float64 {
	switch {
	case u.besideX:
		return slices.Concat(v[0], v[1])
	case u.Parents < len(v):
		return v[u.Parents]
	}
	return nil
}

func (n *Networks) logDensity(network []Unit, v Values) float64 {
	sum := 0.0
	for _, u := range network {
		state := v[u.Layer][u.Index]
		mu, sigma, a := n.Outputs(u, v)
		switch u.Kind {
		case engine.Bernoulli:
			sum += logBernoulli(state > 0, a)
			continue
		case engine.Categorical:
			sum += state * a
			if u.Index == u.first {
				sum -= n.logTotal(u, v)
			}
			continue
		}
		z := (state - mu) / sigma
		sum -= z*z/2 + math.Log(math.Sqrt(2*math.Pi)*sigma)
	}
	return sum
}

// logTotal returns log Σ eᵃ over the categories of the variable of u.
func (n *Networks) logTotal(u Unit, v Values) float64 {
	var logits []float64
	if u.variable.Rest {
		logits = append(logits, 0)
	}
	for _, unit := range u.ofVariable() {
		_, _, a := n.Outputs(unit, v)
		logits = append(logits, a)
	}
	return floats.LogSumExp(logits)
}

// On returns the probability that a binary unit is on given its parents.
func (n *Networks) On(u Unit, v Values) float64 {
	_, _, a := n.Outputs(u, v)
	if u.Kind == engine.Bernoulli {
		return statistics.Sigmoid(a)
	}
	return math.Exp(a - n.logTotal(u, v))
}

// ScoreOf returns ∂ log p(x,h) in the generative part and ∂ log q(h|x) in the recognition part.
func (n *Networks) ScoreOf(v Values) []float64 {
	score := make([]float64, len(n.Flat))
	n.addScore(score, n.Generative, v, 1)
	n.addScore(score, n.Recognition, v, 1)
	return score
}
