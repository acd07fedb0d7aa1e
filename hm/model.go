package hm

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Model is a trained machine. Its methods do not change it. Methods that draw random numbers draw the
// same numbers in each call; WithSeed returns a model that draws others. Methods that take a
// dataset.Split binarise its rows as training did, whatever binarisation the split's set has. They refuse rows
// of real numbers if training had none, and the reverse.
type Model struct {
	experiment Experiment
	shape      dataset.Shape // of the visible units
	parameters *engine.Parameters
	engine     *evaluator
	seed       uint64
}

// evaluator holds the model in the form of the backend. It opens the backend when the model is first
// used, so that inspecting a run needs no device.
type evaluator struct {
	mutex      sync.Mutex
	parameters *engine.Parameters
	arithmetic engine.Arithmetic
	opened     engine.Model
	by         backend // the backend that opens the model; the current one if it has no name
}

func (e *evaluator) model() (engine.Model, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.opened != nil {
		return e.opened, nil
	}
	b := e.by
	if b.name == "" {
		var err error
		if b, err = openBackend(); err != nil {
			return nil, err
		}
	}
	m, err := b.NewModel(e.parameters, e.arithmetic)
	if err == nil {
		e.opened, e.by = m, b
	}
	return m, err
}

func (e *evaluator) chains() (engine.Chains, error) {
	m, err := e.model()
	if err != nil {
		return nil, err
	}
	chains, ok := m.(engine.Chains)
	if !ok {
		return nil, &engine.Unsupported{Engine: e.by.name, Feature: engine.GibbsChains}
	}
	return chains, nil
}

// WithSeed returns the same model with another seed for its draws. By default they use the seed of
// training; [runs.Comparison], [Measurement] and the command line use seed 1.
func (m *Model) WithSeed(seed uint64) *Model {
	c := *m
	c.seed = seed
	return &c
}

// String returns the layers, from the data upward, and the method that trained them.
func (m *Model) String() string {
	a := m.Architecture()
	return fmt.Sprintf("a machine of %s units with %d parameters, trained by %v",
		names.Layers(a.Units), a.Size(), m.experiment)
}

// Architecture returns the model's layers of units, the visible one first.
func (m *Model) Architecture() engine.Architecture { return m.parameters.Architecture }

// Parameters returns a copy of the parameters of both networks, which hm/engine/oracle can
// enumerate for a small machine.
func (m *Model) Parameters() *engine.Parameters { return m.parameters.Clone() }

// Evaluation holds the importance-sampled estimates for a model on data: means over the data, each with
// its standard error over the data. Log-likelihoods are in nats. A nil field was not computed, or does
// not exist for the model.
type Evaluation struct {
	LogP            float64     `json:"log_p"` // estimate of log p(x)
	LogPSE          runs.Float  `json:"log_p_se"`
	Bound           float64     `json:"bound"` // lower bound of log p(x), E_q[log p(x,h) − log q(h|x)]
	BoundSE         runs.Float  `json:"bound_se"`
	LogPTildeStar   float64     `json:"log_p_tilde_star"` // estimate of log p̃*(x) = log Z² + log p*(x)
	LogPTildeStarSE runs.Float  `json:"log_p_tilde_star_se"`
	LogZ2           *float64    `json:"log_z2"` // estimate of log Z²
	LogZ2SE         *runs.Float `json:"log_z2_se"`
	LogPStar        *float64    `json:"log_p_star"` // estimate of log p*(x); no bound
	LogPStarSE      *runs.Float `json:"log_p_star_se"`
	ESS             float64     `json:"ess"` // effective sample size of q(h|x) for p(h|x), a fraction of the samples
	ESSSE           runs.Float  `json:"ess_se"`
	ESSStar         float64     `json:"ess_star"` // effective sample size of q(h|x) for p*(h|x)
	ESSStarSE       runs.Float  `json:"ess_star_se"`
	// Classification reports how well p*(y|x) predicts labels, for machines with a label.
	Classification *Classification `json:"classification,omitempty"`
	KLExact        *float64        `json:"kl_exact"` // KL(p_D‖p) by enumeration, for machines small enough
	// BaselineLogP is log p(x) under a factorised model of the training rows (see
	// Experiment.Baseline). Diverged reports whether the machine's log p(x) is far worse.
	BaselineLogP   *float64    `json:"baseline_log_p"`
	BaselineLogPSE *runs.Float `json:"baseline_log_p_se"`
	Diverged       *bool       `json:"diverged"`
	// SampleSizes describes the samples behind the estimates, by key. If they are few, the estimate is a bound, and its
	// standard error means nothing.
	SampleSizes runs.SampleSizes `json:"sample_size,omitempty"`
	Samples     int              `json:"samples"` // importance samples per row
	Data        int              `json:"data"`
	Seconds     float64          `json:"seconds"`
	Missing     int              `json:"missing,omitempty"` // number of missing values; if there are any, p* has no estimates
	// Each holds the estimate of log p(x) for each row, and EachTildeStar the estimate of log p̃*(x).
	// With them, models evaluated on the same data can be compared row by row.
	Each          []float64 `json:"-"`
	EachTildeStar []float64 `json:"-"`
	EachESS       []float64 `json:"-"` // effective sample size, as a fraction of the samples
}

