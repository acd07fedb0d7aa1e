package hm

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Table has one row. Its columns have the keys of the evaluation's JSON, each
// estimate with its standard error, such as log_p and log_p_se; those of
// Classification are classification.error and so on. What was not computed is
// missing: all evaluations have the same columns.
func (e Evaluation) Table() *runs.Table {
	return runs.TableOf("evaluation", "", evaluationColumns, e)
}

var evaluationColumns = slices.Concat(
	estimateColumns(runs.LogP, func(e Evaluation) (any, any) { return e.LogP, e.LogPSE }),
	estimateColumns(runs.Measure{Key: "baseline_log_p", Name: "baseline (factorised)", Unit: "nats"}, func(e Evaluation) (any, any) { return e.BaselineLogP, e.BaselineLogPSE }),
	[]runs.Field[Evaluation]{{Column: runs.Column{Key: "diverged", Kind: runs.Boolean}, Cell: func(e Evaluation) any { return e.Diverged }}},
	estimateColumns(boundMeasure, func(e Evaluation) (any, any) { return e.Bound, e.BoundSE }),
	estimateColumns(tildeStarMeasure, func(e Evaluation) (any, any) { return e.LogPTildeStar, e.LogPTildeStarSE }),
	estimateColumns(z2Measure, func(e Evaluation) (any, any) { return e.LogZ2, e.LogZ2SE }),
	estimateColumns(starMeasure, func(e Evaluation) (any, any) { return e.LogPStar, e.LogPStarSE }),
	estimateColumns(essMeasure, func(e Evaluation) (any, any) { return e.ESS, e.ESSSE }),
	estimateColumns(essStarMeasure, func(e Evaluation) (any, any) { return e.ESSStar, e.ESSStarSE }),
	estimateColumns(runs.Measure{Key: "classification.error", Name: "error of labels", Fraction: true}, func(e Evaluation) (any, any) {
		if e.Classification == nil {
			return nil, nil
		}
		return e.Classification.Error, e.Classification.ErrorSE
	}),
	estimateColumns(runs.Measure{Key: "classification.log_p", Name: "log p*(y|x)", Unit: "nats"}, func(e Evaluation) (any, any) {
		if e.Classification == nil {
			return nil, nil
		}
		return e.Classification.LogP, e.Classification.LogPSE
	}),
	[]runs.Field[Evaluation]{
		{Column: runs.Column{Key: "kl_exact", Label: "KL(p_D‖p)", Unit: "nats", Kind: runs.Number, Decimals: 4}, Cell: func(e Evaluation) any { return e.KLExact }},
		{Column: runs.Column{Key: "samples", Kind: runs.Integer}, Cell: func(e Evaluation) any { return e.Samples }},
		{Column: runs.Column{Key: "data", Kind: runs.Integer}, Cell: func(e Evaluation) any { return e.Data }},
		{Column: runs.Column{Key: "seconds", Unit: "s", Kind: runs.Number, Decimals: 1}, Cell: func(e Evaluation) any { return e.Seconds }},
	})

// estimateColumns are a column of values and one of their standard errors.
func estimateColumns(m runs.Measure, of func(Evaluation) (value, se any)) []runs.Field[Evaluation] {
	value := runs.Column{Key: m.Key, Label: m.Name, Unit: m.Unit, Kind: runs.Number, Decimals: 3, Fraction: m.Fraction}
	if m.Fraction {
		value.Decimals = 2 // of percent
	}
	se := value
	se.Key, se.Label = m.Key+"_se", "± se"
	return []runs.Field[Evaluation]{
		{Column: value, Cell: func(e Evaluation) any { v, _ := of(e); return v }},
		{Column: se, Cell: func(e Evaluation) any { _, s := of(e); return s }},
	}
}
