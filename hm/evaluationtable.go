package hm

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Findings returns the estimates of the evaluation, in the order in which its table and its text list them.
func (e Evaluation) Findings() runs.Findings {
	var wrong, wrongSE, label, labelSE any
	if c := e.Classification; c != nil {
		wrong, wrongSE, label, labelSE = c.Error, c.ErrorSE, c.LogP, c.LogPSE
	}
	size, sizeStar := e.SampleSizes[runs.LogP.Key], e.SampleSizes[tildeStarMeasure.Key]
	size.Of, sizeStar.Of = "", "" // the effective sample sizes need no description of it
	return append(e.SampleSizes.Describe(runs.Findings{
		{Measure: runs.LogP, Value: e.LogP, SE: e.LogPSE, Text: "log p", Seeds: runs.LogP.Key},
		{Measure: runs.Measure{Key: "baseline_log_p", Name: "baseline (factorised)", Unit: "nats"}, Value: e.BaselineLogP, SE: e.BaselineLogPSE, Text: "baseline (factorised)"},
		{Column: runs.Column{Key: "diverged", Kind: runs.Boolean}, Value: e.Diverged},
		{Measure: boundMeasure, Value: e.Bound, SE: e.BoundSE, Text: "lower bound of log p", Seeds: boundMeasure.Key},
		{Measure: tildeStarMeasure, Value: e.LogPTildeStar, SE: e.LogPTildeStarSE, Text: "log p̃*", Seeds: tildeStarMeasure.Key},
		{Measure: z2Measure, Value: e.LogZ2, SE: e.LogZ2SE, Text: "log Z²", Seeds: z2Measure.Key},
		{Measure: starMeasure, Value: e.LogPStar, SE: e.LogPStarSE, Text: "log p* (no bound)", Seeds: starMeasure.Key},
		{Measure: runs.ESS, Value: e.ESS, SE: e.ESSSE, SampleSize: size, Text: "ESS of q for p", Seeds: runs.ESS.Key},
		{Measure: essStarMeasure, Value: e.ESSStar, SE: e.ESSStarSE, SampleSize: sizeStar, Text: "ESS of q for p*", Seeds: essStarMeasure.Key},
		{Measure: runs.Measure{Key: "classification.error", Name: "error of labels", Fraction: true}, Value: wrong, SE: wrongSE, Text: "error of labels", Unit: "% by p*(y|x)", Seeds: "label_error"},
		{Measure: runs.Measure{Key: "classification.log_p", Name: "log p*(y|x)", Unit: "nats"}, Value: label, SE: labelSE, Text: "log p*(y|x)"},
		{Column: runs.Column{Key: "kl_exact", Label: "KL(p_D‖p)", Unit: "nats", Kind: runs.Number, Decimals: 4}, Value: e.KLExact, Text: "KL(p_D‖p)", Remark: ", exact", Seeds: "kl_exact"},
		{Column: runs.Column{Key: "samples", Kind: runs.Integer}, Value: e.Samples},
		{Column: runs.Column{Key: "data", Kind: runs.Integer}, Value: e.Data},
		{Column: runs.Column{Key: "seconds", Unit: "s", Kind: runs.Number, Decimals: 1}, Value: e.Seconds},
	}), e.SampleSizes.Finding())
}

// String returns one line per estimate with its standard error, and one line on samples and time.
func (e Evaluation) String() string {
	if e.Data == 0 {
		return "nothing was evaluated\n"
	}
	diverged := ""
	if e.Diverged != nil && *e.Diverged {
		diverged = "log p is far worse than the baseline: training has diverged, or hardly begun\n"
	}
	return fmt.Sprintf("%v%s%s of each of %s, %.1f s\n", e.Findings(), diverged, names.Count(e.Samples, "sample"), names.Count(e.Data, "row"), e.Seconds)
}

// Table returns one row. Its columns have the keys of the evaluation's JSON, each estimate with its
// standard error, such as log_p and log_p_se. The columns of Classification are classification.error
// and so on. All evaluations have the same columns; estimates that were not computed are missing values.
func (e Evaluation) Table() *runs.Table { return e.Findings().Table() }
