package runs

import (
	"maps"
	"math"
	"slices"
	"strconv"
)

// deviationSuffix ends the key of the standard deviation of a mean over seeds.
const deviationSuffix = "_sd"

// Table has a row an experiment: its directory and method, the settings that differ
// (settings.method.learning_rate), the number of seeds, the epochs done, the seconds of
// training, and, where it is the same of all, the objective, of training and of validation, as
// training estimates it; where it is known, the baseline of the objective (baseline.log_p), and
// the number of seeds that have diverged from it; where the comparison was evaluated, all that
// this estimated, too (evaluation.log_p). Values are means over the seeds; those of columns whose
// keys end in _sd are standard deviations over seeds, and in _se standard errors over the data,
// which one seed alone has.
func (c Comparison) Table() *Table {
	columns := []Field[Compared]{
		{Column{Key: "directory"}, func(e Compared) any { return e.Dir }},
		{Column{Key: "method"}, func(e Compared) any { return e.Method }},
	}
	for _, name := range c.Settings {
		columns = append(columns, c.settingColumn(name))
	}
	columns = slices.Concat(columns,
		[]Field[Compared]{
			{Column{Key: "seeds", Kind: Integer}, func(e Compared) any { return len(e.Seeds) }},
			{Column{Key: "finished", Kind: Boolean}, func(e Compared) any { return e.Finished }},
		},
		spreadColumns(Column{Key: "epochs", Decimals: 1}, func(e Compared) Spread { return e.Epochs }),
		spreadColumns(Column{Key: "seconds", Label: "training", Unit: "s", Decimals: 1}, func(e Compared) Spread { return e.Seconds }),
		c.objectiveColumns(),
		c.evaluationColumns())
	return TableOf("comparison", "", columns, c.Experiments...)
}

// objectiveColumns are those of the objective; none where experiments improve different ones.
func (c Comparison) objectiveColumns() []Field[Compared] {
	if !c.sameObjective() {
		return nil
	}
	column := func(key, of string) Column {
		return measureColumn([]Measure{c.Objective}, key+"."+c.Objective.Key, c.Objective.Key, of)
	}
	return slices.Concat(
		spreadColumns(column("train", "training"), func(e Compared) Spread { return e.Train }),
		spreadColumns(column("validation", "validation"), func(e Compared) Spread { return e.Validation }),
		spreadColumns(column("best_validation", "best validation"), func(e Compared) Spread { return e.Best }),
		spreadColumns(Column{Key: "best_epoch", Label: "best epoch", Decimals: 1}, func(e Compared) Spread { return e.BestEpoch }),
		c.baselineColumns())
}

// baselineColumns are those of the baseline; none where no experiment has one.
func (c Comparison) baselineColumns() []Field[Compared] {
	line := c.baseline()
	if line == nil {
		return nil
	}
	estimate := func(of func(Estimate) float64) func(Compared) any {
		return func(e Compared) any {
			if e.Baseline == nil {
				return nil
			}
			return of(e.Baseline.Factorized)
		}
	}
	column := func(key string) Column {
		return measureColumn([]Measure{c.Objective}, "baseline."+key, key, line.Label())
	}
	return []Field[Compared]{
		{column(c.Objective.Key), estimate(func(e Estimate) float64 { return e.Value })},
		{column(c.Objective.Key + StandardErrorKey), estimate(func(e Estimate) float64 { return e.SE })},
		{Column{Key: "diverged", Label: "seeds diverged", Kind: Integer}, func(e Compared) any {
			if e.Baseline == nil {
				return nil
			}
			return e.Diverged
		}},
	}
}

// baseline is the first that is known of the experiments, nil where none is, or where they
// improve different measures.
func (c Comparison) baseline() *Baseline {
	if !c.sameObjective() {
		return nil
	}
	for _, e := range c.Experiments {
		if e.Baseline != nil {
			return e.Baseline
		}
	}
	return nil
}

// spreadColumns are a column of means and one of standard deviations.
func spreadColumns(mean Column, of func(Compared) Spread) []Field[Compared] {
	mean.Kind = Number
	sd := mean
	sd.Key, sd.Label = mean.Key+deviationSuffix, "± sd"
	return []Field[Compared]{
		{mean, func(e Compared) any { return of(e).Mean }},
		{sd, func(e Compared) any { return of(e).SD }},
	}
}

// settingColumn is a column of one setting, of numbers where all its values are.
func (c Comparison) settingColumn(name string) Field[Compared] {
	column := Column{Key: "settings." + name, Label: name}
	values := func(read func(string) (any, error)) Field[Compared] {
		return Field[Compared]{column, func(e Compared) any {
			value, set := e.Settings[name]
			if !set {
				return nil
			}
			cell, _ := read(value)
			return cell
		}}
	}
	for _, as := range []struct {
		kind ColumnKind
		read func(string) (any, error)
	}{
		{Integer, func(s string) (any, error) { return strconv.ParseInt(s, 10, 64) }},
		{Number, func(s string) (any, error) { return strconv.ParseFloat(s, 64) }},
		{Boolean, func(s string) (any, error) { return strconv.ParseBool(s) }},
	} {
		if !slices.ContainsFunc(c.Experiments, func(e Compared) bool {
			value, set := e.Settings[name]
			_, err := as.read(value)
			return set && err != nil
		}) {
			column.Kind = as.kind
			return values(as.read)
		}
	}
	return values(func(s string) (any, error) { return s, nil })
}

// evaluationColumns are those of what the comparison was evaluated with, and of what
// that estimated; none where it was not.
func (c Comparison) evaluationColumns() []Field[Compared] {
	if c.Samples == 0 || len(c.Experiments) == 0 {
		return nil
	}
	columns := []Field[Compared]{
		{Column{Key: "evaluation.split", Label: "rows"}, func(Compared) any { return c.Split }},
		{Column{Key: "evaluation.checkpoint", Label: "checkpoint"}, func(Compared) any { return c.Checkpoint }},
		{Column{Key: "evaluation.samples", Label: "samples K", Kind: Integer}, func(Compared) any { return c.Samples }},
	}
	measures := []Measure{c.Objective, LogP} // that are known where no runs are open
	if seeds := c.Experiments[0].seeds; seeds != nil {
		measures = seeds.Runs[0].experiment.Measures()
	}
	for _, key := range c.estimated() {
		mean := measureColumn(measures, "evaluation."+key, key, c.Split)
		se := mean
		se.Key, se.Label = mean.Key+StandardErrorKey, "± se"
		columns = slices.Concat(columns,
			spreadColumns(mean, func(e Compared) Spread {
				if s, estimated := e.Evaluation[key]; estimated {
					return s
				}
				return Spread{math.NaN(), math.NaN()}
			}),
			[]Field[Compared]{{se, func(e Compared) any {
				if len(e.Evaluations) == 1 {
					if of, estimated := e.Evaluations[0][key]; estimated {
						return of.SE
					}
				}
				return nil
			}}})
	}
	return columns
}

// estimated are the keys of what the evaluation of any experiment has estimated.
func (c Comparison) estimated() []string {
	keys := map[string]bool{}
	for _, e := range c.Experiments {
		for key := range e.Evaluation {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}
