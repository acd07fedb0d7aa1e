package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// The functions below write each estimator as its paper defines it, regardless of cost.

// bound returns log (1/S) Σ exp(values).
func bound(values []float64) float64 {
	return floats.LogSumExp(values) - math.Log(float64(len(values)))
}

// replaced returns the values with value k replaced.
func replaced(values []float64, k int, value float64) []float64 {
	list := slices.Clone(values)
	list[k] = value
	return list
}

// without returns the values except value k.
func without(values []float64, k int) []float64 {
	return slices.Delete(slices.Clone(values), k, k+1)
}

// controlled returns the estimator that ascends the bound with a control variate for sample k.
func controlled(control func(logω []float64, k int) float64) *engine.Estimator {
	return &engine.Estimator{Weigh: func(logP, logQ, p, q []float64) {
		logω := floats.SubTo(make([]float64, len(logP)), logP, logQ)
		copy(p, normalize(logω))
		for k := range q {
			q[k] = bound(logω) - p[k] - control(logω, k)
		}
	}}
}

// VIMCO returns the estimator that replaces the log-weight of a sample by a mean of the others
// (Mnih and Rezende 2016).
func VIMCO(arithmetic bool) *engine.Estimator {
	return controlled(func(logω []float64, k int) float64 {
		others := without(logω, k)
		mean := floats.Sum(others) / float64(len(others))
		if arithmetic {
			mean = bound(others)
		}
		return bound(replaced(logω, k, mean))
	})
}

// OVIS returns the estimator with the asymptotic control variate (Liévin, Dittadi, Christensen and
// Winther 2020, 17).
func OVIS(γ float64) *engine.Estimator {
	return controlled(func(logω []float64, k int) float64 {
		v := math.Exp(logω[k] - floats.LogSumExp(logω))
		return bound(without(logω, k)) - γ*v + (1-γ)*math.Log(1-1/float64(len(logω)))
	})
}

// TVO returns the estimator that sums, over a partition, the gradients of means of log ω under π_β
// with self-normalised weights (Masrani, Le and Wood 2019): the mean of ∂ log ω = ∂ log p − ∂ log
// q, and the covariance of log ω with ∂ log π̃ = β ∂ log p + (1−β) ∂ log q.
func TVO(partition []float64) *engine.Estimator {
	return &engine.Estimator{Weigh: func(logP, logQ, p, q []float64) {
		logω := floats.SubTo(make([]float64, len(logP)), logP, logQ)
		for i, width := range widths(partition) {
			β := partition[i]
			π := normalize(floats.ScaleTo(make([]float64, len(logω)), β, logω))
			mean := floats.Dot(π, logω)
			for k := range π {
				covariance := π[k] * (logω[k] - mean)
				p[k] += width * (π[k] + β*covariance)
				q[k] += width * (-π[k] + (1-β)*covariance)
			}
		}
	}}
}

// widths returns the lengths of the intervals that begin at the points of a partition of [0, 1].
func widths(partition []float64) []float64 {
	ends := append(slices.Clone(partition[1:]), 1)
	return floats.SubTo(make([]float64, len(ends)), ends, partition)
}