// Evaluate estimates the likelihoods of a split from K samples h ~ q(h|x) per row, where K is the
// argument samples: log p(x) ≈ log (1/K) Σ p(x,h)/q(h|x), log p̃*(x) ≈ 2 log (1/K) Σ √(p(x,h)/q(h|x))
// (BiHM thesis 2016, 3.8). If values are missing, p(x,h) is of the observed values and h, and p* has no estimates. Evaluate
// binarises rows as training did, whatever binarisation their set has.
// progress, which may be nil, is called with the fraction of the work done. WithLogZ2 and Complete
// add further estimates.
func (m *Model) Evaluate(ctx context.Context, split dataset.Split, samples int, progress func(float64)) (Evaluation, error) {
	data, err := m.data(split, samples)
	if err != nil {
		return Evaluation{}, err
	}
	model, err := m.engine.model()
	if err != nil {
		return Evaluation{}, err
	}
	start := time.Now()
	likelihoods, err := model.Evaluate(ctx, data, samples, m.seed, progress)
	if err != nil {
		return Evaluation{}, err
	}
	return evaluationOf(likelihoods, split, samples, time.Since(start).Seconds()), nil
}

// settle gives rows without observed values their exact log p, which is 0.
func settle(likelihoods []engine.Likelihood, of dataset.Split) {
	for r := range likelihoods {
		if of.Mask(r).HidesAll() {
			likelihoods[r].LogP, likelihoods[r].LogPOfHalf, likelihoods[r].ESS = 0, 0, 1
		}
	}
}

// evaluationOf returns the means of the estimates over the rows of a split, by their weights, if there are any.
func evaluationOf(likelihoods []engine.Likelihood, of dataset.Split, samples int, seconds float64) Evaluation {
	e := Evaluation{Samples: samples, Data: len(likelihoods), Seconds: seconds, Missing: of.Lacking()}
	var essStar []float64
	settle(likelihoods, of)
	for _, l := range likelihoods {
		e.Each = append(e.Each, l.LogP)
		e.EachTildeStar = append(e.EachTildeStar, l.LogPTildeStar)
		e.EachESS, essStar = append(e.EachESS, l.ESS), append(essStar, l.ESSStar)
	}
	logP := runs.MeanSampleSize(of.MeanWeights(), runs.ErrsLow, "samples a row", samples, e.EachESS, nil)
	star := runs.MeanSampleSize(of.MeanWeights(), runs.ErrsLow, "samples a row", samples, essStar, nil)
	if logP.Lean() || star.Lean() {
		logP.Moved, star.Moved = 0, 0
		for r, share := range of.Shares() {
			l := likelihoods[r]
			logP.Moved += runs.Float(share * (l.LogP - l.LogPOfHalf) / float64(len(likelihoods)))
			star.Moved += runs.Float(share * (l.LogPTildeStar - l.LogPTildeStarOfHalf) / float64(len(likelihoods)))
		}
	}
	e.SampleSizes = runs.SampleSizes{runs.LogP.Key: logP, tildeStarMeasure.Key: star}
	mean := func(field func(engine.Likelihood) float64) (float64, runs.Float) {
		values := make([]float64, len(likelihoods))
		for i := range values {
			values[i] = field(likelihoods[i])
		}
		mean, se := statistics.Weighted(of.MeanWeights(), values)
		return mean, runs.Float(se)
	}
	e.LogP, e.LogPSE = mean(func(l engine.Likelihood) float64 { return l.LogP })
	e.Bound, e.BoundSE = mean(func(l engine.Likelihood) float64 { return l.Bound })
	e.LogPTildeStar, e.LogPTildeStarSE = mean(func(l engine.Likelihood) float64 { return l.LogPTildeStar })
	e.ESS, e.ESSSE = mean(func(l engine.Likelihood) float64 { return l.ESS })
	e.ESSStar, e.ESSStarSE = mean(func(l engine.Likelihood) float64 { return l.ESSStar })
	e.ESS, e.ESSStar = min(1, e.ESS), min(1, e.ESSStar) // rounding may exceed 1
	return e
}

