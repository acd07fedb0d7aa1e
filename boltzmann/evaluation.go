package boltzmann

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Evaluation holds the measures of a model on rows. Most are means over the rows, in nats. Their standard errors
// come from the spread over the rows, and are NaN for a single row. Stochastic binarisation draws each row once,
// from the seed.
type Evaluation struct {
	// LogP is log p(v) = −F(v) − log Z, of the observed units of rows with missing values, and 0 for a row without observed values. For Gaussian units it is the log-density of grey values between 0 and
	// 1; a label is summed out. Its standard error leaves out the error of log Z, which all rows share.
	LogP   runs.Float `json:"log_p"`
	LogPSE runs.Float `json:"log_p_se"`
	// LogPErrs is the bias of LogP. It is high if AIS estimates log Z, and low if F(v) comes from mean field or
	// importance samples. If both hold, LogPErrs is either, and LogP is an estimate but no bound. Otherwise it is
	// exact.
	LogPErrs runs.Errs `json:"log_p_errs"`
	// Samples is the number of importance samples for each row of a belief network, and 0 for other models.
	Samples int `json:"samples"`
	// LogZ is log Z of the model. Its fields Value, SE, Low, High, Errs, ESS, Chains, Schedule, Steps and Each
	// describe log Z and the chains of AIS, not log p.
	LogZ
	// FreeEnergy is F(v). TrainingFreeEnergy is F(v) of as many training rows, which the seed selects. It is far
	// lower than FreeEnergy if the model has memorised the training rows. In a deep machine both are variational,
	// unless the hidden units are few enough to sum out. Rows without observed values have F(v) = −log Z. If there are
	// any and AIS estimates log Z, FreeEnergy is too high in expectation, and FreeEnergySE includes the error of log Z.
	FreeEnergy           runs.Float `json:"free_energy"`
	FreeEnergySE         runs.Float `json:"free_energy_se"`
	TrainingFreeEnergy   runs.Float `json:"training_free_energy"`
	TrainingFreeEnergySE runs.Float `json:"training_free_energy_se"`
	// SampleSizes describes the chains and the importance samples behind the estimates, by key. If they are few, the
	// estimate is a bound, and its standard error means nothing.
	SampleSizes runs.SampleSizes `json:"sample_size,omitempty"`
	// Mass is the sum of p(v) over distinct rows, or nil for densities and belief networks.
	Mass *Mass `json:"mass,omitempty"`
	// Drift measures how far long chains move away from training rows.
	Drift *Drift `json:"drift,omitempty"`
	// Bridge is log Z estimated along the ladder of a ptt run, or nil for other runs.
	Bridge *Bridged `json:"bridge,omitempty"`
	// RAISE is the estimate of log p(v) by reverse annealing, or nil if it was not requested. It is a bound on log
	// p_ann(v), not on log p(v): see Model.RAISE.
	RAISE *Raised `json:"raise,omitempty"`
	// Classification measures p(y|v) as a classifier. It is nil if the machine or the rows have no labels.
	Classification *Classification `json:"classification,omitempty"`
	// BaselineLogP is log p(v) under a factorised model of the training rows. Diverged reports whether LogP is far
	// below BaselineLogP. A machine with labels need not learn p(v); for it, Diverged reports whether log p(y|v) is
	// far below log p(y|v) of a uniform guess.
	BaselineLogP   runs.Float           `json:"baseline_log_p"`
	BaselineLogPSE runs.Float           `json:"baseline_log_p_se"`
	Diverged       bool                 `json:"diverged"`
	Split          string               `json:"split"`
	Binarization   dataset.Binarization `json:"binarization"`
	Data           int                  `json:"data"` // number of rows
	DrawSeed       uint64               `json:"draw_seed"`
	Seconds        float64              `json:"seconds"`
}

// Raised holds the results of RAISE, perhaps on fewer rows than the evaluation has.
type Raised struct {
	LogP   runs.Float `json:"log_p"` // in expectation at most the mean of log p_ann(v): see Model.RAISE
	LogPSE runs.Float `json:"log_p_se"`
	// Excess is the mean of log p(v) = −F(v) − log Z over the same rows, minus LogP.
	Excess   runs.Float `json:"excess"`
	ExcessSE runs.Float `json:"excess_se"`
	Data     int        `json:"data"`
	Chains   int        `json:"chains"` // number of chains for each row
}

// Mass is the sum of the estimated p(v) over the distinct rows of an evaluation, including its training rows.
// It is at most 1 if log Z is right.
type Mass struct {
	LogSum  runs.Float `json:"log_sum"` // nats
	Rows    int        `json:"rows"`
	Refutes bool       `json:"refutes"` // whether the sum exceeds 1, which shows that log Z is too low
}

// massOf sums p(v) over distinct rows. energies holds the free energy of each row, and its keys are the rows.
func massOf(energies map[string]float64, logZ float64) *Mass {
	terms := slices.Collect(maps.Values(energies))
	slices.Sort(terms) // maps have no order
	floats.Scale(-1, terms)
	sum := floats.LogSumExp(terms) - logZ
	return &Mass{LogSum: runs.Float(sum), Rows: len(terms), Refutes: sum > 1e-6}
}

