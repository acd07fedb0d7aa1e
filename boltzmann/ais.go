package boltzmann

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Annealing describes how chains move between a model and its base-rate model. In the base-rate model all units
// are independent: visible units have base rates, computed from some rows, and hidden units have the input 0.
type Annealing struct {
	Schedule AnnealingSchedule
	Chains   int // M, the number of chains, or of chains per row in RAISE; 0 means 100
	Samples  int // K, the number of importance samples per row of a belief network; 0 means 100
}

func (a Annealing) chains() int { return cmp.Or(a.Chains, 100) }

func (a Annealing) samples() int { return cmp.Or(a.Samples, 100) }

// check refuses fewer than 1 chain, more chains than counters can tell apart or memory can hold, and schedules
// with too few or too many steps.
func (a Annealing) check(rows int) error {
	chains := float64(rows) * float64(a.chains())
	if chains < 1 || chains > math.MaxUint32 {
		return fmt.Errorf("annealing with %d chains for each of %d rows: give at least 1, and fewer than 2³² in total", a.chains(), rows)
	}
	if err := memory.Check(fmt.Sprintf("%d chains for each of %d rows", a.chains(), rows), 8*chains, "use fewer"); err != nil {
		return err
	}
	return a.Schedule.check()
}

// LogZ is log Z of a model in nats.
type LogZ struct {
	Value runs.Float `json:"log_z"`
	// SE is the standard error, from the spread of the chains' weights: 0 if log Z is exact, NaN for a single
	// chain. It does not cover regions that all chains miss.
	SE runs.Float `json:"log_z_se"`
	// Low and High are the logarithms of Ẑ minus and plus three of its standard errors (Salakhutdinov and
	// Murray 2008). If three standard errors exceed Ẑ, Low is −∞. ReverseAIS estimates 1/Z with a standard
	// error; if three of these exceed 1/Ẑ, High is +∞. For a single chain, both are NaN.
	Low      runs.Float         `json:"log_z_low"`
	High     runs.Float         `json:"log_z_high"`
	Errs     runs.Errs          `json:"log_z_errs"`
	ESS      runs.Float         `json:"ess"`      // effective sample size as a fraction of the chains; NaN if log Z is exact
	Chains   int                `json:"chains"`   // 0 if log Z is exact
	Schedule *AnnealingSchedule `json:"schedule"` // nil if log Z is exact
	Steps    int                `json:"steps"`    // from the base-rate model to the model; 0 if log Z is exact
	// Optimistic reports whether the effective sample size of AIS is below a tenth of the chains, or below 10 chains.
	// Then log Z is too low, and log p too high, by more than the standard error shows.
	Optimistic bool `json:"optimistic"`
	// Moved is Value less the estimate by half of the chains, or NaN for a single chain.
	Moved runs.Float `json:"log_z_moved,omitzero"`
	Each  []float64  `json:"-"` // the estimate by each chain
}

// leastESS is the effective sample size, as a fraction of the chains, below which a few chains dominate an
// estimate.
const leastESS = 0.1

// SampleSize describes the chains behind log Z.
func (z LogZ) SampleSize() runs.SampleSize {
	if z.Chains == 0 {
		return runs.SampleSize{Errs: z.Errs}
	}
	return runs.SampleSize{Errs: z.Errs, Of: "chains", Count: z.Chains, Effective: z.ESS * runs.Float(z.Chains), Moved: z.Moved}
}

// times returns a share of log Z with the same share of its error. It is exact if the share is 0.
func (z LogZ) times(share runs.Float) LogZ {
	if share == 0 {
		return LogZ{}
	}
	z.Value, z.SE, z.Moved = share*z.Value, share*z.SE, share*z.Moved
	return z
}