// WithLogZ2 adds log Z² and log p*(x) = log p̃*(x) − log Z². Rows with missing values have no log p*(x).
func (e Evaluation) WithLogZ2(z LogZ2) Evaluation {
	zSE := runs.Float(z.SE)
	e.LogZ2, e.LogZ2SE = &z.Value, &zSE
	e.SampleSizes = e.SampleSizes.With(runs.SampleSizes{z2Measure.Key: z.Size})
	if e.Missing > 0 {
		return e
	}
	star := e.LogPTildeStar - z.Value
	se := runs.Float(math.Hypot(float64(e.LogPTildeStarSE), z.SE))
	e.LogPStar, e.LogPStarSE = &star, &se
	e.SampleSizes = e.SampleSizes.With(runs.SampleSizes{starMeasure.Key: e.SampleSizes[tildeStarMeasure.Key].Plus(z.Size.Negative())})
	return e
}

// Complete adds to e, the model's evaluation of rows of a set, all other quantities except log Z². It adds
// the baseline; for a model with labels, how well it predicts the labels of the rows, estimated with the
// same number of samples; and, if the model is small enough, the exact KL(p_D‖p) of the training rows. It
// returns an error for a set whose Binarization or Standardize is not the model's. progress, which may be nil,
// is called with the fraction of the rows classified.
func (m *Model) Complete(ctx context.Context, e Evaluation, set *dataset.Set, rows dataset.Split, progress func(float64)) (Evaluation, error) {
	if err := set.CheckValues(m.experiment.Dataset); err != nil {
		return e, err
	}
	for _, split := range []dataset.Split{rows, set.Train()} {
		if err := m.checkRows(split); err != nil {
			return e, err
		}
	}
	b := m.experiment.Baseline(set, rows)
	e.BaselineLogP, e.BaselineLogPSE, e.Diverged = &b.Factorized.Value, new(runs.Float(b.Factorized.SE)), new(b.Far(runs.LogP, e.LogP))
	labeled := func(class uint8) bool { return class != dataset.Unlabeled }
	if m.Architecture().Labels() > 0 && slices.ContainsFunc(rows.Labels, labeled) {
		classification, err := m.Classify(ctx, rows, e.Samples, progress)
		if err != nil {
			return e, err
		}
		size := e.SampleSizes[tildeStarMeasure.Key]
		size.Errs, size.Moved = runs.ErrsEither, runs.Float(math.NaN())
		e.Classification, e.SampleSizes = &classification, e.SampleSizes.With(runs.SampleSizes{"classification.error": size, "classification.log_p": size})
	}
	kl, err := m.ExactKL(ctx, set.Train())
	switch {
	case err == nil:
		e.KLExact = &kl
	case ctx.Err() != nil:
		return e, err
	}
	return e, nil
}

func (m *Model) checkRows(s dataset.Split) error {
	return m.experiment.checkRows(m.parameters.Architecture, s)
}

func (e Experiment) checkRows(a engine.Architecture, s dataset.Split) error {
	check := runs.CheckObserved
	if e.Fill == nil || e.Method.Arithmetic != FloatingPoint { // otherwise q gets real numbers
		check = func(units int, s dataset.Split) error { return runs.CheckRows(units, false, s) }
	}
	if err := check(a.Visible(), s); err != nil {
		return err
	}
	if err := checkStates(a, s); err != nil {
		return err
	}
	switch trained := e.Dataset.Binarization; {
	case trained != dataset.Real && s.AreReal():
		return fmt.Errorf("the %s rows have real numbers, but the model was trained with binarization %v: open the data with that", s.Name, trained)
	case trained == dataset.Real && !s.AreReal():
		return fmt.Errorf("the model was trained with binarization real, but the %s rows have no real numbers: open the data with that", s.Name)
	}
	return nil
}

