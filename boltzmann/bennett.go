package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Bridged is an estimate of log Z along a ladder of machines, from a machine without weights to the model.
type Bridged struct {
	LogZ runs.Float `json:"log_z"` // nats
	SE   runs.Float `json:"log_z_se"`
	// LogP is the mean of log p(v) over the rows of an evaluation, computed with this log Z. Its standard error
	// LogPSE combines the spread over the rows with the error of log Z.
	LogP   runs.Float `json:"log_p"`
	LogPSE runs.Float `json:"log_p_se"`
	// Overlap is the lowest acceptance probability of swaps between neighbouring machines.
	Overlap runs.Float `json:"overlap"`
	Rungs   int        `json:"rungs"`   // machines below the model
	Samples int        `json:"samples"` // per machine
	// Size describes the chains, with the effective number for the pair of neighbours to which the fewest contribute.
	Size runs.SampleSize `json:"-"`
}

// String returns log Z with its standard error, unless the effective chains are few, and describes the ladder.
func (b Bridged) String() string {
	spread := fmt.Sprintf(" ± %.3f", b.SE)
	if b.Size.Few() {
		spread = ""
	}
	return fmt.Sprintf("log Z %.3f%s nats by Bennett's ratio along %s, least acceptance of a swap %.2f, %d samples of each%s", b.LogZ, spread, names.Count(b.Rungs, "rung"), b.Overlap, b.Samples, names.Clause(b.Size.String()))
}

// bridgeRounds is the number of rounds in an evaluation.
const bridgeRounds = 30

// errShortLadder reports that two neighbouring machines hardly overlap.
var errShortLadder = errors.New("the ladder is too short")

// leastOverlap is the acceptance probability of swaps below which Bridge cannot estimate the ratio of Z between two
// neighbouring machines.
const leastOverlap = 0.01

// Bridge estimates log Z of a model that was trained by PTT. In each round, the chains on every rung of its ladder
// take a Gibbs sweep, except that the lowest rung draws independent samples. Then every second pair of neighbouring
// rungs swaps samples. After the last round, Bennett's acceptance ratio (Bennett 1976) estimates the ratio of Z
// between neighbours; Z of the lowest rung is exact. The standard error comes from the spread over chains, and is
// NaN for a single chain. It does not cover regions that all chains miss. If neighbours hardly overlap, Bridge
// returns their overlap and an error. progress, which may be nil, is called with the fraction of the work done.
func (m *Model) Bridge(ctx context.Context, rounds int, progress func(float64)) (Bridged, error) {
	switch {
	case len(m.rungs) == 0:
		return Bridged{}, errors.New("the model has no ladder: only runs of the algorithm ptt have one; estimate log Z by AIS")
	case rounds < 1:
		return Bridged{}, fmt.Errorf("%d rounds: give at least 1", rounds)
	}
	rungs := m.ladder()
	pairs := make([]pair, len(rungs)-1)
	for round := range rounds {
		if err := ctx.Err(); err != nil {
			return Bridged{}, err
		}
		at := place{key: philox.Key(m.seed), purpose: philox.Bridge, step: uint32(round)}
		for k, r := range rungs {
			if at.sample = uint32(k); k == 0 {
				r.draw(at)
			} else {
				r.sweep(1, at)
			}
		}
		for k := range pairs {
			low, high := rungs[k], rungs[k+1]
			u, v := over(low.of, high.of, low.reservoir), over(low.of, high.of, high.reservoir)
			pairs[k].add(u, v)
			if k%2 == round%2 {
				exchange(low.reservoir, high.reservoir, u, v, place{key: at.key, purpose: philox.Swap, sample: uint32(k + 1), step: math.MaxUint32 - at.step}) // beyond the steps of training
			}
		}
		if progress != nil {
			progress(float64(round+1) / float64(rounds))
		}
	}
	b, foot := Bridged{Overlap: 1, Rungs: len(m.rungs), Samples: rounds * rungs[0].reservoir.Rows}, rungs[0].of
	logZ := foot.seen.partition(kernels.Doubles(foot.VisibleBiases)) + foot.latent.partition(kernels.Doubles(foot.HiddenBiases))
	deviations := make([]float64, m.chains.Rows)
	b.Size = runs.SampleSize{Errs: runs.ErrsEither, Of: "chains", Count: len(deviations), Effective: runs.Float(len(deviations)), Moved: runs.Float(math.NaN())}
	for k, p := range pairs {
		overlap := p.accepted / float64(rounds)
		if b.Overlap = min(b.Overlap, runs.Float(overlap)); overlap < leastOverlap {
			b.LogZ, b.SE = runs.Float(math.NaN()), runs.Float(math.NaN())
			return b, fmt.Errorf("%w: swaps between machine %d of %d and the next are accepted with the probability %.2g; train with a higher acceptance or more rungs, or at a lower learning rate", errShortLadder, k+1, len(pairs), overlap)
		}
		ratio, effective := p.ratio(deviations)
		logZ += ratio
		b.Size.Effective = min(b.Size.Effective, runs.Float(effective))
	}
	b.LogZ, b.SE = runs.Float(logZ), runs.Float(stat.StdDev(deviations, nil)/math.Sqrt(float64(len(deviations))))
	return b, nil
}

