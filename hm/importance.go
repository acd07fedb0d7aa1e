package hm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// weightData is the largest number of data whose importance weights are pooled.
const weightData = 100

// ImportanceWeights draws samples h ~ q(h|x) for 100 rows of a split, or for all if there are fewer,
// and returns their importance weights (BiHM thesis 2016, Fig. 3.11). The model's seed chooses the
// rows; samples is the number of samples per row.
func (m *Model) ImportanceWeights(ctx context.Context, split dataset.Split, samples int) (ImportanceWeights, error) {
	_, data, err := m.part(split, weightData, samples)
	if err != nil {
		return ImportanceWeights{}, err
	}
	model, err := m.room(float64(data.Rows)*float64(samples), "importance weights", 3*8)
	if err != nil {
		return ImportanceWeights{}, err
	}
	logs, err := model.LogWeights(ctx, data, samples, m.seed)
	if err != nil {
		return ImportanceWeights{}, err
	}
	w := ImportanceWeights{Samples: samples, Data: data.Rows}
	for d := range data.Rows {
		ratios := logs[d*samples : (d+1)*samples]
		var sum engine.WeightSum
		for _, l := range ratios {
			sum.Add(l)
		}
		likelihood := sum.Likelihood()
		w.ESS = append(w.ESS, likelihood.ESS)
		w.ESSStar = append(w.ESSStar, likelihood.ESSStar)
		for _, l := range ratios {
			w.LogWeights = append(w.LogWeights, l-likelihood.LogP)
			w.LogWeightsStar = append(w.LogWeightsStar, (l-likelihood.LogPTildeStar)/2)
		}
	}
	return w, nil
}

// DreamWeights draws n dreams x,h ~ p and returns their importance weights as proposals for p*(x,h)
// (BiHM thesis 2016, Fig. 3.11). For each dream, it estimates √p̃*(x) from samples h' ~ q(h'|x), whose
// number is inner.
func (m *Model) DreamWeights(ctx context.Context, n, inner int) (DreamWeights, error) {
	if n < 1 || inner < 1 || n > math.MaxUint32 || inner > math.MaxUint32 {
		return DreamWeights{}, fmt.Errorf("weights of %d dreams with %d inner samples: use at least 1 of each, and fewer than 2³²", n, inner)
	}
	model, err := m.room(float64(n), "dreams", 2*8)
	if err != nil {
		return DreamWeights{}, err
	}
	// (BiHM thesis 2016, 3.11) averages these weights, √(p̃*(x) q(h|x)/p(x,h)), to estimate Z².
	logs, err := model.LogZ2(ctx, 0, n, inner, m.seed)
	if err != nil {
		return DreamWeights{}, err
	}
	var sum engine.WeightSum
	for _, l := range logs {
		sum.Add(l)
	}
	w := DreamWeights{Inner: inner, ESS: sum.Likelihood().ESS}
	for _, l := range logs {
		w.LogWeights = append(w.LogWeights, l-sum.Likelihood().LogP)
	}
	return w, nil
}

// Convergence estimates log p and log p̃* of a split like Evaluate (BiHM thesis 2016, 3.8), once for
// each of several numbers of samples per row. All estimates share their samples: an estimate with k
// samples uses the first k.
func (m *Model) Convergence(ctx context.Context, split dataset.Split, samples ...int) (Convergence, error) {
	c := Convergence{Name: m.experiment.Method.String(), Samples: samples}
	if len(samples) == 0 {
		return c, errors.New("no numbers of samples: give at least one")
	}
	most := 0
	for _, k := range samples {
		if k < 1 {
			return c, fmt.Errorf("%d samples per row: use at least 1", k)
		}
		most = max(most, k)
	}
	data, err := m.data(split, most)
	if err != nil {
		return c, err
	}
	model, err := m.room(float64(most), "importance weights of a row", 8)
	if err != nil {
		return c, err
	}
	estimates := make([][]engine.Likelihood, len(samples)) // per number of samples and row
	rows := max(1, (1<<22)/most)                           // number of data whose weights are in memory at the same time
	for first := 0; first < data.Rows; first += rows {
		part := data.Part(first, min(rows, data.Rows-first))
		logs, err := model.LogWeights(ctx, part, most, m.seed)
		if err != nil {
			return c, err
		}
		for d := range part.Rows {
			var sum engine.WeightSum
			for drawn, l := range logs[d*most : (d+1)*most] {
				sum.Add(l)
				for i, k := range samples {
					if k == drawn+1 {
						estimates[i] = append(estimates[i], sum.Likelihood())
					}
				}
			}
		}
	}
	for _, likelihoods := range estimates {
		e := evaluationOf(likelihoods, split, 0, 0)
		c.LogP, c.LogPSE = append(c.LogP, e.LogP), append(c.LogPSE, float64(e.LogPSE))
		c.LogPTildeStar, c.LogPTildeStarSE = append(c.LogPTildeStar, e.LogPTildeStar), append(c.LogPTildeStarSE, float64(e.LogPTildeStarSE))
	}
	return c, nil
}

// WithLogZ2 adds log p*(x) = log p̃*(x) − log Z², like Evaluation.WithLogZ2. The error of log Z² is
// the same for all numbers of samples, so it shifts the whole curve of log p*(x).
func (c Convergence) WithLogZ2(z LogZ2) Convergence {
	c.LogPStar, c.LogPStarSE = nil, nil
	for i, tilde := range c.LogPTildeStar {
		c.LogPStar = append(c.LogPStar, tilde-z.Value)
		c.LogPStarSE = append(c.LogPStarSE, math.Hypot(c.LogPTildeStarSE[i], z.SE))
	}
	return c
}

// logZ2Repeats is the number of independent repeats of an estimate of log Z².
const logZ2Repeats = 10

