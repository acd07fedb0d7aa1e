// Package statistics has numerical functions that several packages share.
package statistics

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// MeanAndError returns the mean of n values and its standard error, which is NaN for one value.
func MeanAndError(n int, value func(i int) float64) (mean, se float64) {
	for i := range n {
		mean += value(i) / float64(n)
	}
	for i := range n {
		d := value(i) - mean
		se += d * d
	}
	return mean, math.Sqrt(se / float64(n-1) / float64(n))
}

// MeanAndErrorOf is like MeanAndError, for a slice of values.
func MeanAndErrorOf(values []float64) (mean, se float64) {
	return MeanAndError(len(values), func(i int) float64 { return values[i] })
}

// Weighted returns the weighted mean of values and its standard error, which takes the weights as given. Without
// weights, all values count alike.
func Weighted(weights, values []float64) (mean, se float64) {
	if weights == nil {
		return MeanAndErrorOf(values)
	}
	sum, n := 0.0, 0.0
	for r, w := range weights {
		if w > 0 {
			sum += w
			n++
			mean += (values[r] - mean) * (w / sum)
		}
	}
	for r, w := range weights {
		if w > 0 {
			d := (values[r] - mean) * (w / sum)
			se += d * d
		}
	}
	return mean, math.Sqrt(se * n / (n - 1))
}

// PerStep returns the sum of values of sequences over the sum of their lengths, with the standard error of this ratio
// over sequences. Each sequence counts by its share, see dataset.Split.Shares.
func PerStep(lengths []int, sums, shares []float64) (mean, se float64) {
	steps := 0.0
	for i, n := range lengths {
		steps += shares[i] * float64(n)
		mean += shares[i] * sums[i]
	}
	mean /= steps
	_, se = MeanAndError(len(sums), func(i int) float64 {
		return shares[i] * (sums[i] - mean*float64(lengths[i])) * float64(len(sums)) / steps
	})
	return mean, se
}

// LogMean returns the logarithm of the mean of weights, given their logarithms, and their effective sample size as a
// fraction of their number. moved is the result less the result of the first half of the weights, or NaN for one weight.
func LogMean(logs []float64) (mean, ess, moved float64) {
	of := func(n int) float64 { return floats.LogSumExp(logs[:n]) - math.Log(float64(n)) }
	mean, moved = of(len(logs)), math.NaN()
	squares := 0.0
	for _, l := range logs {
		squares += math.Exp(2*(l-mean)) / float64(len(logs))
	}
	if half := len(logs) / 2; half > 0 {
		moved = mean - of(half)
	}
	return mean, min(1, 1/squares), moved // rounding may exceed 1
}

// Finite reports whether x is finite.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Sigmoid returns σ(a) = 1/(1+e⁻ᵃ).
func Sigmoid(a float64) float64 { return 1 / (1 + math.Exp(-a)) }

// Softplus returns log(1+eᵃ) = −log σ(−a), without overflow.
func Softplus(a float64) float64 { return max(a, 0) + math.Log1p(math.Exp(-math.Abs(a))) }

// LogAdd returns log (eᵃ + eᵇ).
func LogAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// Mistaken returns the probability that the class with the largest logarithm, chosen at random
// among ties, is not class. It returns 1 if one logarithm is NaN.
func Mistaken(logs []float64, class int) float64 {
	alike := 0
	for _, l := range logs {
		switch {
		case math.IsNaN(l) || l > logs[class]:
			return 1
		case l == logs[class]:
			alike++
		}
	}
	return 1 - 1/float64(alike)
}
