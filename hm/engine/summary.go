package engine

import "github.com/helmholtz-go/helmholtz/internal/statistics"

// Weigh multiplies the values of which MeanReport takes means by the share of each datum.
func Weigh(data []Likelihood, shares []float64) {
	for i, share := range shares {
		if share == 0 { // even of values that are not finite
			data[i] = Likelihood{}
		}
		l := &data[i]
		l.LogP, l.Bound, l.ESS = share*l.LogP, share*l.Bound, share*l.ESS
	}
}

// MeanReport returns the report of a minibatch or of other rows: the means over its data.
func MeanReport(data []Likelihood) (r Report) {
	n := float64(len(data))
	for _, l := range data {
		r.LogP += l.LogP / n
		r.Bound += l.Bound / n
		r.ESS += l.ESS / n
	}
	r.ESS = min(1, r.ESS) // rounding may exceed 1
	return r
}

// WeightSum accumulates importance weights ω, given as logarithms, without overflow. Its zero value
// is empty.
type WeightSum struct {
	Count   int
	Largest float64 // log of the largest weight ω⁺, by which the sums are scaled
	Root    float64 // Σ √(ω/ω⁺)
	First   float64 // Σ ω/ω⁺
	Second  float64 // Σ (ω/ω⁺)²
	Logs    float64 // Σ log ω
}

// Add accumulates a weight with logarithm l.
func (s *WeightSum) Add(l float64) {
	s.Merge(WeightSum{Count: 1, Largest: l, Root: 1, First: 1, Second: 1, Logs: l})
}

// Merge accumulates the weights of another sum.
func (s *WeightSum) Merge(other WeightSum) {
	if other.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = other
		return
	}
	if other.Largest > s.Largest {
		*s, other = other, *s
	}
	root := 1.0
	if other.Largest != s.Largest { // the difference of equal infinities is NaN
		root = statistics.Exp((other.Largest - s.Largest) / 2)
	}
	s.Count += other.Count
	// The roundings keep compilers from fusing operations, which would depend on the processor.
	s.Root += float64(root * other.Root)
	s.First += float64(root * root * other.First)
	s.Second += float64(root * root * root * root * other.Second)
	s.Logs += other.Logs
}

// AfterHalf returns the estimates from s, and the estimates from half, which has the first half of the weights.
func (s *WeightSum) AfterHalf(half WeightSum) Likelihood {
	l, of := s.Likelihood(), half.Likelihood()
	l.LogPOfHalf, l.LogPTildeStarOfHalf = of.LogP, of.LogPTildeStar
	return l
}

// Likelihood returns the estimates from the weights p/q accumulated so far.
func (s *WeightSum) Likelihood() Likelihood {
	n := float64(s.Count)
	return Likelihood{
		LogP:          s.Largest + statistics.Log(s.First/n),
		Bound:         s.Logs / n,
		LogPTildeStar: s.Largest + float64(2*statistics.Log(s.Root/n)),
		ESS:           min(1, s.First*s.First/(n*s.Second)), // rounding may exceed 1
		ESSStar:       min(1, s.Root*s.Root/(n*s.First)),
	}
}
