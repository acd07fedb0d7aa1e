package command

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// mostRanked is the number of training rows among which rows have their ranks.
const mostRanked = 10_000

// ranks returns the share of the training rows that are less probable than each row, in the columns that the row has, among the
// training rows that have them. It is NaN if there are none. Equal log p counts half.
func (x *estimate) ranks(c *cobra.Command, run *runs.Run, by runs.RowEvaluator, o runs.EvaluationOptions, logP []float64) ([]float64, error) {
	rows := o.Rows
	var err error
	if o.Set, err = run.DatasetAt(x.data); err != nil {
		return nil, fmt.Errorf("--rank compares rows with the training rows: %w; if the data have moved, name their path with --dataset", err)
	}
	train := o.Set.Train().Subset(mostRanked, x.seed)
	fewest, all := train.Rows, make([]float64, len(logP))
	for _, gap := range rows.Gaps() {
		o.Rows = train.Hiding(gap.Mask)
		fewest = min(fewest, o.Rows.Rows)
		var among []float64
		if o.Rows.Rows > 0 {
			if among, _, err = by.LogPOfRows(c.Context(), o); err != nil {
				return nil, err
			}
		}
		shares := o.Rows.Counts()
		for _, r := range gap.Rows {
			for k, other := range among {
				switch {
				case other < logP[r]:
					all[r] += shares[k]
				case other == logP[r]:
					all[r] += shares[k] / 2
				}
			}
			all[r] /= floats.Sum(shares)
		}
	}
	among := names.Count(train.Rows, "training row")
	if fewest < train.Rows {
		among += fmt.Sprintf(", of which at least %d have the columns that a row has", fewest)
	}
	fmt.Fprintf(c.ErrOrStderr(), "ranks among %s\n", among)
	return all, nil
}

// identify inserts the identifiers of the file with the rows behind the first column.
func (s *scores) identify(set *dataset.Set, path string) error {
	is := func(c dataset.Column) bool { return c.Kind == dataset.IdentifierColumn }
	if !slices.ContainsFunc(set.Schema().Columns, is) {
		return nil
	}
	gaps, err := set.ReadGaps(path)
	if err != nil {
		return err
	}
	fields, err := gaps.Complete(dataset.Sheet{Shape: gaps.Rows.Shape, Values: gaps.Rows.Floats()}, dataset.Writing{}, false)
	if err != nil {
		return err
	}
	at := 1
	for k, c := range gaps.Columns {
		if !is(c) {
			continue
		}
		key := c.Name
		for slices.ContainsFunc(slices.Concat(s.columns, reasonColumns), func(other runs.Column) bool { return other.Key == key }) {
			key = "file_" + key
		}
		s.columns = slices.Insert(s.columns, at, runs.Column{Key: key})
		for r := range s.lines {
			s.lines[r] = slices.Insert(s.lines[r], at, any(fields[r][k]))
		}
		at++
	}
	return nil
}

// explain adds to s the ranks of rows, the identifiers of the file and reasons, as the flags ask for them. It describes how the reasons
// were computed.
func (x *estimate) explain(c *cobra.Command, run *runs.Run, model any, o runs.EvaluationOptions, s *scores) (what string, err error) {
	if x.file == "-" {
		return "", misuse(c, "--why and --rank read the rows twice: save standard input to a file, and give it with --rows FILE")
	}
	if x.rank {
		rank, err := x.ranks(c, run, model.(runs.RowEvaluator), o, s.logP)
		if err != nil {
			return "", err
		}
		s.columns = append(s.columns, runs.Column{Key: "rank", Kind: runs.Number, Decimals: 4})
		for r := range s.lines {
			s.lines[r] = append(s.lines[r], rank[r])
		}
	}
	if err := s.identify(o.Set, x.file); err != nil || !x.why {
		return "", err
	}
	return s.reason(c.Context(), run, model, o)
}

// reasonColumns are the columns of eval --why that tell of a column.
var reasonColumns = []runs.Column{
	{Key: "column"}, {Key: "value"}, {Key: "column_log_p", Label: "log p of the column", Unit: "nats", Kind: runs.Number, Decimals: 3},
	{Key: "column_log_p_se", Label: "± se", Kind: runs.Number, Decimals: 3}, {Key: "typical"},
	{Key: "below", Label: "below typical", Unit: "nats", Kind: runs.Number, Decimals: 3}, {Key: "odd", Kind: runs.Boolean},
}

// reason adds reasonColumns, and replaces the line of each row by lines for its columns, the oddest first. It describes how log p was
// computed.
func (s *scores) reason(ctx context.Context, run *runs.Run, model any, o runs.EvaluationOptions) (string, error) {
	of, all, what, err := run.Why(ctx, model, o)
	if err != nil {
		return "", err
	}
	values, typical, err := runs.TypicalFields(o.Set, o.Rows, of, all)
	if err != nil {
		return "", err
	}
	worst, place := 0.0, ""
	var lines [][]any
	for r, list := range all {
		order := make([]int, len(list))
		for i, c := range list {
			if order[i] = i; c.SE > worst {
				worst, place = c.SE, fmt.Sprintf("row %d, %s", r+1, of[i].Name)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].Below(), list[a].Below()) })
		for _, i := range order {
			c, se := list[i], any(list[i].SE)
			if math.IsNaN(c.SE) {
				se = nil
			}
			lines = append(lines, slices.Concat(s.lines[r], []any{of[i].Name, values[r][i], c.LogP, se, typical[r][i], c.Below(), c.Odd()}))
		}
	}
	if worst > 0 {
		what += fmt.Sprintf("; the largest standard error is %.2g nats (%s)", worst, place)
	}
	s.columns, s.lines = append(s.columns, reasonColumns...), lines
	return what, nil
}
