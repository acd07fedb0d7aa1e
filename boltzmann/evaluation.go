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
	"github.com/helmholtz-go/helmholtz/internal/factorized"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Evaluation holds the measures of a model on rows: means over the rows in nats, with standard errors over the
// rows, which are NaN for a single row. Stochastic binarisation draws each row once, from the seed.
type Evaluation struct {
	// LogP is log p(v) = −F(v) − log Z. For Gaussian units it is the log-density of grey values between 0 and
	// 1; a label is summed out. Its standard error leaves out the error of log Z, which all rows share.
	LogP   runs.Float `json:"log_p"`
	LogPSE runs.Float `json:"log_p_se"`
	// LogPErrs is exact, or high if AIS estimates log Z, or low if F(v) comes from mean field or importance
	// samples, or either if both hold; then LogP is an estimate and no bound.
	LogPErrs Errs `json:"log_p_errs"`
	// Samples is the number of importance samples for each row of a belief network, and 0 for other models.
	Samples int `json:"samples"`
	// LogZ is log Z of the model. Its fields Value, SE, Low, High, Errs, ESS, Chains, Schedule, Steps and Each
	// describe log Z and the chains of AIS, not log p.
	LogZ
	// FreeEnergy is F(v). TrainingFreeEnergy is F(v) of the same number of training rows, drawn from the
	// seed; it is far lower if the model has memorised the training rows. In a deep machine both are
	// variational, unless the hidden units are few enough to sum out.
	FreeEnergy           runs.Float `json:"free_energy"`
	FreeEnergySE         runs.Float `json:"free_energy_se"`
	TrainingFreeEnergy   runs.Float `json:"training_free_energy"`
	TrainingFreeEnergySE runs.Float `json:"training_free_energy_se"`
	// Mass is the sum of p(v) over distinct rows, or nil for densities and belief networks.
	Mass *Mass `json:"mass,omitempty"`
	// Drift measures how far long chains move away from training rows.
	Drift *Drift `json:"drift,omitempty"`
	// Bridge is log Z estimated along the ladder of a ptt run, or nil for other runs.
	Bridge *Bridged `json:"bridge,omitempty"`
	// RAISE is the bound on log p(v) by reverse annealing, or nil if it was not requested.
	RAISE *Raised `json:"raise,omitempty"`
	// Classification measures p(y|v) as a classifier. It is nil if the machine or the rows have no labels.
	Classification *Classification `json:"classification,omitempty"`
	// BaselineLogP is log p(v) of a factorised model of the training rows. Diverged reports whether log p(v) of
	// the model is far worse. A machine with labels need not learn p(v): for it, Diverged reports whether log
	// p(y|v) is far worse than a guess.
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
	LogP   runs.Float `json:"log_p"` // at most the mean of log p_ann(v), in expectation
	LogPSE runs.Float `json:"log_p_se"`
	// Excess is the mean of log p(v) from log Z, minus LogP, over the same rows.
	Excess   runs.Float `json:"excess"`
	ExcessSE runs.Float `json:"excess_se"`
	Data     int        `json:"data"`
	Chains   int        `json:"chains"` // for each row
}

// Mass is the sum of the estimated p(v) over the distinct rows of an evaluation, including its training rows.
// It is at most 1 if log Z is right.
type Mass struct {
	LogSum  runs.Float `json:"log_sum"` // nats
	Rows    int        `json:"rows"`
	Refutes bool       `json:"refutes"` // the sum is more than 1, and log Z too low
}

// massOf sums p(v) over distinct rows, given their free energies.
func massOf(energies map[string]float64, logZ float64) *Mass {
	terms := slices.Collect(maps.Values(energies))
	slices.Sort(terms) // maps have no order
	floats.Scale(-1, terms)
	sum := floats.LogSumExp(terms) - logZ
	return &Mass{LogSum: runs.Float(sum), Rows: len(terms), Refutes: sum > 1e-6}
}

