package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// String writes the comparison as a table with a column an experiment.
func (c Comparison) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name string, text func(Compared) string) {
		fmt.Fprint(t, name)
		for _, e := range c.Experiments {
			fmt.Fprint(t, "\t", text(e))
		}
		fmt.Fprintln(t)
	}
	row("", func(e Compared) string { return e.Dir })
	if len(c.families()) > 1 {
		row("experiment", func(e Compared) string { return e.Method })
	}
	for _, name := range c.Settings {
		if name != "epochs" {
			row(name, func(e Compared) string { return cmp.Or(e.Settings[name], "–") })
		}
	}
	row("seeds", Compared.seedsText)
	row("epochs", Compared.epochsText)
	row("training seconds", func(e Compared) string { return cell(e.Seconds, 1) })
	if c.sameObjective() {
		objective := c.Objective.Name
		row(objective+", training", func(e Compared) string { return cell(e.Train, 3) })
		if slices.ContainsFunc(c.Experiments, func(e Compared) bool { return !math.IsNaN(e.Best.Mean) }) {
			row(objective+", validation", func(e Compared) string { return cell(e.Validation, 3) })
			row(objective+", best validation", func(e Compared) string { return cell(e.Best, 3) })
			row("best epoch", func(e Compared) string { return cell(e.BestEpoch, 0) })
		}
		if line := c.baseline(); line != nil {
			row(objective+", "+line.Label(), Compared.baselineText)
		}
	} else {
		row("improves", func(e Compared) string {
			if e.seeds == nil {
				return "–"
			}
			return e.seeds.objective().Label
		})
	}
	if slices.ContainsFunc(c.Experiments, func(e Compared) bool { return e.Diverged > 0 }) {
		row("remark", Compared.remarkText)
	}
	if c.Samples > 0 {
		evaluated := c.evaluated()
		name := fmt.Sprintf("%s, %s, K = %d", evaluated.Name, c.Split, c.Samples)
		switch c.Checkpoint {
		case "best":
			name += ", best epoch"
		case "last":
		default:
			name += ", " + c.Checkpoint
		}
		row(name, func(e Compared) string { return e.evaluationText(evaluated) })
	}
	t.Flush()
	if c.sameObjective() {
		b.WriteString(c.Objective.Name)
		if unit := c.Objective.Unit; unit != "" {
			b.WriteString(" in " + unit)
		}
		b.WriteString(", of training and validation as training estimates it")
	} else {
		b.WriteString("what they improve differs, and its values in training say nothing beside each other")
		if c.Samples == 0 {
			b.WriteString(": an evaluation estimates log p of each")
		}
	}
	b.WriteString("; ± is one standard deviation over seeds")
	if c.Samples > 0 || c.baseline() != nil {
		b.WriteString(", (±) one standard error over the data")
	}
	return b.String() + "\n"
}

// cell writes a spread, and a dash where there is none.
func cell(s Spread, decimals int) string {
	if math.IsNaN(s.Mean) {
		return "–"
	}
	return s.Text(decimals)
}

// seedsText writes the seeds, those that follow each other as a range.
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
	}
	return text + fmt.Sprintf(" of %d, unfinished", c.seeds.Runs[0].experiment.Header().Epochs)
}

func (c Compared) baselineText() string {
	if c.Baseline == nil {
		return "–"
	}
	return c.Baseline.Factorized.text()
}

// remarkText says that seeds have diverged, and of several how many.
func (c Compared) remarkText() string {
	switch {
	case c.Diverged == 0:
		return "–"
	case len(c.Seeds) == 1:
		return "diverged"
	}
	return fmt.Sprintf("%d of %d seeds diverged", c.Diverged, len(c.Seeds))
}

// text is the estimate with its standard error, where there is one.
func (e Estimate) text() string {
	if math.IsNaN(e.SE) {
		return fmt.Sprintf("%.3f", e.Value)
	}
	return fmt.Sprintf("%.3f (± %.3f)", e.Value, e.SE)
}

// evaluated is the measure of the evaluations that a table shows: the objective, or log p
// where they have that in its place.
func (c Comparison) evaluated() Measure {
	if slices.Contains(c.estimated(), c.Objective.Key) {
		return c.Objective
	}
	return LogP
}

func (c Compared) evaluationText(of Measure) string {
	if _, estimated := c.Evaluation[of.Key]; !estimated {
		return "–"
	}
	if len(c.Evaluations) == 1 {
		return c.Evaluations[0][of.Key].text()
	}
	return c.Evaluation[of.Key].Text(3)
}