// Evaluate measures the model on rows of a set, usually test rows. It computes log p(v) with log Z from Model.LogZ.
// Annealing takes its base rates from the training rows. Evaluate refuses a set whose Binarization or
// Standardize is not the model's. progress, which may be nil, is called with the fraction of the annealing done.
func (m *Model) Evaluate(ctx context.Context, set *dataset.Set, rows dataset.Split, a Annealing, progress func(float64)) (Evaluation, error) {
	start := time.Now()
	if err := m.encoding.check(set); err != nil {
		return Evaluation{}, err
	}
	e := Evaluation{Binarization: m.encoding.binarization, DrawSeed: m.seed}
	if m.below != nil {
		e.Samples = a.samples()
	}
	exactly, distinct := m.countable(rows), map[string]float64{}
	counted := m.encoding.standard == nil && m.below == nil && !set.HasGaps() && rows.Lacking() == 0 // whether to sum p(v) over rows
	e, err := e.of(set, rows, func(rows dataset.Split) ([]float64, runs.SampleSize, error) {
		energies, size, err := m.bestFreeEnergy(ctx, rows, exactly, a.samples())
		if err != nil || !counted {
			return energies, size, err
		}
		states, err := m.observe(rows)
		if err != nil {
			return nil, size, err
		}
		key := make([]byte, m.bottom().observed())
		for r, energy := range energies {
			for i := range key {
				key[i] = byte(kernels.Row(states, r)[i])
			}
			distinct[string(key)] = energy
		}
		return energies, size, nil
	}, func() (LogZ, error) { return m.LogZ(ctx, set.Train(), a, progress) }, m.encoding.logScale(), m.baseline)
	if err != nil {
		return Evaluation{}, err
	}
	if counted {
		e.Mass = massOf(distinct, float64(e.LogZ.Value))
	}
	if !set.HasGaps() { // chains begin at training rows
		drift, err := m.Drift(ctx, set.Train())
		if err != nil {
			return e, err
		}
		e.Drift = &drift
	}
	if len(m.rungs) > 0 {
		bridge, err := m.Bridge(ctx, bridgeRounds, nil)
		if err != nil && !errors.Is(err, errShortLadder) {
			return e, err
		}
		blank, energies := blankShare(rows), e.SampleSizes[runs.FreeEnergy.Key]
		if blank > 0 {
			energies = runs.SampleSize{} // the other rows have exact energies
		}
		bridge.LogP = -e.FreeEnergy - bridge.LogZ + blank*(bridge.LogZ-e.LogZ.Value) // blank rows have log p 0 by this log Z too
		bridge.LogPSE = runs.Float(math.Hypot(float64(e.LogPSE), float64((1-blank)*bridge.SE)))
		e.Bridge, e.SampleSizes = &bridge, e.SampleSizes.With(runs.SampleSizes{
			"bridge.log_z": bridge.Size, "bridge.log_p": bridge.Size.Plus(energies).Negative()})
	}
	if e.Classification, err = m.classification(ctx, rows); err != nil {
		return e, err
	}
	if classes := m.parameters.Spec.Classes; classes > 0 {
		e.Diverged = e.Classification != nil && !(float64(e.Classification.LogP) >= labelLimit(classes))
	}
	e.Seconds = time.Since(start).Seconds()
	return e, nil
}

// Of evaluates rows of a set by log p(v) = −F(v) − log Z. All visible units must be Bernoulli units. The function
// energies returns the free energies F(v) of rows, and the bias and the samples of these energies. For comparison, Of also
// computes the free energies of as many training rows.
func (e Evaluation) Of(set *dataset.Set, rows dataset.Split, energies func(dataset.Split) ([]float64, runs.SampleSize, error), logZ func() (LogZ, error)) (Evaluation, error) {
	return e.of(set, rows, energies, logZ, 0, factorized.Bernoulli)
}

// of evaluates rows like Of, for any kind of visible units, with log p(v) = −F(v) − log Z − scale. baseline returns
// log p of rows under a factorised model of the training rows.
func (e Evaluation) of(set *dataset.Set, rows dataset.Split, energies func(dataset.Split) ([]float64, runs.SampleSize, error), logZ func() (LogZ, error), scale float64, baseline func(train, rows dataset.Split) runs.Baseline) (Evaluation, error) {
	start := time.Now()
	own, size, err := energies(rows)
	if err != nil {
		return e, err
	}
	drawn := set.Train().Subset(rows.Rows, e.DrawSeed)
	training, trainingSize, err := energies(drawn)
	if err != nil {
		return e, err
	}
	if e.LogZ, err = logZ(); err != nil {
		return e, err
	}
	settle(own, rows, float64(e.LogZ.Value))
	settle(training, drawn, float64(e.LogZ.Value))
	blank := blankShare(rows)
	e.SampleSizes = sampleSizes(size, trainingSize, e.LogZ, blank)
	e.Split, e.Data, e.LogPErrs = rows.Name, rows.Rows, size.Errs.And(e.LogZ.times(1-blank).Errs).Opposite()
	e.FreeEnergy, e.LogPSE = meanAndError(rows, own)
	e.TrainingFreeEnergy, e.TrainingFreeEnergySE = meanAndError(drawn, training)
	e.LogP = -e.FreeEnergy - e.LogZ.Value - runs.Float(scale)
	e.FreeEnergySE = runs.Float(math.Hypot(float64(e.LogPSE), float64(e.LogZ.times(blank).SE)))
	b := baseline(set.Train(), rows)
	e.BaselineLogP, e.BaselineLogPSE, e.Diverged = runs.Float(b.Factorized.Value), runs.Float(b.Factorized.SE), !(float64(e.LogP) >= b.Limit)
	e.Seconds = time.Since(start).Seconds()
	return e, nil
}

