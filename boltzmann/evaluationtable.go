package boltzmann

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// findings returns the results in four groups: for the model, the energies, the labels and the rows. Table keeps
// this order; String prints labels before energies.
func (e Evaluation) findings() (model, energies, labels, rows runs.Findings) {
	nats := func(key, name string, value, se runs.Float, remark string) runs.Finding {
		return runs.Finding{Measure: runs.Measure{Key: key, Name: name, Unit: "nats"}, Value: value, SE: se, Text: name, Remark: remark}
	}
	cell := func(kind runs.ColumnKind, key, label string, value any) runs.Finding {
		return runs.Finding{Column: runs.Column{Key: key, Label: label, Kind: kind}, Value: value}
	}
	plain := func(key, label string, value runs.Float) runs.Finding {
		return runs.Finding{Column: runs.Column{Key: key, Label: label, Unit: "nats", Kind: runs.Number, Decimals: 3}, Value: value}
	}
	overSeeds := func(m runs.Measure, told bool, f runs.Finding) runs.Finding {
		f.Seeds, f.Untold = m.Key, !told
		return f
	}
	onlyIf := func(there bool, all ...runs.Finding) runs.Findings {
		for i := range all {
			if !there {
				all[i].Value, all[i].SE = nil, nil
			}
		}
		return all
	}
	hidden, schedule := "mean field", ""
	if e.Samples > 0 {
		hidden = names.Count(e.Samples, "importance sample") + " a row"
	}
	if e.Schedule != nil {
		schedule = e.Schedule.String()
	}
	sizes := e.SampleSizes
	if sizes == nil { // the evaluation was read from a file of an old version
		sizes = sampleSizes(runs.SampleSize{}, runs.SampleSize{}, e.LogZ, 0)
	}
	by := map[runs.Errs]string{
		runs.Exact:      ", exact",
		runs.ErrsHigh:   " by AIS, too high in expectation; ± is of the rows alone",
		runs.ErrsLow:    " by " + hidden + ", too low",
		runs.ErrsEither: " by " + hidden + ", too low, and AIS, too high in expectation: an estimate; ± is of the rows alone",
	}
	if sizes[runs.LogP.Key].Few() {
		by = map[runs.Errs]string{runs.ErrsHigh: " by AIS", runs.ErrsLow: " by " + hidden, runs.ErrsEither: " by " + hidden + " and AIS"}
	}
	logZ := nats(runs.LogZ.Key, runs.LogZ.Name, e.LogZ.Value, e.LogZ.SE, ", exact")
	ess := runs.Finding{Column: runs.Column{Key: "ess", Label: "ESS", Kind: runs.Number, Decimals: 2, Fraction: true}, Value: e.ESS}
	if logZ.Bare = e.Errs == runs.Exact; !logZ.Bare {
		logZ.Remark, ess.Text = fmt.Sprintf(" by AIS, too low in expectation; %.3f to %.3f at 3 standard errors", e.Low, e.High), "ESS of the chains"
	}
	interval := runs.Findings{plain("log_z_low", "log Z less 3 se", e.Low), plain("log_z_high", "log Z and 3 se", e.High)}
	if sizes[runs.LogZ.Key].Few() {
		logZ.Remark, interval[0].Value, interval[1].Value = " by AIS", nil, nil
	}
	blank := ""
	if sizes[runs.FreeEnergy.Key].Of == "chains" {
		blank = " with −log Z by AIS for rows without observed values"
	}
	apart := ", of the same rows"
	if e.Errs != runs.Exact && !sizes["raise.excess"].Few() {
		apart += "; ± leaves out the error of log Z, which they share"
	}
	short := ""
	if e.Bridge != nil && e.Bridge.Overlap < leastOverlap {
		short = ": the ladder is too short"
	}
	mass := cmp.Or(e.Mass, new(Mass))
	drift := cmp.Or(e.Drift, new(Drift))
	bridge, r, c := cmp.Or(e.Bridge, new(Bridged)), cmp.Or(e.RAISE, new(Raised)), cmp.Or(e.Classification, new(Classification))
	model, energies, labels, rows = runs.Findings{
		overSeeds(runs.LogP, true, nats(runs.LogP.Key, runs.LogP.Name, e.LogP, e.LogPSE, by[e.LogPErrs])),
		cell(runs.Text, "log_p_errs", "log p errs", e.LogPErrs.String()),
		cell(runs.Integer, "samples", "", e.Samples),
		nats("baseline_log_p", "baseline (factorised)", e.BaselineLogP, e.BaselineLogPSE, ""),
		cell(runs.Boolean, "diverged", "", e.Diverged),
		overSeeds(runs.LogZ, false, logZ),
		interval[0], interval[1],
		cell(runs.Text, "log_z_errs", "log Z errs", e.Errs.String()),
		ess, cell(runs.Boolean, "optimistic", "", e.Optimistic),
		cell(runs.Integer, "chains", "", e.Chains), cell(runs.Text, "schedule", "", schedule), cell(runs.Integer, "steps", "", e.Steps),
	}, append(runs.Findings{
		overSeeds(runs.FreeEnergy, false, nats(runs.FreeEnergy.Key, "free energy", e.FreeEnergy, e.FreeEnergySE, blank)),
		nats("training_free_energy", "free energy, training", e.TrainingFreeEnergy, e.TrainingFreeEnergySE, ""),
	}, slices.Concat(onlyIf(e.Mass != nil,
		plain("mass.log_sum", "log of the sum of p(v)", mass.LogSum),
		cell(runs.Integer, "mass.rows", "distinct rows", mass.Rows), cell(runs.Boolean, "mass.refutes", "log Z refuted", mass.Refutes)), onlyIf(e.Drift != nil,
		nats("drift.change", "drift of the energy", drift.Change, drift.ChangeSE, drift.chains()),
		cell(runs.Integer, "drift.chains", "chains of the drift", drift.Chains),
		cell(runs.Integer, "drift.sweeps", "sweeps of the drift", drift.Sweeps), cell(runs.Boolean, "drift.away", "drifts away", drift.Away)), onlyIf(e.Bridge != nil,
		nats("bridge.log_z", "log Z by Bennett's ratio", bridge.LogZ, bridge.SE, fmt.Sprintf(" along %s, least acceptance of a swap %.2f%s", names.Count(bridge.Rungs, "rung"), bridge.Overlap, short)),
		nats("bridge.log_p", "log p by the bridge", bridge.LogP, bridge.LogPSE, ""),
		cell(runs.Integer, "bridge.rungs", "rungs", bridge.Rungs), cell(runs.Integer, "bridge.samples", "samples of each rung", bridge.Samples),
		runs.Finding{Column: runs.Column{Key: "bridge.overlap", Label: "least overlap of rungs", Kind: runs.Number, Decimals: 2, Fraction: true}, Value: bridge.Overlap}), onlyIf(e.RAISE != nil,
		nats("raise.log_p", "log p by RAISE", r.LogP, r.LogPSE, fmt.Sprintf(" of %d rows, %d chains each, too low for the annealing model in expectation", r.Data, r.Chains)),
		nats("raise.excess", "log p less RAISE", r.Excess, r.ExcessSE, apart),
		cell(runs.Integer, "raise.data", "rows of RAISE", r.Data), cell(runs.Integer, "raise.chains", "chains of RAISE", r.Chains)))...,
	), onlyIf(e.Classification != nil,
		overSeeds(errorMeasure, true, runs.Finding{Measure: runs.Measure{Key: "classification.error", Name: errorMeasure.Name, Fraction: true}, Value: c.Error, SE: c.ErrorSE, Text: errorMeasure.Name}),
		overSeeds(labelMeasure, false, nats("classification.log_p", labelMeasure.Name, c.LogP, c.LogPSE, ", exact")),
		cell(runs.Integer, "classification.data", "labelled rows", c.Data),
	), runs.Findings{
		cell(runs.Text, "split", "", e.Split), cell(runs.Text, "binarization", "", e.Binarization.String()), cell(runs.Integer, "data", "", e.Data),
		cell(runs.Integer, "draw_seed", "seed of draws", e.DrawSeed),
		{Column: runs.Column{Key: "seconds", Unit: "s", Kind: runs.Number, Decimals: 1}, Value: e.Seconds},
		sizes.Finding(),
	}
	return sizes.Describe(model), sizes.Describe(energies), labels, rows
}

