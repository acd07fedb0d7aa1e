package runs

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// SweepReport holds the progress of a sweep and the results of its settings.
type SweepReport struct {
	Objective Measure
	Keys      []string // full TOML names of the settings that vary
	Settings  []SettingReport
}

// SettingReport is one setting of a report.
type SettingReport struct {
	Setting
	Dir      string        // directory of its seeds
	States   map[State]int // number of its seeds in each state
	Failures []error       // errors of failed or damaged seeds
	Epochs   Spread        // epochs done; Epochs and Seconds cover the runs with a checkpoint
	Seconds  Spread        // time of the training steps
	Diverged int           // number of its seeds whose last epoch is far worse than the baseline
	// Reached is the objective of finished runs in the last epoch, on the validation rows if there
	// are any, and Best is their objective in the best epoch. They are NaN if there is no such epoch.
	// Both are also NaN if a seed has failed (for example diverged) or is damaged: a mean over the
	// remaining seeds would flatter the setting.
	Reached, Best Spread
}

// Value returns the setting's result: Best, or Reached if there is no best epoch.
func (s SettingReport) Value() Spread {
	if math.IsNaN(s.Best.Mean) {
		return s.Reached
	}
	return s.Best
}

// Report reads the progress of the sweep in a directory. It may be called at any time, even during
// training.
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
	var data sameContents
	for i, setting := range settings {
		of := SettingReport{Setting: setting, Dir: filepath.Join(dir, setting.Name), States: map[State]int{}}
		var begun, finished []*Run
		for n := i; n < len(jobs); n += len(settings) {
			state, run, err := jobs[n].stateWith(loadCheckpoint) // names damaged tensors
			of.States[state]++
			if err != nil {
				of.Failures = append(of.Failures, err)
			}
			if run != nil {
				begun = append(begun, run)
				if run.Warning() != "" {
					of.Diverged++
				}
				for _, err := range []error{run.lost, data.check(run), jobs[n].checkEpochs(run)} {
					if err != nil {
						of.Failures = append(of.Failures, err)
					}
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

// sameContents holds the first run on each data set.
type sameContents []*Run

// check returns an error if a run and an earlier one trained on different contents of the same files.
func (s *sameContents) check(run *Run) error {
	data := run.experiment.Header().Data
	for _, other := range *s {
		first := other.experiment.Header().Data
		if !reflect.DeepEqual(first.Dataset, data.Dataset) {
			continue
		}
		if first.Fingerprint == data.Fingerprint {
			return nil
		}
		return fmt.Errorf("%s and %s were trained on different contents of %s (fingerprints %.12s and %.12s), whose results cannot be compared: restore the data and remove the run on the other contents, or train all runs in a new directory",
			other.dir, run.dir, data.Dataset.Name, first.Fingerprint, data.Fingerprint)
	}
	*s = append(*s, run)
	return nil
}

// checkEpochs returns an error if the job's run has another number of epochs than the job, because
// someone extended it.
func (j Job) checkEpochs(run *Run) error {
	if is, planned := run.experiment.Header().Epochs, j.Experiment.Header().Epochs; is != planned {
		return fmt.Errorf("%v: the run in %s was extended to %d epochs, the sweep has %d: move the run elsewhere and train the sweep again", j, run.dir, is, planned)
	}
	return nil
}

// States returns the number of runs in each state.
func (r SweepReport) States() map[State]int {
	all := map[State]int{}
	for _, s := range r.Settings {
		for state, n := range s.States {
			all[state] += n
		}
	}
	return all
}

// ByBest returns the report with the settings sorted by Value, the best first. Settings without a value,
// for example because a seed failed, come last.
func (r SweepReport) ByBest() SweepReport {
	r.Settings = slices.Clone(r.Settings)
	slices.SortStableFunc(r.Settings, func(a, b SettingReport) int { return r.Objective.order(a.Value().Mean, b.Value().Mean) })
	return r
}

// Table returns the report with one row per setting. It omits the column of a state if no run is in that
// state.
func (r SweepReport) Table() *Table {
	var columns []field[SettingReport]
	for i, key := range r.Keys {
		columns = append(columns, field[SettingReport]{Column{Key: key}, func(s SettingReport) any { return unquoted(s.Values[i]) }})
	}
	if len(r.Keys) == 0 {
		columns = append(columns, field[SettingReport]{Column{Key: "setting"}, func(s SettingReport) any { return s.Name }})
	}
	settings, all, total := len(columns), r.States(), 0
	for _, state := range States {
		total += all[state]
		if all[state] > 0 {
			columns = append(columns, field[SettingReport]{Column{Key: string(state), Kind: Integer}, func(s SettingReport) any { return s.States[state] }})
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
		if slices.ContainsFunc(r.Settings, func(s SettingReport) bool { return !math.IsNaN(f.Cell(s).(float64)) }) { // omit columns without values
			columns = append(columns, f)
		}
	}
	if slices.ContainsFunc(r.Settings, func(s SettingReport) bool { return s.Diverged > 0 }) {
		columns = append(columns, field[SettingReport]{Column{Key: "diverged", Kind: Integer}, func(s SettingReport) any { return s.Diverged }})
	}
	for i := settings; i < len(columns); i++ {
		key := &columns[i].Key
		for slices.Contains(r.Keys, *key) || slices.Contains(r.Keys, strings.TrimSuffix(*key, deviationSuffix)) { // the key of a setting
			*key = "runs." + *key
		}
	}
	title := fmt.Sprintf("Sweep of %s, %d of %s finished", names.Count(len(r.Settings), "setting"), all[Finished], names.Count(total, "run"))
	return tableOf("sweep", title, columns, r.Settings...)
}