// String returns log Z. For an estimate, it adds the standard error, or the bound in words if the effective chains are
// few, and describes the chains.
func (z LogZ) String() string {
	size := z.SampleSize()
	switch {
	case z.Errs == runs.Exact || z.Schedule == nil:
		return fmt.Sprintf("log Z %.3f nats, %v", z.Value, z.Errs)
	case size.Few():
		return fmt.Sprintf("log Z %.3f nats%s; schedule %v of %d steps", z.Value, names.Clause(size.String()), z.Schedule, z.Steps)
	}
	return fmt.Sprintf("log Z %.3f ± %.3f nats, %.3f to %.3f within three standard errors, errs %v in expectation; ESS %.1f %% of %s, schedule %v of %d steps%s",
		z.Value, z.SE, z.Low, z.High, z.Errs, 100*z.ESS, names.Count(z.Chains, "chain"), z.Schedule, z.Steps, names.Clause(size.String()))
}

// KnownLogZ returns an exact log Z.
func KnownLogZ(logZ float64) LogZ {
	exact := runs.Float(logZ)
	return LogZ{Value: exact, Low: exact, High: exact, ESS: runs.Float(math.NaN())}
}

// NewLogZ combines the estimates l of log Z, in nats, by chains that followed a schedule. each holds one estimate per
// chain; NewLogZ panics if there are none. With runs.ErrsLow, the mean of e^l estimates Z. With runs.ErrsHigh, the mean
// of e^(−l) estimates 1/Z.
func NewLogZ(each []float64, errs runs.Errs, s AnnealingSchedule, steps int) LogZ {
	sign := 1.0
	if errs == runs.ErrsHigh {
		sign = -1
	}
	logs := floats.ScaleTo(make([]float64, len(each)), sign, each)
	mean, ess, moved := statistics.LogMean(logs)
	_, se := statistics.MeanAndError(len(logs), func(i int) float64 { return math.Exp(logs[i] - mean) })
	z := LogZ{Value: runs.Float(sign * mean), SE: runs.Float(se), Errs: errs, ESS: runs.Float(ess), Chains: len(each), Schedule: &s, Steps: steps, Moved: runs.Float(sign * moved), Each: each}
	low, high := runs.Float(mean+math.Log(max(0, 1-3*se))), runs.Float(mean+math.Log1p(3*se))
	if sign > 0 {
		z.Low, z.High, z.Optimistic = low, high, z.ESS < leastESS || z.SampleSize().Few()
	} else {
		z.Low, z.High = -high, -low
	}
	return z
}

// LogZ returns log Z. It is exact if ExactLogZ can compute it; otherwise AIS estimates it. AIS calls progress,
// unless it is nil, with the fraction of the annealing done.
func (m *Model) LogZ(ctx context.Context, base dataset.Split, a Annealing, progress func(float64)) (LogZ, error) {
	if err := a.check(1); err != nil {
		return LogZ{}, err
	}
	if m.checkEnumerable() != nil {
		return m.AIS(ctx, base, a, progress)
	}
	logZ, err := m.ExactLogZ(ctx)
	return KnownLogZ(logZ), err
}

// AIS estimates log Z by annealed importance sampling (Neal 2001; Salakhutdinov and Murray 2008). Chains start
// with draws from a base-rate model and end at the model. The rows base, usually the training rows, determine
// the base rates. Ẑ is the mean of the chains' weights, and is unbiased under any schedule. So log Ẑ is too low
// in expectation and exceeds log Z + a with a probability below e⁻ᵃ, and the estimated log p(v) is too high in
// expectation. progress, which may be nil, is called with the fraction of the work done.
func (m *Model) AIS(ctx context.Context, base dataset.Split, a Annealing, progress func(float64)) (LogZ, error) {
	p, betas, progress, err := m.annealing(ctx, base, a, progress)
	if err != nil {
		return LogZ{}, err
	}
	w := p.upwards(a.chains(), betas, philox.Key(m.seed), philox.Anneal, progress)
	each := make([]float64, w.chains)
	for i := range each {
		each[i] = p.logZ0
	}
	w.add = func(chain, _ int, ratio float64) { each[chain] += ratio }
	if err := p.anneal(ctx, w); err != nil {
		return LogZ{}, err
	}
	return NewLogZ(each, runs.ErrsLow, a.Schedule, len(betas)-1), nil
}