// String returns one line per estimate and a last line about the rows. The line of an estimate includes its standard
// error and tells whether the estimate is too high or too low.
func (e Evaluation) String() string {
	if e.Data == 0 {
		return "nothing was evaluated\n"
	}
	model, energies, labels, _ := e.findings()
	text := model.String() + labels.String() + energies.String()
	switch {
	case e.Diverged && e.Classification != nil:
		text += "log p(y|v) is far worse than a guess: training has diverged, or hardly begun\n"
	case e.Diverged:
		text += "log p is far worse than the baseline: training has diverged, or hardly begun\n"
	}
	if e.Mass != nil && e.Mass.Refutes {
		text += fmt.Sprintf("log Z is refuted: the estimated p(v) of %s sum to e^%.3f, more than 1, and log p is too high by at least %.3f nats\n", names.Count(e.Mass.Rows, "distinct row"), runs.Float(e.Mass.LogSum), runs.Float(e.Mass.LogSum))
	}
	if e.Drift != nil && e.Drift.Away && e.Classification == nil {
		text += e.Drift.verdict() + "\n"
	}
	text += fmt.Sprintf("%s, binarization %v, draws of seed %d", names.Count(e.Data, e.Split+" row"), e.Binarization, e.DrawSeed)
	if e.Errs != runs.Exact {
		text += fmt.Sprintf("; %d chains, schedule %v of %d steps", e.Chains, e.Schedule, e.Steps)
	}
	return text + fmt.Sprintf(", %.1f s\n", e.Seconds)
}

// Findings returns the results in the order of the table. A result that was not computed has no value.
func (e Evaluation) Findings() runs.Findings {
	model, energies, labels, rows := e.findings()
	return slices.Concat(model, energies, labels, rows)
}

// Table returns a table with one row. Its columns have the keys of the evaluation's JSON, with nested keys
// joined by a dot, such as raise.log_p or classification.error. All evaluations have the same columns; values
// that were not computed are missing.
func (e Evaluation) Table() *runs.Table { return e.Findings().Table() }