// Evaluate measures the model on rows of a set, usually test rows. LogZ estimates log Z from the base rates of
// the training rows, and log p(v) follows from it. Evaluate refuses a set whose grey values the model rounds or
// draws differently. progress, which may be nil, is called with the fraction of the annealing done.
func (m *Model) Evaluate(ctx context.Context, set *dataset.Set, rows dataset.Split, a Annealing, progress func(float64)) (Evaluation, error) {
	start := time.Now()
	if err := set.CheckBinarization(m.encoding.binarization); err != nil {
		return Evaluation{}, err
	}
	e := Evaluation{Binarization: m.encoding.binarization, DrawSeed: m.seed}
	if m.below != nil {
		e.Samples = a.samples()
	}
	exactly, distinct := m.countable(rows), map[string]float64{}
	counted := m.encoding.standard == nil && m.below == nil // whether F(v) gives the probabilities of rows
	e, err := e.Of(set, rows, func(rows dataset.Split) ([]float64, Errs, error) {
		energies, errs, err := m.bestFreeEnergy(ctx, rows, exactly, a.samples())
		if err != nil || !counted {
			return energies, errs, err
		}
		states, err := m.observe(rows)
		if err != nil {
			return nil, errs, err
		}
		key := make([]byte, m.bottom().observed())
		for r, energy := range energies {
			for i := range key {
				key[i] = byte(kernels.Row(states, r)[i])
			}
			distinct[string(key)] = energy
		}
		return energies, errs, nil
	}, func() (LogZ, error) { return m.LogZ(ctx, set.Train(), a, progress) }, m.encoding.logScale(), m.baseline)
	if err != nil {
		return Evaluation{}, err
	}
	if counted {
		e.Mass = massOf(distinct, float64(e.LogZ.Value))
	}
	drift, err := m.Drift(ctx, set.Train())
	if err != nil {
		return e, err
	}
	e.Drift = &drift
	if len(m.rungs) > 0 {
		bridge, err := m.Bridge(ctx, bridgeRounds, nil)
		if err != nil && !errors.Is(err, errShortLadder) {
			return e, err
		}
		bridge.LogP, bridge.LogPSE = -e.FreeEnergy-bridge.LogZ, runs.Float(math.Hypot(float64(e.FreeEnergySE), float64(bridge.SE)))
		e.Bridge = &bridge
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

// Of evaluates rows of a set: log p(v) = −F(v) − log Z − scale. energies returns free energies and their bias;
// baseline returns log p of rows under a factorised model of the training rows. For comparison, Of also
// evaluates the same number of training rows.
func (e Evaluation) Of(set *dataset.Set, rows dataset.Split, energies func(dataset.Split) ([]float64, Errs, error), logZ func() (LogZ, error), scale float64, baseline func(train, rows dataset.Split) factorized.Line) (Evaluation, error) {
	start := time.Now()
	own, errs, err := energies(rows)
	if err != nil {
		return e, err
	}
	training, _, err := energies(set.Train().Subset(rows.Rows, e.DrawSeed))
	if err != nil {
		return e, err
	}
	if e.LogZ, err = logZ(); err != nil {
		return e, err
	}
	e.Split, e.Data, e.LogPErrs = rows.Name, rows.Rows, errs.and(e.LogZ.Errs).opposite()
	e.FreeEnergy, e.FreeEnergySE = meanAndError(own)
	e.TrainingFreeEnergy, e.TrainingFreeEnergySE = meanAndError(training)
	e.LogP, e.LogPSE = -e.FreeEnergy-e.LogZ.Value-runs.Float(scale), e.FreeEnergySE
	line := baseline(set.Train(), rows)
	e.BaselineLogP, e.BaselineLogPSE, e.Diverged = runs.Float(line.LogP), runs.Float(line.SE), !(float64(e.LogP) >= line.Limit)
	e.Seconds = time.Since(start).Seconds()
	return e, nil
}

// countable reports whether the exact F(v) of all rows takes only seconds.
func (m *Model) countable(rows dataset.Split) bool {
	return m.below == nil && m.parameters.posteriorTerms()*float64(rows.Rows) <= 16*cheapTerms
}

// bestFreeEnergy returns F(v) of each row: exact if exactly is true, otherwise too high, by mean field or, for
// a belief network, by importance samples.
func (m *Model) bestFreeEnergy(ctx context.Context, rows dataset.Split, exactly bool, samples int) ([]float64, Errs, error) {
	if err := m.checkDistribution(); err != nil {
		return nil, Exact, err
	}
	if m.below != nil {
		v, err := m.observe(rows)
		if err != nil {
			return nil, Exact, err
		}
		energies, err := m.beliefFreeEnergies(ctx, v, samples)
		return energies, ErrsHigh, err
	}
	states, err := m.states(ctx, rows)
	if err != nil {
		return nil, Exact, err
	}
	p := m.parameters
	if exactly {
		energies, err := p.exactFreeEnergies(ctx, states)
		return energies, Exact, err
	}
	energies, err := p.freeEnergies(ctx, states)
	return energies, ErrsHigh, err
}

// baseline returns log p of rows under a factorised model of the same kind of units.
func (m *Model) baseline(train, rows dataset.Split) factorized.Line {
	of := m.bottom().Spec
	return of.Visible.aspects().line(train, rows, of.Categories)
}

// WithRAISE adds the results of RAISE on rows, which are some or all rows of the evaluation. It refuses the
// same sets as Evaluate.
func (e Evaluation) WithRAISE(ctx context.Context, m *Model, set *dataset.Set, rows dataset.Split, a Annealing, progress func(float64)) (Evaluation, error) {
	start := time.Now()
	if err := set.CheckBinarization(m.encoding.binarization); err != nil {
		return e, err
	}
	logs, err := m.RAISE(ctx, set.Train(), rows, a, progress)
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
	e.RAISE.LogP, e.RAISE.LogPSE = meanAndError(logs)
	e.RAISE.Excess, e.RAISE.ExcessSE = meanAndError(excess)
	e.Seconds += time.Since(start).Seconds()
	return e, nil
}

func meanAndError(values []float64) (mean, se runs.Float) {
	m, s := statistics.MeanAndError(len(values), func(i int) float64 { return values[i] })
	return runs.Float(m), runs.Float(s)
}
