package runs

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// SweepReport says how far a sweep has come, and what its settings reached.
type SweepReport struct {
	Objective Measure
	Keys      []string // settings that vary, by their full names in TOML
	Settings  []SettingReport
}

// SettingReport is one setting of a report.
type SettingReport struct {
	Setting
	Dir      string        // of its seeds
	States   map[State]int // numbers of its seeds
	Failures []error       // of those that failed, or that are damaged
	Epochs   Spread        // done, of the runs that have a checkpoint, as all that follows
	Seconds  Spread        // that the steps of training have taken
	// Reached is the objective of the last epoch of runs that are finished, on the validation rows
	// where there are any, and Best that of the best epoch, NaN where there are none. Both are NaN
	// where a seed has failed, as by divergence, or is damaged: a mean over those that are left
	// would praise a setting for the seeds that it has lost.
	Reached, Best Spread
}

// Value is what the setting reached: Best, or Reached where there is no best epoch.
func (s SettingReport) Value() Spread {
	if math.IsNaN(s.Best.Mean) {
		return s.Reached
	}
	return s.Best
}

// Report reads how far the sweep has come in a directory, at any time, whatever
// trains in it.
func (s *Sweep) Report(dir string) (SweepReport, error) {
	settings, err := s.Settings()
	if err != nil {
		return SweepReport{}, err
	}
	r := SweepReport{Objective: settings[0].Experiment.Measures()[0], Keys: s.keys()}
	jobs, err := s.Jobs(dir)
	if err != nil {
		return r, err
	}
	for i, setting := range settings {
		of := SettingReport{Setting: setting, Dir: filepath.Join(dir, setting.Name), States: map[State]int{}}
		var begun, finished []*Run
		for n := i; n < len(jobs); n += len(settings) {
			state, run, err := jobs[n].State()
			of.States[state]++
			if err != nil {
				of.Failures = append(of.Failures, err)
			}
			if run != nil {
				begun = append(begun, run)
				if run.lost != nil {
					of.Failures = append(of.Failures, run.lost)
				}
			}
			if state == Finished {
				finished = append(finished, run)
			}
		}
		if len(of.Failures) > 0 {
			finished = nil
		}
		of.Epochs = SpreadOf(begun, func(r *Run) float64 { return float64(r.Epochs()) })
		of.Seconds = SpreadOf(begun, func(r *Run) float64 { return r.last.Seconds })
		of.Reached = SpreadOf(finished, func(run *Run) float64 { return run.last.judged(r.Objective) })
		of.Best = SpreadOf(finished, func(run *Run) float64 { return run.best.Validation.Of(r.Objective) })
		r.Settings = append(r.Settings, of)
	}
	return r, nil
}

// States are the numbers of runs of each state.
func (r SweepReport) States() map[State]int {
	all := map[State]int{}
	for _, s := range r.Settings {
		for state, n := range s.States {
			all[state] += n
		}
	}
	return all
}

// ByBest is the report with the settings in the order of what they reached at best,
// those that have not reached anything, or have lost a seed, last.
func (r SweepReport) ByBest() SweepReport {
	r.Settings = slices.Clone(r.Settings)
	slices.SortStableFunc(r.Settings, func(a, b SettingReport) int {
		x, y := a.Value().Mean, b.Value().Mean
		switch {
		case r.Objective.Better(x, y), math.IsNaN(y) && !math.IsNaN(x):
			return -1
		case r.Objective.Better(y, x), math.IsNaN(x) && !math.IsNaN(y):
			return 1
		}
		return 0
	})
	return r
}

// Table is the report with a row for each setting. Columns of states that no run is in
// are left out.
func (r SweepReport) Table() *Table {
	var columns []Field[SettingReport]
	for i, key := range r.Keys {
		columns = append(columns, Field[SettingReport]{Column{Key: key}, func(s SettingReport) any { return unquoted(s.Values[i]) }})
	}
	if len(r.Keys) == 0 {
		columns = append(columns, Field[SettingReport]{Column{Key: "setting"}, func(s SettingReport) any { return s.Name }})
	}
	settings, all, total := len(columns), r.States(), 0
	for _, state := range States {
		total += all[state]
		if all[state] > 0 {
			columns = append(columns, Field[SettingReport]{Column{Key: string(state), Kind: Integer}, func(s SettingReport) any { return s.States[state] }})
		}
	}
	for _, f := range slices.Concat(
		spreadColumns(r.Objective.column("reached", "last epoch"), func(s SettingReport) Spread { return s.Reached }),
		spreadColumns(r.Objective.column("best", "best epoch"), func(s SettingReport) Spread { return s.Best }),
		spreadColumns(Column{Key: "epochs", Label: "epochs done", Decimals: 1}, func(s SettingReport) Spread { return s.Epochs }),
		spreadColumns(Column{Key: "seconds", Label: "seconds of training", Unit: "s", Decimals: 1}, func(s SettingReport) Spread { return s.Seconds }),
	) {
		if strings.HasSuffix(f.Key, deviationSuffix) {
			f.Label = "sd"
		}
		if slices.ContainsFunc(r.Settings, func(s SettingReport) bool { return !math.IsNaN(f.Cell(s).(float64)) }) { // that something is known of
			columns = append(columns, f)
		}
	}
	for i := settings; i < len(columns); i++ {
		key := &columns[i].Key
		for slices.Contains(r.Keys, *key) || slices.Contains(r.Keys, strings.TrimSuffix(*key, deviationSuffix)) { // which is that of a setting
			*key = "runs." + *key
		}
	}
	title := fmt.Sprintf("Sweep of %s, %d of %s finished", names.Count(len(r.Settings), "setting"), all[Finished], names.Count(total, "run"))
	return TableOf("sweep", title, columns, r.Settings...)
}

// unquoted is a value as people read it.
func unquoted(value string) string {
	if len(value) > 1 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}