func (m *Model) data(s dataset.Split, samples int) (engine.Data, error) {
	if err := m.checkRows(s); err != nil {
		return engine.Data{}, err
	}
	switch {
	case samples < 1:
		return engine.Data{}, fmt.Errorf("%d samples per row: use at least 1", samples)
	case samples > math.MaxUint32:
		return engine.Data{}, fmt.Errorf("%d samples per row: use fewer than 2³²", samples)
	}
	return m.experiment.data(s), nil
}

// completeData is like data, but refuses rows with missing values.
func (m *Model) completeData(s dataset.Split, samples int) (engine.Data, error) {
	if err := runs.CheckRows(m.Architecture().Visible(), false, s); err != nil {
		return engine.Data{}, err
	}
	return m.data(s, samples)
}

// part returns n rows of a split, as Subset does, and the same rows converted for the engine.
func (m *Model) part(s dataset.Split, n, samples int) (dataset.Split, engine.Data, error) {
	if _, err := m.data(s, samples); err != nil {
		return dataset.Split{}, engine.Data{}, err
	}
	part := m.Subset(s, n)
	data, err := m.data(part, samples)
	return part, data, err
}

// Subset returns n rows of a split in the order of the split; the model's seed chooses them. It returns
// all rows if n is 0, negative, or larger than their number.
func (m *Model) Subset(s dataset.Split, n int) dataset.Split { return s.Subset(n, m.seed) }

// Findings returns the estimates of the evaluation, in the order in which its table and its text list them.
func (e Evaluation) Findings() runs.Findings {
	var wrong, wrongSE, label, labelSE any
	if c := e.Classification; c != nil {
		wrong, wrongSE, label, labelSE = c.Error, c.ErrorSE, c.LogP, c.LogPSE
	}
	star, starSE, essStar, essStarSE := any(e.LogPTildeStar), any(e.LogPTildeStarSE), any(e.ESSStar), any(e.ESSStarSE)
	if e.Missing > 0 { // p* is a distribution of complete rows
		star, starSE, essStar, essStarSE = nil, nil, nil, nil
		e.SampleSizes = maps.Clone(e.SampleSizes)
		delete(e.SampleSizes, tildeStarMeasure.Key)
	}
	size, sizeStar := e.SampleSizes[runs.LogP.Key], e.SampleSizes[tildeStarMeasure.Key]
	size.Of, sizeStar.Of = "", "" // the effective sample sizes need no description of it
	return append(e.SampleSizes.Describe(runs.Findings{
		{Measure: runs.LogP, Value: e.LogP, SE: e.LogPSE, Text: "log p", Seeds: runs.LogP.Key},
		{Measure: runs.Measure{Key: "baseline_log_p", Name: "baseline (factorised)", Unit: "nats"}, Value: e.BaselineLogP, SE: e.BaselineLogPSE, Text: "baseline (factorised)"},
		{Column: runs.Column{Key: "diverged", Kind: runs.Boolean}, Value: e.Diverged},
		{Measure: boundMeasure, Value: e.Bound, SE: e.BoundSE, Text: "lower bound of log p", Seeds: boundMeasure.Key},
		{Measure: tildeStarMeasure, Value: star, SE: starSE, Text: "log p̃*", Seeds: tildeStarMeasure.Key},
		{Measure: z2Measure, Value: e.LogZ2, SE: e.LogZ2SE, Text: "log Z²", Seeds: z2Measure.Key},
		{Measure: starMeasure, Value: e.LogPStar, SE: e.LogPStarSE, Text: "log p* (no bound)", Seeds: starMeasure.Key},
		{Measure: runs.ESS, Value: e.ESS, SE: e.ESSSE, SampleSize: size, Text: "ESS of q for p", Seeds: runs.ESS.Key},
		{Measure: essStarMeasure, Value: essStar, SE: essStarSE, SampleSize: sizeStar, Text: "ESS of q for p*", Seeds: essStarMeasure.Key},
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
