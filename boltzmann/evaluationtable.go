package boltzmann

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// evaluationColumns have the keys of the JSON of evaluations.
var evaluationColumns = []runs.Field[Evaluation]{
	{Column: nats(runs.LogP.Key, runs.LogP.Name), Cell: func(e Evaluation) any { return e.LogP }},
	{Column: nats("log_p_se", "± se"), Cell: func(e Evaluation) any { return e.LogPSE }},
	{Column: runs.Column{Key: "log_p_errs", Label: "log p errs"}, Cell: func(e Evaluation) any { return e.LogPErrs.String() }},
	{Column: runs.Column{Key: "samples", Kind: runs.Integer}, Cell: func(e Evaluation) any { return e.Samples }},
	{Column: nats("baseline_log_p", "baseline (factorised)"), Cell: func(e Evaluation) any { return e.BaselineLogP }},
	{Column: nats("baseline_log_p_se", "± se"), Cell: func(e Evaluation) any { return e.BaselineLogPSE }},
	{Column: runs.Column{Key: "diverged", Kind: runs.Boolean}, Cell: func(e Evaluation) any { return e.Diverged }},
	{Column: nats(logZMeasure.Key, logZMeasure.Name), Cell: func(e Evaluation) any { return e.LogZ.Value }},
	{Column: nats("log_z_se", "± se"), Cell: func(e Evaluation) any { return e.LogZ.SE }},
	{Column: nats("log_z_low", "log Z less 3 se"), Cell: func(e Evaluation) any { return e.Low }},
	{Column: nats("log_z_high", "log Z and 3 se"), Cell: func(e Evaluation) any { return e.High }},
	{Column: runs.Column{Key: "log_z_errs", Label: "log Z errs"}, Cell: func(e Evaluation) any { return e.Errs.String() }},
	{Column: runs.Column{Key: "ess", Label: "ESS", Kind: runs.Number, Decimals: 2, Fraction: true}, Cell: func(e Evaluation) any { return e.ESS }},
	{Column: runs.Column{Key: "chains", Kind: runs.Integer}, Cell: func(e Evaluation) any { return e.Chains }},
	{Column: runs.Column{Key: "schedule"}, Cell: func(e Evaluation) any { return e.schedule() }},
	{Column: runs.Column{Key: "steps", Kind: runs.Integer}, Cell: func(e Evaluation) any { return e.Steps }},
	{Column: nats("free_energy", "free energy"), Cell: func(e Evaluation) any { return e.FreeEnergy }},
	{Column: nats("free_energy_se", "± se"), Cell: func(e Evaluation) any { return e.FreeEnergySE }},
	{Column: nats("training_free_energy", "free energy, training"), Cell: func(e Evaluation) any { return e.TrainingFreeEnergy }},
	{Column: nats("training_free_energy_se", "± se"), Cell: func(e Evaluation) any { return e.TrainingFreeEnergySE }},
	{Column: nats("raise.log_p", "log p by RAISE"), Cell: ofRAISE(func(r *Raised) any { return r.LogP })},
	{Column: nats("raise.log_p_se", "± se"), Cell: ofRAISE(func(r *Raised) any { return r.LogPSE })},
	{Column: nats("raise.excess", "log p less RAISE"), Cell: ofRAISE(func(r *Raised) any { return r.Excess })},
	{Column: nats("raise.excess_se", "± se"), Cell: ofRAISE(func(r *Raised) any { return r.ExcessSE })},
	{Column: runs.Column{Key: "raise.data", Label: "rows of RAISE", Kind: runs.Integer}, Cell: ofRAISE(func(r *Raised) any { return r.Data })},
	{Column: runs.Column{Key: "raise.chains", Label: "chains of RAISE", Kind: runs.Integer}, Cell: ofRAISE(func(r *Raised) any { return r.Chains })},
	{Column: runs.Column{Key: "classification.error", Label: errorMeasure.Name, Kind: runs.Number, Decimals: 2, Fraction: true}, Cell: ofClassification(func(c *Classification) any { return c.Error })},
	{Column: runs.Column{Key: "classification.error_se", Label: "± se", Kind: runs.Number, Decimals: 2, Fraction: true}, Cell: ofClassification(func(c *Classification) any { return c.ErrorSE })},
	{Column: nats("classification.log_p", labelMeasure.Name), Cell: ofClassification(func(c *Classification) any { return c.LogP })},
	{Column: nats("classification.log_p_se", "± se"), Cell: ofClassification(func(c *Classification) any { return c.LogPSE })},
	{Column: runs.Column{Key: "classification.data", Label: "labelled rows", Kind: runs.Integer}, Cell: ofClassification(func(c *Classification) any { return c.Data })},
	{Column: runs.Column{Key: "split"}, Cell: func(e Evaluation) any { return e.Split }},
	{Column: runs.Column{Key: "binarization"}, Cell: func(e Evaluation) any { return e.Binarization.String() }},
	{Column: runs.Column{Key: "data", Kind: runs.Integer}, Cell: func(e Evaluation) any { return e.Data }},
	{Column: runs.Column{Key: "draw_seed", Label: "seed of draws", Kind: runs.Integer}, Cell: func(e Evaluation) any { return e.DrawSeed }},
	{Column: runs.Column{Key: "seconds", Unit: "s", Kind: runs.Number, Decimals: 1}, Cell: func(e Evaluation) any { return e.Seconds }},
}

