package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/lists"
)

// Tuning searches for the best of several candidates by successive halving
// (Jamieson and Talwalkar 2016, algorithm 1). In each rung, the remaining candidates train for the same
// number of epochs, and the half with the better objective on the validation rows moves up. Each rung has an
// equal share of the budget, so a rung trains its candidates at least twice as long as the rung below.
//
// A candidate that moves up continues its runs. But if the learning rate of any candidate depends on the
// number of epochs, as with a cosine schedule, each rung trains new runs, so that the rate decays within
// the rung.
//
// If all candidates of a rung fail, the best of the rung below replace them, and train beyond the budget.
type Tuning struct {
	Sweep  *Sweep // the candidates; the tuning decides the number of epochs
	Budget int    // total number of epochs of all runs
	// Set is the data of all candidates. If it is nil, the tuning opens the data that the candidates
	// name.
	Set *dataset.Set
}

// rung is a round of a Tuning.
type rung struct {
	candidates int
	epochs     int // total epochs of each run at the end of the rung
}

// tunePlan is the file with the candidates and the budget in the directory of a tuning.
const tunePlan = "tune.toml"

// ReadTuning reads the candidates of a tuning from the file of a sweep (see ReadSweep). For the file of
// an experiment, UsualAxes chooses the candidates.
func ReadTuning(path string, budget int) (*Tuning, error) {
	text, err := file.ReadNamed(path, file.Small)
	if err != nil {
		return nil, err
	}
	var keys map[string]any
	if _, err := decodeTOML(text, &keys); err == nil && keys["base"] != nil {
		s, err := ReadSweep(path)
		return &Tuning{Sweep: s, Budget: budget}, err
	}
	e, err := ParseExperiment(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &Sweep{Base: text, Axes: UsualAxes(e), Seeds: 1}
	return &Tuning{Sweep: s, Budget: budget}, s.resolveData(path, text)
}

// UsualAxes returns axes around the settings of an experiment: 1/10, 3/10, 1 and 3 times its learning
// rate and, if damping has an effect, 1/4, 1 and 4 times its damping.
func UsualAxes(e Experiment) (axes []Axis) {
	all, idle := settings(e), idle(e)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		_, name := cutLast(key)
		factors := map[string][]float64{"learning_rate": {0.1, 0.3, 1, 3}, "damping": {0.25, 1, 4}}[name]
		value, err := strconv.ParseFloat(all[key], 64)
		if _, is := idle[key]; is || err != nil || value == 0 || factors == nil {
			continue
		}
		axis := Axis{Keys: []string{key}}
		for _, factor := range factors {
			rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value*factor, 'g', 3, 64), 64)
			axis.Values = append(axis.Values, []any{rounded})
		}
		axes = append(axes, axis)
	}
	return axes
}

// rungs returns the rungs of the tuning, and reports whether candidates continue their runs from one
// rung to the next.
func (t *Tuning) rungs() (rungs []rung, continues bool, err error) {
	if t.Sweep == nil {
		return nil, false, errors.New("the tuning has no Sweep: set it to the settings to choose from")
	}
	candidates, err := t.Sweep.Settings()
	if err != nil {
		return nil, false, err
	}
	if len(candidates) < 2 {
		return nil, false, errors.New("there is one candidate: vary a setting, such as [grid] learning_rate = [0.01, 0.03, 0.1]")
	}
	continues = true
	for _, c := range candidates {
		if h := c.Experiment.Header(); h.Patience > 0 {
			return nil, false, fmt.Errorf("%s: patience = %d: the tuning itself decides when a run ends; remove it", c.Name, h.Patience)
		}
		short, long := withEpochs(c.Experiment, 2), withEpochs(c.Experiment, 4)
		continues = continues && short.LearningRate(1, 1) == long.LearningRate(1, 1)
	}
	if slices.Contains(t.Sweep.keys(), "epochs") {
		return nil, false, errors.New("the number of epochs varies: remove it, because the budget decides it")
	}
	rounds := bits.Len(uint(len(candidates) - 1)) // ⌈log₂ n⌉
	for k := range rounds {
		left := len(candidates) >> k
		epochs := t.Budget / (rounds * left * t.Sweep.Seeds)
		if k > 0 && continues {
			epochs += rungs[k-1].epochs
		}
		rungs = append(rungs, rung{left, epochs})
	}
	if least := rounds * len(candidates) * t.Sweep.Seeds; t.Budget < least {
		return nil, false, fmt.Errorf("a budget of %d epochs is less than one epoch of each run in the first of %d rungs: give at least %d, or use fewer candidates", t.Budget, rounds, least)
	}
	return rungs, continues, nil
}

// Check opens the data. It returns an error if the budget is too small, if candidates cannot be trained
// or compared, or if the data have no validation rows.
func (t *Tuning) Check() error {
	if _, _, err := t.rungs(); err != nil {
		return err
	}
	settings, err := t.Sweep.Settings()
	if err != nil {
		return err
	}
	sets := t.sets(settings[0].Experiment)
	for _, s := range settings {
		set, err := sets.Open(s.Experiment, "")
		if err != nil {
			return err
		}
		if set.Validation().Rows == 0 {
			return errors.New("the data have no validation rows, which decide which candidates move up: set some aside with validation = N")
		}
	}
	return errors.Join(t.Sweep.Distinct(), t.Sweep.check(sets))
}