// LogZ2 estimates log Z² from outer samples x,h ~ p, and for each of them from inner samples h' ~
// q(h'|x) (BiHM thesis 2016, 3.11). It divides the outer samples equally among ten independent repeats,
// and draws no remainder. The spread of the repeats shows how far the estimate has converged.
func (m *Model) LogZ2(ctx context.Context, outer, inner int) (LogZ2, error) {
	if outer < logZ2Repeats || inner < 1 || outer > math.MaxUint32 || inner > math.MaxUint32 {
		return LogZ2{}, fmt.Errorf("log Z² from %d outer and %d inner samples: use at least %d and 1, and fewer than 2³²", outer, inner, logZ2Repeats)
	}
	model, err := m.engine.model()
	if err != nil {
		return LogZ2{}, err
	}
	each := outer / logZ2Repeats // the remainder is not drawn
	z := LogZ2{Inner: inner, Outer: milestones(each), Repeats: make([][]float64, logZ2Repeats)}
	var all, half engine.WeightSum
	for r := range z.Repeats {
		var sum engine.WeightSum
		first, next := 0, 0
		for first < each {
			n := min(1<<16, each-first)
			logs, err := model.LogZ2(ctx, r*each+first, n, inner, m.seed)
			if err != nil {
				return z, err
			}
			for i, l := range logs {
				sum.Add(l)
				all.Add(l)
				if r < logZ2Repeats/2 {
					half.Add(l)
				}
				if first+i+1 == z.Outer[next] {
					z.Repeats[r] = append(z.Repeats[r], sum.Likelihood().LogP)
					next++
				}
			}
			first += n
		}
	}
	// The standard error of log Z² follows from the delta method: it is the relative standard error
	// of the mean of the terms. The ESS contains their second moment.
	total := all.Likelihood()
	z.Value = total.LogP
	z.SE = math.Sqrt(max(0, 1/total.ESS-1) / float64(all.Count))
	z.Size = runs.SampleSize{Errs: runs.ErrsLow, Of: "dreams", Count: all.Count, Effective: runs.Float(total.ESS * float64(all.Count)), Moved: runs.Float(total.LogP - half.Likelihood().LogP)}
	return z, nil
}

// milestones returns increasing numbers from 1 up to and including n, about ten per decade.
func milestones(n int) []int {
	var marks []int
	for x := 1.0; int(x) < n; x *= math.Pow(10, 0.1) {
		if k := int(x); len(marks) == 0 || k > marks[len(marks)-1] {
			marks = append(marks, k)
		}
	}
	return append(marks, n)
}

// ImportanceWeights holds the importance weights of samples of the recognition network, pooled over
// data.
type ImportanceWeights struct {
	Samples int // K, samples per row
	Data    int // number of data
	// LogWeights holds ln ω − ln mean ω in nats, where ω = p(x,h)/q(h|x) and the mean is over the K
	// samples of a row. It has Data × Samples values; the values of a row are next to each other.
	LogWeights []float64
	// LogWeightsStar holds the same for p*(h|x), with ω = √(p(x,h)/q(h|x)).
	LogWeightsStar []float64
	// ESS and ESSStar are the effective sample sizes of each row, as fractions of K.
	ESS, ESSStar []float64
}

// DreamWeights holds the importance weights of dreams x,h ~ p as proposals for p*(x,h).
type DreamWeights struct {
	Inner int // number of samples h' ~ q(h'|x) per dream, from which √p̃*(x) is estimated
	// LogWeights holds ln ω − ln mean ω of each dream in nats, where ω = √(p̃*(x) q(h|x)/p(x,h)).
	LogWeights []float64
	// ESS is the effective sample size, a fraction of the dreams. With J inner samples and many
	// dreams it tends to Z⁴/(1/J + (1−1/J) Z²), and so to Z² as J grows: the square of Z measures
	// how far p is from p*.
	ESS float64
}

// LogZ2 is the estimate of log Z² as its samples accumulate (BiHM thesis 2016, 3.11).
type LogZ2 struct {
	Inner   int         // number of inner samples h' ~ q(h'|x) per outer sample
	Outer   []int       // numbers of outer samples x,h ~ p at which the estimate was recorded
	Repeats [][]float64 // for each independent repeat, log Z² after Outer[i] samples, in nats
	Value   float64     // estimate from all samples of all repeats
	SE      float64     // its standard error
	// Size describes the dreams. If few are effective, Value is a lower bound in expectation, and SE means nothing.
	Size runs.SampleSize
}

// String returns log Z², its standard error unless few samples are effective, and the numbers of samples.
func (z LogZ2) String() string {
	text := fmt.Sprintf("log Z² %.4f ± %.4f nats", runs.Float(z.Value), runs.Float(z.SE))
	if z.Size.Few() {
		text = fmt.Sprintf("log Z² %.4f nats", runs.Float(z.Value))
	}
	text += names.Clause(z.Size.String())
	if n := len(z.Outer); n > 0 {
		text += fmt.Sprintf(", %s of %s with %s each", names.Count(len(z.Repeats), "repeat"), names.Count(z.Outer[n-1], "outer sample"), names.Count(z.Inner, "inner sample"))
	}
	return text
}

// Convergence holds estimates of log-likelihoods for several numbers of importance samples. The i-th
// value of each slice belongs to Samples[i]: a mean over the data, or its standard error, in nats.
type Convergence struct {
	Name    string
	Samples []int // K, samples per row

	LogP, LogPSE                   []float64 // estimates of log p(x)
	LogPTildeStar, LogPTildeStarSE []float64 // estimates of log p̃*(x) = log Z² + log p*(x)
	LogPStar, LogPStarSE           []float64 // estimates of log p*(x), which are not bounds; nil before WithLogZ2
}
