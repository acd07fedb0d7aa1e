package hm

import (
	"math"

	"github.com/helmholtz-go/helmholtz/runs"
)

// EvaluationOverSeeds is the spread of the fields of an Evaluation over seeds.
// A field that is nil was not computed, or does not exist.
type EvaluationOverSeeds struct {
	LogP          runs.Spread  `json:"log_p"`
	Bound         runs.Spread  `json:"bound"`
	LogPTildeStar runs.Spread  `json:"log_p_tilde_star"`
	LogZ2         *runs.Spread `json:"log_z2"`
	LogPStar      *runs.Spread `json:"log_p_star"`
	ESS           runs.Spread  `json:"ess"`
	ESSStar       runs.Spread  `json:"ess_star"`
	KLExact       *runs.Spread `json:"kl_exact"`
	LabelError    *runs.Spread `json:"label_error,omitempty"` // Classification.Error
}

// OverSeeds is the spread of evaluations, one a seed.
func OverSeeds(evaluations []Evaluation) EvaluationOverSeeds {
	over := func(field func(Evaluation) float64) runs.Spread { return runs.SpreadOf(evaluations, field) }
	optional := func(field func(Evaluation) *float64) *runs.Spread {
		s := over(func(e Evaluation) float64 {
			if value := field(e); value != nil {
				return *value
			}
			return math.NaN()
		})
		if math.IsNaN(s.Mean) {
			return nil
		}
		return &s
	}
	return EvaluationOverSeeds{
		LogP:          over(func(e Evaluation) float64 { return e.LogP }),
		Bound:         over(func(e Evaluation) float64 { return e.Bound }),
		LogPTildeStar: over(func(e Evaluation) float64 { return e.LogPTildeStar }),
		LogZ2:         optional(func(e Evaluation) *float64 { return e.LogZ2 }),
		LogPStar:      optional(func(e Evaluation) *float64 { return e.LogPStar }),
		ESS:           over(func(e Evaluation) float64 { return e.ESS }),
		ESSStar:       over(func(e Evaluation) float64 { return e.ESSStar }),
		KLExact:       optional(func(e Evaluation) *float64 { return e.KLExact }),
		LabelError: optional(func(e Evaluation) *float64 {
			if e.Classification == nil {
				return nil
			}
			return &e.Classification.Error
		}),
	}
}
