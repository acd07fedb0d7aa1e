package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Comparison compares experiments on the same data.
type Comparison struct {
	// Settings holds the TOML names of the settings that differ, except the seed. With several
	// families, it holds only settings that all of them have.
	Settings []string `json:"settings"`
	// Objective is the measure that all experiments improve. It is zero if they improve different
	// measures; without an evaluation, only the lengths of training are then compared.
	Objective   Measure    `json:"objective,omitzero"`
	Experiments []Compared `json:"experiments"`
	// Split names the rows of the evaluation, and Checkpoint names the checkpoints ("last", "best" or
	// "epoch N"). Samples is the number of samples per row, or the number of chains.
	Split      string `json:"split,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"`
	Samples    int    `json:"samples,omitempty"`
}

// Compared is one experiment of a comparison, with one seed or several.
type Compared struct {
	Dir      string            `json:"dir"`
	Method   string            `json:"method"`
	Settings map[string]string `json:"settings"` // its values of Comparison.Settings
	Seeds    []uint64          `json:"seeds"`    // seeds with a checkpoint
	Finished bool              `json:"finished"`
	Epochs   Spread            `json:"epochs"`  // epochs done
	Seconds  Spread            `json:"seconds"` // time of the training steps

	// The objective as training estimates it. Train and Validation are from the last epoch; Best is
	// from the epoch with the best validation value, and BestEpoch is that epoch's number. They are
	// NaN if there is no value.
	Train      Spread `json:"train"`
	Validation Spread `json:"validation"`
	Best       Spread `json:"best_validation"`
	BestEpoch  Spread `json:"best_epoch"`

	// Baseline is the baseline of the objective, or nil if it is unknown. Diverged is the number of
	// seeds that are far worse than the baseline after the last epoch.
	Baseline *Baseline `json:"baseline,omitempty"`
	Diverged int       `json:"diverged"`
	// Unconverged is the number of seeds whose log p still rises after the last epoch (see History.Unconverged).
	Unconverged int `json:"unconverged,omitempty"`

	// The results of the evaluation: the estimates of each seed, and their spreads over seeds by key of the
	// measure.
	Evaluations []Estimates       `json:"evaluations,omitempty"`
	Evaluation  map[string]Spread `json:"evaluation_over_seeds,omitempty"`
	// Difference is log p, or the objective, less its value for the first experiment; nil for the first, and where a value
	// is missing. Its standard error is over the differences of rows if both experiments have one seed and
	// RowEstimators, over seeds if both have several, and NaN otherwise.
	Difference *Estimate `json:"difference,omitempty"`

	seeds *Seeds
}

var errNothingCompared = errors.New("no experiments to compare: name the directories of runs or of seeds")

// Compare compares the experiments in directories, each with one run or with several seeds,
// finished or not. It refuses experiments on different data, because their measures are not
// comparable.
func Compare(dirs ...string) (Comparison, error) {
	if len(dirs) == 0 {
		return Comparison{}, errNothingCompared
	}
	var c Comparison
	for i, dir := range dirs {
		if slices.ContainsFunc(dirs[:i], func(other string) bool { return filepath.Clean(other) == filepath.Clean(dir) }) {
			return c, fmt.Errorf("%s is named twice: compare different directories", dir)
		}
		seeds, err := OpenSeeds(dir)
		if err != nil {
			return c, err
		}
		for _, run := range seeds.Runs {
			if run.lost != nil {
				return c, run.lost
			}
		}
		c.Experiments = append(c.Experiments, newCompared(seeds))
		if err := sameData(c.Experiments[0].seeds, seeds); err != nil {
			return c, err
		}
	}
	if first := c.Experiments[0].seeds.objective(); !slices.ContainsFunc(c.Experiments, func(e Compared) bool { return e.seeds.objective().Key != first.Key }) {
		c.Objective = first
	}
	c.findSettings()
	return c, nil
}

// isDensity reports whether log p is the logarithm of a density for rows with binarisation b.
func isDensity(b dataset.Binarization) bool { return b == dataset.Gray || b == dataset.Real }

// sameData returns an error if two experiments were trained on different data, or if one models grey
// levels as values with a density and the other as probabilities.
func sameData(a, b *Seeds) error {
	one, other := a.Runs[0].experiment.Header(), b.Runs[0].experiment.Header()
	if one.Fingerprint == other.Fingerprint {
		if one, other := one.Dataset.Binarization, other.Dataset.Binarization; one == other || !isDensity(one) && !isDensity(other) {
			return nil
		}
		return fmt.Errorf("%s has the binarization %v, %s has %v: a density of grey levels cannot be compared with a probability; compare runs with the same binarization",
			a.dir, one.Dataset.Binarization, b.dir, other.Dataset.Binarization)
	}
	return fmt.Errorf("%s and %s were trained on different data (%s of fingerprint %.12s, %s of fingerprint %.12s), whose likelihoods cannot be compared: compare runs on the same data set with the same split",
		a.dir, b.dir, one.Dataset.Name, one.Fingerprint, other.Dataset.Name, other.Fingerprint)
}