// sampleSizes describes log p = −F(v) − log Z and its terms, given the sample sizes of F(v) of rows and of training rows
// that are not blank, and the share of blank rows. Training rows are not blank if log Z is an estimate.
func sampleSizes(energy, training runs.SampleSize, z LogZ, blank runs.Float) runs.SampleSizes {
	by := runs.SampleSizes{
		runs.LogP.Key: energy.Plus(z.times(1 - blank).SampleSize()).Negative(), runs.LogZ.Key: z.SampleSize(),
		runs.FreeEnergy.Key: energy.Plus(z.times(blank).SampleSize().Negative()), "training_free_energy": training,
	}
	maps.DeleteFunc(by, func(_ string, s runs.SampleSize) bool { return s.Count == 0 })
	if len(by) == 0 {
		return nil // as JSON that omits them is read
	}
	return by
}

// countable reports whether computing the exact F(v) of all rows takes only seconds.
func (m *Model) countable(rows dataset.Split) bool {
	return m.below == nil && m.parameters.posteriorTerms()*float64(rows.Rows) <= 16*cheapTerms
}

// bestFreeEnergy returns F(v) of each row, and its bias and samples. In a belief network, importance samples estimate
// F(v), and it is too high. In other machines it is exact if exactly is true; otherwise mean field makes it too high.
func (m *Model) bestFreeEnergy(ctx context.Context, rows dataset.Split, exactly bool, samples int) (energies []float64, size runs.SampleSize, err error) {
	if err := m.checkDistribution(); err != nil {
		return nil, size, err
	}
	if m.below != nil {
		v, err := m.observe(rows)
		if err != nil {
			return nil, size, err
		}
		return m.beliefFreeEnergies(ctx, v, rows.MeanWeights(), samples)
	}
	if rows.Lacking() > 0 {
		energies, err := m.observedFreeEnergies(ctx, rows)
		return energies, size, err
	}
	states, err := m.states(ctx, rows)
	if err != nil {
		return nil, size, err
	}
	if exactly {
		energies, err = m.parameters.exactFreeEnergies(ctx, states)
		return energies, size, err
	}
	energies, err = m.parameters.freeEnergies(ctx, states)
	return energies, runs.SampleSize{Errs: runs.ErrsHigh}, err
}

// baseline returns log p of rows under a factorised model of the same kind of units.
func (m *Model) baseline(train, rows dataset.Split) runs.Baseline {
	of := m.bottom().Spec
	return of.Visible.aspects().logP(train, rows, of.Categories)
}

// WithRAISE returns the evaluation with the results of RAISE added. rows are some or all rows of the evaluation.
// WithRAISE refuses the same sets as Evaluate.
func (e Evaluation) WithRAISE(ctx context.Context, m *Model, set *dataset.Set, rows dataset.Split, a Annealing, progress func(float64)) (Evaluation, error) {
	start := time.Now()
	if err := m.encoding.check(set); err != nil {
		return e, err
	}
	logs, size, err := m.raise(ctx, set.Train(), rows, a, progress)
	if err != nil {
		return e, err
	}
	energies, _, err := m.bestFreeEnergy(ctx, rows, true, a.samples())
	if err != nil {
		return e, err
	}
	excess := make([]float64, len(logs))
	for d, energy := range energies {
		excess[d] = -energy - float64(e.LogZ.Value) - m.encoding.logScale() - logs[d]
	}
	e.RAISE = &Raised{Data: rows.Rows, Chains: a.chains()}
	e.RAISE.LogP, e.RAISE.LogPSE = meanAndError(rows, logs)
	e.RAISE.Excess, e.RAISE.ExcessSE = meanAndError(rows, excess)
	e.SampleSizes = e.SampleSizes.With(runs.SampleSizes{"raise.log_p": size, "raise.excess": e.SampleSizes[runs.LogP.Key].Plus(size.Negative())})
	e.Seconds += time.Since(start).Seconds()
	return e, nil
}

func meanAndError(rows dataset.Split, values []float64, those ...int) (mean, se runs.Float) {
	e := runs.EstimateOver(rows, values, those...)
	return runs.Float(e.Value), runs.Float(e.SE)
}
