package engine

import "math"

// Summarise returns, from the log-probabilities log p(x,h) and log q(h|x) of
// the samples of one datum, the importance-sampled estimate of log p(x), the
// lower bound (both in nats) and the effective sample size of the weights
// ω = p/q as a fraction of the number of samples.
func Summarise(logP, logQ []float64) (estimate, bound, ess float64) {
	var s WeightSum
	for k := range logP {
		s.Add(logP[k] - logQ[k])
	}
	l := s.Likelihood()
	return l.LogP, l.Bound, l.ESS
}

// WeightSum accumulates importance weights ω, given as logarithms, without
// overflow. Its zero value is empty.
type WeightSum struct {
	count   int
	largest float64 // the logarithm by which the sums are scaled
	// Sums of √ω, ω and ω² relative to the largest weight, and of log ω.
	root, first, second, logs float64
}

// Add accumulates a weight with logarithm l.
func (s *WeightSum) Add(l float64) {
	if s.count == 0 {
		s.largest = l
	}
	if l > s.largest {
		shift := s.largest - l
		s.root *= math.Exp(shift / 2)
		s.first *= math.Exp(shift)
		s.second *= math.Exp(2 * shift)
		s.largest = l
	}
	relative := math.Exp((l - s.largest) / 2)
	s.root += relative
	s.first += relative * relative
	s.second += relative * relative * relative * relative
	s.logs += l
	s.count++
}

// Likelihood returns the estimates that the weights p/q accumulated so far
// give.
func (s *WeightSum) Likelihood() Likelihood {
	n := float64(s.count)
	return Likelihood{
		LogP:          s.largest + math.Log(s.first/n),
		Bound:         s.logs / n,
		LogPTildeStar: s.largest + 2*math.Log(s.root/n),
		ESS:           s.first * s.first / (n * s.second),
		ESSStar:       s.root * s.root / (n * s.first),
	}
}

// LogMeanExp returns log (1/n) Σ eˣ without overflow.
func LogMeanExp(x []float64) float64 {
	largest := math.Inf(-1)
	for _, v := range x {
		largest = max(largest, v)
	}
	if math.IsInf(largest, 0) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - largest)
	}
	return largest + math.Log(sum/float64(len(x)))
}
