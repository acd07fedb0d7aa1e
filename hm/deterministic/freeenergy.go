package deterministic

import (
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// pass holds the result of one upward pass through the recognition network.
type pass struct {
	logits [][]float64 // arguments of σ, layers 1 … L; none for the data
	means  [][]float64 // q⁰ … q^L
}

func (m *Machine) recognize(x []float64) pass {
	m.Recognition[0].check(x)
	p := pass{logits: [][]float64{nil}, means: [][]float64{x}}
	for l, layer := range m.Recognition {
		logits, means := make([]float64, layer.Units), make([]float64, layer.Units)
		for j := range logits {
			logits[j] = layer.Biases[j] + floats.Dot(layer.Row(j), p.means[l])
			means[j] = statistics.Sigmoid(logits[j])
		}
		p.logits, p.means = append(p.logits, logits), append(p.means, means)
	}
	return p
}

// above returns the means of the layer above l, or nil for the top layer.
func (p pass) above(l int) []float64 {
	if l+1 == len(p.means) {
		return nil
	}
	return p.means[l+1]
}

// FreeEnergy returns F(x), defined in the package comment, in nats, for a datum of zeros and ones.
// It panics if x does not have the length of the data layer.
func (m *Machine) FreeEnergy(x []float64) float64 {
	p := m.recognize(x)
	f := 0.0
	for l := range m.Units {
		for j := range m.Units[l] {
			divergence, _ := m.divergence(p, l, j)
			f += divergence
		}
	}
	return f
}

// divergence returns the contribution of unit j of layer l to the free energy, KL(q‖p), and its
// derivative with respect to q at constant p. In the data layer, the contribution is the unit's
// part of −log p(x|q¹), and the derivative is unused.
func (m *Machine) divergence(p pass, l, j int) (f, df float64) {
	layer := m.Generative[l]
	on, off := rules[m.Activation].logProbabilities(p.above(l), layer.Row(j), layer.Biases[j])
	q := p.means[l][j]
	f = -q*on - (1-q)*off
	if l == 0 {
		return f, 0
	}
	a := p.logits[l][j]
	entropy := q*statistics.Softplus(-a) + (1-q)*statistics.Softplus(a)
	return f - entropy, a - (on - off)
}

// AddGradient adds the gradient of the free energy of a datum of zeros and ones to g, and returns
// the free energy in nats.
//
// A generative parameter changes only the prediction of its own unit. A recognition parameter
// changes q^l and so acts in three places: the divergence of layer l itself, the prediction of the
// layer below, whose parent is layer l, and the means of all layers above. The total derivative e^l
// = ∂F/∂q^l is the sum of the three,
//
//	e_j^l = logit q_j^l − logit p_j^l                        its own divergence
//	      + Σ_i ∂F_i^{l−1}/∂q_j^l                            its predictions below
//	      + Σ_m e_m^{l+1} q_m^{l+1} (1 − q_m^{l+1}) φ_mj^{l+1}   its effects above
//
// and is computed from the top layer, where the last line is absent, downward: errors travel down
// through the recognition network. Then ∂F/∂φ_ji^l = e_j^l q_j^l (1 − q_j^l) q_i^{l−1}.
//
// AddGradient panics if x does not have the length of the data layer.
func (m *Machine) AddGradient(g *Parameters, x []float64) float64 {
	p := m.recognize(x)
	errors := make([][]float64, len(m.Units)) // e^l; unused for the data
	for l := range errors {
		errors[l] = make([]float64, m.Units[l])
	}
	f := m.addGenerativeGradient(g, p, errors)
	m.addRecognitionGradient(g, p, errors)
	return f
}

// addGenerativeGradient adds the gradient of the generative parameters to g, and the first two
// lines of e^l to errors. It returns the free energy.
func (m *Machine) addGenerativeGradient(g *Parameters, p pass, errors [][]float64) (f float64) {
	rule := rules[m.Activation]
	for l, layer := range m.Generative {
		above := p.above(l)
		var aboveErrors []float64
		if above != nil {
			aboveErrors = errors[l+1]
		}
		for j := range layer.Units {
			divergence, derivative := m.divergence(p, l, j)
			f += divergence
			errors[l][j] += derivative
			g.Generative[l].Biases[j] += rule.addGradient(p.means[l][j],
				above, layer.Row(j), layer.Biases[j], aboveErrors, g.Generative[l].Row(j))
		}
	}
	return f
}

// addRecognitionGradient completes e^l from the top down, and adds the gradient of the recognition
// parameters to g.
func (m *Machine) addRecognitionGradient(g *Parameters, p pass, errors [][]float64) {
	for l := m.depth(); l > 0; l-- {
		layer, gradient := m.Recognition[l-1], g.Recognition[l-1]
		for j, q := range p.means[l] {
			e := errors[l][j] * q * (1 - q)
			floats.AddScaled(gradient.Row(j), e, p.means[l-1])
			gradient.Biases[j] += e
			floats.AddScaled(errors[l-1], e, layer.Row(j))
		}
	}
}
