package oracle

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// LogP returns log p(x) = log Σ_h p(x,h).
func (m *Machine) LogP(x []bool) float64 { return floats.LogSumExp(m.explain(x).logP) }

// Bound returns the lower bound E_q[log p(x,h) − log q(h|x)] on log p(x) (2.12).
func (m *Machine) Bound(x []bool) float64 {
	e := m.explain(x)
	bound := 0.0
	for i := range e.states {
		bound += math.Exp(e.logQ[i]) * (e.logP[i] - e.logQ[i])
	}
	return bound
}

// LogPTildeStar returns log p̃*(x) = 2 log Σ_h √(p(x,h) q(h|x)), which lies between Bound and LogP
// (BiHM thesis 2016, 3.2).
func (m *Machine) LogPTildeStar(x []bool) float64 {
	return 2 * floats.LogSumExp(m.explain(x).logTargets(SquareRoot))
}

// LogZ2 returns log Z², where Z = Σ_{x,h} √(p(x,h) q(x,h)) normalises p*(x,h). Since q(x) is
// defined as p*(x), √q(x) = Σ_h √(p(x,h) q(h|x))/Z, and q(x) sums to one only if Z² = Σ_x p̃*(x).
// It is at most 0.
func (m *Machine) LogZ2() float64 {
	var terms []float64
	for x := range m.Visible() {
		terms = append(terms, m.LogPTildeStar(x))
	}
	return floats.LogSumExp(terms)
}

// LogPStar returns log p*(x) = log p̃*(x) − log Z² (BiHM thesis 2016, 3.3). Each call sums over all
// states; for many x, subtract LogZ2 from LogPTildeStar instead.
func (m *Machine) LogPStar(x []bool) float64 { return m.LogPTildeStar(x) - m.LogZ2() }

// KL returns KL(p_D‖p), where p_D is the distribution of the rows of data.
func (m *Machine) KL(data [][]bool) float64 {
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
		divergence += p * (math.Log(p) - m.LogP(x))
		count[key] = 0
	}
	return divergence
}