// ladder returns copies of the rungs. Above them it adds the model, with visible states drawn from its chains.
func (m *Model) ladder() []rung {
	var rungs []rung
	for _, r := range m.rungs {
		rungs = append(rungs, rung{r.of, kernels.Clone(r.reservoir)})
	}
	w, c := newProducts(m.parameters), newChains(m.chains.Rows, m.parameters)
	w.downDrawn(c.visibleInputs, m.chains)
	place{key: philox.Key(m.seed), purpose: philox.Bridge, sample: uint32(len(rungs)), step: math.MaxUint32}.draw(w.seen, c.visible, c.visibleInputs)
	return append(rungs, rung{w, c.visible})
}

// pair holds u, as over returns it, for the samples of two neighbouring machines, round after round.
type pair struct {
	lower, upper []float64
	accepted     float64 // mean acceptance, summed over rounds
}

func (p *pair) add(lower, upper []float64) {
	p.lower, p.upper = append(p.lower, lower...), append(p.upper, upper...)
	for r := range lower {
		p.accepted += acceptance(lower[r], upper[r]) / float64(len(lower))
	}
}

// ratio returns Δ, log Z of the upper machine minus log Z of the lower one. With equal numbers of samples, Δ solves
//
//	Σ σ(u − Δ) over samples of the lower = Σ σ(Δ − u) over samples of the upper
//
// (Bennett 1976). To errors, which has one entry per chain, ratio adds the chain's first-order contribution to the
// error of Δ: the left sum minus the right sum over the samples of the chain, divided by the mean of the left sum
// over chains. Samples swap only within a chain. So different chains are independent, although the machines and
// rounds of one chain are not. ratio also returns the effective number of chains in the sum to which fewer contribute.
func (p *pair) ratio(errors []float64) (Δ, effective float64) {
	surplus := func(Δ float64) (sum float64) {
		for k, u := range p.lower {
			sum += statistics.Sigmoid(u-Δ) - statistics.Sigmoid(Δ-p.upper[k])
		}
		return sum
	}
	low, high := min(floats.Min(p.lower), floats.Min(p.upper)), max(floats.Max(p.lower), floats.Max(p.upper))
	for range 60 {
		if Δ = (low + high) / 2; surplus(Δ) > 0 {
			low = Δ
		} else {
			high = Δ
		}
	}
	n := len(errors)
	lower, upper := make([]float64, n), make([]float64, n)
	for k, u := range p.lower {
		lower[k%n] += statistics.Sigmoid(u - Δ)
		upper[k%n] += statistics.Sigmoid(Δ - p.upper[k])
	}
	total := floats.Sum(lower)
	for chain := range errors {
		errors[chain] += (lower[chain] - upper[chain]) / total * float64(n)
	}
	return Δ, total * total / max(floats.Dot(lower, lower), floats.Dot(upper, upper))
}