func (t *Tuning) sets(e Experiment) *Sets {
	if t.Set == nil {
		return &Sets{}
	}
	return &Sets{spec: e.Header().Dataset, set: t.Set}
}

// TuneReport holds the progress of a tuning.
type TuneReport struct {
	Objective  Measure
	Keys       []string    // full TOML names of the settings that vary
	Candidates []Candidate // sorted by rung, the highest first, and within a rung by value, the best first
	Done       bool        // whether all rungs are done; the first candidate is then the best
	rungs      []rung
}

// Candidate is a candidate of a tuning in the last rung that it has entered.
type Candidate struct {
	Setting
	Rung   int   // counted from 1
	Epochs int   // total epochs of the runs in Seeds, up to the end of the rung
	Seeds  []Job // its runs in this rung, one per seed
	// Value is the spread over seeds of the best objective on the validation rows up to the end of
	// the rung. It is NaN until all seeds have finished the rung, or if one has failed.
	Value     Spread
	Failure   error     // errors of seeds, or nil
	Histories []History // histories of the seeds, up to the end of the rung
	settled   bool      // whether all seeds have finished the rung or failed
}

// AtEdge returns the settings of the first candidate that are the smallest or the largest of at least three numbers
// in the search, in TOML, so that a wider range may hold better ones.
func (r TuneReport) AtEdge() (settings []string) {
	for i, key := range r.Keys {
		var numbers []float64
		for _, c := range r.Candidates {
			if x, err := strconv.ParseFloat(c.Values[i], 64); err == nil {
				numbers = append(numbers, x)
			}
		}
		values := slices.Compact(slices.Sorted(slices.Values(numbers)))
		if len(numbers) == len(r.Candidates) && len(values) > 2 && (numbers[0] == values[0] || numbers[0] == values[len(values)-1]) {
			settings = append(settings, key+" = "+r.Candidates[0].Values[i])
		}
	}
	return settings
}

// Report reads the progress of the tuning in a directory. It may be called at any time.
func (t *Tuning) Report(dir string) (TuneReport, error) {
	return t.climb(dir, func([]Job) error { return nil })
}

// climb calls train with the jobs of one rung after the other until a rung stays unfinished, and reports
// on the candidates.
func (t *Tuning) climb(dir string, train func([]Job) error) (TuneReport, error) {
	settings, err := t.Sweep.Settings()
	if err != nil {
		return TuneReport{}, err
	}
	r := TuneReport{Objective: settings[0].Experiment.Measures()[0], Keys: t.Sweep.keys()}
	var continues bool
	if r.rungs, continues, err = t.rungs(); err != nil {
		return r, err
	}
	for _, s := range settings {
		r.Candidates = append(r.Candidates, Candidate{Setting: s})
	}
	var data sameContents
	for i, rung := range r.rungs {
		within := dir
		if !continues {
			within = filepath.Join(dir, fmt.Sprintf("epochs-%d", rung.epochs))
		}
		for failed := true; failed; {
			left := r.next(rung.candidates)
			if len(left) == 0 {
				return r, fmt.Errorf("all candidates failed within %d epochs, such as %s: %w", rung.epochs, r.Candidates[0].Name, r.Candidates[0].Failure)
			}
			var jobs []Job
			for _, c := range left {
				c.Rung, c.Seeds = i+1, nil
			}
			for n := range uint64(t.Sweep.Seeds) {
				for _, c := range left {
					e := withEpochs(c.Experiment, rung.epochs)
					seed := e.Header().Seed + n
					job := Job{c.Name, seed, withSeed(e, seed), SeedDir(filepath.Join(within, c.Name), seed)}
					c.Seeds, jobs = append(c.Seeds, job), append(jobs, job)
				}
			}
			if err := train(jobs); err != nil {
				return r, err
			}
			unsettled := false
			for _, c := range left {
				c.read(r.Objective, &data)
				failed, unsettled = failed && c.Failure != nil, unsettled || !c.settled
			}
			slices.SortStableFunc(r.Candidates, func(a, b Candidate) int {
				return cmp.Or(cmp.Compare(b.Rung, a.Rung), r.Objective.order(a.Value.Mean, b.Value.Mean))
			})
			if unsettled {
				return r, nil
			}
		}
	}
	r.Done = true
	return r, nil
}

// next returns the best n candidates that have not failed, all of the highest rung that has any.
func (r TuneReport) next(n int) (left []*Candidate) {
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Failure == nil && len(left) < n && (len(left) == 0 || left[0].Rung == c.Rung) {
			left = append(left, c)
		}
	}
	return left
}

