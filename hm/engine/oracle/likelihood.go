package oracle

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// LogP returns log p(x) = log Σ_h p(x,h).
func (e Explanation) LogP() float64 { return floats.LogSumExp(e.logTargets(Ratio)) }

// Bound returns the lower bound E_q[log p(x,h) − log q(h|x)] on log p(x) (2.12).
func (e Explanation) Bound() float64 {
	bound := 0.0
	for i, log := range e.logTargets(Uniform) {
		bound += math.Exp(log) * (e.logP[i] - e.logQ[i])
	}
	return bound
}

// LogPTildeStar returns log p̃*(x) = 2 log Σ_h √(p(x,h) q(h|x)), which lies between Bound and LogP
// (BiHM thesis 2016, 3.2).
func (e Explanation) LogPTildeStar() float64 { return 2 * floats.LogSumExp(e.logTargets(SquareRoot)) }

// LogZ2 returns log Z², where Z = Σ_{x,h} √(p(x,h) q(x,h)) normalises p*(x,h). Since q(x) is
// defined as p*(x), √q(x) = Σ_h √(p(x,h) q(h|x))/Z, and q(x) sums to one only if Z² = Σ_x p̃*(x).
// It is at most 0.
func (n *Networks) LogZ2() float64 {
	var terms []float64
	for v, logWeight := range n.states(0, 0) {
		terms = append(terms, logWeight+n.Explain(v[0]).LogPTildeStar())
	}
	return floats.LogSumExp(terms)
}

// KL returns KL(p_D‖p), where p_D is the distribution of the rows of data.
func (n *Networks) KL(data [][]float64) float64 {
	count := make(map[string]int)
	for _, x := range data {
		count[fmt.Sprint(x)]++
	}
	divergence := 0.0
	for _, x := range data {
		key := fmt.Sprint(x)
		if count[key] == 0 {
			continue // a repeated row that is already counted
		}
		p := float64(count[key]) / float64(len(data))
		divergence += p * (math.Log(p) - n.Explain(x).LogP())
		count[key] = 0
	}
	return divergence
}