// DensityNotice returns a warning if some experiments have densities of categories and others have probabilities of them, or "".
// It needs the runs: a Comparison that was read from JSON returns "".
func (c Comparison) DensityNotice() string {
	var densities, others []string
	for _, e := range c.Experiments {
		if e.seeds == nil {
			continue // the comparison was read from JSON
		}
		set, err := e.seeds.Runs[0].Blank()
		if err != nil {
			continue // without columns
		}
		switch notice := set.DensityNotice(); {
		case notice == "":
		case strings.Contains(e.seeds.Runs[0].experiment.Notice(set), notice):
			densities = append(densities, e.Dir)
		default:
			others = append(others, e.Dir)
		}
	}
	if densities == nil || others == nil {
		return ""
	}
	return fmt.Sprintf("log p of %s has densities of categories, and log p of %s has probabilities of them: do not compare these", strings.Join(densities, ", "), strings.Join(others, ", "))
}

// sameObjective reports whether all experiments improve the same measure.
func (c Comparison) sameObjective() bool { return c.Objective.Key != "" }

// opened returns the seeds of the experiment, or an error if the comparison was read from JSON, because
// its runs are not open.
func (c Compared) opened() (*Seeds, error) {
	if c.seeds == nil {
		return nil, fmt.Errorf("the runs of %s are not open, because the comparison was read from JSON: compare the directory again", c.Dir)
	}
	return c.seeds, nil
}

func (s *Seeds) objective() Measure { return s.Runs[0].experiment.Measures()[0] }

func newCompared(s *Seeds) Compared {
	objective := s.objective()
	c := Compared{
		Dir:        s.dir,
		Method:     s.Runs[0].experiment.String(),
		Finished:   s.Finished(),
		Epochs:     s.Over(func(r *Run) float64 { return float64(r.Epochs()) }),
		Seconds:    s.Over(func(r *Run) float64 { return r.last.Seconds }),
		Train:      s.Over(func(r *Run) float64 { return r.last.Train.Of(objective) }),
		Validation: s.Over(func(r *Run) float64 { return r.last.Validation.Of(objective) }),
		Best:       s.Over(func(r *Run) float64 { return r.best.Validation.Of(objective) }),
		BestEpoch: s.Over(func(r *Run) float64 {
			if epoch := r.best.Epoch; epoch > 0 {
				return float64(epoch)
			}
			return math.NaN()
		}),
		seeds: s,
	}
	for _, run := range s.Runs {
		c.Seeds = append(c.Seeds, run.experiment.Header().Seed)
		if run.baseline != nil {
			c.Baseline = run.baseline
		}
		if run.Warning() != "" {
			c.Diverged++
		}
		if run.without().Unconverged(run.last) != "" {
			c.Unconverged++
		}
	}
	return c
}

// lastOf returns the last epoch of a history, or an epoch without results if there is none.
func lastOf(history []Epoch) Epoch {
	if n := len(history); n > 0 {
		return history[n-1]
	}
	return Epoch{Seconds: math.NaN()}
}

// settings returns the experiment's settings by their TOML names, or only those that differ if the
// experiment is not open.
func (c Compared) settings() map[string]string {
	if c.seeds == nil {
		return c.Settings
	}
	return settings(c.seeds.Runs[0].experiment)
}

func (c Comparison) families() map[string]map[string]string {
	families := map[string]map[string]string{}
	for _, e := range c.Experiments {
		of := e.settings()
		family := of["family"]
		if families[family] == nil {
			families[family] = map[string]string{}
		}
		maps.Copy(families[family], of)
	}
	return families
}

func (c *Comparison) findSettings() {
	all := make([]map[string]string, len(c.Experiments))
	names := map[string]string{}
	for i := range all {
		all[i] = c.Experiments[i].settings()
		maps.Copy(names, all[i])
	}
	maps.DeleteFunc(names, func(name, _ string) bool { // the seed, what training keeps and measures, and a checksum of another setting
		return slices.Contains([]string{"seed", "keep", "record_steps", "start.parameters"}, name) || strings.HasPrefix(name, "measure.")
	})
	for _, known := range c.families() {
		maps.DeleteFunc(names, func(name, _ string) bool { return known[name] == "" })
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if slices.ContainsFunc(all, func(s map[string]string) bool { return s[name] != all[0][name] }) {
			c.Settings = append(c.Settings, name)
		}
	}
	for i := range all {
		of := map[string]string{}
		for _, name := range c.Settings {
			if value, set := all[i][name]; set {
				of[name] = unquoted(value)
			}
		}
		c.Experiments[i].Settings = of
	}
}

