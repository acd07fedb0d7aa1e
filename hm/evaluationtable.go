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
	var columns []runs.Column
	var row []any
	for _, c := range evaluationColumns {
		columns = append(columns, c.Column)
		row = append(row, c.cell(e))
	}
	t := runs.NewTable("evaluation", "", columns...)
	t.Add(row...)
	return t
}

// evaluationColumn is a column of the table of an evaluation, with its cell.
type evaluationColumn struct {
	runs.Column
	cell func(Evaluation) any
}

var evaluationColumns = slices.Concat(
	estimateColumns(runs.LogP, func(e Evaluation) (any, any) { return e.LogP, e.LogPSE }),
	estimateColumns(runs.Measure{Key: "baseline_log_p", Name: "base line (factorised)", Unit: "nats"}, func(e Evaluation) (any, any) { return e.BaselineLogP, e.BaselineLogPSE }),
	[]evaluationColumn{{runs.Column{Key: "diverged", Kind: runs.Boolean}, func(e Evaluation) any { return e.Diverged }}},
	estimateColumns(boundMeasure, func(e Evaluation) (any, any) { return e.Bound, e.BoundSE }),
	estimateColumns(tildeStarMeasure, func(e Evaluation) (any, any) { return e.LogPTildeStar, e.LogPTildeStarSE }),
	estimateColumns(z2Measure, func(e Evaluation) (any, any) { return e.LogZ2, e.LogZ2SE }),
	estimateColumns(starMeasure, func(e Evaluation) (any, any) { return e.LogPStar, e.LogPStarSE }),
	estimateColumns(essMeasure, func(e Evaluation) (any, any) { return e.ESS, e.ESSSE }),
	estimateColumns(essStarMeasure, func(e Evaluation) (any, any) { return e.ESSStar, e.ESSStarSE }),
	estimateColumns(runs.Measure{Key: "classification.error", Name: "error of labels"}, func(e Evaluation) (any, any) {
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
	[]evaluationColumn{
		{runs.Column{Key: "kl_exact", Label: "KL(p_D‖p)", Unit: "nats", Kind: runs.Number, Decimals: 4}, func(e Evaluation) any { return e.KLExact }},
		{runs.Column{Key: "samples", Kind: runs.Integer}, func(e Evaluation) any { return e.Samples }},
		{runs.Column{Key: "data", Kind: runs.Integer}, func(e Evaluation) any { return e.Data }},
		{runs.Column{Key: "seconds", Unit: "s", Kind: runs.Number, Decimals: 1}, func(e Evaluation) any { return e.Seconds }},
	})

// estimateColumns are a column of values and one of their standard errors.
func estimateColumns(m runs.Measure, of func(Evaluation) (value, se any)) []evaluationColumn {
	value := runs.Column{Key: m.Key, Label: m.Name, Unit: m.Unit, Kind: runs.Number, Decimals: 3}
	se := value
	se.Key, se.Label = m.Key+"_se", "± se"
	return []evaluationColumn{
		{value, func(e Evaluation) any { v, _ := of(e); return v }},
		{se, func(e Evaluation) any { _, s := of(e); return s }},
	}
}
