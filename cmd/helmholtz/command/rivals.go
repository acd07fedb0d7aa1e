package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/rivals"
)

// extended is an evaluation with further findings, such as the results of simple models fitted to the same training rows.
type extended struct {
	runs.Evaluation
	more runs.Findings
	said string // lines below the findings
}

func (e extended) Findings() runs.Findings { return append(e.Evaluation.Findings(), e.more...) }

func (e extended) String() string { return e.Evaluation.String() + e.more.String() + e.said }

func (e extended) MarshalJSON() ([]byte, error) {
	own, err := json.Marshal(e.Evaluation)
	if err != nil {
		return nil, err
	}
	others, err := json.Marshal(e.more)
	return fmt.Appendf(nil, "%s,%s", bytes.TrimSuffix(own, []byte("}")), bytes.TrimPrefix(others, []byte("{"))), err
}

const rivalsUsage = "also fit simple models to the training rows, and tell where they beat the machine"

// withRivals adds rivals to the evaluation of a model, each with its lead over the model on the same rows. They learn from complete
// training rows, and are compared on complete rows.
func withRivals(ctx context.Context, run *runs.Run, model any, o runs.EvaluationOptions, e runs.Evaluation) (runs.Evaluation, error) {
	of, is := model.(runs.RowEvaluator)
	if !is {
		return nil, run.Lacks("has no log p of rows to compare with rivals")
	}
	if base := run.Experiment().Baseline(o.Set, o.Rows); base.Rows != "" && o.Rows.AreReal() && o.Rows.Lengths == nil {
		own, columns := base.Factorized.Value, rivals.Baseline(o.Set, o.Rows).Factorized.Value
		if !(math.Abs(own-columns) <= 1e-6*max(1, math.Abs(own))) {
			return nil, fmt.Errorf("--rivals: log p of %s is a density of all units, also of categories, and rivals have probabilities of these: compare a Helmholtz machine with --groups data, or skip the columns of categories (--columns NAME=skip)", run.Noun())
		}
	}
	all, train := o.Rows.Rows, o.Set.Train().Complete()
	o.Rows = o.Rows.Complete()
	logP, _, err := of.LogPOfRows(ctx, o)
	if err != nil {
		return nil, err
	}
	fitted, err := work.Interruptible(func() ([]rivals.Rival, error) { return rivals.Fit(o.Set, o.Rows) }) // which may take an hour
	if err != nil {
		return nil, err
	}
	both := extended{Evaluation: e}
	if o.Rows.Rows < all || train.Rows < o.Set.Train().Rows {
		own := runs.EstimateOver(o.Rows, logP)
		m := runs.Measure{Key: "log_p_complete", Name: "log p of complete rows", Unit: "nats", Rises: true}
		both.more = runs.Findings{{Measure: m, Value: own.Value, SE: own.SE, Text: m.Name,
			Remark: fmt.Sprintf(": rivals learn from %d of %d training rows, and are compared on %d of %d rows, which are complete", train.Rows, o.Set.Train().Rows, o.Rows.Rows, all)}}
	}
	add := func(m runs.Measure, values, own []float64, rows ...int) {
		lead := lists.N(len(values), func(r int) float64 { return values[r] - own[r] })
		x, by := runs.EstimateOver(o.Rows, values, rows...), runs.EstimateOver(o.Rows, lead, rows...)
		text := runs.Estimate{Value: math.Abs(by.Value), SE: by.SE}.Text(3) + " nats"
		if m.Fraction {
			text = runs.Estimate{Value: 100 * math.Abs(by.Value), SE: 100 * by.SE}.Text(1) + " %"
		}
		remark := ": no clear difference from the model"
		switch ahead := (by.Value > 0) == m.Rises; {
		case math.Abs(by.Value) <= 2*by.SE:
		case ahead:
			remark = ": the model loses by " + text
		default:
			remark = ": the model wins by " + text
		}
		both.more = append(both.more, runs.Finding{Measure: m, Value: x.Value, SE: x.SE, Text: m.Name, Remark: remark})
		m.Key, m.Name = m.Key+"_lead", m.Name+" less the model"
		both.more = append(both.more, runs.Finding{Measure: m, Value: by.Value, SE: by.SE})
	}
	for _, rival := range fitted {
		if rival.Values == nil {
			both.said += fmt.Sprintf("%s: not fitted, %s\n", rival.Name, rival.Reason)
			continue
		}
		add(runs.Measure{Key: "rival_" + rival.Key, Name: rival.Name, Unit: "nats", Rises: true}, rival.Values, logP)
	}
	labeler, is := model.(runs.Labeler)
	if !is || o.Rows.Labels == nil {
		return both, nil
	}
	logs, err := labeler.LogLabels(ctx, o)
	if err != nil || logs == nil {
		return both, err
	}
	var labeled []int
	classifiers, err := work.Interruptible(func() (all []rivals.Rival, err error) {
		all, labeled, err = rivals.Classify(train, o.Rows, len(logs[0]))
		return all, err
	})
	if err != nil {
		return nil, err
	}
	wrong := lists.Map(labeled, func(r int) float64 { return statistics.Mistaken(logs[r], int(o.Rows.Labels[r])) })
	for _, rival := range classifiers {
		add(runs.Measure{Key: "rival_" + rival.Key, Name: rival.Name, Fraction: true}, rival.Values, wrong, labeled...)
	}
	return both, nil
}