// EvaluateCheckpoint returns the comparison with an evaluation of a checkpoint of each run on a split.
// which is last, best, or the number of an epoch; empty means last. samples is the number of samples per
// row, or the number of chains; the seed of the draws is 1. The experiment's family decides which measures
// are estimated. progress, which may be nil, is called with the fraction of the work done.
// EvaluateCheckpoint refuses models that are not Estimators.
func (c Comparison) EvaluateCheckpoint(ctx context.Context, which string, split dataset.Split, samples int, progress func(float64)) (Comparison, error) {
	c.Checkpoint = cmp.Or(which, "last")
	if c.Checkpoint != "last" && c.Checkpoint != "best" {
		c.Checkpoint = "epoch " + which
	}
	runs, done := 0, 0
	for _, e := range c.Experiments {
		seeds, err := e.opened()
		if err != nil {
			return c, err
		}
		runs += len(seeds.Runs)
	}
	c.Experiments, c.Split, c.Samples = slices.Clone(c.Experiments), split.Name, samples
	logP := make([][]float64, len(c.Experiments)) // of each row, by the last seed
	for i := range c.Experiments {
		e := &c.Experiments[i]
		e.Evaluations, e.Difference = nil, nil
		for _, run := range e.seeds.Runs {
			of, err := run.ModelAt(which)
			if err != nil {
				return c, err
			}
			m, ok := of.(Estimator)
			if !ok {
				return c, fmt.Errorf("%s: models of %v cannot be evaluated with samples: compare without samples", run.Dir(), run.experiment)
			}
			part := func(fraction float64) {
				if progress != nil {
					progress((float64(done) + fraction) / float64(runs))
				}
			}
			var evaluation Estimates
			if each, has := m.(RowEstimator); has {
				evaluation, logP[i], err = each.EstimateRows(ctx, split, samples, 1, part)
			} else if evaluation, err = m.Estimate(ctx, split, samples, 1, part); err == nil {
				logP[i], err = run.exactLogP(ctx, m, split, samples)
			}
			if err != nil {
				return c, fmt.Errorf("%s: %w", run.Dir(), err)
			}
			e.Evaluations = append(e.Evaluations, evaluation)
			done++
		}
		e.Evaluation = overSeeds(e.Evaluations)
	}
	c.subtractFirst(logP, split)
	return c, nil
}

// exactLogP returns log p of each row by a model of the run, or nil if the model draws samples for it.
func (r *Run) exactLogP(ctx context.Context, m Estimator, rows dataset.Split, samples int) ([]float64, error) {
	evaluator, has := m.(RowEvaluator)
	counter, counts := m.(SampleCounter)
	if !has || !counts || counter.CountSamples(samples) != "" {
		return nil, nil
	}
	set, err := r.Dataset()
	if err != nil {
		return nil, err
	}
	logP, _, err := evaluator.LogPOfRows(ctx, EvaluationOptions{Set: set, Rows: rows, Samples: samples, Seed: 1})
	return logP, err
}

// subtractFirst sets the differences from the first experiment. logP holds log p of each row, or nil, for experiments
// of one seed. Estimates of sequences are per step.
func (c Comparison) subtractFirst(logP [][]float64, rows dataset.Split) {
	key, first := c.evaluated().Key, c.Experiments[0]
	for i := range c.Experiments {
		e := &c.Experiments[i]
		of, here := e.Evaluation[key]
		from, there := first.Evaluation[key]
		if i == 0 || !here || !there {
			continue
		}
		e.Difference = &Estimate{of.Mean - from.Mean, math.NaN(), e.weakest(key).Plus(first.weakest(key).Negative())}
		switch n, m := e.finite(key), first.finite(key); {
		case n > 1 && m > 1:
			e.Difference.SE = math.Hypot(of.SD/math.Sqrt(float64(n)), from.SD/math.Sqrt(float64(m)))
		case n == 1 && m == 1 && key == LogP.Key && logP[0] != nil && logP[i] != nil:
			differences := floats.SubTo(make([]float64, len(logP[i])), logP[i], logP[0])
			if e.Difference.SE = EstimateOver(rows, differences).SE; rows.Lengths != nil {
				_, e.Difference.SE = statistics.PerStep(rows.Lengths, differences, rows.Shares())
			}
		}
	}
}

// weakest returns the sample size of a measure in the seed whose samples are few, or in the first.
func (c Compared) weakest(key string) (s SampleSize) {
	for i, of := range c.Evaluations {
		if x := of[key].SampleSize; i == 0 || x.Few() && !(x.Effective > s.Effective) {
			s = x
		}
	}
	return s
}

// finite returns the number of seeds with an estimate of a measure that is not NaN, or 1 if all seeds have the same.
func (c Compared) finite(key string) (n int) {
	if c.Evaluation[key].SD == 0 {
		return 1
	}
	for _, of := range c.Evaluations {
		if !math.IsNaN(of[key].Value) {
			n++
		}
	}
	return n
}

// Dataset opens the data set of the experiments.
func (c Comparison) Dataset() (*dataset.Set, error) {
	if len(c.Experiments) == 0 {
		return nil, errNothingCompared
	}
	seeds, err := c.Experiments[0].opened()
	if err != nil {
		return nil, err
	}
	return seeds.Runs[0].Dataset()
}

// Histories returns the history of each seed. For a comparison read from JSON, it returns one history
// with an error, because the runs are not open.
func (c Compared) Histories() []History {
	seeds, err := c.opened()
	if err != nil {
		return []History{{Name: c.Dir, Err: err}}
	}
	return lists.Map(seeds.Runs, (*Run).History)
}
