package main

import (
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// seedEvaluation is the evaluation of a run, maybe one of several seeds.
type seedEvaluation struct {
	evaluated
	Seed     uint64 `json:"seed"`   // of training
	Epochs   int    `json:"epochs"` // done
	Finished bool   `json:"finished"`
	hm.Evaluation
}

// row is what comes before the evaluation in a table.
func (e seedEvaluation) row() []any {
	return []any{e.Run, e.Checkpoint, e.Seed, e.Epochs, e.Finished, e.Split, e.DrawSeed}
}

var seedColumns = slices.Concat(runColumns, []runs.Column{{Key: "split"}, {Key: "draw_seed", Kind: runs.Integer}})

// evaluationsTable has a row an evaluation, with columns that say what was evaluated before those
// of the evaluation's own table.
func evaluationsTable[E interface {
	row() []any
	Table() *runs.Table
}](columns []runs.Column, each []E) *runs.Table {
	t := runs.NewTable("evaluation", "", slices.Concat(columns, each[0].Table().Columns())...)
	for _, e := range each {
		t.Add(slices.Concat(e.row(), e.Table().Rows()[0])...)
	}
	return t
}

// evaluationOverSeeds is the spread of the fields of an evaluation over seeds.
// A field that is nil was not computed, or does not exist.
type evaluationOverSeeds struct {
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

// overSeeds is the spread of evaluations, one a seed.
func overSeeds(evaluations []hm.Evaluation) evaluationOverSeeds {
	over := func(field func(hm.Evaluation) float64) runs.Spread { return runs.SpreadOf(evaluations, field) }
	optional := func(field func(hm.Evaluation) *float64) *runs.Spread {
		s := over(func(e hm.Evaluation) float64 {
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
	return evaluationOverSeeds{
		LogP:          over(func(e hm.Evaluation) float64 { return e.LogP }),
		Bound:         over(func(e hm.Evaluation) float64 { return e.Bound }),
		LogPTildeStar: over(func(e hm.Evaluation) float64 { return e.LogPTildeStar }),
		LogZ2:         optional(func(e hm.Evaluation) *float64 { return e.LogZ2 }),
		LogPStar:      optional(func(e hm.Evaluation) *float64 { return e.LogPStar }),
		ESS:           over(func(e hm.Evaluation) float64 { return e.ESS }),
		ESSStar:       over(func(e hm.Evaluation) float64 { return e.ESSStar }),
		KLExact:       optional(func(e hm.Evaluation) *float64 { return e.KLExact }),
		LabelError: optional(func(e hm.Evaluation) *float64 {
			if e.Classification == nil {
				return nil
			}
			return &e.Classification.Error
		}),
	}
}

// String is a line for each mean over the seeds with its standard deviation.
func (e evaluationOverSeeds) String() string {
	var b strings.Builder
	row := func(name string, s *runs.Spread, scale float64, unit string) {
		if s != nil {
			b.WriteString(runs.Spread{Mean: scale * s.Mean, SD: scale * s.SD}.Line(name, unit))
		}
	}
	row("log p", &e.LogP, 1, "nats")
	row("lower bound of log p", &e.Bound, 1, "nats")
	row("log p̃*", &e.LogPTildeStar, 1, "nats")
	row("log Z²", e.LogZ2, 1, "nats")
	row("log p* (no bound)", e.LogPStar, 1, "nats")
	row("ESS of q for p", &e.ESS, 100, "%")
	row("ESS of q for p*", &e.ESSStar, 100, "%")
	row("error of labels", e.LabelError, 100, "% by p*(y|x)")
	row("KL(p_D‖p)", e.KLExact, 1, "nats")
	return b.String()
}
