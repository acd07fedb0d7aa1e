package hm

import (
	"errors"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// init registers the estimators of package engine, with the equations that Method.Explain writes.
func init() {
	const bound = "the bound $\\hat L = \\log \\frac1S \\sum_k \\omega_k$, $\\omega_k = p(x,h_k)/q(h_k|x)$, with the normalised weights $v_k$:\n\n" +
		"$$\\nabla_\\theta = \\sum_k v_k \\nabla \\log p(x,h_k), \\qquad \\nabla_\\phi = \\sum_k (\\hat L - v_k - c_k) \\nabla \\log q(h_k|x),$$\n\n"
	withoutParameters := func(e *engine.Estimator) func(_, logP, logQ, p, q []float64) {
		return func(_, logP, logQ, p, q []float64) { e.Weigh(logP, logQ, p, q) }
	}
	RegisterPhases("vimco", Estimator{
		Weigh: withoutParameters(engine.VIMCO(false)), Samples: 2,
		Text:   "Both networks ascend " + bound + "where $c_k$ is $\\hat L$ with $\\omega_k$ replaced by the geometric mean of the other weights.",
		Source: "Mnih and Rezende 2016",
	})
	RegisterPhases("vimco-arithmetic", Estimator{
		Weigh: withoutParameters(engine.VIMCO(true)), Samples: 2,
		Text:   "Both networks ascend " + bound + "where $c_k$ is $\\hat L$ with $\\omega_k$ replaced by the arithmetic mean of the other weights.",
		Source: "Mnih and Rezende 2016",
	})
	RegisterPhases("ovis", Estimator{
		Weigh: func(γ, logP, logQ, p, q []float64) { engine.OVIS(γ[0]).Weigh(logP, logQ, p, q) }, Samples: 2,
		Parameters: []float64{1},
		Check: func(given []float64) error {
			if len(given) != 1 || !(given[0] >= 0 && given[0] <= 1) {
				return errors.New("use one number γ between 0, for few effective samples, and 1, for many")
			}
			return nil
		},
		Text:   "Both networks ascend " + bound + "where $c_k = \\log \\hat Z_{-k} - \\gamma v_k + (1-\\gamma) \\log(1 - 1/S)$ and $\\hat Z_{-k}$ is the mean of the other weights. In the mean, $\\nabla_\\phi$ is the gradient of the bound plus $\\gamma$ times $\\sum_k v_k \\nabla \\log q(h_k|x)$, the q-wake gradient of RWS.",
		Source: "Liévin, Dittadi, Christensen and Winther 2020, 17",
	})
	RegisterPhases("tvo", Estimator{
		Weigh: func(partition, logP, logQ, p, q []float64) { engine.TVO(partition).Weigh(logP, logQ, p, q) }, Samples: 2,
		Parameters: []float64{0, 0.08, 0.15, 0.28, 0.53},
		Check: func(given []float64) error {
			if len(given) == 0 || given[0] != 0 || given[len(given)-1] >= 1 || !slices.IsSorted(given) || len(slices.Compact(slices.Clone(given))) < len(given) {
				return errors.New("use a partition of [0, 1]: increasing numbers from 0 to less than 1, such as 0 0.1 0.5")
			}
			return nil
		},
		Text: "Both networks ascend the thermodynamic objective\n\n$$\\sum_i (\\beta_{i+1} - \\beta_i)\\, E_i\\!\\left[\\log \\frac{p(x,h)}{q(h|x)}\\right],$$\n\n" +
			"a left Riemann sum over the partition of $[0, 1]$, where $E_i$ is the mean under $p^{\\beta_i} q^{1-\\beta_i}$, estimated with self-normalised weights.",
		Source: "Masrani, Le and Wood 2019",
	})
}