func nats(key, label string) runs.Column {
	return runs.Column{Key: key, Label: label, Unit: "nats", Kind: runs.Number, Decimals: 3}
}

func ofRAISE(field func(*Raised) any) func(Evaluation) any {
	return func(e Evaluation) any {
		if e.RAISE == nil {
			return nil
		}
		return field(e.RAISE)
	}
}

func ofClassification(field func(*Classification) any) func(Evaluation) any {
	return func(e Evaluation) any {
		if e.Classification == nil {
			return nil
		}
		return field(e.Classification)
	}
}

func (z LogZ) schedule() string {
	if z.Schedule == nil {
		return ""
	}
	return z.Schedule.String()
}

// Table has one row. Its columns have the keys of the evaluation's JSON; those of RAISE are
// raise.log_p and so on, those of labels classification.error. What was not computed is missing:
// all evaluations have the same columns.
func (e Evaluation) Table() *runs.Table {
	return runs.TableOf("evaluation", "", evaluationColumns, e)
}

var logZMeasure = runs.Measure{Key: "log_z", Name: "log Z", Label: "log Z", Unit: "nats"}

// estimates are those of an evaluation by the keys of measures.
func (e Evaluation) estimates() runs.Estimates {
	all := runs.Estimates{
		runs.LogP.Key:         {Value: float64(e.LogP), SE: float64(e.LogPSE)},
		logZMeasure.Key:       {Value: float64(e.LogZ.Value), SE: float64(e.LogZ.SE)},
		freeEnergyMeasure.Key: {Value: float64(e.FreeEnergy), SE: float64(e.FreeEnergySE)},
	}
	if c := e.Classification; c != nil {
		all[labelMeasure.Key] = runs.Estimate{Value: float64(c.LogP), SE: float64(c.LogPSE)}
		all[errorMeasure.Key] = runs.Estimate{Value: float64(c.Error), SE: float64(c.ErrorSE)}
	}
	return all
}

// Estimate implements runs.Estimator: log p of rows by log Z, as LogZ estimates it with a number of
// chains along the published schedule, from the base rates of the rows themselves. The standard error
// of log p leaves out the error of log Z.
func (m *Model) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	if samples < 1 {
		return nil, fmt.Errorf("%d chains: give at least 1", samples)
	}
	m = m.WithSeed(seed)
	a := Annealing{Chains: samples}
	energies, _, err := m.bestFreeEnergy(ctx, rows, m.countable(rows), a.samples())
	if err != nil {
		return nil, err
	}
	z, err := m.LogZ(ctx, rows, a, progress)
	of := Evaluation{LogZ: z}
	of.FreeEnergy, of.FreeEnergySE = meanAndError(energies)
	of.LogP, of.LogPSE = -of.FreeEnergy-z.Value-runs.Float(m.encoding.logScale()), of.FreeEnergySE
	if err != nil {
		return nil, err
	}
	of.Classification, err = m.classification(ctx, rows)
	return of.estimates(), err
}
