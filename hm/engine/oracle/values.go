package oracle

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Values holds states of all layers as numbers: Values[i][j] is the number that unit j of layer hⁱ
// passes to the next layer. It can hold states with Gaussian units, which cannot be enumerated.
type Values [][]float64

// LogJointOf returns log p(x,h), a density if there are Gaussian units.
func (n *Networks) LogJointOf(v Values) float64 { return n.logDensity(n.Generative, v) }

// LogRecognitionOf returns log q(h|x).
func (n *Networks) LogRecognitionOf(v Values) float64 { return n.logDensity(n.Recognition, v) }

// Outputs returns μ and σ of a Gaussian unit u, and a, from which σ or the probability of a
// Bernoulli unit is computed.
func (n *Networks) Outputs(u Unit, v Values) (mu, sigma, a float64) {
	row := func(start int) (sum float64) {
		for k, x := range n.inputOf(u, u.parentsOf(v)) {
			sum += n.Flat[start+k] * x
		}
		return sum
	}
	if u.Kind != engine.Gaussian {
		return 0, 0, row(u.Start)
	}
	a = row(u.Deviation)
	return row(u.Start), math.Exp(a) + engine.SigmaFloor, a
}

func (u Unit) parentsOf(v Values) []float64 {
	if u.Parents < len(v) {
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
	return u.logTotal(func(unit Unit) float64 {
		_, _, a := n.Outputs(unit, v)
		return a
	})
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
	for _, network := range [][]Unit{n.Generative, n.Recognition} {
		for _, u := range network {
			state := v[u.Layer][u.Index]
			mu, sigma, a := n.Outputs(u, v)
			add := func(start int, residual float64) { n.addGradient(score, u, start, u.parentsOf(v), residual) }
			if u.Kind != engine.Gaussian {
				on := 0.0
				if state > 0 {
					on = 1
				}
				add(u.Start, on-n.On(u, v))
				continue
			}
			add(u.Start, (state-mu)/(sigma*sigma))
			add(u.Deviation, ((state-mu)*(state-mu)/(sigma*sigma)-1)*math.Exp(a)/sigma)
		}
	}
	return score
}

// FisherOf returns the blocks of units, estimated from weighted samples. The block of a binary unit
// is as in Fisher. A Gaussian unit has the block E[u uᵀ/σ²] for μ and E[2(∂ ln σ/∂a)² u uᵀ] for a
// (Várady 2025, 7.5 and 7.6, after the expectation over z²).
func (n *Networks) FisherOf(units []Unit, samples []Values, weight []float64) []Block {
	var all []Unit // a Gaussian unit counts as two units with a block each
	for _, u := range units {
		all = append(all, u)
		if u.Kind == engine.Gaussian {
			u.Start = u.Deviation
			all = append(all, u)
		}
	}
	blocks, index := newBlocks(all)
	for s, v := range samples {
		for _, u := range units {
			input := mat.NewVecDense(u.Width, n.inputOf(u, u.parentsOf(v)))
			add := func(start int, information float64) {
				block := blocks[index[start]].Matrix
				block.SymRankOne(block, weight[s]*information, input)
			}
			_, sigma, a := n.Outputs(u, v)
			if u.Kind != engine.Gaussian {
				addInformation(blocks[index[u.Start]].Matrix, u, func(other Unit) float64 { return n.On(other, v) }, n.inputOf(u, u.parentsOf(v)), weight[s])
				continue
			}
			rho := math.Exp(a) / sigma
			add(u.Start, 1/(sigma*sigma))
			add(u.Deviation, 2*rho*rho)
		}
	}
	return blocks
}