func (c *Candidate) read(objective Measure, data *sameContents) {
	c.Epochs, c.Failure, c.Histories, c.settled = 0, nil, nil, true
	for _, j := range c.Seeds {
		state, run, err := j.State()
		if state == Failed && run != nil && run.Epochs() >= j.Experiment.Header().Epochs {
			err = nil // it failed in a later rung
		}
		c.settled = c.settled && j.settled(state, run)
		c.Failure = errors.Join(c.Failure, err)
		if run == nil {
			continue
		}
		h, most := run.History(), j.Experiment.Header().Epochs
		h.Epochs = h.Epochs[:min(most, len(h.Epochs))]
		c.Histories, c.Epochs = append(c.Histories, h), c.Epochs+len(h.Epochs)
		c.Failure = errors.Join(c.Failure, h.Err, data.check(run))
	}
	c.Value = Spread{math.NaN(), math.NaN()}
	if c.settled && c.Failure == nil {
		c.Value = SpreadOf(c.Histories, func(h History) float64 { return h.best(objective) })
	}
}

// best returns the best value of a measure on the validation rows, or NaN if there is none.
func (h History) best(of Measure) float64 {
	best := math.NaN()
	for _, e := range h.Epochs {
		if value := e.Validation.Of(of); math.IsNaN(best) || of.Better(value, best) {
			best = value
		}
	}
	return best
}

// Train trains the candidates in a directory until all rungs are done, and returns the report. If training is
// interrupted, the same call resumes it. Several programs can train the same tuning in one directory; they
// divide the runs among them. recorders, which may be nil, returns the recorders of a run. A candidate that
// fails, for example because it diverges, does not move up until Retry.
func (t *Tuning) Train(ctx context.Context, dir string, recorders func(Job) []Recorder) (TuneReport, error) {
	if err := t.Check(); err != nil {
		return TuneReport{}, err
	}
	if err := t.claim(dir); err != nil {
		return TuneReport{}, err
	}
	return t.climb(dir, func(jobs []Job) error {
		_, _, err := trainJobs(ctx, jobs, Shard{}, true, t.sets(jobs[0].Experiment), recorders)
		return err
	})
}

// Retry claims the directory as Train does, and removes the records of failures, so that Train tries these runs
// again.
func (t *Tuning) Retry(dir string) error {
	if err := t.claim(dir); err != nil {
		return err
	}
	r, err := t.Report(dir)
	if len(r.Candidates) == 0 {
		return err
	}
	var jobs []Job // err may be that all candidates failed
	for _, c := range r.Candidates {
		jobs = append(jobs, c.Seeds...)
	}
	return retry(jobs, Shard{})
}

// claim makes dir the directory of the tuning. It refuses a directory with other contents.
func (t *Tuning) claim(dir string) error {
	text, err := t.Sweep.TOML()
	if err != nil {
		return err
	}
	text = sealText(append(fmt.Appendf(nil, "budget = %d\n", t.Budget), text...))
	return planIn(dir, "a tuning", tunePlan, func() (bool, error) {
		return hasPlan(dir, "a tuning", tunePlan, text, func() error {
			return fmt.Errorf("%s belongs to a tuning with other candidates or another budget, which its %s lists: choose another directory", dir, tunePlan)
		}, func(string) bool { return false })
	}, func(held *file.Held) error { return notWritten(dir, held.WriteAside(tunePlan, text)) })
}

// Table returns the report with one row per candidate.
func (r TuneReport) Table() *Table {
	var columns []field[Candidate]
	for i, key := range r.Keys {
		columns = append(columns, field[Candidate]{Column{Key: key}, func(c Candidate) any { return unquoted(c.Values[i]) }})
	}
	columns = append(columns,
		field[Candidate]{Column{Key: "tune.rung", Label: "rung", Kind: Integer}, func(c Candidate) any { return c.Rung }},
		field[Candidate]{Column{Key: "tune.epochs", Label: "epochs done", Kind: Integer}, func(c Candidate) any { return c.Epochs }})
	columns = append(columns, spreadColumns(r.Objective.column("tune.best", "validation"), func(c Candidate) Spread { return c.Value })...)
	columns = append(columns, field[Candidate]{Column{Key: "tune.state", Label: "state"}, r.state},
		field[Candidate]{Column{Key: "tune.remark", Label: "remark"}, func(c Candidate) any {
			var warning string
			for _, h := range c.Histories {
				warning = cmp.Or(warning, h.LastWarning())
			}
			return remarkOn(warning)
		}})
	rungs := lists.Map(r.rungs, func(rung rung) string { return fmt.Sprintf("%d to epoch %d", rung.candidates, rung.epochs) })
	return tableOf("tune", "Candidates in each rung: "+strings.Join(rungs, ", "), columns, r.Candidates...).WithoutMissing()
}

func (r TuneReport) state(c Candidate) any {
	switch {
	case c.Failure != nil:
		return "failed"
	case !c.settled:
		return "training"
	case r.Done && c.Name == r.Candidates[0].Name:
		return "best"
	case c.Rung < r.Candidates[0].Rung || r.Done:
		return "stopped"
	}
	return "waiting"
}