// upwards returns a walk whose chains start with draws from the base-rate model.
func (p *path) upwards(chains int, betas []float64, key philox.Key, purpose philox.Purpose, progress func(float64)) *walk {
	return &walk{
		chains: chains, samples: chains, betas: betas, key: key, purpose: purpose, progress: progress,
		start: func(_ int, v []float32, c philox.Counter) { p.seen.draw(v, p.base, key, c) },
	}
}

// annealing prepares annealing in either direction. It returns the path from the base-rate model of the rows
// base to the model, the inverse temperatures along the path, and a function that reports progress on the
// remaining work.
func (m *Model) annealing(ctx context.Context, base dataset.Split, a Annealing, progress func(float64)) (*path, []float64, func(float64), error) {
	if err := a.check(1); err != nil {
		return nil, nil, nil, err
	}
	p, err := m.newPath(ctx, base)
	if err != nil {
		return nil, nil, nil, err
	}
	betas, progress, err := p.temperatures(ctx, a.Schedule, a.chains(), philox.Key(m.seed), progress)
	return p, betas, progress, err
}

// temperatures returns the inverse temperatures of a schedule, and a function that reports progress on the
// remaining work. For an adaptive schedule it first runs pilot chains. chains is the number of chains that anneal
// afterwards.
func (p *path) temperatures(ctx context.Context, s AnnealingSchedule, chains int, key philox.Key, progress func(float64)) ([]float64, func(float64), error) {
	share := pilotChains / float64(pilotChains+chains*pilot)
	betas, err := s.Temperatures(func(chains int, betas []float64, add func(chain, step int, ratio float64)) error {
		w := p.upwards(chains, betas, key, philox.Pilot, stretched(progress, 0, share))
		w.add, progress = add, stretched(progress, share, 1)
		return p.anneal(ctx, w)
	})
	return betas, progress, err
}

// Temperatures returns the inverse temperatures of a schedule, from 0 to 1. For an adaptive schedule it first calls
// anneal, which moves a number of chains along betas, and calls add with the change of each chain's log weight in each
// step. Steps are counted from 1, and a step 0 is ignored.
func (s AnnealingSchedule) Temperatures(anneal func(chains int, betas []float64, add func(chain, step int, ratio float64)) error) ([]float64, error) {
	if err := s.check(); err != nil || s.spacing != adaptive {
		return s.temperatures(), err
	}
	betas := Even(s.steps / pilot).temperatures()
	ratios, deviations := make([][]float64, len(betas)-1), make([]float64, len(betas)-1)
	for k := range ratios {
		ratios[k] = make([]float64, pilotChains)
	}
	if err := anneal(pilotChains, betas, func(chain, step int, ratio float64) {
		if step > 0 {
			ratios[step-1][chain] = ratio
		}
	}); err != nil {
		return nil, err
	}
	for k, of := range ratios {
		deviations[k] = stat.PopStdDev(of, nil)
	}
	return atEqualDistances(betas, deviations, s.steps), nil
}

// stretched returns a function that reports progress on a part of the work. The part lies between the fractions
// from and to of the whole. stretched returns nil if progress is nil.
func stretched(progress func(float64), from, to float64) func(float64) {
	if progress == nil {
		return nil
	}
	return func(fraction float64) { progress(from + (to-from)*fraction) }
}

// atEqualDistances returns steps+1 inverse temperatures at equal distances. lengths[k] is an estimate of the
// distance from betas[k] to betas[k+1]. To skip no part of the path, it adds a tenth of the mean length to each.
func atEqualDistances(betas, lengths []float64, steps int) []float64 {
	extra := floats.Sum(lengths) / float64(len(lengths)) / 10
	if extra == 0 { // all distributions are the same
		extra = 1
	}
	reached := make([]float64, len(betas))
	for k, length := range lengths {
		reached[k+1] = reached[k] + length + extra
	}
	divided, k := make([]float64, steps+1), 0
	for i := range steps {
		distance := reached[len(lengths)] * float64(i) / float64(steps)
		for reached[k+1] < distance {
			k++
		}
		divided[i] = betas[k] + (betas[k+1]-betas[k])*(distance-reached[k])/(reached[k+1]-reached[k])
	}
	divided[steps] = 1
	return divided
}
