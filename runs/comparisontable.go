package runs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/helmholtz-go/helmholtz/internal/lists"
)

// comparedLine is a row in the text of a comparison, with one cell per experiment, together with the
// columns of the table that have the same content.
type comparedLine struct {
	name    string
	text    func(Compared) string // nil if the text has no such row
	columns []field[Compared]     // empty if the table has no such columns
}

// String formats the comparison as a table with one column per experiment: its results and the
// settings that differ.
func (c Comparison) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, l := range c.lines() {
		if l.text == nil {
			continue
		}
		fmt.Fprint(t, l.name)
		for _, e := range c.Experiments {
			fmt.Fprint(t, "\t", l.text(e))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if c.sameObjective() {
		b.WriteString(c.Objective.Name)
		if unit := c.Objective.Unit; unit != "" {
			b.WriteString(" in " + unit)
		}
		b.WriteString(", for training and validation as training estimates it")
	} else {
		b.WriteString("the experiments improve different objectives, whose values cannot be compared")
		if c.Samples == 0 {
			b.WriteString(": an evaluation estimates log p for each")
		}
	}
	b.WriteString("; ± is one standard deviation over seeds")
	if c.Samples > 0 || c.baseline() != nil {
		b.WriteString(", (±) one standard error over the data")
	}
	if slices.ContainsFunc(c.Experiments, func(e Compared) bool { return len(e.Evaluations) > 1 && e.Difference != nil }) {
		b.WriteString(" or, in differences of several seeds, over seeds")
	}
	if slices.ContainsFunc(c.Experiments, func(e Compared) bool { return e.weakest(c.evaluated().Key).Few() }) {
		fmt.Fprintf(&b, "; at least, at most and roughly tell how an estimate by fewer than %d effective samples or chains errs in expectation: use more", leastEffective)
	}
	return b.String() + "\n"
}

// Table returns a table with one row per experiment. Its columns are, in order:
//   - the directory and the method;
//   - the estimates of an evaluation, if there was one (evaluation.log_p), and their differences from the first
//     experiment (evaluation.difference);
//   - if all experiments have the same objective, the objective in training and validation, as training
//     estimates it;
//   - the baseline of the objective (baseline.log_p) and the number of seeds that diverged, if the
//     baseline is known;
//   - the settings that differ (settings.method.learning_rate);
//   - the number of seeds, whether all have finished, the epochs done and the training time in seconds.
//
// Values are means over seeds. Columns whose keys end in _sd hold standard deviations over seeds.
// Columns whose keys end in _se hold standard errors over the data; standard errors of evaluations exist
// only for a single seed.
func (c Comparison) Table() *Table {
	columns := slices.Concat(lists.Map(c.lines(), func(l comparedLine) []field[Compared] { return l.columns })...)
	return tableOf("comparison", "", columns, c.Experiments...)
}

// lines returns all rows of the text and all columns of the table, in order.
func (c Comparison) lines() []comparedLine {
	lines := []comparedLine{
		{"", func(e Compared) string { return e.Dir }, []field[Compared]{{Column{Key: "directory"}, func(e Compared) any { return e.Dir }}}},
		{"experiment", func(e Compared) string { return e.Method }, []field[Compared]{{Column{Key: "method"}, func(e Compared) any { return e.Method }}}},
	}
	if len(c.families()) < 2 {
		lines[1].text = nil
	}
	lines = slices.Concat(lines, c.evaluationLines(), c.objectiveLines()) // before the settings, which would hide them
	for _, name := range c.Settings {
		l := comparedLine{name, func(e Compared) string { return cmp.Or(e.Settings[name], "–") }, []field[Compared]{
			{Column{Key: "settings." + name, Label: name, loose: true}, func(e Compared) any { return scalar(e.Settings[name]) }},
		}}
		if name == "epochs" { // epochs have a separate row below
			l.text = nil
		}
		lines = append(lines, l)
	}
	return slices.Concat(lines, []comparedLine{
		{"seeds", Compared.seedsText, []field[Compared]{
			{Column{Key: "seeds", Kind: Integer}, func(e Compared) any { return len(e.Seeds) }},
			{Column{Key: "finished", Kind: Boolean}, func(e Compared) any { return e.Finished }},
		}},
		{"epochs", Compared.epochsText, spreadColumns(Column{Key: "epochs", Decimals: 1}, func(e Compared) Spread { return e.Epochs })},
		spreadLine("training seconds", 1, Column{Key: "seconds", Label: "training", Unit: "s", Decimals: 1}, func(e Compared) Spread { return e.Seconds }),
	})
}

func (c Comparison) objectiveLines() (lines []comparedLine) {
	if c.sameObjective() {
		of := func(key, when string, value func(Compared) Spread) comparedLine {
			return spreadLine(c.Objective.Name+", "+when, 3, c.Objective.column(key+"."+c.Objective.Key, when), value)
		}
		lines = []comparedLine{
			of("train", "training", func(e Compared) Spread { return e.Train }),
			of("validation", "validation", func(e Compared) Spread { return e.Validation }),
			of("best_validation", "best validation", func(e Compared) Spread { return e.Best }),
			spreadLine("best epoch", 0, Column{Key: "best_epoch", Label: "best epoch", Decimals: 1}, func(e Compared) Spread { return e.BestEpoch }),
		}
		if !slices.ContainsFunc(c.Experiments, func(e Compared) bool { return !math.IsNaN(e.Best.Mean) }) {
			lines[1].text, lines[2].text, lines[3].text = nil, nil, nil
		}
	} else {
		lines = []comparedLine{{name: "improves", text: func(e Compared) string {
			if e.seeds == nil {
				return "–"
			}
			return e.seeds.objective().Label
		}}}
	}
	if baseline := c.baseline(); baseline != nil {
		value := c.Objective.column("baseline."+c.Objective.Key, baseline.Label())
		line := estimateLine(c.Objective.Name+", "+baseline.Label(), value, func(e Compared) *Estimate {
			if e.Baseline == nil {
				return nil
			}
			return &e.Baseline.Factorized
		})
		line.columns = append(line.columns, field[Compared]{Column{Key: "diverged", Label: "seeds diverged", Kind: Integer}, func(e Compared) any {
			if e.Baseline == nil {
				return nil
			}
			return e.Diverged
		}})
		lines = append(lines, line)
	}
	if slices.ContainsFunc(c.Experiments, func(e Compared) bool { return e.Diverged+e.Unconverged > 0 }) {
		lines = append(lines, comparedLine{name: "remark", text: Compared.remarkText})
	}
	return lines
}

func (c Comparison) evaluationLines() []comparedLine {
	if c.Samples == 0 {
		return nil
	}
	evaluated := c.evaluated()
	name := fmt.Sprintf("%s, %s, K = %d", evaluated.Name, c.Split, c.Samples)
	switch c.Checkpoint {
	case "best":
		name += ", best epoch"
	case "last":
	default:
		name += ", " + c.Checkpoint
	}
	lines := []comparedLine{{name, func(e Compared) string { return e.evaluationText(evaluated) }, []field[Compared]{
		{Column{Key: "evaluation.split", Label: "rows"}, func(Compared) any { return c.Split }},
		{Column{Key: "evaluation.checkpoint", Label: "checkpoint"}, func(Compared) any { return c.Checkpoint }},
		{Column{Key: "evaluation.samples", Label: "samples K", Kind: Integer}, func(Compared) any { return c.Samples }},
	}}}
	if slices.ContainsFunc(c.Experiments, func(e Compared) bool { return e.Difference != nil }) {
		column := evaluated.column("evaluation.difference", "less the first")
		lines = append(lines, estimateLine("less the first", column, func(e Compared) *Estimate { return e.Difference }))
	}
	measures := c.measures()
	for _, key := range c.estimated() {
		mean := measureColumn(measures, "evaluation."+key, key, c.Split)
		lines = append(lines, comparedLine{columns: append(spreadColumns(mean, func(e Compared) Spread {
			if s, estimated := e.Evaluation[key]; estimated {
				return s
			}
			return Spread{math.NaN(), math.NaN()}
		}), field[Compared]{mean.standardError(), func(e Compared) any {
			if len(e.Evaluations) == 1 {
				if of, estimated := e.Evaluations[0][key]; estimated {
					return of.shown()
				}
			}
			return nil
		}})})
	}
	return lines
}

func (c Comparison) estimated() []string {
	keys := map[string]Spread{}
	for _, e := range c.Experiments {
		maps.Copy(keys, e.Evaluation)
	}
	return slices.Sorted(maps.Keys(keys))
}

// evaluated returns the measure of the evaluations that a table shows: the objective, or log p if
// it was estimated instead.
func (c Comparison) evaluated() Measure {
	if slices.Contains(c.estimated(), c.Objective.Key) {
		return c.Objective
	}
	measures := c.measures()
	if i := slices.IndexFunc(measures, func(m Measure) bool { return m.Key == LogP.Key }); i >= 0 {
		return measures[i]
	}
	return LogP
}

// measures returns the measures of the first experiment, or those known without it if its runs are not open.
func (c Comparison) measures() []Measure {
	if len(c.Experiments) > 0 && c.Experiments[0].seeds != nil {
		return c.Experiments[0].seeds.Runs[0].experiment.Measures()
	}
	return []Measure{c.Objective, LogP}
}

// baseline returns the first known baseline of the experiments. It returns nil if no baseline is known or
// the experiments improve different measures.
func (c Comparison) baseline() *Baseline {
	for _, e := range c.Experiments {
		if e.Baseline != nil && c.sameObjective() {
			return e.Baseline
		}
	}
	return nil
}

func spreadLine(name string, decimals int, mean Column, of func(Compared) Spread) comparedLine {
	return comparedLine{name, func(e Compared) string {
		if math.IsNaN(of(e).Mean) {
			return "–"
		}
		return of(e).Text(decimals)
	}, spreadColumns(mean, of)}
}

// estimateLine returns the row and the columns of an estimate, which is nil for an experiment without it.
func estimateLine(name string, value Column, of func(Compared) *Estimate) comparedLine {
	missing := Estimate{Value: math.NaN(), SE: math.NaN()}
	return comparedLine{name, func(e Compared) string {
		if estimate := of(e); estimate != nil {
			return estimate.text()
		}
		return "–"
	}, []field[Compared]{
		{value, func(e Compared) any { return cmp.Or(of(e), &missing).Value }},
		{value.standardError(), func(e Compared) any { return cmp.Or(of(e), &missing).shown() }},
	}}
}

// deviationSuffix is the suffix of keys of standard deviations over seeds.
const deviationSuffix = "_sd"

func spreadColumns[T any](mean Column, of func(T) Spread) []field[T] {
	mean.Kind = Number
	sd := mean
	sd.Key, sd.Label = mean.Key+deviationSuffix, "± sd"
	return []field[T]{
		{mean, func(e T) any { return of(e).Mean }},
		{sd, func(e T) any { return of(e).SD }},
	}
}

// seedsText formats the seeds, with consecutive seeds as a range.
func (c Compared) seedsText() string {
	var parts []string
	for first := 0; first < len(c.Seeds); {
		end := first + 1
		for end < len(c.Seeds) && c.Seeds[end] == c.Seeds[end-1]+1 {
			end++
		}
		part := fmt.Sprint(c.Seeds[first])
		if end > first+1 {
			part += fmt.Sprintf("–%d", c.Seeds[end-1])
		}
		parts, first = append(parts, part), end
	}
	text := strings.Join(parts, ",")
	if len(c.Seeds) > 1 && c.Train.Mean != 0 && c.Train.SD == 0 && !(c.Validation.SD > 0) {
		text += " (without effect)"
	}
	if c.seeds != nil && c.seeds.Waiting > 0 {
		text += fmt.Sprintf(" (%d to come)", c.seeds.Waiting)
	}
	return text
}

func (c Compared) epochsText() string {
	text := fmt.Sprintf("%.0f", c.Epochs.Mean)
	if c.Epochs.SD > 0 {
		text = c.Epochs.Text(1)
	}
	switch {
	case c.Finished:
		return text
	case c.seeds == nil:
		return text + ", unfinished"
	case c.seeds.Runs[0].Imported():
		return string(Imported)
	}
	return text + fmt.Sprintf(" of %d, unfinished", c.seeds.Runs[0].experiment.Header().Epochs)
}

// remarkText returns a remark if seeds diverged or have not converged, with their number if there are several seeds.
func (c Compared) remarkText() string {
	n, text := c.Diverged, "diverged"
	if n == 0 {
		n, text = c.Unconverged, "not converged"
	}
	switch {
	case n == 0:
		return "–"
	case len(c.Seeds) == 1:
		return text
	}
	return fmt.Sprintf("%d of %d seeds %s", n, len(c.Seeds), text)
}

func (c Compared) evaluationText(of Measure) string {
	over, estimated := c.Evaluation[of.Key]
	switch {
	case !estimated:
		return "–"
	case len(c.Evaluations) == 1:
		return c.Evaluations[0][of.Key].text()
	case c.weakest(of.Key).Few():
		return Estimate{Value: over.Mean, SampleSize: c.weakest(of.Key)}.text()
	}
	return over.Text(3)
}
