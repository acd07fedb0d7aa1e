package engine

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// VIMCO and OVIS ascend the bound L̂ = log (1/S) Σ ω_k, where S samples have the importance weights
// ω = p(x,h)/q(h|x) and the normalised weights v. The gradient of L̂ with respect to θ is Σ v_k ∂
// log p(x,h_k). The gradient with respect to φ is the mean of Σ (L̂ − v_k) ∂ log q(h_k|x). The two
// estimators subtract different control variates from the weights L̂ − v_k.

// VIMCO returns the estimator of Mnih and Rezende 2016. The control variate of sample k is the
// bound with ω_k replaced by the geometric mean of the other weights, or by their arithmetic mean.
// The estimator is unbiased, and needs at least two samples.
func VIMCO(arithmetic bool) *Estimator {
	name := "vimco"
	if arithmetic {
		name = "vimco-arithmetic"
	}
	return &Estimator{name, func(logP, logQ, p, q []float64) {
		logω, logMean := ratios(logP, logQ, p)
		total, others := floats.Sum(logω), float64(len(logω)-1)
		logSumsWithout(q, logω)
		for k, w := range logω {
			rest := q[k]
			replaced := (total - w) / others
			if arithmetic {
				replaced = rest - math.Log(others)
			}
			q[k] = logMean - (statistics.LogAdd(rest, replaced) - math.Log(others+1)) - p[k]
		}
	}}
}

// OVIS returns the estimator of Liévin, Dittadi, Christensen and Winther 2020. It subtracts their
// asymptotically optimal control variate (17), log Ẑ₋ₖ − γ v_k + (1−γ) log (1−1/S), where Ẑ₋ₖ is
// the mean of the other weights. Use γ = 1 for many effective samples, γ = 0 for few. The control
// variate depends on sample k through v_k. So the gradient with respect to φ has the mean of the bound's gradient
// plus γ times the mean of Σ v_k ∂ log q(h_k|x), the q-wake gradient of RWS. As S grows, the first falls as 1/S
// and the second does not. OVIS needs at least two samples.
func OVIS(γ float64) *Estimator {
	return &Estimator{"ovis", func(logP, logQ, p, q []float64) {
		logω, logMean := ratios(logP, logQ, p)
		others := float64(len(logω) - 1)
		logSumsWithout(q, logω)
		for k := range logω {
			without := q[k] - math.Log(others)
			q[k] = logMean - p[k] - (without - γ*p[k] + (1-γ)*math.Log(others/(others+1)))
		}
	}}
}

// TVO returns the estimator of the thermodynamic variational objective of Masrani, Le and Wood 2019
// with a partition 0 = β₀ < β₁ < … < 1 of [0, 1]: the left Riemann sum Σ (β_{i+1} − β_i) E_i[log
// ω]. E_i is the mean under π_i ∝ p^β q^(1−β) with β = β_i, estimated with the self-normalised
// weights ωᵝ. The gradient of E_i[log ω] is E_i[∂ log ω] + Cov_i(log ω, β ∂ log p + (1−β) ∂ log q).
// The self-normalisation makes the estimate biased by terms of order 1/S.
func TVO(partition []float64) *Estimator {
	return &Estimator{"tvo", func(logP, logQ, p, q []float64) {
		logω, _ := ratios(logP, logQ, p)
		clear(p)
		clear(q)
		π := make([]float64, len(logω))
		for i, β := range partition {
			next := 1.0
			if i+1 < len(partition) {
				next = partition[i+1]
			}
			for k, w := range logω {
				π[k] = β * w
			}
			total := floats.LogSumExp(π)
			mean := 0.0
			for k, w := range logω {
				π[k] = math.Exp(π[k] - total)
				mean += π[k] * w
			}
			for k, w := range logω {
				p[k] += (next - β) * π[k] * (1 + β*(w-mean))
				q[k] += (next - β) * π[k] * ((1-β)*(w-mean) - 1)
			}
		}
	}}
}

// ratios returns log ω and the bound L̂, and writes the normalised weights to normalized.
func ratios(logP, logQ, normalized []float64) (logω []float64, bound float64) {
	logω = make([]float64, len(logP))
	floats.SubTo(logω, logP, logQ)
	total := floats.LogSumExp(logω)
	for k, w := range logω {
		normalized[k] = math.Exp(w - total)
	}
	return logω, total - math.Log(float64(len(logω)))
}

// logSumsWithout sets sums[k] to log Σ_{j≠k} exp(values_j) for every k. It adds the sums before and
// after k, because subtracting exp(values_k) from the total loses all digits if this term
// dominates.
func logSumsWithout(sums, values []float64) {
	below := math.Inf(-1)
	for k, v := range values {
		sums[k] = below
		below = statistics.LogAdd(below, v)
	}
	above := math.Inf(-1)
	for k := len(values) - 1; k >= 0; k-- {
		sums[k] = statistics.LogAdd(sums[k], above)
		above = statistics.LogAdd(above, values[k])
	}
}
