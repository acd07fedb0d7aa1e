package oracle

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// reinforced returns the mean over the samples of one datum of (signal − b)·score (Várady 2025, 2.3.3), where signal is
// log p(x,h) − log q(h|x).
func reinforced(of engine.ReinforceBaseline, signal []float64, scores [][]float64) []float64 {
	gradient := make([]float64, len(scores[0]))
	for s := range signal {
		for k, score := range scores[s] {
			gradient[k] += (signal[s] - baseline(of, signal, scores, s, k)) * score / float64(len(signal))
		}
	}
	return gradient
}

// baseline returns b for sample s and parameter k.
func baseline(of engine.ReinforceBaseline, signal []float64, scores [][]float64, s, k int) float64 {
	sum, total := 0.0, 0.0
	mean := 0.0 // mean of the others
	for other, value := range signal {
		if other == s {
			continue
		}
		mean += value / float64(len(signal)-1)
		sum += value * scores[other][k] * scores[other][k]
		total += scores[other][k] * scores[other][k]
	}
	switch {
	case of == engine.NoBaseline:
		return 0
	case of == engine.ConstantBaseline || total == 0:
		return mean
	}
	return sum / total
}

// BoundScore returns E_q[(log p(x,h) − log q(h|x)) ∂ log q(h|x)], which REINFORCE estimates without
// bias. Its φ part is the gradient of the mean bound of the data.
func (n *Networks) BoundScore(data [][]float64) []float64 {
	score := make([]float64, len(n.Flat))
	for _, x := range data {
		e := n.Explain(x)
		for i, v := range e.states {
			n.addScore(score, n.Recognition, v, math.Exp(e.logQ[i])*(e.logP[i]-e.logQ[i])/float64(len(data)))
		}
	}
	return score
}
